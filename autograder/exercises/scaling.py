"""Chapter 05: what dividing by sqrt(d_k) does. Contract of each exercise: see its reference."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import torch

from autograder.judging.compare import close
from autograder.judging.diagnosis import same_reply
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import add_standard_criteria, sizes_of_one
from autograder.judging.trial import Trial
from autograder.learner.calls import Call, Reply, Seed
from autograder.reference import attention, scaling

CHAPTER = "05_scaling"


# --- dot_product_std -------------------------------------------------------------------------------------------
# The result is random: it is judged by statistics, with margins of about seven standard errors.

MANY, FEW = 5_000, 2
REPEATS, PAIRS, NARROW = 330, 50, 0.137
"""With d_k = 1 the logarithms of 330 measurements of 50 pairs each scatter by 0.194 (standard error 0.008), and with
one number in place of each product by 0.102 (0.004), although both have the standard deviation 1."""


def _measurement(given: Inputs, d_k: int, samples: int) -> Call:
    return Call((d_k, samples, Seed(given.whole_number(0, 2**31))))


def _std_case(given: Inputs) -> Call:
    return _measurement(given, given.size.d_k, MANY)


def _relative_margin(d_k: int, samples: int) -> float:
    """Seven standard errors of a measured standard deviation: the product of two normals has kurtosis 3 + 6/d_k."""
    return 7 * math.sqrt((2 + 6 / d_k) / (4 * samples))


def same_statistics(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """Two answers measure the same if large samples agree within the margin and repeats, scatter and theory alike."""
    if any(_form(a) != _form(b) for a, b in zip(mine, theirs, strict=True)):
        return False
    if any(type(r.output) is not float for r in mine):
        return all(map(same_reply, mine, theirs))
    return _same_size(calls, mine, theirs) and all(
        trait(calls, mine) == trait(calls, theirs) for trait in (_repeats, _scatters, _multiplies, _is_theory))


def _form(reply: Reply) -> tuple:
    return reply.status, type(reply.output), reply.error and (reply.error.kind, reply.error.text)


def _same_size(calls, mine, theirs) -> bool:
    for call, a, b in zip(calls, mine, theirs, strict=True):
        d_k, samples, _ = call.args
        margin = 1.5 * _relative_margin(d_k, samples)
        if samples == MANY and not math.isclose(a.output, b.output, rel_tol=margin):
            return False
    return True


def _repeats(calls, replies) -> list[bool]:
    """For every two calls of the same size: whether they gave the same number."""
    pairs = [(i, j) for j in range(len(calls)) for i in range(j) if calls[i].args[:2] == calls[j].args[:2]]
    return [replies[i].output == replies[j].output for i, j in pairs]


def _scatters(calls, replies) -> bool:
    """Whether measurements with few samples lie far apart, as they should."""
    few = [reply.output for call, reply in zip(calls, replies, strict=True) if call.args[1] == FEW]
    return bool(few) and max(few) > 1.5 * min(few)


def _multiplies(calls, replies) -> bool:
    """Whether measurements with d_k = 1 scatter as those of products do."""
    return not _is_narrow([reply.output for call, reply in zip(calls, replies, strict=True)
                           if call.args[:2] == (1, PAIRS)])


def _is_narrow(values: Sequence[float]) -> bool:
    """Whether the values, if any, are all positive and lie closer together than measurements of products."""
    return len(values) > 1 and min(values) > 0 and statistics.stdev(map(math.log, values)) < NARROW


def _is_theory(calls, replies) -> bool:
    return all(math.isclose(reply.output, math.sqrt(call.args[0]), rel_tol=1e-6)
               for call, reply in zip(calls, replies, strict=True))


dot_product_std = Exercise(
    "dot_product_std", CHAPTER, scaling.dot_product_std, _std_case, returns=("the standard deviation",),
    agreement=same_statistics,
    hints=("Draw `samples` queries and `samples` keys: two tensors (samples, d_k), with `generator=generator`.",
           "One dot product a pair: multiply elementwise, then sum over the features.",
           "`.std()` of the `samples` dot products, then `.item()` for a plain float."))


@dot_product_std.criterion(points=2)
def near_theory(trial: Trial) -> None:
    """For many samples the value is near the square root of d_k, for every d_k."""
    draw = trial.inputs()
    measured = {d_k: trial.well_formed(_measurement(draw, d_k, MANY)).output for d_k in (1, 4, 11, 64)}
    for d_k, value in measured.items():
        trial.require(abs(value / math.sqrt(d_k) - 1) < _relative_margin(d_k, MANY),
                      f"For d_k = {d_k} and {MANY:,} samples the value lies too far from the standard deviation of "
                      "a dot product of standard normal vectors.", f"Yours is {value:.3f}.")


@dot_product_std.criterion(points=1)
def same_generator_same_value(trial: Trial) -> None:
    """The same state of the generator gives the same value."""
    call = trial.case()
    first, second = trial.well_formed(call), trial.well_formed(call)
    trial.require(first.output == second.output, "Two calls with the same generator state gave different values: "
                  "is every draw made with `generator=generator`?")


@dot_product_std.criterion(points=1)
def it_is_a_measurement(trial: Trial) -> None:
    """Another generator state gives another value, and `samples` pairs are measured, be they many or only two."""
    given = trial.inputs()
    for samples, repeats in ((MANY, 2), (FEW, 16)):
        calls = [_measurement(given, given.size.d_k, samples) for _ in range(repeats)]
        values = [trial.well_formed(call).output for call in calls]
        trial.require(min(values) >= 0, "A standard deviation is never negative.")
        trial.require(len(set(values)) > 1, "Different generator states gave exactly the same value: "
                      "the samples are to be drawn and measured.")
    # Sixteen measurements of two pairs each differ by factors; that they do not would be a chance below 1e-9.
    trial.require(max(values) > 1.5 * min(values), f"With only {FEW} samples, different generator states gave nearly "
                  "the same value: is `samples` the number of pairs that you draw?")
    calls = [_measurement(given, 1, PAIRS) for _ in range(REPEATS)]
    trial.require(not _is_narrow([trial.well_formed(call).output for call in calls]), "With d_k = 1 your measurements "
                  "lie closer together than those of a product: is each sample a query times a key of its own?")


# --- gradients at probabilities ----------------------------------------------------------------------------------
# Probabilities sum to 1, so only changes that keep the sum are possible. How a formula goes on for other inputs is
# nobody's business: an answer that divides by the sum first, or goes through softmax(log p), is as right.

def gradients(trial: Trial) -> None:
    """Gradients flow to the probabilities, and are right for every change that keeps their sum at 1."""
    call = trial.with_cotangents(trial.case())
    name, right = trial.exercise.arguments[0], trial.expected(call).gradients[0]
    yours = trial.well_formed(call).gradients[0]
    trial.require(yours is not None, f"No gradient reaches `{name}`: somewhere the computation leaves torch's graph.")
    along = [g - g.mean(dim=-1, keepdim=True) for g in (yours, right)]
    trial.require(bool(close(*along, trial.exercise.tolerance).all()), f"Your gradient of `{name}` is wrong.")


# --- attention_entropy -----------------------------------------------------------------------------------------

def _entropy_case(given: Inputs) -> Call:
    return Call((given.probabilities(given.size.batch, given.size.queries, given.size.keys),))


attention_entropy = Exercise(
    "attention_entropy", CHAPTER, scaling.attention_entropy, _entropy_case, returns=("entropy",),
    off_limits=("entr",),
    # A tiny constant inside the logarithm is a common way to survive a weight of 0, and right to six digits.
    tolerance={torch.float32: (1e-5, 1e-4), torch.float64: (1e-6, 1e-5)},
    hints=("Entropy is -sum of w ln w along the last axis; `torch.log` is the natural logarithm.",
           "A weight of exactly 0 gives 0 times minus infinity, which is NaN. The mathematical value is 0.",
           "Replace the weights that are 0 by 1 inside the logarithm (`torch.where`): ln 1 = 0."))
add_standard_criteria(
    attention_entropy, values=3, double_precision=0.5, any_memory_layout=0.5,
    sentence="Written out by yourself, the entropy of each row is -sum w ln w, in nats.")
attention_entropy.criterion(points=0.5)(gradients)


@attention_entropy.criterion(points=1)
def zero_weights(trial: Trial) -> None:
    """A weight of exactly 0 adds 0 and a tiny one adds little: one weight of 1 gives entropy 0, never NaN."""
    given = trial.inputs()
    n = given.size.keys
    halves = torch.zeros(2, n)
    halves[0, :2], halves[1, 1:4] = 1 / 2, 1 / 3
    trial.must_agree(Call((halves,)))
    trial.must_agree(Call((torch.softmax(given.normal(given.size.queries, n, scale=4.0), dim=-1),)))
    trial.must_agree(Call((torch.eye(n),)))


@attention_entropy.criterion(points=0.5)
def any_leading_axes(trial: Trial) -> None:
    """It works for any number of leading axes, none included, and leaves the weights unchanged."""
    given = trial.inputs()
    s = given.size
    for shape in [(s.batch, s.heads, s.queries, s.keys), (s.queries, s.keys), (s.keys,), (1, 1, 1)]:
        reply = trial.must_agree(Call((given.probabilities(*shape),)))
        trial.require(not reply.changed, "Your code changed its argument `weights`; work on a new tensor.")


# --- softmax_jacobian ------------------------------------------------------------------------------------------

def _jacobian_case(given: Inputs) -> Call:
    return Call((given.probabilities(given.size.batch, given.size.queries, given.size.keys),))


softmax_jacobian = Exercise(
    "softmax_jacobian", CHAPTER, scaling.softmax_jacobian, _jacobian_case, returns=("J",),
    hints=("For one vector: J has p_i (1 - p_i) on the diagonal and -p_i p_j elsewhere.",
           "That is a diagonal matrix minus an outer product. `torch.diag_embed` makes diagonal matrices of the "
           "last axis, whatever stands before it.",
           "The outer product with leading axes: `p.unsqueeze(-1) * p.unsqueeze(-2)`."))
add_standard_criteria(
    softmax_jacobian, values=3, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sentence="J is diag(p) - p p^T for each vector of probabilities.")
softmax_jacobian.criterion(points=0.5)(gradients)


@softmax_jacobian.criterion(points=0.5)
def any_leading_axes(trial: Trial) -> None:  # noqa: F811
    """It works for any number of leading axes: one vector, a batch, a batch of heads."""
    given = trial.inputs()
    s = given.size
    for shape in [(s.batch, s.heads, s.queries, s.keys), (s.queries, s.keys), (s.keys,), (1, 1, 1)]:
        trial.must_agree(Call((given.probabilities(*shape),)))


@softmax_jacobian.criterion(points=0.5)
def rows_sum_to_zero(trial: Trial) -> None:
    """Every row of J sums to 0: the probabilities always sum to 1, so what one gains the others lose."""
    jacobian = trial.well_formed(trial.case()).output
    trial.require(bool((jacobian.sum(-1).abs() < 1e-5).all()), "Not every row of your J sums to 0.")
    trial.require(bool((jacobian.diagonal(dim1=-2, dim2=-1) > 0).all()), "The diagonal of your J is not positive.")


# --- scaled_dot_product_attention ------------------------------------------------------------------------------

def _attention_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.heads, s.queries, s.d_k), given.normal(s.batch, s.heads, s.keys, s.d_k),
                 given.normal(s.batch, s.heads, s.keys, s.d_v)))


scaled_dot_product_attention = Exercise(
    "scaled_dot_product_attention", CHAPTER, attention.scaled_dot_product_attention, _attention_case,
    returns=("output", "weights"), off_limits=("attention",),
    hints=("Four steps: scores, scale, softmax, mix. `torch.softmax` is allowed here.",
           "The divisor is the square root of the number of features that the dot product adds up: "
           "`query.size(-1)`.",
           "`scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))`, softmax along the last axis, "
           "times value. Return both."))
add_standard_criteria(
    scaled_dot_product_attention, values=4, gradients=1, double_precision=0.5, arguments_unchanged=0.5,
    any_memory_layout=0.5,
    sentence="Output and weights equal softmax(QK^T / sqrt(d_k)) V.")


@scaled_dot_product_attention.criterion(points=0.5)
def number_of_axes(trial: Trial) -> None:
    """It works without a batch, with a batch, with a batch of heads, and where every size is 1."""
    sizes_of_one(trial)
    call = trial.case()
    for leading in [(0, 0), (0,)]:
        trial.must_agree(replace(call, args=tuple(t[leading] for t in call.args)))


@scaled_dot_product_attention.criterion(points=0.5)
def scale_follows_d_k(trial: Trial) -> None:
    """The scale follows d_k, and nothing else: other lengths and widths give the right result too."""
    draw = trial.inputs()
    for n_q, n_k, d_k, d_v in [(3, 4, 25, 2), (1, 9, 1, 5), (6, 2, 16, 7), (4, 4, 4, 4)]:
        trial.must_agree(Call((draw.normal(2, n_q, d_k), draw.normal(2, n_k, d_k), draw.normal(2, n_k, d_v))))


@scaled_dot_product_attention.criterion(points=0.5)
def equal_values_stay(trial: Trial) -> None:
    """Where all values are equal, the output is that value, also for very large scores: weights only share."""
    call = trial.case()
    query, key, value = call.args
    for size in (1, 100):
        output, _ = trial.well_formed(replace(call, args=(query * size, key, torch.ones_like(value)))).output
        # Scores in the hundreds are known to four decimals in float32, and so is exp(score - logsumexp).
        trial.require(bool(((output - 1).abs() < 1e-3).all()), "With every value 1, your output is not 1.")
