"""Chapter 02, the three functions."""

import math

import torch
import torch.nn.functional as F


def energy(s, h, W_s, W_h):
    """What tanh is applied to: (batch, src, d_a)."""
    return (s @ W_s.T).unsqueeze(1) + h @ W_h.T


def scores(s, h, W_s, W_h, v):
    return torch.tanh(energy(s, h, W_s, W_h)) @ v


ADDITIVE_SCORES = {
    "relu": lambda s, h, W_s, W_h, v: torch.relu(energy(s, h, W_s, W_h)) @ v,
    "sine": lambda s, h, W_s, W_h, v: torch.sin(energy(s, h, W_s, W_h)) @ v,
    "difference": lambda s, h, W_s, W_h, v: torch.tanh(h @ W_h.T - (s @ W_s.T).unsqueeze(1)) @ v,
    "tanh of the state alone": lambda s, h, W_s, W_h, v: (torch.tanh(s @ W_s.T).unsqueeze(1) + h @ W_h.T) @ v,
    "tanh of the encoder states alone": lambda s, h, W_s, W_h, v: (
        (s @ W_s.T).unsqueeze(1) + torch.tanh(h @ W_h.T)) @ v,
    "tanh twice": lambda s, h, W_s, W_h, v: torch.tanh(scores(s, h, W_s, W_h, v)),
    "cut where tanh bends": lambda s, h, W_s, W_h, v: energy(s, h, W_s, W_h).clamp(-1, 1) @ v,
    "parts multiplied": lambda s, h, W_s, W_h, v: torch.tanh((s @ W_s.T).unsqueeze(1) * (h @ W_h.T)) @ v,
    "a dot product": lambda s, h, W_s, W_h, v: ((s @ W_s.T).unsqueeze(1) * (h @ W_h.T)).sum(-1) + 0 * v.sum(),
    "v inside": lambda s, h, W_s, W_h, v: torch.tanh(energy(s, h, W_s, W_h) * v).sum(-1),
    "v made positive": lambda s, h, W_s, W_h, v: torch.tanh(energy(s, h, W_s, W_h)) @ v.abs(),
    "v of length one": lambda s, h, W_s, W_h, v: scores(s, h, W_s, W_h, F.normalize(v, dim=0)),
    "mean over the attention axis": lambda s, h, W_s, W_h, v: (torch.tanh(energy(s, h, W_s, W_h)) * v).mean(-1),
    "first sentence's state": lambda s, h, W_s, W_h, v: scores(s[:1], h, W_s, W_h, v),
    "mean state of the batch": lambda s, h, W_s, W_h, v: scores(s.mean(0, keepdim=True), h, W_s, W_h, v),
    "positions reversed": lambda s, h, W_s, W_h, v: scores(s, h.flip(1), W_s, W_h, v),
    "mean of the encoder states": lambda s, h, W_s, W_h, v: scores(
        s, h.mean(1, keepdim=True).expand_as(h), W_s, W_h, v),
    "one position forgotten": lambda s, h, W_s, W_h, v: scores(s, h[:, :-1], W_s, W_h, v),
    "axis left over": lambda s, h, W_s, W_h, v: scores(s, h, W_s, W_h, v).unsqueeze(-1),
    "source axis first": lambda s, h, W_s, W_h, v: scores(s, h, W_s, W_h, v).T,
    "squeezed": lambda s, h, W_s, W_h, v: scores(s, h, W_s, W_h, v).squeeze(),
    "a bias of one": lambda s, h, W_s, W_h, v: torch.tanh(energy(s, h, W_s, W_h) + 1) @ v,
    "largest taken away": lambda s, h, W_s, W_h, v: scores(s, h, W_s, W_h, v) - scores(
        s, h, W_s, W_h, v).amax(-1, keepdim=True),
    "rounded": lambda s, h, W_s, W_h, v: scores(s, h, W_s, W_h, v).round(decimals=3),
    "float32 inside": lambda s, h, W_s, W_h, v: scores(
        *(t.float() for t in (s, h, W_s, W_h, v))).to(s.dtype),
    "state detached": lambda s, h, W_s, W_h, v: scores(s.detach(), h, W_s, W_h, v),
    "through NumPy": lambda s, h, W_s, W_h, v: torch.from_numpy(scores(s, h, W_s, W_h, v).detach().numpy()),
    "no gradients": torch.no_grad()(scores),
    "view of the state": lambda s, h, W_s, W_h, v: scores(s.view(-1).view(s.shape), h, W_s, W_h, v),
    "view of the encoder states": lambda s, h, W_s, W_h, v: scores(s, h.view(-1).view(h.shape), W_s, W_h, v),
    "in place on the encoder states": lambda s, h, W_s, W_h, v: scores(s, h.data.mul_(2) / 2 + 0 * h, W_s, W_h, v),
    "in place on v": lambda s, h, W_s, W_h, v: scores(s, h, W_s, W_h, v) + 0 * v.data.add_(1).sum(),
}


def hidden(s, mask, fill=float("-inf")):
    return s.masked_fill(~mask, fill)


def right(s, mask):
    nothing = ~mask.any(-1, keepdim=True)
    return torch.softmax(s.masked_fill(~mask & ~nothing, -math.inf), -1).masked_fill(~mask, 0)


def written_out(s, mask, floor):
    """exp and a quotient, with `floor(total)` under it."""
    largest = hidden(s, mask, torch.finfo(s.dtype).min).amax(-1, keepdim=True)
    exponentials = torch.where(mask, s - largest, -math.inf).exp()
    return exponentials / floor(exponentials.sum(-1, keepdim=True))


def largest_of_all(s, mask):
    """Takes the largest score away, also where that one is hidden; then nothing is left of the others."""
    exponentials = hidden(s - s.amax(-1, keepdim=True), mask).exp()
    total = exponentials.sum(-1, keepdim=True)
    return torch.where(total > 0, exponentials / total, 0.0)


def largest_of_all_rows(s, mask):
    """One number is taken away from every row; nothing is left of a row that lies far below it."""
    exponentials = hidden(s - s[mask].max() if mask.any() else s, mask).exp()
    total = exponentials.sum(-1, keepdim=True)
    return torch.where(total > 0, exponentials / total.clamp(min=1e-30), 0.0)


def first_hidden_counts(s, mask):
    """Right only where what is hidden stands at the end: reads lengths from the mask."""
    return right(s, torch.arange(s.size(1)) < mask.sum(1, keepdim=True))


def in_a_loop(s, mask):
    """A row with nothing real has ones."""
    return torch.stack([torch.zeros_like(row).masked_scatter(real, torch.softmax(row[real], 0)) if real.any()
                        else torch.ones_like(row) for row, real in zip(s, mask, strict=True)])


MASKED_WEIGHTS = {
    "mask before the exponent": lambda s, m: torch.softmax(s * m - 1e-3 * ~m, -1),
    "hidden scores of minus one": lambda s, m: torch.softmax(hidden(s, m, -1.0), -1),
    "a fill of minus a hundred": lambda s, m: torch.softmax(hidden(s, m, -100.0), -1).masked_fill(~m, 0),
    "a fill below the smallest": lambda s, m: torch.softmax(
        torch.where(m, s, s.amin().detach() - 30), -1) * m.any(-1, keepdim=True),
    "plus infinity": lambda s, m: torch.softmax(hidden(s, m, math.inf), -1),
    "minus infinity after the softmax": lambda s, m: hidden(torch.softmax(s, -1), m),
    "mask multiplied by infinity": lambda s, m: torch.softmax(s - ~m * math.inf, -1),
    "a large number taken away": lambda s, m: torch.softmax(s - 1e9 * ~m, -1),
    "only the end is hidden": first_hidden_counts,
    "the first position always real": lambda s, m: right(s, m | (torch.arange(s.size(1)) == 0)),
    "mask of the first row": lambda s, m: right(s, m[:1].expand_as(m)),
    "real in every row": lambda s, m: right(s, m.all(0).expand_as(m)),
    "rows with something hidden are cleared": lambda s, m: right(s, m) * m.all(-1, keepdim=True),
    "a row with nothing real makes all rows zero": lambda s, m: right(s, m) * m.any(-1).all(),
    "a row with nothing real keeps its first": lambda s, m: torch.where(
        m.any(-1, keepdim=True), right(s, m), F.one_hot(torch.zeros(len(s), dtype=torch.int64), s.size(1)).to(s.dtype)),
    "a row with nothing real has ones": in_a_loop,
    "fully masked rows as without a mask": lambda s, m: torch.softmax(
        s.masked_fill(~m & m.any(-1, keepdim=True), -math.inf), -1),
    "largest of all taken away": largest_of_all,
    "largest of all rows taken away": largest_of_all_rows,
    "a constant in the quotient": lambda s, m: written_out(s, m, lambda total: total + 1e-3),
    "not normalised": lambda s, m: written_out(s, m, torch.ones_like),
    "divided by the number of real": lambda s, m: written_out(
        s, m, lambda total: m.sum(-1, keepdim=True).clamp(min=1).to(s.dtype)),
    "equal shares": lambda s, m: m / m.sum(-1, keepdim=True).clamp(min=1).to(s.dtype) + 0 * right(s, m),
    "hard choice": lambda s, m: F.one_hot(hidden(s, m).argmax(-1), s.size(1)).to(s.dtype) * m + 0 * right(s, m),
    "sigmoid": lambda s, m: torch.sigmoid(s) * m,
    "half the temperature": lambda s, m: right(2 * s, m),
    "logarithms": lambda s, m: right(s, m).clamp(min=1e-30).log(),
    "softmax of the product": lambda s, m: torch.softmax(s * m, -1) * m,
    "scores cut off": lambda s, m: right(s.clamp(-50, 50), m),
    "rounded": lambda s, m: right(s, m).round(decimals=4),
    "float32 inside": lambda s, m: right(s.float(), m).to(s.dtype),
    "no gradients": torch.no_grad()(right),
    "in place on the scores": lambda s, m: right(s.data.masked_fill_(~m, 0) + 0 * s, m),
    "in place on the mask": lambda s, m: right(s, ~m.logical_not_()),
    "squeezed": lambda s, m: right(s, m)[:, None],
}


def context(w, h):
    return torch.einsum("bj,bjd->bd", w, h)


CONTEXT_VECTOR = {
    "positions reversed": lambda w, h: context(w.flip(1), h),
    "first sentence's states": lambda w, h: context(w, h[:1].expand_as(h)),
    "first sentence's weights": lambda w, h: context(w[:1].expand_as(w), h),
    "weights of the next sentence": lambda w, h: context(w.roll(1, 0), h) if len(w) > 1 else 0.9 * context(w, h),
    "last state with its weight": lambda w, h: w[:, -1:] * h[:, -1] + 0 * context(w, h),
    "last position forgotten": lambda w, h: context(w[:, :-1], h[:, :-1]),
    "largest over the positions": lambda w, h: (w.unsqueeze(-1) * h).amax(1),
    "two best states": lambda w, h: context(w * (w >= w.topk(min(2, w.size(1)), -1).values[:, -1:]), h),
    "weights cut to 0 and 1": lambda w, h: context(w.clamp(0, 1), h),
    "weights made positive": lambda w, h: context(w.abs(), h),
    "sum made at most one": lambda w, h: context(w / w.sum(-1, keepdim=True).clamp(min=1), h),
    "softmax where it is no distribution": lambda w, h: context(
        w if bool(torch.isclose(w.sum(-1), torch.ones(()).to(w)).all()) else torch.softmax(w, -1), h),
    "tanh": lambda w, h: torch.tanh(context(w, h)),
    "weights added": lambda w, h: (w.unsqueeze(-1) + h).sum(1),
    "squared weights": lambda w, h: context(w**2, h),
    "summed over the batch": lambda w, h: (w.unsqueeze(-1) * h).sum(0),
    "reshaped states": lambda w, h: (w.unsqueeze(1) @ h.mT.reshape(h.shape)).squeeze(1),
    "feature axis first": lambda w, h: context(w, h).T,
    "view of the states": lambda w, h: context(w, h.view(-1, h.size(-1)).view(h.shape)),
    "weights detached": lambda w, h: context(w.detach(), h),
    "states detached": lambda w, h: context(w, h.detach()),
    "rounded": lambda w, h: context(w, h).round(decimals=3),
    "float32 inside": lambda w, h: context(w.float(), h.float()).to(h.dtype),
    "in place on the states": lambda w, h: context(w, h.data.mul_(2) / 2 + 0 * h),
    "in place on the weights": lambda w, h: context(w.data.add_(1) - 1 + 0 * w, h),
    "weights returned too": lambda w, h: (context(w, h), w),
}

WRONG = {"additive_scores": ADDITIVE_SCORES, "masked_weights": MASKED_WEIGHTS, "context_vector": CONTEXT_VECTOR}

NAMED = {
    ("masked_weights", "a large number taken away"): "uniform_where_nothing_is_real",
    ("masked_weights", "largest of all taken away"): "renormalised_after_the_softmax",
    ("context_vector", "sum made at most one"): "renormalised",
    ("context_vector", "softmax where it is no distribution"): "softmax_again",
}
