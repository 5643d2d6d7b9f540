"""Chapter 09: what a layer costs and how far it reaches. Contract of each exercise: see its reference."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from autograder.judging.diagnosis import all_the_same
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import GRADIENT_TOLERANCES, add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call, Reply
from autograder.reference import comparison

CHAPTER = "09_comparison"


# --- operations and path_length --------------------------------------------------------------------------------

operations = Exercise(
    "operations", CHAPTER, comparison.operations, lambda given: Call(("cnn", given.size.keys, given.size.d_k, 5)),
    returns=("count",),
    hints=("How many numbers does the layer compute, and how many products go into each of them?",
           "Attention has n * n scores, and a score is a dot product of two vectors of width d.",
           "A step of the RNN multiplies a vector of width d with a d x d matrix, and there are n steps. A convolution "
           "does so once for each place of its kernel.",
           "For a kind that is none of the three, `raise ValueError(...)` with a text that holds all three names."))

path_length = Exercise(
    "path_length", CHAPTER, comparison.path_length, lambda given: Call(("cnn", given.size.vocab, given.size.heads)),
    returns=("length",),
    hints=("Draw four positions in a row. How many steps of an RNN lie between the first and the last of them?",
           "One causal layer lets a position see kernel - 1 positions further back. How many layers make n - 1?",
           "With dilation the number of positions that are seen is multiplied by kernel in each layer.",
           "`math.ceil(math.log(125, 5))` is 4. Count with whole numbers: multiply in a `while` loop until n is "
           "reached."))


def _refuses_other_kinds(trial: Trial, *sizes: int) -> None:
    """The three kinds are served, in the right form (the numbers are judged elsewhere); others are a ValueError."""
    for kind in comparison.KINDS:
        trial.well_formed(Call((kind, *sizes)))
    for kind in ("lstm", "nn", "conv"):
        trial.must_raise(Call((kind, *sizes)), "ValueError", comparison.KINDS)


def _agrees_on_all(trial: Trial, arguments: Sequence[tuple]) -> None:
    """All are asked before one is judged: a single number may be right, or wrong, for many reasons."""
    calls = [Call(args) for args in arguments]
    for call in calls:
        trial.ask(call)
    for call in calls:
        trial.must_agree(call)


def _counts(trial: Trial, kind: str) -> None:
    """Short and wide, long and narrow, one of each; with the kernel that there is, and with another."""
    given = trial.inputs()
    small, large = given.whole_number(3, 30), given.whole_number(40, 900)
    sizes = ((small, large), (large, small), (1, large), (large, 1))
    _agrees_on_all(trial, [(kind, n, d, *kernel) for n, d in sizes for kernel in ((), (5,))])


@operations.criterion(points=1)
def work_of_attention(trial: Trial) -> None:
    """Self-attention: n * n scores, each a product of two vectors of width d."""
    _counts(trial, "attention")


@operations.criterion(points=1)
def work_of_the_rnn(trial: Trial) -> None:
    """RNN: n steps, each the product of a state and a d x d matrix."""
    _counts(trial, "rnn")


@operations.criterion(points=1)
def work_of_the_convolution(trial: Trial) -> None:
    """Convolution: at each of n positions a d x d matrix for each of the kernel's places, 3 unless told otherwise."""
    _counts(trial, "cnn")


@operations.criterion(points=1)
def other_kinds_have_no_work(trial: Trial) -> None:
    """Another kind is a ValueError that names the three."""
    _refuses_other_kinds(trial, 6, 7)


@path_length.criterion(points=1)
def attention_and_the_rnn(trial: Trial) -> None:
    """Attention takes one layer, an RNN n - 1 steps, whatever the kernel is."""
    n = trial.inputs().whole_number(10, 900)
    for kind in ("attention", "rnn"):
        _agrees_on_all(trial, [(kind, *sizes) for sizes in ((n,), (2,), (3,), (n, 5), (n, 4, True))])


@path_length.criterion(points=1)
def plain_convolution(trial: Trial) -> None:
    """A plain convolution sees kernel - 1 positions more with each layer, so it takes (n - 1) / (kernel - 1), rounded
    up.
    """
    n = trial.inputs().whole_number(30, 900)
    sizes = ((n,), (n, 3, False), (13, 4), (14, 4), (12, 4), (2, 5), (5, 2), (2, 2), (n, 7), (40, 40), (41, 40))
    _agrees_on_all(trial, [("cnn", *some) for some in sizes])


@path_length.criterion(points=1)
def dilated_convolution(trial: Trial) -> None:
    """With dilation kernel^layer it takes the smallest number of layers L with kernel^L at least n."""
    n = trial.inputs().whole_number(30, 900)
    n += n in (3**4, 3**5, 3**6, 7**3)  # powers are another criterion
    sizes = ((n, 3), (n, 7), (20, 4), (60, 2), (2, 6), (10, 40))
    _agrees_on_all(trial, [("cnn", *some, True) for some in sizes])


@path_length.criterion(points=1)
def powers_of_the_kernel(trial: Trial) -> None:
    """It is exact where n is a power of the kernel, and one above or below it."""
    powers = ((2, 10), (5, 3), (3, 5), (10, 3), (6, 3), (3, 1))
    _agrees_on_all(trial, [("cnn", kernel**power + beside, kernel, True)
                           for kernel, power in powers for beside in (0, 1, -1)])


@path_length.criterion(points=1)
def other_kinds_have_no_path(trial: Trial) -> None:
    """Another kind is a ValueError that names the three."""
    _refuses_other_kinds(trial, 12)


# --- causal_conv1d ---------------------------------------------------------------------------------------------

def _conv_case(given: Inputs, seq: int = 0, kernel: int = 0) -> Call:
    """By the letters of the reference: seq is keys (7), d_in is d_k (11), d_out is d_v (13), kernel is heads (3)."""
    s = given.size
    seq, kernel = seq or s.keys, kernel or s.heads
    weight = given.normal(s.d_v, s.d_k, kernel, scale=(s.d_k * kernel) ** -0.5)
    return Call((given.normal(s.batch, seq, s.d_k), weight, given.normal(s.d_v)))


causal_conv1d = Exercise(
    "causal_conv1d", CHAPTER, comparison.causal_conv1d, _conv_case, returns=("y",),
    hints=("Which positions does the first output see, and what is there in place of those that do not exist?",
           "Put kernel - 1 rows of zeros before the sequence, and none after it. Then each output has its full window.",
           "`F.pad` counts from the last axis on: `F.pad(x, (0, 0, kernel - 1, 0))` pads the axis before the last.",
           "`F.conv1d` wants (batch, width, seq): transpose before and after. It does not flip the kernel: its last "
           "weight meets the last position of the window."))
add_standard_criteria(
    causal_conv1d, values=2, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5,
    sentence="Position t gets the bias and its window, t - kernel + 1 to t, the last weight for t itself.")


@causal_conv1d.criterion(points=1)
def shorter_than_the_kernel(trial: Trial) -> None:
    """The sequence may be shorter than the kernel, as long, or longer, and the kernel may be 1."""
    given = trial.inputs()
    for seq, kernel in ((6, 3), (4, 4), (3, 4), (2, 5), (1, 3), (6, 1)):
        trial.must_agree(_conv_case(given, seq, kernel))


@causal_conv1d.criterion(points=0.5)
def without_a_bias(trial: Trial) -> None:
    """The bias may be missing, or None."""
    x, weight, _ = trial.case().args
    for args in ((x, weight), (x, weight, None)):
        trial.must_agree(Call(args))


# --- sliding_window_mask ---------------------------------------------------------------------------------------

sliding_window_mask = Exercise(
    "sliding_window_mask", CHAPTER, comparison.sliding_window_mask,
    lambda given: Call((given.size.keys, given.size.heads)), returns=("mask",),
    hints=("Row i is the query. Write the last row for length 5 and window 2: which keys are seen?",
           "`i - j` says how far back key j lies, seen from query i. For which of these numbers is the entry True?",
           "`positions.unsqueeze(1) - positions` is i - j for all pairs, if positions is `torch.arange(length)`.",
           "Two comparisons, joined by `&`, each in brackets: `(back >= 0) & (back < window)`."))
add_standard_criteria(
    sliding_window_mask, values=2,
    sentence="Entry (i, j) is True where 0 <= i - j < window, as a bool tensor of shape (length, length).")


@sliding_window_mask.criterion(points=1)
def any_window(trial: Trial) -> None:
    """Every window works: 1 leaves the diagonal alone, and it may be larger than the length."""
    _agrees_on_all(trial, [(5, window) for window in (2, 1, 4, 5, 6, 50)])


@sliding_window_mask.criterion(points=1)
def any_length(trial: Trial) -> None:
    """Every length works, 1 too."""
    _agrees_on_all(trial, [(length, 4) for length in (9, 1, 2, 40)])


# --- tiled_attention -------------------------------------------------------------------------------------------

def _attention_args(given: Inputs, *leading: int, n_q: int = 0, n_k: int = 0, d_k: int = 0, d_v: int = 0) -> tuple:
    s = given.size
    n_q, n_k, d_k, d_v = n_q or s.queries, n_k or s.keys, d_k or s.d_k, d_v or s.d_v
    return tuple(given.normal(*leading, n, d) for n, d in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))


def same_results_and_memory(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """Two answers did the same if their results are equal, and both or neither made the whole matrix."""
    return (all_the_same(calls, mine, theirs)
            and all(_whole_matrix(call, a) == _whole_matrix(call, b)
                    for call, a, b in zip(calls, mine, theirs, strict=True)))


def _whole_matrix(call: Call, reply: Reply) -> bool:
    """Whether some tensor has room for n_q * n_k numbers for each leading index; False where nobody measured."""
    query, key, *_ = call.args
    return call.measured and reply.largest >= query[..., 0].numel() * key.size(-2)


tiled_attention = Exercise(
    "tiled_attention", CHAPTER, comparison.tiled_attention,
    lambda given: Call((*_attention_args(given, given.size.batch, given.size.heads), 3)), returns=("output",),
    off_limits=("attention",), agreement=same_results_and_memory,
    hints=("Take two blocks of keys. From the first you know a row's largest score m, the sum z of exp(s - m), and the "
           "sum o of exp(s - m) v. What has to happen to z and o when the second block holds a larger score?",
           "exp(s - new) = exp(s - m) exp(m - new). So one factor, exp(m - new), brings both sums to the new maximum.",
           "`key.split(block_size, dim=-2)` cuts the keys into blocks, and the last one may be smaller.",
           "Begin with m = minus infinity, z = 0 and o = 0. The first factor is then exp(-inf) = 0. Keep the axis of m "
           "and z (`keepdim=True`), and give back o / z.",
           "In the loop: scores of this block; `new = torch.maximum(m, scores.amax(-1, keepdim=True))`; z and o times "
           "`(m - new).exp()`, plus what this block adds with `(scores - new).exp()`; then m = new."))
add_standard_criteria(
    tiled_attention, values=6, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    sentence="The output is that of scaled softmax attention over all keys, written out by yourself.")


@tiled_attention.criterion(points=0.5)
def any_block_size(trial: Trial) -> None:
    """Any block size works: 1, one that divides the number of keys or does not, all keys, and more."""
    *tensors, _ = trial.case().args
    for block_size in (2, 1, 4, 6, 7, 9, 100):
        trial.must_agree(Call((*tensors, block_size)))


@tiled_attention.criterion(points=0.5)
def any_leading_axes(trial: Trial) -> None:
    """It works for any number of leading axes, for tensors that are not contiguous, and for sizes of 1."""
    given = trial.inputs(strided=True)
    s = given.size
    for leading in ((s.batch, s.heads, 4), (s.batch,), ()):
        trial.must_agree(Call((*_attention_args(given, *leading), 2)))
    trial.must_agree(Call((*(given.normal(1, 1, 1) for _ in range(3)), 1)))


LEVELS = {"rising": (-1000, -1000, 0, 0, 1000, 1000), "falling": (1000, 1000, 0, 0, -1000, -1000),
          "low": (-1000,) * 6, "high": (1000,) * 6}
"""Scores of six keys, in order, to which a little chance is added."""


@tiled_attention.criterion(points=1.5)
def large_scores(trial: Trial) -> None:
    """Scores of 1000 and of -1000 are no problem, in any order of the blocks, and in neighbouring rows (float64)."""
    for name, levels in LEVELS.items():
        query, key, value = _attention_args(trial.inputs(name, dtype=torch.float64), 2, n_q=5, n_k=6, d_k=16)
        # The first feature carries the level; the last two queries see it turned round, and not at all.
        query[..., 0] = 4 * torch.tensor([1.0, 1.0, 1.0, -1.0, 0.0])
        key[..., 0] = torch.tensor(levels)
        for block_size in (2, 1, 4, 6):
            trial.must_agree(Call((query, key, value, block_size), dtype=torch.float64))


@tiled_attention.criterion(points=2)
def never_the_whole_matrix(trial: Trial) -> None:
    """No operation makes a tensor of n_q * n_k or more numbers for each leading index, and gradients arrive
    (24 queries, 32 keys, d_k 2, d_v 3, blocks of 4 and of 1).
    """
    for leading in ((), (2,)):
        tensors = _attention_args(trial.inputs(f"{leading}"), *leading, n_q=24, n_k=32, d_k=2, d_v=3)
        for block_size in (4, 1):
            call = replace(trial.with_cotangents(Call((*tensors, block_size))), measured=True)
            reply = trial.must_agree(call, GRADIENT_TOLERANCES)
            trial.require(not _whole_matrix(call, reply), "One of your operations makes a tensor as large as the whole "
                          f"score matrix, or larger: here are 24 queries, 32 keys, and block_size {block_size}.",
                          f"It has room for {reply.largest} numbers.")
