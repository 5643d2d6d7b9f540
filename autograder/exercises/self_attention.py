"""Chapter 04: self-attention, piece by piece. Contract of each exercise: see its reference."""

from dataclasses import replace

import torch

from autograder.judging.compare import close
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call
from autograder.reference import attention

CHAPTER = "04_self_attention"


# --- project_qkv -----------------------------------------------------------------------------------------------

def _project_case(given: Inputs) -> Call:
    s = given.size
    scale = s.d_model**-0.5
    return Call((given.normal(s.batch, s.queries, s.d_model), given.normal(s.d_k, s.d_model, scale=scale),
                 given.normal(s.d_k, s.d_model, scale=scale), given.normal(s.d_v, s.d_model, scale=scale)))


project_qkv = Exercise(
    "project_qkv", CHAPTER, attention.project_qkv, _project_case, returns=("q", "k", "v"),
    hints=("Look at one token first: q_i = W_Q x_i. Which axis of `w_q` is summed with the features of `x`?",
           "`x` has its features last, `w_q` has them last too. A matrix product sums the last axis of the left "
           "with the second to last of the right, so one of the two must be transposed.",
           "`x @ w_q.T` is (batch, seq, d_model) times (d_model, d_k). The same for k and v."))
add_standard_criteria(
    project_qkv, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5,
    sentence="q, k and v are the three projections of x, each with its own matrix, in this order.")


# --- attention_scores ------------------------------------------------------------------------------------------

def _scores_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.queries, s.d_k), given.normal(s.batch, s.keys, s.d_k)))


attention_scores = Exercise(
    "attention_scores", CHAPTER, attention.attention_scores, _scores_case, returns=("scores",),
    hints=("Entry (i, j) is one dot product, of query i with key j. Which axis disappears?",
           "A batch of matrix products does it: (n_q, d_k) times (d_k, n_k). What has to be turned for that?",
           "`k.transpose(-2, -1)` swaps the last two axes of k and leaves the batch alone."))
add_standard_criteria(
    attention_scores, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5,
    sentence="Entry (i, j) of the scores is the dot product of query i with key j, not scaled.")


# --- attention_weights -----------------------------------------------------------------------------------------

def _weights_case(given: Inputs) -> Call:
    return Call((given.normal(given.size.batch, given.size.queries, given.size.keys),))


attention_weights = Exercise(
    "attention_weights", CHAPTER, attention.attention_weights, _weights_case, returns=("weights",),
    off_limits=("softmax", "attention"),
    hints=("Softmax is two steps: exp of everything, then divide so that each row sums to 1. Along which axis is a "
           "row?",
           "`keepdim=True` keeps the summed axis with size 1, so that the division lines up with the rows.",
           "exp(1e4) is infinite. Taking the same number away from every score of a row changes nothing in the "
           "quotient: which number makes every exponent at most 0?",
           "`scores - scores.amax(dim=-1, keepdim=True)`, then exp, then divide by the sum along the last axis."))
add_standard_criteria(
    attention_weights, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sentence="Written out by yourself, the weights are the softmax of each row of scores.")


@attention_weights.criterion(points=0.5)
def rows_sum_to_one(trial: Trial) -> None:
    """No weight is negative, every row sums to 1, and equal scores share equally."""
    weights = trial.well_formed(trial.case()).output
    trial.require(bool((weights >= 0).all()), "Some of your weights are negative.")
    sums = weights.sum(-1)
    trial.require(bool(((sums - 1).abs() < 1e-5).all()), "Not every row of your weights sums to 1.",
                  f"The sums lie between {sums.min():.3g} and {sums.max():.3g}.")
    trial.must_agree(Call((torch.zeros_like(weights),)))


@attention_weights.criterion(points=1)
def large_scores(trial: Trial) -> None:
    """Scores of +-10,000 give finite weights that are right to rounding, also when rows lie far apart."""
    s = trial.inputs(dtype=torch.float64)
    scores = s.normal(s.size.batch, s.size.queries, s.size.keys, scale=3.0)
    offsets = torch.linspace(-1e4, 1e4, s.size.queries, dtype=torch.float64).unsqueeze(-1)
    trial.must_agree(Call((scores + offsets,)))
    trial.must_agree(Call((scores * (1e4 / scores.abs().max()),)))


@attention_weights.criterion(points=0.5)
def any_leading_axes(trial: Trial) -> None:
    """It works for any number of leading axes: one row, one matrix, a batch of heads."""
    s = trial.inputs()
    for shape in [(s.size.batch, s.size.heads, s.size.queries, s.size.keys), (s.size.queries, s.size.keys),
                  (s.size.keys,), (1, 1, 1)]:
        trial.must_agree(Call((s.normal(*shape),)))


# --- weighted_sum ----------------------------------------------------------------------------------------------

def _sum_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.probabilities(s.batch, s.queries, s.keys), given.normal(s.batch, s.keys, s.d_v)))


weighted_sum = Exercise(
    "weighted_sum", CHAPTER, attention.weighted_sum, _sum_case, returns=("out",),
    hints=("Output i is a sum over the keys j: weight (i, j) times value j. Which axis of `weights` meets which "
           "axis of `v`?",
           "(n_q, n_k) times (n_k, d_v): the shapes already fit for one matrix product a batch.",
           "`weights @ v`, nothing else."))
add_standard_criteria(
    weighted_sum, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, sizes_of_one=0.5,
    sentence="Output i is the sum over all keys j of weight (i, j) times value j.")


@weighted_sum.criterion(points=0.5)
def any_weights(trial: Trial) -> None:
    """Weights that do not sum to 1 are used as they are."""
    s = trial.inputs(strided=True)
    trial.must_agree(Call((s.normal(s.size.batch, s.size.queries, s.size.keys),
                           s.normal(s.size.batch, s.size.keys, s.size.d_v))))


# --- SelfAttention ---------------------------------------------------------------------------------------------

def _module_case(given: Inputs) -> Call:
    s = given.size
    weights = {f"W_{letter}.weight": given.normal(s.d_k, s.d_model, scale=1.5 * s.d_model**-0.5) for letter in "qkv"}
    return Call((given.normal(s.batch, s.queries, s.d_model),), init=(s.d_model, s.d_k), weights=weights)


self_attention = Exercise(
    "SelfAttention", CHAPTER, attention.SelfAttention, _module_case, returns=("out", "weights"),
    off_limits=("attention",),
    hints=("Three parts: project x three times, score and normalise, mix. You wrote all of them above.",
           "`nn.Linear(d_model, d_k, bias=False)` is one projection; make three of them in `__init__`, with the "
           "names W_q, W_k and W_v.",
           "The scores are divided by the square root of d_k before the softmax; d_k is the last size of q.",
           "Return both: `return weights @ v, weights`."))
add_standard_criteria(
    self_attention, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5, train_and_eval=0.5,
    sentence="With the same weights, the output and the attention weights equal softmax(QK^T / sqrt(d_k)) V.")


@self_attention.criterion(points=0.5)
def weights_mix_rows(trial: Trial) -> None:
    """Every row of the returned attention weights sums to 1, also where the scores are very large."""
    call = trial.case()
    for size in (1, 20):
        _, weights = trial.well_formed(replace(call, args=(call.args[0] * size,))).output
        # Scores in the hundreds are known to four decimals in float32, and so is exp(score - logsumexp).
        trial.require(bool(((weights.sum(-1) - 1).abs() < 1e-3).all()), "Not every row of your weights sums to 1.")


@self_attention.criterion(points=0.5)
def order_does_not_matter(trial: Trial) -> None:
    """Shuffling the tokens shuffles the outputs in the same way, and changes nothing else."""
    call = trial.case()
    order = torch.tensor([3, 0, 4, 1, 2])
    out, _ = trial.must_agree(call).output
    moved, _ = trial.must_agree(replace(call, args=(call.args[0][:, order],))).output
    trial.require(bool(close(moved, out[:, order]).all()), "Shuffling the tokens changes more than the order of yours.")
