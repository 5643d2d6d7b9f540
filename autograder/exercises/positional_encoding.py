"""Chapter 07: where a token stands. Contract of each exercise: see its reference."""

import re
from collections.abc import Sequence
from dataclasses import replace

import torch

from autograder.judging.compare import close
from autograder.judging.diagnosis import all_the_same, same_reply
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.standard import STANDARD, add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call, Reply
from autograder.reference import positional_encoding

CHAPTER = "07_positional_encoding"
# Sizes by the letters of the reference: d_model is 2 d_k (22), max_len is keys (7), seq is queries (5).

TABLE = {torch.float32: (1e-4, 1e-4), torch.float64: (1e-4, 1e-4)}
"""Tables are float32, and so are many angles on the way: at position 600 that leaves 1e-5 to chance."""


# --- sinusoidal_encoding ---------------------------------------------------------------------------------------

sinusoidal_encoding = Exercise(
    "sinusoidal_encoding", CHAPTER, positional_encoding.sinusoidal_encoding,
    lambda given: Call((given.size.keys, 2 * given.size.d_k)), returns=("table",), tolerance=TABLE,
    hints=("Write the first row by hand: position 0. Then the second row, for d_model = 4.",
           "Columns 2i and 2i + 1 share one frequency, 10000^(-2i / d_model): first its sine, then its cosine.",
           "`torch.arange(0, d_model, 2)` are the numbers 2i. Positions as a column times frequencies as a row is a "
           "table of angles.",
           "`table[:, 0::2] = angles.sin()` fills the even columns. An odd d_model has one cosine column fewer: which "
           "columns of the angles meet it?"))
add_standard_criteria(
    sinusoidal_encoding, values=3,
    sentence="PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), and PE(pos, 2i + 1) is the cosine of the same angle.")


@sinusoidal_encoding.criterion(points=1)
def odd_width(trial: Trial) -> None:
    """An odd d_model works: the last sine has no cosine."""
    for d_model in (7, 5, 3):
        trial.must_agree(Call((trial.inputs().size.d_k, d_model)))


@sinusoidal_encoding.criterion(points=1)
def far_positions(trial: Trial) -> None:
    """Row pos is the same whatever max_len is, and right far out."""
    short, long = (trial.well_formed(Call((length, 16))).output for length in (5, 600))
    trial.require(bool(close(long[:5], short, TABLE).all()), "The first rows of your table change with max_len.")
    trial.must_agree(Call((600, 16)))


@sinusoidal_encoding.criterion(points=1)
def small_tables(trial: Trial) -> None:
    """One position, two columns, one column: every size works."""
    for size in ((3, 4), (1, 4), (4, 2), (3, 1), (1, 1)):
        trial.must_agree(Call(size))


# --- PositionalEncoding and LearnedPositionalEmbedding ---------------------------------------------------------

def same_table_kept(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """Two modules did the same if their replies are equal and both, or neither, keep the table as the buffer `pe`."""
    return (all(map(_same_or_refused_alike, mine, theirs))
            and all(_kept(a) == _kept(b) for a, b in zip(mine, theirs, strict=True)))


def same_table_learned(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """As `same_table_kept`; where no weights fit, the table is as each module drew it, and its values say nothing."""
    def same(call: Call, a: Reply, b: Reply) -> bool:
        if a.status == b.status == "returned" and a.parameters.get("table") != call.init:
            return (a.parameters, "table" in a.buffers) == (b.parameters, "table" in b.buffers)
        return _same_or_refused_alike(a, b)

    return all(map(same, calls, mine, theirs))


def _same_or_refused_alike(a: Reply, b: Reply) -> bool:
    """A refusal is the learner's own sentence: what counts is its kind, and which lengths it names."""
    if {reply.error.kind if reply.error else "" for reply in (a, b)} == {"ValueError"}:
        return len({frozenset(re.findall(r"\d+", reply.error.text)) for reply in (a, b)}) == 1
    return same_reply(a, b)


def _kept(reply: Reply) -> tuple[int, ...] | None:
    """The sizes of `pe`, whether or not it has axes of size 1."""
    shape = reply.buffers.get("pe")
    return shape and tuple(size for size in shape if size != 1)


def _encoding_case(given: Inputs) -> Call:
    """The table has more rows than columns, so that one counted along the wrong axis is not the whole table."""
    s = given.size
    return Call((given.normal(s.batch, s.queries, 2 * s.d_k),), init=(2 * s.d_k, 2 * s.embed + 1), weights={})


positional_encoding_module = Exercise(
    "PositionalEncoding", CHAPTER, positional_encoding.PositionalEncoding, _encoding_case, returns=("the new x",),
    tolerance=TABLE, agreement=same_table_kept,
    hints=("The table is made once, in `__init__`. What must happen to it when the module moves to a GPU?",
           "`self.register_buffer(\"pe\", table)` keeps it with the module: it moves along, and nothing trains it.",
           "`self.pe[: x.size(1)]` are the rows of positions 0 to seq - 1, for every sequence of the batch alike.",
           "Compare `x.size(1)` with max_len before you add, and put both numbers into the text of the ValueError."))
add_standard_criteria(
    positional_encoding_module, values=1.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    train_and_eval=0.5, sentence="The result is x plus the first seq rows of the sinusoidal table.")


@positional_encoding_module.criterion(points=1)
def the_table_is_a_buffer(trial: Trial) -> None:
    """The table is a buffer called `pe`, and nothing is a parameter."""
    call = trial.case()
    reply = trial.well_formed(call)
    d_model, max_len = call.init
    trial.require("pe" in reply.buffers, "Your module has no buffer called `pe`.")
    trial.require(reply.buffers["pe"] in ((max_len, d_model), (1, max_len, d_model)),
                  f"Your buffer `pe` should have the shape {(max_len, d_model)}; yours has {reply.buffers['pe']}.")


def _must_refuse_what_is_longer(trial: Trial, call: Call, longest: int) -> None:
    """One position is served, and `longest` are; a longer sequence is a ValueError with both lengths.

    Served means a result of the right form: its values are judged elsewhere.
    """
    given, width = trial.inputs(strided=True), call.args[0].size(-1)
    for batch, served in ((1, 1), (2, longest)):
        trial.well_formed(replace(call, args=(given.normal(batch, served, width),)))
    for refused in (longest + 1, longest + 4):
        trial.must_raise(replace(call, args=(given.normal(2, refused, width),)), "ValueError",
                         [str(longest), str(refused)])


@positional_encoding_module.criterion(points=1)
def too_long_is_refused(trial: Trial) -> None:
    """Exactly max_len positions are served; a longer sequence is a ValueError with both lengths."""
    call = trial.case()
    _must_refuse_what_is_longer(trial, call, longest=call.init[1])


@positional_encoding_module.criterion(points=0.5)
def room_for_five_thousand(trial: Trial) -> None:
    """Without max_len, 5000 positions are served."""
    x = trial.inputs().normal(1, 5000, 6)
    trial.well_formed(replace(trial.case(), args=(x,), init=(6,)))


def _learned_case(given: Inputs) -> Call:
    s = given.size
    max_len = s.embed + 1
    return Call((given.normal(s.batch, s.queries, s.d_k),), init=(max_len, s.d_k),
                weights={"table": given.normal(max_len, s.d_k)})


learned_positional_embedding = Exercise(
    "LearnedPositionalEmbedding", CHAPTER, positional_encoding.LearnedPositionalEmbedding, _learned_case,
    returns=("the new x",), agreement=same_table_learned,
    hints=("Here the table is learned: what turns a tensor into something that an optimiser finds?",
           "`self.table = nn.Parameter(...)`, around any tensor of the shape (max_len, d_model).",
           "`forward` is that of PositionalEncoding, with another table and the same refusal."))
add_standard_criteria(
    learned_positional_embedding, values=1, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    train_and_eval=0.5, sentence="The result is x plus the first seq rows of the parameter `table`.")


@learned_positional_embedding.criterion(points=1)
def longer_than_the_table_is_refused(trial: Trial) -> None:
    """Exactly max_len positions are served; a longer sequence is a ValueError with both lengths."""
    call = trial.case()
    _must_refuse_what_is_longer(trial, call, longest=call.init[0])


# --- shift_matrix ----------------------------------------------------------------------------------------------

def _same_matrix(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """A matrix of float64 may be made of frequencies that were float32: it is the same mistake."""
    kinds = [[getattr(reply.output, "dtype", None) for reply in replies] for replies in (mine, theirs)]
    rounded = [[replace(reply, output=reply.output.float()) if torch.is_tensor(reply.output) else reply
                for reply in replies] for replies in (mine, theirs)]
    return kinds[0] == kinds[1] and all_the_same(calls, *rounded)


shift_matrix = Exercise(
    "shift_matrix", CHAPTER, positional_encoding.shift_matrix, lambda given: Call((3, 2 * given.size.d_k)),
    returns=("matrix",), tolerance=TABLE, agreement=_same_matrix,
    hints=("Take one pair, sin a and cos a. Write sin(a + b) and cos(a + b) with them.",
           "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a sin b. Read a matrix off.",
           "Each pair of columns has its own b = offset times its frequency; the 2 x 2 blocks stand on the diagonal.",
           "`torch.block_diag(*blocks)` puts them there. Try it: M times row 0 of the table must be row `offset`."))
add_standard_criteria(
    shift_matrix, values=3, sentence="PE(pos + offset) = M PE(pos) for every position: one rotation in each pair.")


@shift_matrix.criterion(points=1)
def backwards_and_nowhere(trial: Trial) -> None:
    """A negative offset goes back, and offset 0 changes nothing."""
    for offset in (2, -2, 0, -5):
        trial.must_agree(Call((offset, 8)))


@shift_matrix.criterion(points=1)
def every_row_is_moved(trial: Trial) -> None:
    """Applied to the rows of the table it gives the rows that lie offset further."""
    table = positional_encoding.sinusoidal_encoding(40, 12)
    for offset in (1, 7):
        moved = table[:30] @ trial.well_formed(Call((offset, 12))).output.T
        trial.require(bool(close(moved, table[offset:offset + 30], TABLE).all()),
                      f"Your matrix for offset {offset} does not move the rows of the table by {offset}.")


@shift_matrix.criterion(points=1)
def far_offsets(trial: Trial) -> None:
    """Large offsets work, and a width of 2."""
    for offset, d_model in ((4, 4), (100, 4), (-100, 6), (5, 2)):
        trial.must_agree(Call((offset, d_model)))


# --- rotary ----------------------------------------------------------------------------------------------------

def _rotary_case(given: Inputs) -> Call:
    """Any positions, in no order, the same for all sequences and heads."""
    s = given.size
    positions = 1 + torch.randperm(40, generator=given.generator)[: s.queries]
    return Call((given.normal(s.batch, s.heads, s.queries, 2 * s.d_k), positions))


rotary = Exercise(
    "rotary", CHAPTER, positional_encoding.rotary, _rotary_case, returns=("the turned x",), tolerance=TABLE,
    hints=("Each pair of neighbouring features is a point in the plane. By which angle is it turned?",
           "Positions as a column times frequencies as a row: the angles are (seq, d_k / 2), for all heads alike.",
           "`a, b = x[..., 0::2], x[..., 1::2]`; the turned pair is (a cos - b sin, a sin + b cos).",
           "`torch.stack([first, second], dim=-1).flatten(-2)` puts the pairs back in their places.",
           "If your angles are float64, `.to(x.dtype)` their sines and cosines."))
add_standard_criteria(
    rotary, values=2.5, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sentence="The features 2i and 2i + 1, a pair (a, b), become (a cos - b sin, a sin + b cos) of their angle.")


@rotary.criterion(points=0.5)
def smallest_sizes(trial: Trial) -> None:
    """It works at the edge too: batch 1, one head, length 1, width 2."""
    STANDARD["sizes_of_one"](trial)


@rotary.criterion(points=1)
def only_the_distance_counts(trial: Trial) -> None:
    """The product of a turned query and a turned key depends on the distance of their positions, and on it alone."""
    given = trial.inputs()
    q, k = (given.normal(1, 2, 6, 8) for _ in range(2))  # two heads: a first one alone is number 0
    products = []
    for positions in (3 * torch.arange(6), *(torch.arange(start, start + 6) for start in (0, 9, 600))):
        turned = [trial.well_formed(Call((x, positions))).output for x in (q, k)]
        products.append(turned[0] @ turned[1].mT)
    stretched, here, *moved = products
    trial.require(all(bool(close(here, there, TABLE).all()) for there in moved),
                  "Moving query and key together changes their product.")
    trial.require(not bool(close(here, stretched, TABLE).all()),
                  "Moving the positions apart does not change the product of query and key.")


# --- alibi_bias ------------------------------------------------------------------------------------------------

alibi_bias = Exercise(
    "alibi_bias", CHAPTER, positional_encoding.alibi_bias, lambda given: Call((4, given.size.keys)), returns=("bias",),
    named_whole=True,
    hints=("What is added to the score of a key that lies three positions back? It depends on the head.",
           "The slopes of h heads are 2^(-8i/h) for i from 1 to h, not from 0.",
           "`positions.unsqueeze(1) - positions` is query minus key for every pair.",
           "`bias.masked_fill(distance < 0, float('-inf'))` closes what lies ahead."))
add_standard_criteria(
    alibi_bias, values=2, sentence="Head i of h adds -2^(-8i/h) (query - key) to a score where key <= query.")


@alibi_bias.criterion(points=1)
def any_number_of_heads(trial: Trial) -> None:
    """Any number of heads works, also one that is no power of two."""
    for heads in (8, 6, 1, 3, 12):
        trial.must_agree(Call((heads, 5)))


@alibi_bias.criterion(points=1)
def the_future_is_closed(trial: Trial) -> None:
    """Above the diagonal there is minus infinity, and nowhere else."""
    bias = trial.well_formed(Call((4, 6))).output
    ahead = torch.ones(6, 6, dtype=torch.bool).triu(1)
    trial.require(bool((bias[:, ahead] == float("-inf")).all()), "Above the diagonal your bias is not minus infinity.")
    trial.require(bool(bias[:, ~ahead].isfinite().all()), "On or below the diagonal your bias is not finite.")


@alibi_bias.criterion(points=1)
def any_length(trial: Trial) -> None:
    """Every length works, 1 too."""
    for length in (3, 30, 1):
        trial.must_agree(Call((2, length)))
