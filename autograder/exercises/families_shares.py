"""Chapter 10: how a random result is judged, by shares of what happened, each with a margin of seven standard errors.

Two answers draw their random numbers in different orders, so they never give the same batch. What they have in common
is how often a token is chosen, hidden, replaced, and whether that depends on its neighbours.
"""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from autograder.judging.diagnosis import same_reply
from autograder.learner.calls import Call, Reply
from autograder.reference.families import IGNORED

ERRORS = 7
"""So many standard errors a right answer leaves once in 10^11 times; a wrong one is farther off, or it is noticed."""


def margin(share: float, count: int) -> float:
    """Seven standard errors of a share that was counted on `count` independent events."""
    return ERRORS * math.sqrt(max(share * (1 - share), 1 / max(count, 1)) / max(count, 1))


def share_of(event: Tensor, among: Tensor) -> tuple[float, int]:
    """How often the event happened among these tokens, and how many they are."""
    count = int(among.sum())
    return int((event & among).sum()) / max(count, 1), count


def beside(event: Tensor, among: Tensor, dim: int) -> tuple[float, int]:
    """How often the event happened to a token whose neighbour along `dim` it happened to; both are among these."""
    length = event.size(dim) - 1
    first, second = (event.narrow(dim, start, length) for start in (0, 1))
    both = among.narrow(dim, 0, length) & among.narrow(dim, 1, length)
    return share_of(second, first & both)


def equal_beside(ids: Tensor, among: Tensor, dim: int) -> tuple[float, int]:
    """How often two neighbours along `dim`, both among these, have the same id."""
    length = ids.size(dim) - 1
    both = among.narrow(dim, 0, length) & among.narrow(dim, 1, length)
    return share_of(ids.narrow(dim, 0, length) == ids.narrow(dim, 1, length), both)


def scatter(event: Tensor, among: Tensor, dim: int) -> float:
    """How much the rows (dim 1) or columns (dim 0) differ in how often the event happened: 1 if independently.

    The mean of (k - q m)^2 / (m q (1 - q)) over all rows, for k events among m tokens, and q the share of all.
    """
    share, _ = share_of(event, among)
    counts, events = among.sum(dim=dim).double(), (event & among).sum(dim=dim).double()
    expected = counts * share * (1 - share)
    filled = expected > 0
    if not bool(filled.any()):
        return 1.0
    return ((events - share * counts).square() / expected)[filled].mean().item()


def scatter_is_near(found: float, right: float, count: int) -> bool:
    """Whether a scatter of `count` rows may be another draw of this one; a square has the variance 2."""
    return abs(found - right) <= ERRORS * math.sqrt(2 / max(count - 1, 1)) * max(found, right)


def same_shares(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """Two answers hide alike if repeats repeat alike, and all shares and scatters agree within their margins."""
    if any(_form(a) != _form(b) for a, b in zip(mine, theirs, strict=True)):
        return False
    if not all(_is_batch(call, reply) for call, reply in zip(calls, mine, strict=True)):
        return all(map(same_reply, mine, theirs))
    return (all(_alike(call, a, b) for call, a, b in zip(calls, mine, theirs, strict=True))
            and _repeats(calls, mine) == _repeats(calls, theirs))


def _form(reply: Reply) -> tuple:
    outputs = reply.output if isinstance(reply.output, tuple) else (reply.output,)
    return (reply.status, reply.changed, reply.error and (reply.error.kind, reply.error.text),
            [(type(x), getattr(x, "shape", None), getattr(x, "dtype", None)) for x in outputs])


def _is_batch(call: Call, reply: Reply) -> bool:
    return (isinstance(reply.output, tuple) and len(reply.output) == 2
            and all(isinstance(x, Tensor) and x.shape == call.args[0].shape for x in reply.output))


def _alike(call: Call, a: Reply, b: Reply) -> bool:
    """Shares first, one after the other: most answers that differ, differ in one of the first."""
    if all(map(torch.equal, a.output, b.output)):
        return True
    special = torch.isin(call.args[0], torch.tensor(call.args[2], dtype=torch.int64))
    for (p, m), (q, n) in zip(_shares(call, a, special), _shares(call, b, special), strict=True):
        if (min(m, n) or max(m, n) > 9) and abs(p - q) > math.hypot(margin(p, m), margin(q, n)):
            return False
    scatters = zip(_scatters(call, a, special), _scatters(call, b, special), strict=True)
    return all(scatter_is_near(p, q, n) for (p, n), (q, _) in scatters)


def _shares(call: Call, reply: Reply, special: Tensor) -> Iterator[tuple[float, int]]:
    """What was chosen and what became of it, as shares, each with the number of events that it was counted on."""
    (inputs, labels), (tokens, mask_id, _, vocab) = reply.output, call.args[:4]
    chosen, masked = labels != IGNORED, inputs == mask_id
    yield share_of(chosen, ~special)
    yield share_of(chosen, special)
    yield share_of(labels == tokens, chosen)
    yield share_of(labels == inputs, chosen)
    yield share_of(masked, chosen)
    yield share_of(inputs == tokens, chosen)
    yield share_of(inputs == tokens, ~chosen)
    other = chosen & ~masked & (inputs != tokens)
    yield share_of(other, chosen)
    for i in (0, mask_id - 1, vocab - 1):
        yield share_of(inputs == i, other)
    yield share_of(inputs < vocab // 2, other)
    yield share_of(inputs >= vocab, other)
    for dim in (0, 1):
        yield beside(chosen, ~special, dim)
        yield beside(masked, chosen, dim)
        yield equal_beside(inputs, other, dim)


def _scatters(call: Call, reply: Reply, special: Tensor) -> Iterator[tuple[float, int]]:
    """How rows and columns differ in what is chosen, and in what of it becomes the mask."""
    inputs, labels = reply.output
    chosen = labels != IGNORED
    for dim in (0, 1):
        yield scatter(chosen, ~special, dim), special.size(1 - dim)
        yield scatter(inputs == call.args[1], chosen, dim), special.size(1 - dim)


def _repeats(calls: Sequence[Call], replies: Sequence[Reply]) -> list[bool]:
    """For every two calls with the same tokens: whether they gave the same inputs and labels."""
    pairs = [(i, j) for j in range(len(calls)) for i in range(j) if _same_question(calls[i], calls[j])]
    return [torch.equal(replies[i].output[k], replies[j].output[k]) for i, j in pairs for k in (0, 1)]


def _same_question(a: Call, b: Call) -> bool:
    return torch.equal(a.args[0], b.args[0]) and a.args[1:4] == b.args[1:4] and a.args[5:] == b.args[5:]
