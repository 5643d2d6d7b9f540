"""Chapter 03: the three scores and local attention. LuongAttention is in luong_module.py."""

import math

import torch
import torch.nn.functional as F


def dot(s, h):
    return torch.einsum("bd,bjd->bj", s, h)


DOT_SCORE = {
    "one state for all": lambda s, h: h @ s[0],
    "states in another order": lambda s, h: dot(s.roll(1, 0), h),
    "words reversed": lambda s, h: dot(s, h.flip(1)),
    "features reversed": lambda s, h: dot(s.flip(-1), h),
    "one feature forgotten": lambda s, h: dot(s[:, 1:], h[..., 1:]),
    "absolute": lambda s, h: dot(s, h).abs(),
    "relu": lambda s, h: torch.relu(dot(s, h)),
    "tanh": lambda s, h: torch.tanh(dot(s, h)),
    "distance": lambda s, h: (s.unsqueeze(1) - h).norm(dim=-1),
    "negative squared distance": lambda s, h: -((s.unsqueeze(1) - h) ** 2).sum(-1) / 2,
    "divided by the root of the source": lambda s, h: dot(s, h) / h.size(1) ** 0.5,
    "mean taken away": lambda s, h: dot(s, h) - dot(s, h).mean(-1, keepdim=True),
    "state normalised": lambda s, h: dot(F.normalize(s, dim=-1), h),
    "transposed": lambda s, h: dot(s, h).T,
    "first column": lambda s, h: (h @ s.T)[..., 0],
    "rounded": lambda s, h: dot(s, h).round(decimals=2),
    "float32 inside": lambda s, h: dot(s.float(), h.float()).to(s.dtype),
    "bfloat16 inside": lambda s, h: dot(s.bfloat16(), h.bfloat16()).to(s.dtype),
    "state detached": lambda s, h: dot(s.detach(), h),
    "words detached": lambda s, h: dot(s, h.detach()),
    "no gradients": torch.no_grad()(dot),
    "view": lambda s, h: (h.view(-1, h.size(-1)) * s.repeat_interleave(h.size(1), 0)).sum(-1).view(h.shape[:2]),
    "in place on the words": lambda s, h: h.data.mul_(s.detach().unsqueeze(1)).sum(-1) + 0 * dot(s, h),
}


def general(s, h, W):
    return torch.einsum("bi,ij,bkj->bk", s, W, h)


GENERAL_SCORE = {
    "reshaped where W fits already": lambda s, h, W: dot(s @ W.reshape(W.size(1), W.size(0)).T, h),
    "W turned upside down": lambda s, h, W: general(s, h, W.flip(0)),
    "W normalised": lambda s, h, W: general(s, h, F.normalize(W, dim=-1)),
    "softmax of W": lambda s, h, W: general(s, h, torch.softmax(W, -1)),
    "sizes cut to the smaller": lambda s, h, W: dot(s, h[..., : s.size(-1)]) + 0 * general(s, h, W),
    "state added": lambda s, h, W: general(s, h, W) + s.sum(-1, keepdim=True),
    "one state for all": lambda s, h, W: general(s[:1].expand_as(s), h, W),
    "words reversed": lambda s, h, W: general(s, h.flip(1), W),
    "relu": lambda s, h, W: torch.relu(general(s, h, W)),
    "tanh around the score": lambda s, h, W: torch.tanh(general(s, h, W)),
    "tanh of the words": lambda s, h, W: dot(s, torch.tanh(h @ W.T)),
    "divided by the root of both": lambda s, h, W: general(s, h, W) / W.numel() ** 0.25,
    "divided by the number of words": lambda s, h, W: general(s, h, W) / h.size(1),
    "negative": lambda s, h, W: -general(s, h, W),
    "elementwise with W's row sums": lambda s, h, W: dot(s @ W.sum(1, keepdim=True).expand_as(W), h),
    "transposed": lambda s, h, W: general(s, h, W).T,
    "rounded": lambda s, h, W: general(s, h, W).round(decimals=2),
    "float32 inside": lambda s, h, W: general(s.float(), h.float(), W.float()).to(s.dtype),
    "state detached": lambda s, h, W: general(s.detach(), h, W),
    "words detached": lambda s, h, W: general(s, h.detach(), W),
    "matrix detached": lambda s, h, W: general(s, h, W.data),
    "view of W": lambda s, h, W: general(s, h, W.view(-1).view(W.shape)),
    "in place on the matrix": lambda s, h, W: dot(s @ W.data.mul_(2) / 2, h) + 0 * W.sum(),
}


def concat(s, h, W, v, activation=torch.tanh):
    both = torch.cat([s.unsqueeze(1).expand(-1, h.size(1), -1), h], dim=-1)
    return activation(both @ W.T) @ v


def halves(s, h, W):
    """What W makes of the state, and of the words: (batch, 1, d_a) and (batch, src, d_a)."""
    return (s @ W[:, : s.size(1)].T).unsqueeze(1), h @ W[:, s.size(1) :].T


def split_at_the_wrong_size(s, h, W, v):
    """W is split after d_h columns, so the state meets the last ones: in effect [h ; s]."""
    d_h = h.size(-1)
    return torch.tanh((s @ W[:, d_h:].T).unsqueeze(1) + h @ W[:, :d_h].T) @ v


CONCAT_SCORE = {
    "split at the wrong size": split_at_the_wrong_size,
    "relu": lambda s, h, W, v: concat(s, h, W, v, torch.relu),
    "gelu": lambda s, h, W, v: concat(s, h, W, v, F.gelu),
    "hard tanh": lambda s, h, W, v: concat(s, h, W, v, F.hardtanh),
    "tanh twice": lambda s, h, W, v: concat(s, h, W, v, lambda x: torch.tanh(torch.tanh(x))),
    "tanh of each half": lambda s, h, W, v: sum(torch.tanh(half) for half in halves(s, h, W)) @ v,
    "product of the halves": lambda s, h, W, v: torch.tanh(math.prod(halves(s, h, W))) @ v,
    "difference of the halves": lambda s, h, W, v: torch.tanh(halves(s, h, W)[0] - halves(s, h, W)[1]) @ v,
    "state left out": lambda s, h, W, v: concat(0 * s, h, W, v),
    "words left out": lambda s, h, W, v: concat(s, 0 * h, W, v),
    "one state for all": lambda s, h, W, v: concat(s[:1].expand_as(s), h, W, v),
    "states in another order": lambda s, h, W, v: concat(s.roll(1, 0), h, W, v),
    "mean of the hidden entries": lambda s, h, W, v: concat(s, h, W, v) / len(v),
    "v normalised": lambda s, h, W, v: concat(s, h, W, F.normalize(v, dim=0)),
    "softmax of v": lambda s, h, W, v: concat(s, h, W, torch.softmax(v, 0)),
    "v and hidden not added up": lambda s, h, W, v: concat(s, h, W, torch.diag(v)),
    "axis of size one left over": lambda s, h, W, v: concat(s, h, W, v.unsqueeze(-1)),
    "score of the reversed source": lambda s, h, W, v: concat(s, h, W, v).flip(1),
    "rounded": lambda s, h, W, v: concat(s, h, W, v).round(decimals=2),
    "float32 inside": lambda s, h, W, v: concat(s.float(), h.float(), W.float(), v.float()).to(s.dtype),
    "state detached": lambda s, h, W, v: concat(s.detach(), h, W, v),
    "matrix detached": lambda s, h, W, v: concat(s, h, W.detach(), v),
    "v detached": lambda s, h, W, v: concat(s, h, W, v.detach()),
    "view of the words": lambda s, h, W, v: concat(s, h.view(-1, h.size(-1)).view(h.shape), W, v),
    "in place on the state": lambda s, h, W, v: concat(s, h, W, v) + 0 * s.data.tanh_().sum(),
}


def offset(center, length):
    return torch.arange(length) - center.round().unsqueeze(-1)


def inside(center, half_width, length):
    return offset(center, length).abs() <= half_width


def all_or_nothing(center, half_width, length):
    """A window that would be cut is left empty."""
    whole = (center.round() >= half_width) & (center.round() <= length - 1 - half_width)
    return inside(center, half_width, length) & whole.unsqueeze(-1)


def negative_start(center, half_width, length):
    """A slice from a negative start begins at the other end, and is empty."""
    mask = torch.zeros(len(center), length, dtype=torch.bool)
    for row, c in enumerate(center.tolist()):
        mask[row, round(c) - half_width : round(c) + half_width + 1] = True
    return mask


LOCAL_WINDOW = {
    "first position left out": lambda c, D, n: (offset(c, n) > -D) & (offset(c, n) <= D),
    "one position too many": lambda c, D, n: (offset(c, n) >= -D) & (offset(c, n) <= D + 1),
    "one wider on both sides": lambda c, D, n: offset(c, n).abs() <= D + 1,
    "always one neighbour": lambda c, D, n: offset(c, n).abs() <= 1,
    "twice as wide": lambda c, D, n: offset(c, n).abs() <= 2 * D,
    "only the past": lambda c, D, n: (offset(c, n) >= -D) & (offset(c, n) <= 0),
    "only the future": lambda c, D, n: (offset(c, n) >= 0) & (offset(c, n) <= D),
    "only the centre": lambda c, D, n: offset(c, n) == 0,
    "without the centre": lambda c, D, n: inside(c, D, n) & (offset(c, n) != 0),
    "everything": lambda c, D, n: torch.ones(len(c), n, dtype=torch.bool),
    "positions counted from one": lambda c, D, n: (offset(c, n) + 1).abs() <= D,
    "last word never seen": lambda c, D, n: inside(c, D, n) & (torch.arange(n) < n - 1),
    "first word never seen": lambda c, D, n: inside(c, D, n) & (torch.arange(n) > 0),
    "empty where it would be cut": all_or_nothing,
    "negative start of a slice": negative_start,
    "centre counted from the end": lambda c, D, n: inside(c, D, n).flip(-1),
    "rows in another order": lambda c, D, n: inside(c, D, n).roll(1, 0),
    "transposed": lambda c, D, n: inside(c, D, n).T,
    "flattened": lambda c, D, n: inside(c, D, n).flatten(),
    "squeezed": lambda c, D, n: inside(c, D, n).squeeze(),
    "whole numbers": lambda c, D, n: inside(c, D, n).long(),
    "lists": lambda c, D, n: inside(c, D, n).tolist(),
    "positions for a mask": lambda c, D, n: c.round().long().unsqueeze(-1) + torch.arange(-D, D + 1),
    "only for a batch of one": lambda c, D, n: ((torch.arange(n) - round(c.item())).abs() <= D).unsqueeze(0),
    "only for fractions": lambda c, D, n: inside(c - c.frac() + c.frac().round(), D, n),
    "in place on the centres": lambda c, D, n: inside(c, D, n) & (c.mul_(2) > -2).unsqueeze(-1),
}


def soft(scores, center, half_width):
    return torch.softmax(scores.masked_fill(~inside(center, half_width, scores.size(-1)), -math.inf), -1)


def squares(center, length):
    return (torch.arange(length) - center.unsqueeze(-1)) ** 2


def bell(scores, center, sigma):
    return torch.exp(-squares(center, scores.size(-1)) / (2 * sigma**2))


def right(scores, center, half_width):
    return soft(scores, center, half_width) * bell(scores, center, half_width / 2)


def filled_with(value):
    def answer(scores, center, half_width):
        filled = scores.masked_fill(~inside(center, half_width, scores.size(-1)), value)
        return torch.softmax(filled, -1) * bell(scores, center, half_width / 2)

    return answer


def exp_before_the_window(scores, center, half_width):
    """Infinity times 0 is not a number, where a score outside is large."""
    exponentials = scores.exp() * inside(center, half_width, scores.size(-1))
    return exponentials / exponentials.sum(-1, keepdim=True) * bell(scores, center, half_width / 2)


def log_of_the_bell_added(scores, center, half_width):
    hidden = ~inside(center, half_width, scores.size(-1))
    logits = scores - squares(center, scores.size(-1)) / (2 * (half_width / 2) ** 2)
    return torch.softmax(logits.masked_fill(hidden, -math.inf), -1)


LOCAL_WEIGHTS = {
    "sigma is a quarter of D": lambda s, c, D: soft(s, c, D) * bell(s, c, D / 4),
    "sigma is D squared": lambda s, c, D: soft(s, c, D) * bell(s, c, D**2),
    "sigma rounded down": lambda s, c, D: soft(s, c, D) * bell(s, c, max(D // 2, 1)),
    "sigma is one": lambda s, c, D: soft(s, c, D) * bell(s, c, 1),
    "sigma is half the window": lambda s, c, D: soft(s, c, D) * bell(s, c, (2 * D + 1) / 2),
    "exponent turned positive": lambda s, c, D: soft(s, c, D) / bell(s, c, D / 2),
    "a triangle for the bell": lambda s, c, D: soft(s, c, D) * (1 - squares(c, s.size(-1)).sqrt() / (2 * D)).relu(),
    "bell squared": lambda s, c, D: right(s, c, D) * bell(s, c, D / 2),
    "bell added": lambda s, c, D: soft(s, c, D) + bell(s, c, D / 2) * inside(c, D, s.size(-1)),
    "bell alone": lambda s, c, D: bell(s, c, D / 2) * inside(c, D, s.size(-1)) + 0 * s,
    "bell around another sentence's centre": lambda s, c, D: soft(s, c, D) * bell(s, c.roll(1), D / 2),
    "bell one position off": lambda s, c, D: soft(s, c, D) * bell(s, c + 1, D / 2),
    "centre cut down in the bell": lambda s, c, D: soft(s, c, D) * bell(s, c.floor(), D / 2),
    "window around the centre cut down": lambda s, c, D: soft(s, c.floor(), D) * bell(s, c, D / 2),
    "window one wider": lambda s, c, D: soft(s, c, D + 1) * bell(s, c, D / 2),
    "log of the bell added to the scores": log_of_the_bell_added,
    "made to sum to half": lambda s, c, D: right(s, c, D) / right(s, c, D).sum(-1, keepdim=True) / 2,
    "largest made one": lambda s, c, D: right(s, c, D) / right(s, c, D).amax(-1, keepdim=True),
    "softmax again": lambda s, c, D: torch.softmax(right(s, c, D), -1),
    "softmax over the batch": lambda s, c, D: torch.softmax(
        s.masked_fill(~inside(c, D, s.size(-1)), -1e9), 0) * bell(s, c, D / 2),
    "hidden scores only lowered": lambda s, c, D: torch.softmax(
        s - 2.0 * ~inside(c, D, s.size(-1)), -1) * bell(s, c, D / 2) * inside(c, D, s.size(-1)),
    "filled with -3": filled_with(-3.0),
    "filled with 0": filled_with(0.0),
    "exp before the window": exp_before_the_window,
    "sigmoid for softmax": lambda s, c, D: torch.sigmoid(s) * inside(c, D, s.size(-1)) * bell(s, c, D / 2),
    "a little everywhere": lambda s, c, D: right(s, c, D) + 1e-3,
    "rounded": lambda s, c, D: right(s, c, D).round(decimals=3),
    "float32 inside": lambda s, c, D: right(s.float(), c.float(), D).to(s.dtype),
    "scores detached": lambda s, c, D: right(s.detach(), c, D),
    "squeezed": lambda s, c, D: right(s, c, D).squeeze(),
    "view": lambda s, c, D: right(s.view(-1).view(s.shape), c, D),
    "in place on the scores": lambda s, c, D: right(s, c, D) + 0 * s.data.add_(1),
}

WRONG = {
    "dot_score": DOT_SCORE,
    "general_score": GENERAL_SCORE,
    "concat_score": CONCAT_SCORE,
    "local_window": LOCAL_WINDOW,
    "local_weights": LOCAL_WEIGHTS,
}

NAMED = {
    ("concat_score", "split at the wrong size"): "encoder_state_first",
    ("local_window", "in place on the centres"): "centres_changed_in_place",
    ("local_weights", "bell squared"): "two_of_the_divisor_left_out",
    ("local_weights", "log of the bell added to the scores"): "made_to_sum_to_one_again",
    ("local_weights", "filled with 0"): "outside_scores_set_to_zero",
}
