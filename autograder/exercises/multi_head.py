"""Chapter 06: heads and masks. Contract of each exercise: see its reference."""

from dataclasses import replace

import torch

from autograder.judging.compare import close
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import EXACT_ROOT, SMALL, Inputs, Sizes
from autograder.judging.standard import GRADIENT_TOLERANCES, add_standard_criteria, nothing_dropped, sizes_of_one
from autograder.judging.trial import Trial
from autograder.learner.calls import Call
from autograder.reference import multi_head

CHAPTER = "06_multi_head"
# Here d_model is heads times d_k (33), so that it can be split.


# --- split_heads and merge_heads -------------------------------------------------------------------------------

def _heads(size: Sizes) -> int:
    """Two in the case that is shown: with a single head most slips with heads look right."""
    return 2 if size is SMALL else size.heads


def _split_case(given: Inputs) -> Call:
    s, heads = given.size, _heads(given.size)
    return Call((given.normal(s.batch, s.queries, heads * s.d_k), heads))


def _merge_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, _heads(s), s.queries, s.d_k),))


split_heads = Exercise(
    "split_heads", CHAPTER, multi_head.split_heads, _split_case, returns=("heads",),
    hints=("Each token has d_model features. Which of them belong to the first head?",
           "First cut the last axis in two: (batch, seq, heads, d_k). Then one more step brings the heads forward.",
           "`x.reshape(batch, seq, num_heads, d_k)`, then `.transpose(1, 2)`."))
merge_heads = Exercise(
    "merge_heads", CHAPTER, multi_head.merge_heads, _merge_case, returns=("merged",),
    hints=("Go back the way that split_heads came, step by step, the last one first.",
           "`x.transpose(1, 2)` is (batch, seq, heads, d_k) again; then the last two axes become one.",
           "After a transpose the memory is not in order: `reshape` or `flatten` copies it, `view` complains."))
for exercise, sentence in (
        (split_heads, "Head i holds the features i d_k to (i + 1) d_k - 1 of every token, and tokens stay in order."),
        (merge_heads, "Every token gets the features of its heads side by side, head 0 first.")):
    add_standard_criteria(exercise, values=1, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
                          any_memory_layout=0.5, sizes_of_one=0.5, sentence=sentence)


@split_heads.criterion(points=0.5)
def any_number_of_heads(trial: Trial) -> None:
    """One head, and as many heads as features, work too."""
    given = trial.inputs()
    x = given.normal(given.size.batch, given.size.queries, 24)
    for heads in (4, 1, 24):
        trial.must_agree(Call((x, heads)))


@merge_heads.criterion(points=0.5)
def any_heads(trial: Trial) -> None:
    """One head works too, and so do heads with a single feature."""
    given = trial.inputs()
    for heads, d_k in ((4, 6), (1, 24), (24, 1)):
        trial.must_agree(Call((given.normal(given.size.batch, heads, given.size.queries, d_k),)))


# --- causal_mask and padding_mask ------------------------------------------------------------------------------

causal_mask = Exercise(
    "causal_mask", CHAPTER, multi_head.causal_mask, lambda given: Call((given.size.queries,)), returns=("mask",),
    hints=("Row i is the query. Write the row of the second of four tokens: which keys has it already seen?",
           "A token may look at itself: the diagonal is True.",
           "`torch.tril` keeps the lower triangle of a matrix, the diagonal included; it works for bool as well."))
add_standard_criteria(causal_mask, values=3, sentence="Entry (i, j) is True where j <= i, as a bool tensor.")


@causal_mask.criterion(points=1)
def any_size(trial: Trial) -> None:
    """Every size works, 1 too."""
    for size in (4, 1, 2, 40):
        trial.must_agree(Call((size,)))


def _padding_case(given: Inputs) -> Call:
    s = given.size
    tokens = given.whole_numbers(1, s.vocab, s.heads, s.keys)
    return Call((tokens * given.mask(s.heads, s.keys), 0))


padding_mask = Exercise(
    "padding_mask", CHAPTER, multi_head.padding_mask, _padding_case, returns=("mask",),
    hints=("Which tokens are real? That is one comparison.",
           "The weights are (batch, heads, queries, keys). Padding hides keys: on which of these axes do they lie?",
           "`.unsqueeze(1)` puts in an axis of size 1; it takes two of them, or `[:, None, None, :]`."))
add_standard_criteria(
    padding_mask, values=2, arguments_unchanged=0.5,
    sentence="True for real tokens, with the shape (batch, 1, 1, seq), as a bool tensor.")


@padding_mask.criterion(points=1)
def any_pad(trial: Trial) -> None:
    """The padding may have any id, and a sentence may be padding alone."""
    tokens, _ = trial.case().args
    for pad in (tokens.max().item(), 3, -1):
        padded = tokens.clone()
        padded[0, :2] = torch.tensor([pad + 1, pad])  # turned around, this row does not end with its pads either
        trial.must_agree(Call((padded, pad)))
    tokens[1] = 3
    trial.must_agree(Call((tokens, 3)))


@padding_mask.criterion(points=0.5)
def a_single_token(trial: Trial) -> None:
    """It works at the edge too: one sentence of one token."""
    sizes_of_one(trial)


# --- masked_attention ------------------------------------------------------------------------------------------

def _attention_case(given: Inputs) -> Call:
    s = given.size
    mask = given.mask(s.batch * s.heads * s.queries, s.keys).view(s.batch, s.heads, s.queries, s.keys)
    return Call((given.normal(s.batch, s.heads, s.queries, s.d_k), given.normal(s.batch, s.heads, s.keys, s.d_k),
                 given.normal(s.batch, s.heads, s.keys, s.d_v), mask))


masked_attention = Exercise(
    "masked_attention", CHAPTER, multi_head.masked_attention, _attention_case, returns=("output", "weights"),
    off_limits=("attention",),
    hints=("It is the attention of chapter 5 with one step more, between the scaling and the softmax.",
           "A forbidden score becomes minus infinity: exp of it is exactly 0.",
           "A query that may attend to nothing has a row of minus infinity alone, and softmax makes NaN of it. The row "
           "has to be zeros, without NaN in any gradient.",
           "`mask.bool()` reads 0 and 1 as well; `masked_fill(~mask, ...)` works with any mask that broadcasts.",
           "Give a row with nothing allowed no minus infinity at all: fill where `~(allowed | nothing)`, `nothing` "
           "being such rows. A second `masked_fill` after the softmax sets its weights to 0."))
add_standard_criteria(
    masked_attention, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    sentence="Written out by yourself, output and weights are those of a softmax over the allowed keys alone.")


@masked_attention.criterion(points=1)
def nothing_allowed(trial: Trial) -> None:
    """A query that may attend to nothing gets zeros, with finite gradients."""
    call = trial.case()
    call.args[3][0, 1, 2] = False
    call.args[3][1] = False
    trial.must_agree(trial.with_cotangents(call), GRADIENT_TOLERANCES)


@masked_attention.criterion(points=0.5)
def any_mask(trial: Trial) -> None:
    """The mask may be bool, or 0 and 1, may broadcast, and may be missing."""
    q, k, v, mask = trial.case().args
    kinds = torch.bool, torch.int32, torch.uint8, q.dtype
    for some in (*map(mask.to, kinds), mask[:1, :1], mask[:, :1, :1], mask[0, 0], None):
        trial.must_agree(Call((q, k, v, some)))
    trial.must_agree(Call((q, k, v)))


@masked_attention.criterion(points=0.5)
def any_leading_axes(trial: Trial) -> None:
    """It works for any number of leading axes: one matrix, a batch, a batch of heads and more, sizes of 1 as well."""
    given = trial.inputs(strided=True)
    s = given.size
    for leading in ((s.batch, s.heads, 4), (s.batch,), ()):
        tensors = [given.normal(*leading, n, d) for n, d in ((s.queries, s.d_k), (s.keys, s.d_k), (s.keys, s.d_v))]
        trial.must_agree(Call((*tensors, given.mask(s.queries, s.keys))))
    trial.must_agree(Call((*(given.normal(1, 1, 1, 1) for _ in range(3)), torch.ones(1, 1, dtype=torch.bool))))


def _with_scores(given: Inputs, allowed_score: float, forbidden_score: float) -> Call:
    """A call whose allowed and forbidden scores lie within 2 of these two; every order of the sums is exact."""
    s = given.size
    allowed = torch.arange(s.keys) % 2 == 0  # several of each, or a sum over the keys could hide a wrong axis
    query, key = torch.zeros(s.batch, s.queries, s.d_k), given.normal(s.batch, s.keys, s.d_k)
    query[..., 0], query[..., 1] = s.d_k ** 0.5, given.whole_numbers(-4, 4, s.batch, s.queries)
    key[..., :2] = given.whole_numbers(-4, 4, s.batch, s.keys, 2) / 4
    key[..., 0] += torch.where(allowed, allowed_score, forbidden_score)
    return Call((query, key, given.normal(s.batch, s.keys, s.d_v), allowed))


@masked_attention.criterion(points=0.5)
def forbidden_is_exactly_zero(trial: Trial) -> None:
    """A forbidden weight is exactly 0, and what a forbidden key or value holds changes nothing, however large."""
    # Each of the first three tells one slip from the others: a mask after the softmax; an epsilon in the denominator,
    # beside which e^-60 is nothing; a fill that is higher than the allowed scores.
    for here, elsewhere in ((5, 5), (5, 65), (-1000, 0)):
        trial.must_agree(_with_scores(trial.inputs(f"scores near {here}", size=EXACT_ROOT), here, elsewhere))
    apart = _with_scores(trial.inputs("scores far apart", size=EXACT_ROOT), 1000, 0)
    apart.args[0][:, ::2] *= -1  # each query has a largest score of its own
    trial.must_agree(apart)
    q, k, v, _ = trial.case().args
    allowed = trial.inputs("allowed").mask(1, k.size(-2))[0]
    for size in (1.0, 100.0, -100.0):
        keys, values = (torch.where(allowed.unsqueeze(-1), t, t * size) for t in (k, v))
        _, weights = trial.must_agree(Call((q, keys, values, allowed))).output
        trial.require(bool((weights[..., ~allowed] == 0).all()), "A forbidden key has a weight that is not exactly 0.")


# --- MultiHeadAttention ----------------------------------------------------------------------------------------

def linear_weights(given: Inputs, shapes: dict[str, tuple[int, int]]) -> dict[str, torch.Tensor]:
    """Weights and biases of linear layers by name, from (out, in)."""
    weights = {f"{name}.weight": given.normal(*shape, scale=shape[1] ** -0.5) for name, shape in shapes.items()}
    return weights | {f"{name}.bias": given.normal(shape[0], scale=0.5) for name, shape in shapes.items()}


def attention_weights(given: Inputs, d_model: int, before: str = "") -> dict[str, torch.Tensor]:
    """Weights and biases of a MultiHeadAttention, whose names begin with `before`."""
    return linear_weights(given, {f"{before}W_{part}": (d_model, d_model) for part in "qkvo"})


def multi_head_call(given: Inputs, heads: int, d_k: int, *dropout: float) -> Call:
    """Queries of one sequence, keys and values of another, and a mask that leaves each query something."""
    s, d_model = given.size, heads * d_k
    tensors = [given.normal(s.batch, n, d_model) for n in (s.queries, s.keys, s.keys)]
    mask = given.mask(s.batch * s.queries, s.keys).view(s.batch, 1, s.queries, s.keys)
    return Call((*tensors, mask), init=(d_model, heads, *dropout), weights=attention_weights(given, d_model),
                dtype=given.dtype)


multi_head_attention = Exercise(
    "MultiHeadAttention", CHAPTER, multi_head.MultiHeadAttention,
    lambda given: multi_head_call(given, _heads(given.size), given.size.d_k), returns=("output", "weights"),
    off_limits=("attention",),
    hints=("Five steps: project, split, attend, merge, project. You have written all but the projections.",
           "`W_q`, `W_k`, `W_v` and `W_o` are `nn.Linear(d_model, d_model)`, with bias.",
           "`split_heads(self.W_q(q), self.num_heads)`, and the same for key and value; then `masked_attention`.",
           "Dropout comes between merging and `W_o`: an `nn.Dropout(dropout)` made in `__init__` knows the mode.",
           "Look at `d_model % num_heads` first of all in `__init__`; put both numbers into the ValueError."))
add_standard_criteria(
    multi_head_attention, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    sentence="With the same weights, in eval mode, output and the weights of every head equal the formula's.")


@multi_head_attention.criterion(points=1)
def any_heads_and_masks(trial: Trial) -> None:
    """One head and heads of width 1 work too, and so do a padding mask, a mask of 0 and 1, one for all, and none."""
    for heads, d_k in ((4, 3), (1, 6), (6, 1)):
        call = multi_head_call(trial.inputs(strided=True), heads, d_k)
        *tensors, mask = call.args
        for some in (mask, mask[:, :, :1].int(), mask[0, 0]):
            trial.must_agree(replace(call, args=(*tensors, some)))
        trial.must_agree(replace(call, args=tuple(tensors)))


@multi_head_attention.criterion(points=0.5)
def dropout_in_training(trial: Trial) -> None:
    """In train mode dropout acts on the merged heads, before W_o; in eval mode, or with dropout 0, it does nothing."""
    call = multi_head_call(trial.inputs(), 4, 3, 0.5)
    # Where W_o only moves features and adds its bias, the merged heads can be read off the output.
    call = replace(call, weights=call.weights | {"W_o.weight": torch.eye(12).roll(1, 0)})
    output, weights = trial.must_agree(call).output
    nothing_dropped(trial, replace(call, init=(12, 4, 0.0), training=True))
    merged = output - call.weights["W_o.bias"]
    for rate, init in ((0.5, (12, 4, 0.5)), (0.1, (12, 4))):
        dropped, same = trial.well_formed(replace(call, init=init, training=True)).output
        trial.require(bool(close(same, weights).all()), "In train mode your weights differ from those in eval mode: "
                      "here dropout acts on the merged heads, not on the weights.")
        trial.require(not torch.equal(dropped, output), f"In train mode your output is that of eval mode, although "
                      f"dropout is {rate}.")
        zero, scaled = ((dropped - call.weights["W_o.bias"] - part).abs() < 1e-4 for part in (0, merged / (1 - rate)))
        trial.require(bool((zero | scaled).all()), f"In train mode with dropout {rate} each entry of the merged heads "
                      f"should be 0 or divided by {1 - rate} before W_o sees it; yours are not.")
        trial.require(rate < 0.5 or not _drawn_together(zero.roll(-1, -1).unflatten(-1, (4, 3))),
                      "In train mode each entry of the merged heads is dropped, or kept, by itself: that of each "
                      "sequence, token and feature. Some of yours always share their fate.")


def _drawn_together(dropped: torch.Tensor) -> bool:
    """Whether along one of the axes (batch, seq, heads, d_k) all are dropped, or none."""
    return any(bool((dropped == dropped.narrow(axis, 0, 1)).all()) for axis in range(4))


@multi_head_attention.criterion(points=0.5)
def a_query_with_nothing_allowed(trial: Trial) -> None:
    """A query that may attend to nothing has zero weights, and no NaN comes back in any gradient."""
    call = trial.case()
    call.args[3][1, 0, 2] = False
    trial.must_agree(trial.with_cotangents(call), GRADIENT_TOLERANCES)


@multi_head_attention.criterion(points=0.5)
def uneven_split_is_refused(trial: Trial) -> None:
    """The constructor raises ValueError, with both numbers, where num_heads does not divide d_model."""
    # Any part will do that calls nothing of the learner's: the constructor alone is asked.
    built = Call(part="parameters")
    for d_model, num_heads in ((14, 4), (9, 6), (10, 3)):
        trial.must_raise(replace(built, init=(d_model, num_heads)), "ValueError", [str(d_model), str(num_heads)])
