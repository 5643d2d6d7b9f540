"""Chapter 06: heads, masks and masked_attention. MultiHeadAttention is in multi_head_module.py."""

import torch
import torch.nn.functional as F

from autograder.reference.multi_head import causal_mask, masked_attention, merge_heads, padding_mask, split_heads


def cut(x, h, *axes):
    """(batch, seq, heads, d_k), with its axes in another order."""
    return x.reshape(*x.shape[:2], h, -1).permute(*axes)


def overlapping(x, h):
    """Head i begins at feature i, not at i d_k."""
    d_k = x.size(-1) // h
    return torch.stack([x[..., i : i + d_k] for i in range(h)], 1)


SPLIT_HEADS = {
    "tokens turned around": lambda x, h: split_heads(x, h).flip(2),
    "heads turned around": lambda x, h: split_heads(x, h).flip(1),
    "features turned around": lambda x, h: split_heads(x, h).flip(-1),
    "heads shifted": lambda x, h: split_heads(x, h).roll(1, 1),
    "batch and heads swapped": lambda x, h: split_heads(x, h).transpose(0, 1).reshape(
        len(x), h, x.size(1), -1),
    "tokens first": lambda x, h: cut(x, h, 1, 0, 2, 3),
    "features before heads": lambda x, h: cut(x, h, 0, 3, 1, 2),
    "tokens and heads and features reversed": lambda x, h: cut(x, h, 0, 3, 2, 1),
    "heads in the batch": lambda x, h: split_heads(x, h).flatten(0, 1),
    "a list of heads": lambda x, h: list(x.chunk(h, -1)),
    "a tuple of heads": lambda x, h: x.chunk(h, -1),
    "overlapping": overlapping,
    "all features in every head": lambda x, h: x.unsqueeze(1).repeat(1, h, 1, 1),
    "others set to zero": lambda x, h: torch.stack(
        [x * (torch.arange(x.size(-1)) // (x.size(-1) // h) == i) for i in range(h)], 1),
    "scaled": lambda x, h: split_heads(x, h) / (x.size(-1) // h) ** 0.5,
    "memory read token by token": lambda x, h: x.reshape(len(x), h, -1, x.size(1)).mT,
    "always three heads": lambda x, h: split_heads(x, 3),
    "squeezed": lambda x, h: split_heads(x, h).squeeze(),
    "one head left alone": lambda x, h: x if h == 1 else split_heads(x, h),
    "view of two axes": lambda x, h: split_heads(x.view(-1, x.size(-1)).view(x.shape), h),
    "always float32": lambda x, h: split_heads(x, h).float(),
    "float32 inside": lambda x, h: split_heads(x.float(), h).to(x.dtype),
    "detached": lambda x, h: split_heads(x.detach(), h),
    "a new tensor from a list": lambda x, h: torch.tensor(split_heads(x, h).tolist(), dtype=x.dtype),
    "in place": lambda x, h: split_heads(x, h) + 0 * x.data.add_(1).sum(),
}

MERGE_HEADS = {
    "tokens turned around": lambda x: merge_heads(x).flip(1),
    "features turned around": lambda x: merge_heads(x).flip(-1),
    "heads shifted": lambda x: merge_heads(x.roll(1, 1)),
    "first head only": lambda x: x[:, 0],
    "last head for all": lambda x: x[:, -1].repeat(1, 1, x.size(1)),
    "largest over the heads": lambda x: x.amax(1),
    "root of the squares": lambda x: x.pow(2).sum(1).sqrt(),
    "sum repeated": lambda x: x.sum(1).repeat(1, 1, x.size(1)),
    "heads and batch joined": lambda x: x.flatten(0, 1),
    "everything flat": lambda x: x.flatten(1),
    "tokens last": lambda x: merge_heads(x).mT,
    "tokens first": lambda x: merge_heads(x).transpose(0, 1),
    "features before heads": lambda x: x.permute(0, 2, 3, 1).reshape(len(x), x.size(2), -1).flip(-1),
    "transposed the other way": lambda x: x.transpose(2, 3).reshape(len(x), x.size(2), -1),
    "a list of heads": lambda x: list(x.unbind(1)),
    "divided by the number of heads": lambda x: merge_heads(x) / x.size(1),
    "always three heads": lambda x: merge_heads(x[:, :3]),
    "one head kept as an axis": lambda x: x.transpose(1, 2) if x.size(1) == 1 else merge_heads(x),
    "squeezed": lambda x: merge_heads(x).squeeze(),
    "view of the heads": lambda x: merge_heads(x.view(-1, x.size(-1)).view(x.shape)),
    "always float32": lambda x: merge_heads(x).float(),
    "float32 inside": lambda x: merge_heads(x.float()).to(x.dtype),
    "detached": lambda x: merge_heads(x.detach()),
    "in place": lambda x: merge_heads(x) + 0 * x.data.add_(1).sum(),
}

CAUSAL_MASK = {
    "one token back only": lambda n: causal_mask(n) & ~causal_mask(n).tril(-2),
    "itself only": lambda n: torch.eye(n, dtype=torch.bool),
    "first token always allowed": lambda n: causal_mask(n).tril(-1) | (torch.arange(n) == 0),
    "nothing allowed": lambda n: torch.zeros(n, n, dtype=torch.bool),
    "mirrored": lambda n: causal_mask(n).flip(1),
    "upside down": lambda n: causal_mask(n).flip(0),
    "last row open": lambda n: causal_mask(n) | (torch.arange(n) == n - 1)[None],
    "whole numbers": lambda n: causal_mask(n).long(),
    "bytes": lambda n: causal_mask(n).to(torch.uint8),
    "float64": lambda n: causal_mask(n).double(),
    "additive, the other way": lambda n: torch.full((n, n), float("-inf")).tril(-1),
    "a list": lambda n: causal_mask(n).tolist(),
    "NumPy": lambda n: causal_mask(n).numpy(),
    "one axis more": lambda n: causal_mask(n).unsqueeze(0),
    "two axes more": lambda n: causal_mask(n)[None, None],
    "flat": lambda n: causal_mask(n).flatten(),
    "one size smaller": lambda n: causal_mask(n - 1),
    "one size larger": lambda n: causal_mask(n + 1),
    "size 32 at most": lambda n: causal_mask(min(n, 32)),
    "always 5": lambda n: causal_mask(5),
    "squeezed": lambda n: causal_mask(n).squeeze(),
    "odd sizes only": lambda n: causal_mask(n) if n % 2 else causal_mask(n).flip(0),
}

PADDING_MASK = {
    "heads from the batch": lambda t, pad: (t != pad)[None, :, None, :],
    "axes at the end": lambda t, pad: (t != pad)[:, :, None, None],
    "axes at the front": lambda t, pad: (t != pad)[None, None],
    "three axes more": lambda t, pad: padding_mask(t, pad).unsqueeze(0),
    "expanded over the queries": lambda t, pad: padding_mask(t, pad).expand(-1, -1, t.size(1), -1),
    "additive": lambda t, pad: torch.zeros(len(t), 1, 1, t.size(1)).masked_fill((t == pad)[:, None, None], -torch.inf),
    "whole numbers": lambda t, pad: padding_mask(t, pad).long(),
    "bytes": lambda t, pad: padding_mask(t, pad).to(torch.uint8),
    "the tokens themselves": lambda t, pad: (t * (t != pad))[:, None, None, :],
    "tokens as truths": lambda t, pad: t.bool()[:, None, None, :],
    "from the lengths": lambda t, pad: (
        torch.arange(t.size(1)) < (t != pad).sum(1, keepdim=True))[:, None, None, :],
    "up to the last real token": lambda t, pad: (t != pad).flip(1).cumsum(1).flip(1).bool()[:, None, None, :],
    "up to the first pad": lambda t, pad: (t != pad).cumprod(1).bool()[:, None, None, :],
    "mask of the first sentence": lambda t, pad: padding_mask(t[:1].expand_as(t), pad),
    "tokens turned around": lambda t, pad: padding_mask(t.flip(1), pad),
    "first token always real": lambda t, pad: padding_mask(t, pad) | (torch.arange(t.size(1)) == 0),
    "a row of padding left open": lambda t, pad: padding_mask(t, pad) | (t == pad).all(1)[:, None, None, None],
    "size of the pad": lambda t, pad: (t.abs() != abs(pad))[:, None, None, :] & (t != 1),
    "causal as well": lambda t, pad: padding_mask(t, pad) & causal_mask(t.size(1)),
    "a list": lambda t, pad: padding_mask(t, pad).tolist(),
    "squeezed": lambda t, pad: (t != pad).squeeze()[:, None, None, :] if len(t) > 1 else (t != pad).squeeze(),
    "in place": lambda t, pad: (padding_mask(t, pad), t.fill_(pad))[0],
}


def scores_of(q, k):
    return q @ k.transpose(-2, -1) / q.size(-1) ** 0.5


def weighing(weigh):
    """masked_attention around a slip in the weights, `weigh(scores, mask)`, whose mask is bool or None."""
    def answer(query, key, value, mask=None):
        weights = weigh(scores_of(query, key), mask if mask is None else mask.bool())
        return weights @ value, weights

    return answer


def softened(scores, mask, low=-1e9):
    """Right: zeros where nothing is allowed."""
    return torch.softmax(scores, -1) if mask is None else torch.softmax(
        scores.masked_fill(~mask, low), -1).masked_fill(~mask, 0)


def around(change):
    """The right function, called through `change(function, query, key, value, mask)`."""
    return lambda query, key, value, mask=None: change(masked_attention, query, key, value, mask)


def uniform_where_empty(scores, mask):
    weights = softened(scores, mask)
    return weights if mask is None else weights.masked_fill(~mask.any(-1, keepdim=True), 1 / scores.size(-1))


def first_where_empty(scores, mask):
    if mask is None:
        return softened(scores, mask)
    start = torch.arange(scores.size(-1)) == 0
    return softened(scores, mask) + (~mask.any(-1, keepdim=True) & start)


def unmasked_where_empty(scores, mask):
    return softened(scores, mask if mask is None else mask | ~mask.any(-1, keepdim=True))


def tiny_denominator(scores, mask):
    """exp without the largest score, masked, over a sum with 1e-2 in it."""
    exponentials = scores.exp() if mask is None else scores.exp() * mask
    return exponentials / (exponentials.sum(-1, keepdim=True) + 1e-2)


def plain_exponentials(scores, mask):
    """exp without the largest score taken away, and no zeros where nothing is allowed."""
    exponentials = scores.exp() if mask is None else scores.exp() * mask
    return exponentials / exponentials.sum(-1, keepdim=True)


def required(query, key, value, mask):
    return masked_attention(query, key, value, mask)


def four_axes_only(query, key, value, mask=None):
    batch, heads, n_q, _ = query.shape
    output, weights = masked_attention(query, key, value, mask)
    return output.view(batch, heads, n_q, -1), weights


def mask_spoiled(query, key, value, mask=None):
    """Rows with nothing allowed are opened in the caller's own mask."""
    if mask is not None:
        mask |= ~(mask > 0).any(-1, keepdim=True)
    return masked_attention(query, key, value, mask)


def divided_by(denominator):
    """Masked after the softmax, then divided by `denominator(sum of the row)`."""
    def weigh(scores, mask):
        weights = torch.softmax(scores, -1) if mask is None else torch.softmax(scores, -1) * mask
        return weights / denominator(weights.sum(-1, keepdim=True))

    return weighing(weigh)


def added(low):
    """The additive form, `low` where something is forbidden."""
    return weighing(lambda s, m: torch.softmax(s if m is None else s + torch.where(m, 0.0, low), -1))


def one_maximum(scores, mask):
    """The largest score of all is taken away, whichever query it belongs to."""
    exponentials = torch.exp(scores - scores.max()) * (1 if mask is None else mask)
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / torch.where(total == 0, torch.ones_like(total), total)


def one_maximum_of_the_allowed(scores, mask):
    """Forbidden scores are gone before the largest of all is sought."""
    low = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    exponentials = torch.exp(low - low[low.isfinite()].max())
    return exponentials / exponentials.sum(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def zeros_over_nan(scores, mask):
    if mask is None:
        return torch.softmax(scores, -1)
    weights = torch.softmax(scores + torch.where(mask, 0.0, -torch.inf), -1)
    return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)


MASKED_ATTENTION = {
    "one maximum for all": weighing(one_maximum),
    "one maximum of the allowed": weighing(one_maximum_of_the_allowed),
    "filled with 1e-9": weighing(lambda s, m: torch.softmax(s if m is None else s.masked_fill(~m, 1e-9), -1)),
    "zeros over NaN": weighing(zeros_over_nan),
    "divided after the softmax": weighing(lambda s, m: softened(s * 11**0.5, m) / 11**0.5),
    "mask with one more axis": weighing(lambda s, m: softened(s, m if m is None else m.unsqueeze(1))),
    "minus infinity added": added(-torch.inf),
    "logarithm of the mask added": weighing(lambda s, m: torch.softmax(s if m is None else s + torch.log(m), -1)),
    "low number added": added(-1e9),
    "sum plus 1e-9": divided_by(lambda total: total + 1e-9),
    "sum plus 1e-12": divided_by(lambda total: total + 1e-12),
    "sum clamped": divided_by(lambda total: total.clamp_min(1e-6)),
    "filled with -10": weighing(lambda s, m: softened(s, m, -10.0)),
    "filled with -20": weighing(lambda s, m: softened(s, m, -20.0)),
    "filled with -100": weighing(lambda s, m: softened(s, m, -100.0)),
    "filled with -1000": weighing(lambda s, m: softened(s, m, -1000.0)),
    "hidden scores at -3": weighing(lambda s, m: softened(s, m, -3.0)),
    "lowered by 10": weighing(lambda s, m: torch.softmax(s if m is None else s - 10.0 * ~m, -1)),
    "set to the smallest score": weighing(lambda s, m: torch.softmax(
        s if m is None else torch.where(m, s, s.amin(-1, keepdim=True)), -1)),
    "set to 0": weighing(lambda s, m: softened(s, m, 0.0)),
    "exp without the maximum": weighing(plain_exponentials),
    "tiny number in the denominator": weighing(tiny_denominator),
    "sigmoid for softmax": weighing(lambda s, m: torch.sigmoid(s) if m is None else torch.sigmoid(s) * m),
    "a little everywhere": weighing(lambda s, m: softened(s, m) + 1e-4),
    "hardmax": weighing(lambda s, m: F.one_hot(softened(s, m).argmax(-1), s.size(-1)).to(s) + 0 * s),
    "softmax twice": weighing(lambda s, m: softened(softened(s, m), m)),
    "softmax over everything": weighing(lambda s, m: softened(s.flatten(-2), m if m is None else m.expand_as(
        s).flatten(-2)).view_as(s)),
    "axis 1": weighing(lambda s, m: torch.softmax(s if m is None else s.masked_fill(~m, -1e9), 1)),
    "mask of the first head": weighing(lambda s, m: softened(s, m if m is None or m.dim() < 4 else m[:, :1])),
    "mask of the first query": weighing(lambda s, m: softened(s, m if m is None else m[..., :1, :])),
    "mask turned around": weighing(lambda s, m: softened(s, m if m is None else m.flip(-1))),
    "everything forbidden without a mask": weighing(lambda s, m: softened(
        s, torch.zeros_like(s).bool() if m is None else m)),
    "causal without a mask": weighing(lambda s, m: softened(
        s, torch.ones_like(s).bool().tril() if m is None else m)),
    "causal as well": weighing(lambda s, m: softened(
        s, m if m is None else m & torch.ones(s.shape[-2:]).bool().tril(s.size(-1) - 4))),
    "uniform where nothing is allowed": weighing(uniform_where_empty),
    "first key where nothing is allowed": weighing(first_where_empty),
    "no mask where nothing is allowed": weighing(unmasked_where_empty),
    "NaN where nothing is allowed": weighing(lambda s, m: softened(s, m) if m is None else softened(
        s, m).masked_fill(~m.any(-1, keepdim=True), float("nan"))),
    "divided by the root of the keys": around(lambda f, q, k, v, m: f(
        q * (q.size(-1) / k.size(-2)) ** 0.5, k, v, m)),
    "divided by the root of the width of v": around(lambda f, q, k, v, m: f(
        q * (q.size(-1) / v.size(-1)) ** 0.5, k, v, m)),
    "divided by 8": around(lambda f, q, k, v, m: f(q * q.size(-1) ** 0.5 / 8, k, v, m)),
    "weights scaled": around(lambda f, q, k, v, m: (f(q, k, v, m)[0], f(q, k, v, m)[1] / q.size(-1) ** 0.5)),
    "scores for weights": around(lambda f, q, k, v, m: (f(q, k, v, m)[0], scores_of(q, k))),
    "values in another order": around(lambda f, q, k, v, m: f(q, k, v.flip(-2), m)),
    "query added": around(lambda f, q, k, v, m: (f(q, k, v, m)[0] + v.mean(-2, keepdim=True), f(q, k, v, m)[1])),
    "mask required": required,
    "four axes only": four_axes_only,
    "mask changed in place": mask_spoiled,
    "in place on the keys": around(lambda f, q, k, v, m: (f(q, k, v, m), k.data.mul_(2))[0]),
    "squeezed": around(lambda f, q, k, v, m: tuple(t.squeeze() for t in f(q, k, v, m))),
    "view of the queries": around(lambda f, q, k, v, m: f(q.view(-1, q.size(-1)).view(q.shape), k, v, m)),
    "float32 inside": around(lambda f, q, k, v, m: tuple(
        t.to(q.dtype) for t in f(q.float(), k.float(), v.float(), m))),
    "always float32": around(lambda f, q, k, v, m: tuple(t.float() for t in f(q, k, v, m))),
    "rounded": around(lambda f, q, k, v, m: (f(q, k, v, m)[0], f(q, k, v, m)[1].round(decimals=3))),
    "keys detached": around(lambda f, q, k, v, m: f(q, k.detach(), v, m)),
    "weights detached": around(lambda f, q, k, v, m: (f(q, k, v, m)[0], f(q, k, v, m)[1].detach())),
    "mixed with detached weights": around(lambda f, q, k, v, m: (f(q, k, v, m)[1].detach() @ v, f(q, k, v, m)[1])),
}

WRONG = {
    "split_heads": SPLIT_HEADS,
    "merge_heads": MERGE_HEADS,
    "causal_mask": CAUSAL_MASK,
    "padding_mask": PADDING_MASK,
    "masked_attention": MASKED_ATTENTION,
}

NAMED = {
    ("split_heads", "heads in the batch"): "heads_folded_into_the_batch",
    ("merge_heads", "view of the heads"): "view_after_transpose",
    ("merge_heads", "tokens last"): "tokens_last",
    ("causal_mask", "two axes more"): "axes_for_batch_and_heads",
    ("padding_mask", "tokens as truths"): "pad_is_always_zero",
    ("padding_mask", "from the lengths"): "as_many_as_are_real",
    ("masked_attention", "exp without the maximum"): "normalised_a_second_time",
    ("masked_attention", "minus infinity added"): "empty_row_of_added_infinities",
    ("masked_attention", "logarithm of the mask added"): "empty_row_of_added_infinities",
    ("masked_attention", "low number added"): "empty_row_of_added_low_numbers",
    ("masked_attention", "sum plus 1e-9"): "forbidden_taken_out_too_late",
    ("masked_attention", "sum plus 1e-12"): "forbidden_taken_out_too_late",
    ("masked_attention", "sum clamped"): "forbidden_taken_out_too_late",
    ("masked_attention", "one maximum for all"): "low_scores_lost",
    ("masked_attention", "filled with 1e-9"): "zero_as_a_forbidden_score",
    ("masked_attention", "zeros over NaN"): "not_a_number_painted_over",
    ("masked_attention", "divided after the softmax"): "weights_divided",
    ("masked_attention", "mask with one more axis"): "mask_with_an_axis_too_many",
    ("masked_attention", "divided by the root of the keys"): "divided_by_the_root_of_the_keys",
    ("masked_attention", "filled with -10"): "low_scores_lost",
    ("masked_attention", "filled with -20"): "low_scores_lost",
    ("masked_attention", "filled with -100"): "low_scores_lost",
    ("masked_attention", "tiny number in the denominator"): "low_scores_lost",
    ("masked_attention", "uniform where nothing is allowed"): "empty_row_is_shared_out",
    ("masked_attention", "NaN where nothing is allowed"): "empty_row_is_not_a_number",
}
