"""Chapter 08: how a Transformer is trained and asked. Contract of each exercise: see its reference."""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from autograder.exercises.bottleneck import BOS, EOS, table
from autograder.exercises.transformer import CHAPTER
from autograder.judging.compare import Difference, form_problem, value_problem
from autograder.judging.diagnosis import all_the_same, same_reply
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import Trial, WrongForm, WrongValues, asked_with
from autograder.learner.calls import Call, Reply, Table
from autograder.reference import training

# --- noam_learning_rate ----------------------------------------------------------------------------------------

noam_learning_rate = Exercise(
    "noam_learning_rate", CHAPTER, training.noam_learning_rate,
    lambda given: Call((given.whole_number(1, 300), 64, 400)), returns=("the rate",),
    hints=("Which of the two numbers is smaller at step 1, and which at the end?",
           "step ** -0.5 has no value at step 0: say what is returned there first.",
           "`d_model ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)`."))


@noam_learning_rate.criterion(points=2)
def values(trial: Trial) -> None:
    """The rate is d_model^-0.5 min(step^-0.5, step warmup^-1.5)."""
    _rates_must_agree(trial, *((step, 64, 400) for step in (1, 37, 150, 399, 400, 401, 1_000, 20_000)))


@noam_learning_rate.criterion(points=1)
def step_zero(trial: Trial) -> None:
    """At step 0 the rate is 0."""
    calls = [Call(args) for args in ((3, 64, 40), (50, 64, 40), (0, 64, 400), (0, 512, 4000))]
    replies = [trial.ask(call) for call in calls]
    with trial.beforehand():
        _are_rates(trial, calls[:2], replies[:2])
    _are_rates(trial, calls[2:], replies[2:])


@noam_learning_rate.criterion(points=1)
def any_width_and_warmup(trial: Trial) -> None:
    """It depends on d_model and on warmup; the largest rate is that of step warmup."""
    _rates_must_agree(trial, (50, 32, 100), (50, 512, 100), (50, 512, 10), (1, 1, 1), (7, 16, 1))


def _rates_must_agree(trial: Trial, *arguments: tuple[int, int, int]) -> None:
    """Everything is asked first, because a single number looks like many a mistake; the whole number 0 is a rate."""
    calls = [Call(args) for args in arguments]
    _are_rates(trial, calls, [trial.ask(call) for call in calls])


def _are_rates(trial: Trial, calls: Sequence[Call], replies: Sequence[Reply]) -> None:
    for call, reply in zip(calls, replies, strict=True):
        right = trial.expected(call)
        if type(reply.output) is int:
            reply = replace(reply, output=float(reply.output))
        names, given = noam_learning_rate.returns, f"The arguments are {call.args}. "
        if problem := form_problem(reply, right, names):
            raise WrongForm(replace(problem, detail=given + problem.detail))
        if problem := value_problem(reply.output, right.output, names):
            raise WrongValues(replace(problem, detail=given + problem.detail))


# --- smoothed_cross_entropy ------------------------------------------------------------------------------------

def _smoothed_case(given: Inputs) -> Call:
    s = given.size
    target = given.whole_numbers(1, s.vocab - 1, s.heads, s.keys)
    target[~given.mask(s.heads, s.keys)] = 0
    return Call((given.normal(s.heads, s.keys, s.vocab, scale=2.0), given.laid_out(target), 0, 0.3))


def same_loss(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """Closer than usual: the mistakes lie near each other, and a loss is a single number."""
    return all_the_same(calls, mine, theirs) and all(
        torch.allclose(a.output.double(), b.output.double(), rtol=2e-6, atol=1e-7)
        for a, b in zip(mine, theirs, strict=True) if torch.is_tensor(a.output) and a.output.isfinite().all())


smoothed_cross_entropy = Exercise(
    "smoothed_cross_entropy", CHAPTER, training.smoothed_cross_entropy, _smoothed_case, returns=("loss",),
    off_limits=("label_smoothing",), agreement=same_loss, named_whole=True,
    hints=("Write down what one token's target distribution looks like for a vocabulary of five words.",
           "1 - smoothing at the target; pad gets 0; the V - 2 others share smoothing equally.",
           "The loss of a token is minus the sum of that distribution times the log-probabilities.",
           "The mean runs over the real tokens: `target != pad`."))
add_standard_criteria(
    smoothed_cross_entropy, values=3, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    sentence="The mean over real tokens of -sum q log p: q is 1 - smoothing at the target and smoothing / (V - 2) at "
    "each other token that is not pad.")


@smoothed_cross_entropy.criterion(points=0.5)
def no_smoothing(trial: Trial) -> None:
    """With smoothing 0 it is the plain cross-entropy."""
    call = trial.case()
    trial.must_agree(call)
    trial.must_agree(replace(call, args=(*call.args[:3], 0.0)))


@smoothed_cross_entropy.criterion(points=0.5)
def another_pad(trial: Trial) -> None:
    """Pad may be any id, and its logit is not part of the target distribution."""
    logits, target, _, smoothing = trial.case().args
    pad = 4
    swapped = torch.where(target == 0, pad, torch.where(target == pad, 0, target))
    for size in (1.0, 10.0):
        scaled = logits.clone()
        scaled[..., pad] *= size
        trial.must_agree(Call((scaled, swapped, pad, smoothing)))
    trial.must_agree(Call((logits[:, :1], target[:, :1].clamp(min=1), 0, smoothing)))  # one token each, so no pad


@smoothed_cross_entropy.criterion(points=0.5)
def very_large_logits(trial: Trial) -> None:
    """Logits of +-1,000 give a finite loss that is right to rounding."""
    call = trial.case()
    trial.must_agree(call)
    # First all of them large and close together: there exp is infinite, and no share of a softmax is rounded to 0.
    for logits in (call.args[0] + 128, call.args[0] * (1e3 / call.args[0].abs().max())):
        trial.must_agree(replace(call, args=(logits, *call.args[1:])))


# --- beam_search -----------------------------------------------------------------------------------------------
# Judged where every right algorithm agrees: with one beam it is greedy, with enough beams nothing is pruned, and in
# between it makes no difference in these cases whether a finished beam takes a place away from the others.

def _start(*rows: int) -> torch.Tensor:
    return torch.tensor([[row, 0.0] for row in rows])


def _greedy_call(given: Inputs) -> Call:
    return Call((table(given, (4, 1, 6), 10), _start(0, 1, 2), BOS, EOS, 1, 9, 0.0))


def _exhaustive_call(given: Inputs, penalty: float, steps: int = 3, eos_bonus: float = 0.0) -> Call:
    """Three words, one of them eos (2): at most 3 + 9 + 27 beginnings, so forty beams keep every one.

    The state tells what was said, so a beam needs its own. In a dozen rows some are sure to be better than greedy's.
    """
    scores = given.normal(12, steps + 1, 3, 3, scale=1.5)
    scores[..., 2] += eos_bonus
    return Call((Table(scores, remembers=True), _start(*range(12)), 0, 2, 40, steps, penalty))


def _crowded_call(given: Inputs, beam_size: int) -> Call:
    """One more word to begin with than there are beams. What follows the least of them would be best of all, and what
    follows the one before it is best of those that are carried on: one beam less or more ends elsewhere."""
    rows, vocab, shift = 4, 10, given.whole_number(0, EOS - 1)
    scores = torch.zeros(rows, 4, vocab, vocab)
    scores[:, 2:] = given.normal(rows, 2, vocab, vocab, scale=0.5)
    for row in range(rows):
        words = [(row + shift + i) % EOS for i in range(beam_size + 1)]
        scores[row, 0, :, words] = 4.0 - 0.1 * torch.arange(beam_size + 1)
        scores[row, 1, words[-2:], words[0]] = torch.tensor([3.0, 6.0])
    scores[..., EOS] = -50.0
    return Call((Table(scores), _start(*range(rows)), BOS, EOS, beam_size, 3, 0.0))


def _early_end_call(given: Inputs) -> Call:
    """The best score is that of eos alone, a sum of -1; after two words there are two with smaller sums and better
    scores, -1.6 / 2 and -1.8 / 2, and in the third step they lose more.

    In the last row eos has -3, and the best are three words: otherwise a result without its eos has no column at all.
    """
    rows, vocab = 4, 10
    shift = given.whole_number(0, EOS - 1)
    scores = torch.full((rows, 4, vocab, vocab), math.log(0.01))
    for row in range(rows):
        first, second = (row + shift) % EOS, (row + shift + 1) % EOS  # words beside eos
        scores[row, 0, :, EOS], scores[row, 0, :, first] = -1.0, -0.9
        scores[row, 1, :, first], scores[row, 1, :, second] = math.log(0.5), math.log(0.4)
    scores[-1, 0, :, EOS] = -3.0
    scores += given.normal(*scores.shape, scale=0.01)
    return Call((Table(scores), _start(*range(rows)), BOS, EOS, 2, 3, 1.0))


def same_tokens(found: torch.Tensor, wanted: torch.Tensor, eos: int) -> bool:
    """Equal up to eos that fill the end of a row."""
    width = max(found.size(1), wanted.size(1))
    padded = [torch.nn.functional.pad(t, (0, width - t.size(1)), value=eos) for t in (found, wanted)]
    return torch.equal(*padded)


def same_sequences(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """As rows are judged: eos that fill their ends say nothing."""
    def same(call: Call, a: Reply, b: Reply) -> bool:
        tables = [reply.output for reply in (a, b)]
        if all(torch.is_tensor(t) and t.dim() == 2 and t.dtype == torch.int64 for t in tables):
            return a.changed == b.changed and len(tables[0]) == len(tables[1]) and same_tokens(*tables, call.args[3])
        return same_reply(a, b)

    return all(map(same, calls, mine, theirs))


beam_search = Exercise(
    "beam_search", CHAPTER, training.beam_search, _greedy_call, returns=("tokens",), named_whole=True,
    agreement=same_sequences,
    hints=("Keep beam_size beginnings for each row. What can follow each of them, and at which price?",
           "Put the beams of all rows into one batch: entry r * beam_size + b is beam b of row r; the state too.",
           "At first all beams of a row are equal: give all but one a sum of minus infinity.",
           "A finished beam has one continuation, eos, at no cost; so it competes and keeps its place.",
           "topk over beam_size * vocab candidates says which beam and which word; sort state and words so.",
           "At the end divide each sum by length ** length_penalty (the length counts eos), and take the largest."))


def _tokens_must_agree(trial: Trial, *calls: Call) -> None:
    """Everything is asked first, because on a single table many mistakes look alike."""
    replies = [trial.ask(call) for call in calls]
    for call, reply in zip(calls, replies, strict=True):
        right = trial.expected(call)
        found, wanted, (eos, max_len) = reply.output, right.output, (call.args[3], call.args[5])
        if reply.status != "returned" or not torch.is_tensor(found) or found.dim() != 2:
            raise WrongForm(form_problem(reply, right, beam_search.returns))
        if found.dtype != torch.int64:
            raise WrongForm(Difference("The result should be int64.", f"Yours is {found.dtype}."))
        trial.require(found.size(0) == wanted.size(0) and 1 <= found.size(1) <= max_len,
                      "The result should have one row for each row of the state, and at most max_len columns.",
                      f"Yours has the shape {tuple(found.shape)}.")
        wrong = next((i for i in range(len(found)) if not same_tokens(found[i:i + 1], wanted[i:i + 1], eos)), None)
        if wrong is not None:
            raise WrongValues(Difference(
                "Some of your rows are not the right sequence.",
                f"Row {wrong} is {found[wrong].tolist()}, right is {wanted[wrong].tolist()}. "
                + asked_with(beam_search, call)))


@beam_search.criterion(points=1)
def one_beam_is_greedy(trial: Trial) -> None:
    """With one beam the result is that of greedy_decode."""
    call = _greedy_call(trial.inputs())
    _tokens_must_agree(trial, call, replace(call, args=(*call.args[:5], 3, 0.0)))


@beam_search.criterion(points=1.5)
def enough_beams_find_the_best(trial: Trial) -> None:
    """With so many beams that none is pruned it finds the most probable sequence."""
    _tokens_must_agree(trial, *(_exhaustive_call(trial.inputs(name), 0.0) for name in "abc"))


@beam_search.criterion(points=1)
def as_many_as_asked(trial: Trial) -> None:
    """With a few beams each step carries on as many as asked, those with the largest sums, whatever their scores."""
    crowded = [_crowded_call(trial.inputs(), beam_size) for beam_size in (2, 3, 4)]
    _tokens_must_agree(trial, *crowded, _early_end_call(trial.inputs()))


@beam_search.criterion(points=1)
def length_is_weighed(trial: Trial) -> None:
    """The sum of log-probabilities is divided by length ** length_penalty, and the length counts eos."""
    _tokens_must_agree(trial, *(_exhaustive_call(trial.inputs(name), penalty)
                                for name in "abc" for penalty in (1.0, 0.6, 2.0)))


@beam_search.criterion(points=1)
def the_end_of_a_row(trial: Trial) -> None:
    """After eos a row holds eos only, and beams that are not finished at max_len compete."""
    _tokens_must_agree(trial, *(_exhaustive_call(trial.inputs(name), 1.0, **options) for name in "ab"
                                for options in ({}, {"eos_bonus": -50.0}, {"steps": 1})))


@beam_search.criterion(points=0.5)
def the_state_is_left_alone(trial: Trial) -> None:
    """The state that was given is the same afterwards."""
    with trial.beforehand():
        _tokens_must_agree(trial, *(_exhaustive_call(trial.inputs(name), 0.0) for name in "ab"))
    trial.require(all(1 not in reply.changed for reply in trial.replies), "Your code changed its argument `state`.")
