"""Chapter 03: multiplicative and local attention. Contract of each exercise: see its reference."""

from dataclasses import replace

import torch

from autograder.judging.exercise import Exercise
from autograder.judging.inputs import EDGES, Inputs
from autograder.judging.standard import GRADIENT_TOLERANCES, add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call
from autograder.reference import luong

CHAPTER = "03_luong"
# Sizes by the letters of the reference: d_s is d_k (11), d_h is d_v (13), d_a is d_model (17), src is keys (7).


# --- the three scores ------------------------------------------------------------------------------------------

def _dot_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.d_k), given.normal(s.batch, s.keys, s.d_k)))


def _general_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.d_k), given.normal(s.batch, s.keys, s.d_v),
                 given.normal(s.d_k, s.d_v, scale=s.d_v**-0.5)))


def _concat_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.d_k), given.normal(s.batch, s.keys, s.d_v),
                 given.normal(s.d_model, s.d_k + s.d_v, scale=(s.d_k + s.d_v) ** -0.5), given.normal(s.d_model)))


dot_score = Exercise(
    "dot_score", CHAPTER, luong.dot_score, _dot_case, returns=("scores",),
    hints=("One number for each source position: the dot product of the state with that position's encoder state.",
           "(batch, src, d) times (batch, d, 1) is (batch, src, 1). What turns the state into (batch, d, 1)?",
           "`(encoder_states @ state.unsqueeze(-1)).squeeze(-1)`; name the axis that you squeeze."))
general_score = Exercise(
    "general_score", CHAPTER, luong.general_score, _general_case, returns=("scores",),
    hints=("s^T W h_j: which axis of W meets s, and which meets h_j? Compare the sizes.",
           "`state @ W` is (batch, d_h). What is left to do is a dot product.",
           "With `query = state @ W` it is the dot score of query and encoder states."))
concat_score = Exercise(
    "concat_score", CHAPTER, luong.concat_score, _concat_case, returns=("scores",),
    hints=("For one position: put s and h_j end to end, s first. Which size has the result, and which axis of W fits?",
           "`state.unsqueeze(1).expand(-1, src, -1)` repeats the state along the source; then `torch.cat` on the last "
           "axis.",
           "`torch.tanh(both @ W.T) @ v` is (batch, src)."))
for exercise, sentence in ((dot_score, "The score of position j is s^T h_j."),
                           (general_score, "The score of position j is s^T W h_j."),
                           (concat_score, "The score of position j is v^T tanh(W [s ; h_j]).")):
    add_standard_criteria(exercise, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
                          any_memory_layout=0.5, sizes_of_one=0.5, sentence=sentence)


# --- local_window ----------------------------------------------------------------------------------------------

def centers(given: Inputs, low: int, high: int, rows: int) -> torch.Tensor:
    """Centres that round to `low` up to `high`: by turns a little above and a little below the whole number.

    They keep a tenth away from it, and from where rounding turns; none is negative.
    """
    above = 1 - 2 * (torch.arange(rows) % 2)
    fraction = 0.1 + 0.3 * torch.rand(rows, generator=given.generator, dtype=torch.float64)
    return (given.whole_numbers(low, high, rows) + above * fraction).abs().to(given.dtype)


def _window_case(given: Inputs) -> Call:
    """The first two windows are whole, so that both of their ends show; the others may be cut."""
    s = given.size
    length, half_width = s.keys + s.queries, s.queries - 1
    whole, any_window = (half_width, length - 1 - half_width, 2), (0, length - 1, s.queries - 2)
    return Call((torch.cat([centers(given, *whole), centers(given, *any_window)]), half_width, length))


local_window = Exercise(
    "local_window", CHAPTER, luong.local_window, _window_case, returns=("mask",),
    hints=("Write the positions of a source of seven words on paper and mark the window for centre 2.8 and D = 1.",
           "Round the centre first. A position is inside if its distance from there is at most D: 2D + 1 positions.",
           "`(torch.arange(length) - center.round().unsqueeze(-1)).abs() <= half_width`."))
add_standard_criteria(
    local_window, values=2, arguments_unchanged=0.5,
    sentence="True for the 2D + 1 positions around the rounded centre.")


@local_window.criterion(points=1)
def cut_at_both_ends(trial: Trial) -> None:
    """At both ends of the source the window is cut, and nothing comes in again at the other end."""
    for half_width in (4, 2, 1):  # the widest first: in a window of three, too many mistakes look alike
        trial.must_agree(Call((torch.tensor([0.2, 0.9, 5.1, 9.8, 10.3]), half_width, 11)))
    trial.must_agree(Call((torch.tensor([1.2, 0.1]), 5, 3)))
    trial.must_agree(Call((torch.tensor([0.2]), 1, 1)))


@local_window.criterion(points=0.5)
def whole_centers(trial: Trial) -> None:
    """Centres may be whole numbers (int64), and float64 as well."""
    trial.must_agree(Call((torch.tensor([0, 5, 11]), 4, 12)))
    trial.must_agree(Call((torch.tensor([0.4, 5.3, 10.6], dtype=torch.float64), 4, 12)))


# --- local_weights ---------------------------------------------------------------------------------------------

def _local_case(given: Inputs) -> Call:
    """Each window is whole. D is 3, or 1 in a small case: with D = 2 sigma is 1, and no power of it would show."""
    s = given.size
    length, half_width = s.keys + s.queries, s.keys // 2
    return Call((given.normal(s.queries, length), centers(given, half_width, length - 1 - half_width, s.queries),
                 half_width))


local_weights = Exercise(
    "local_weights", CHAPTER, luong.local_weights, _local_case, returns=("weights",), off_limits=("attention",),
    hints=("Two steps: a softmax that sees the window only, then a bell curve around the centre on top of it.",
           "The softmax is that of chapter 2 with the window as its mask.",
           "The distance in the bell curve is from the centre as it came, not from the rounded one.",
           "`weights * torch.exp(-distance**2 / (2 * (half_width / 2) ** 2))`, and nothing after it."))
add_standard_criteria(
    local_weights, values=3, gradients=1, double_precision=0.5, arguments_unchanged=0.5,
    sentence="Softmax over the window, 0 outside, times exp(-(j - p)^2 / (2 (D/2)^2)), not renormalised.")


@local_weights.criterion(points=0.5)
def window_at_the_end(trial: Trial) -> None:
    """Where the window is cut, the softmax runs over what is left of it, be it one word."""
    given = trial.inputs(strided=True)
    length = given.size.keys
    for half_width in (3, 1):
        center = torch.tensor([0.2, 0.7, length - 1.3, length - 0.9])
        trial.must_agree(Call((given.normal(4, length), center, half_width)))
    trial.must_agree(Call((given.normal(1, 1), torch.tensor([0.3]), 1)))


@local_weights.criterion(points=0.5)
def hidden_scores_do_not_count(trial: Trial) -> None:
    """Scores outside the window change nothing, however large they are."""
    scores, center, half_width = trial.case().args
    outside = (torch.arange(scores.size(1)) - center.round().unsqueeze(-1)).abs() > half_width
    for size in (0.0, 1e4, -1e4):
        trial.must_agree(Call((torch.where(outside, size, scores), center, half_width)))


# --- LuongAttention --------------------------------------------------------------------------------------------

def _module_call(given: Inputs, method: str) -> Call:
    s = given.size
    hidden, encoder = s.d_k, s.d_k if method == "dot" else s.d_v
    shapes = {"W_c": (hidden, hidden + encoder)}
    if method == "general":
        shapes |= {"W": (hidden, encoder)}
    if method == "concat":
        shapes |= {"W": (hidden, hidden + encoder), "v": (1, hidden)}
    weights = {f"{name}.weight": given.normal(*shape, scale=shape[1] ** -0.5) for name, shape in shapes.items()}
    return Call((given.normal(s.heads, hidden), given.normal(s.heads, s.keys, encoder), given.mask(s.heads, s.keys)),
                init=(hidden, encoder, method), weights=weights, dtype=given.dtype)


luong_attention = Exercise(
    "LuongAttention", CHAPTER, luong.LuongAttention, lambda given: _module_call(given, "general"),
    returns=("attentional_state", "weights"), off_limits=("attention",),
    hints=("Score, weigh, mix as before; then one thing more: the context and the state together give the new state.",
           "`self.W_c` reads context and state end to end, context first; tanh comes last.",
           "In `__init__` look at `method` before you make a layer: raise ValueError for one that you do not know, and "
           "for dot where the sizes differ. Put both numbers into the text.",
           "`nn.Linear(encoder_dim, hidden_dim)` has a weight of shape (hidden, encoder): `self.W(encoder_states)` is "
           "W h_j for every j, and the rest is a dot product with the state.",
           "For the mask use what you wrote in chapter 2: a row with nothing real gets zero weights."))
add_standard_criteria(
    luong_attention, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    sentence="With the same weights and method \"general\", the result is tanh(W_c [c ; s]) and the weights.")


@luong_attention.criterion(points=1)
def dot_and_concat(trial: Trial) -> None:
    """The methods \"dot\" and \"concat\" are right too, in train mode as well, with the parameters that each needs."""
    for method in ("dot", "concat"):
        call = _module_call(trial.inputs(method, strided=True), method)
        trial.must_agree(call)
        trial.must_agree(replace(trial.with_cotangents(call), training=True), GRADIENT_TOLERANCES)


@luong_attention.criterion(points=0.5)
def with_nothing_real(trial: Trial) -> None:
    """A row with nothing real has zero weights and a zero context, and no NaN in any gradient."""
    call = trial.case()
    call.args[2][1] = False
    trial.must_agree(trial.with_cotangents(call), GRADIENT_TOLERANCES)


@luong_attention.criterion(points=0.5)
def with_no_mask(trial: Trial) -> None:
    """Without a mask every position is real, also for one sentence of one word."""
    small = (_module_call(trial.inputs(m, size=size), m) for m in luong.METHODS for size in EDGES.values())
    for call in (trial.case(), *small):
        trial.must_agree(replace(call, args=call.args[:2]))


@luong_attention.criterion(points=0.5)
def what_cannot_work_is_refused(trial: Trial) -> None:
    """The constructor raises ValueError for an unknown method, naming the three, and for dot with unequal sizes."""
    size = trial.inputs().size
    # Any part will do that calls nothing of the learner's: the constructor alone is asked.
    built = Call(part="parameters")
    trial.must_raise(replace(built, init=(size.d_k, size.d_v, "dot")), "ValueError", [str(size.d_k), str(size.d_v)])
    trial.must_raise(replace(built, init=(size.d_k, size.d_v, "cosine")), "ValueError", luong.METHODS)
