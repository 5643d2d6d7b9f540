"""Chapter 10: how a decoder speaks, with a cache and from a nucleus. Contract of each exercise: see its reference."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.exercises.families import CHAPTER
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import FULL, Inputs
from autograder.judging.standard import add_standard_criteria
from autograder.judging.trial import Failed, Trial
from autograder.learner.calls import Call
from autograder.reference import families

# --- cached_attention ------------------------------------------------------------------------------------------

def _tensors(given: Inputs, new: int, count: int = 3) -> tuple[Tensor, ...]:
    s = given.size
    return tuple(given.normal(s.batch, s.heads, new, s.d_k) for _ in range(count))


def _cached_case(given: Inputs) -> Call:
    """new is queries (5), past is keys (7), d is d_k (11)."""
    return Call((*_tensors(given, given.size.queries), _tensors(given, given.size.keys, count=2)))


cached_attention = Exercise(
    "cached_attention", CHAPTER, families.cached_attention, _cached_case, returns=("output", "the new cache"),
    off_limits=("attention",),
    hints=("What does a new query need of the past? Its keys and its values, and nothing else.",
           "Put the old and the new keys together along the axis of the positions, `torch.cat([old, new], dim=-2)`, "
           "and the values likewise. These two are the new cache.",
           "The first of the new queries stands at position `past`, so it sees past + 1 keys; the last one sees all.",
           "`torch.ones(new, past + new, dtype=torch.bool).tril(past)` is True where a query may look."))
add_standard_criteria(
    cached_attention, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sizes_of_one=0.5,
    sentence="Output is softmax(QK^T / sqrt(d)) V, causal over past and new; the cache holds keys and values of both.")


@cached_attention.criterion(points=0.5)
def without_a_cache(trial: Trial) -> None:
    """At the start there is no cache, or None: causal attention over what is new."""
    args = trial.case().args[:3]
    for call in (Call(args), Call((*args, None))):
        trial.must_agree(call)


def _in_chunks(trial: Trial, tensors: Sequence[Tensor], chunks: Sequence[int]) -> None:
    """A sequence in chunks, each with the cache that the answer returned for the one before."""
    cache = None
    for part in zip(*(t.split(list(chunks), dim=-2) for t in tensors), strict=True):
        cache = trial.must_agree(Call((*part, cache))).output[1]


@cached_attention.criterion(points=0.5)
def in_chunks_of_any_size(trial: Trial) -> None:
    """Whole, in uneven chunks, or token by token: with your own cache handed on, outputs are the same."""
    tensors = _tensors(trial.inputs(), 6)
    for chunks in ((6,), (3, 1, 2), (1,) * 6):
        _in_chunks(trial, tensors, chunks)


@cached_attention.criterion(points=0.5)
def caches_do_not_mix(trial: Trial) -> None:
    """Two sequences that take turns, each with the cache that you returned for it, do not mix."""
    sequences = [_tensors(trial.inputs(name), 4) for name in "ab"]
    caches = [None, None]
    for start in range(0, 4, 2):
        for i, tensors in enumerate(sequences):
            call = Call((*(t[..., start:start + 2, :] for t in tensors), caches[i]))
            caches[i] = trial.must_agree(call).output[1]


# --- top_p_filter ----------------------------------------------------------------------------------------------
# Without ties, and with p in the middle of the widest gap near a wish: no sum of probabilities is close to it.

def _between(logits: Tensor, wish: float) -> float:
    """The p near `wish` that lies farthest from every sum of the most likely tokens' probabilities."""
    sums = torch.softmax(logits.double(), dim=-1).sort(dim=-1, descending=True)[0].cumsum(dim=-1).flatten()
    wishes = torch.linspace(max(wish - 0.04, 0.02), min(wish + 0.04, 0.98), 401, dtype=torch.float64)
    return wishes[(wishes.unsqueeze(1) - sums).abs().amin(dim=1).argmax()].item()


ROWS = 61  # sure and unsure ones: by one row alone, many rules look alike


def _top_p_case(given: Inputs) -> Call:
    s = given.size
    if s.vocab == FULL.vocab:
        logits = given.normal(ROWS, s.vocab) * torch.linspace(0.5, 4, ROWS).to(given.dtype).unsqueeze(1)
    else:  # few tokens with one decimal each would soon be equally likely
        levels = torch.rand(s.batch, s.vocab, generator=given.generator).argsort(dim=-1)
        logits = given.arranged(0.7 * levels.double())
    return Call((logits, _between(logits, 0.7)))


top_p_filter = Exercise(
    "top_p_filter", CHAPTER, families.top_p_filter, _top_p_case, returns=("the new logits",), named_whole=True,
    hints=("Sort the probabilities of one row, the most likely first, and add them up: where is p reached?",
           "A token belongs to the nucleus if what stands **before** it has not reached p yet. So the one that crosses "
           "p is in, and the first one always is.",
           "`values, order = probabilities.sort(dim=-1, descending=True)`; `values.cumsum(dim=-1) - values` is what "
           "stands before.",
           "Back to the places of the vocabulary: `torch.zeros_like(outside).scatter(-1, order, outside)`.",
           "With p = 1 all stay, although rounding lets a sum reach 1 before its last term."))
add_standard_criteria(
    top_p_filter, values=2, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5, sizes_of_one=0.5,
    sentence="The fewest most likely tokens whose probability reaches p keep their logits; the others get minus "
             "infinity.")


@top_p_filter.criterion(points=1)
def each_row_for_itself(trial: Trial) -> None:
    """A row that is sure keeps few tokens and one that is not keeps many, for every p."""
    given = trial.inputs()
    logits = given.normal(ROWS, 40) * torch.linspace(0.3, 8, ROWS).unsqueeze(1)
    for wish in (0.9, 0.5, 0.95, 0.15):  # first where rules differ most: at the end all keep little
        trial.must_agree(Call((logits, _between(logits, wish))))


@top_p_filter.criterion(points=1)
def from_zero_to_one(trial: Trial) -> None:
    """p = 0 keeps the most likely token alone; p = 1 keeps every token, however unlikely it is."""
    given = trial.inputs()
    for scale in (1.0, 8.0, 40.0):
        logits = given.normal(ROWS, 60, scale=scale)
        trial.must_agree(Call((logits, 0.0)))
        _all_must_stay(trial, logits)


def _all_must_stay(trial: Trial, logits: Tensor) -> None:
    """p = 1. That infinite values are wrong would tell little here, where minus infinity is right for other p."""
    try:
        trial.must_agree(Call((logits, 1.0)))
    except Failed:
        kept = trial.replies[-1].output
        if isinstance(kept, Tensor) and kept.shape == logits.shape:
            gone = int(kept.isneginf().sum())
            trial.require(gone == 0, "With p = 1 every token stays, and you remove some: rounding can carry a sum to "
                          "1, or above it, before its last term.", f"{gone} of {kept.numel()} are gone.")
        raise
