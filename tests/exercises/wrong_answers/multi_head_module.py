"""Chapter 06: MultiHeadAttention. Most slips are the reference with one part replaced."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import multi_head
from autograder.reference.multi_head import masked_attention, merge_heads, split_heads


def finished(self, heads, weights):
    return self.W_o(self.dropout(merge_heads(heads))), weights


def dropped_together(self, heads, weights, axes):
    """Dropout of the merged heads by fewer draws than there are entries: the same along some axes."""
    merged = heads.transpose(1, 2)
    if self.training and self.dropout.p:
        draws = torch.ones([1 if axis in axes else size for axis, size in enumerate(merged.shape)])
        merged = merged * F.dropout(draws, self.dropout.p)
    return self.W_o(merged.flatten(2)), weights


def projected(self, q, k, v):
    return self.W_q(q), self.W_k(k), self.W_v(v)


def module(attend=masked_attention, finish=finished, project=projected, split=split_heads):
    """MultiHeadAttention around a slip in the attention, after it, in the projections, or in the split."""
    class MultiHeadAttention(multi_head.MultiHeadAttention):
        def forward(self, q, k, v, mask=None):
            heads = (split(x, self.num_heads) for x in project(self, q, k, v))
            return finish(self, *attend(*heads, mask))

    return MultiHeadAttention


def around(forward):
    """The reference, called through `forward(self, right, q, k, v, mask)`."""
    class MultiHeadAttention(multi_head.MultiHeadAttention):
        def forward(self, q, k, v, mask=None):
            return forward(self, super().forward, q, k, v, mask)

    return MultiHeadAttention


def prepared(prepare):
    """The reference, after `prepare(self, d_model, num_heads)` in its constructor."""
    class MultiHeadAttention(multi_head.MultiHeadAttention):
        def __init__(self, d_model, num_heads, dropout=0.1):
            super().__init__(d_model, num_heads, dropout)
            prepare(self, d_model, num_heads)

    return MultiHeadAttention


def refusing(refuse):
    """A constructor that takes everything for which `refuse(d_model, num_heads)` does not raise."""
    class MultiHeadAttention(multi_head.MultiHeadAttention):
        def __init__(self, d_model, num_heads, dropout=0.1):
            refuse(d_model, num_heads)
            super().__init__(d_model, 1, dropout)
            self.num_heads = num_heads

    return MultiHeadAttention


def another_exception(d_model, num_heads):
    if d_model % num_heads:
        raise TypeError(f"{d_model} and {num_heads}")


def without_numbers(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("d_model must be divisible by num_heads")


def one_number(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError(f"d_model cannot be split into {num_heads} heads")


def odd_numbers_only(d_model, num_heads):
    if d_model % 2 and d_model % num_heads:
        raise ValueError(f"{d_model} and {num_heads}")


def a_remainder_of_one_is_taken(d_model, num_heads):
    if d_model % num_heads > 1:
        raise ValueError(f"{d_model} and {num_heads}")


def the_other_way_round(d_model, num_heads):
    if num_heads % d_model:
        raise ValueError(f"{d_model} and {num_heads}")


class RefusedOnlyWhenCalled(multi_head.MultiHeadAttention):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, 1, dropout)
        self.num_heads, self.d_model = num_heads, d_model

    def forward(self, q, k, v, mask=None):
        if self.d_model % self.num_heads:
            raise ValueError(f"{self.d_model} and {self.num_heads}")
        return super().forward(q, k, v, mask)


class MaskRequired(multi_head.MultiHeadAttention):
    def forward(self, q, k, v, mask):
        return super().forward(q, k, v, mask)


class AnotherDefaultRate(multi_head.MultiHeadAttention):
    def __init__(self, d_model, num_heads, dropout=0.2):
        super().__init__(d_model, num_heads, dropout)


class NoDropoutUnlessAsked(multi_head.MultiHeadAttention):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__(d_model, num_heads, dropout)


class NotRegistered(multi_head.MultiHeadAttention):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, num_heads, dropout)
        self.layers = [self._modules.pop(name) for name in ("W_q", "W_k", "W_v")]

    def forward(self, q, k, v, mask=None):
        heads = (split_heads(layer(x), self.num_heads) for layer, x in zip(self.layers, (q, k, v), strict=True))
        return finished(self, *masked_attention(*heads, mask))


class OneMatrixForThree(nn.Module):
    """Packed as torch packs it; the names and shapes are others than those asked for."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} and {num_heads}")
        self.num_heads = num_heads
        self.W_qkv, self.W_o = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        parts = (self.W_qkv(x).chunk(3, -1)[i] for i, x in enumerate((q, k, v)))
        return finished(self, *masked_attention(*(split_heads(x, self.num_heads) for x in parts), mask))


class OneLayerPerHead(nn.Module):
    """A list of small layers does the same, under other names."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} and {num_heads}")
        for name in "qkv":
            setattr(self, f"W_{name}", nn.ModuleList(
                nn.Linear(d_model, d_model // num_heads) for _ in range(num_heads)))
        self.W_o, self.dropout = nn.Linear(d_model, d_model), nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        heads = (torch.stack([layer(x) for layer in layers], 1)
                 for layers, x in ((self.W_q, q), (self.W_k, k), (self.W_v, v)))
        return finished(self, *masked_attention(*heads, mask))


def with_scores(change):
    """The attention with `change(scores, mask)` before the softmax over the allowed keys."""
    def attend(query, key, value, mask=None):
        scores = change(query @ key.mT / query.size(-1) ** 0.5, mask)
        if mask is None:
            weights = torch.softmax(scores, -1)
        else:
            weights = torch.softmax(scores.masked_fill(mask == 0, -1e9), -1).masked_fill(mask == 0, 0.0)
        return weights @ value, weights

    return attend


def weights_dropped_inside(self, right, q, k, v, mask):
    """As in torch: the dropped weights mix the values, the others are returned."""
    query, key, value = (split_heads(x, self.num_heads) for x in projected(self, q, k, v))
    _, weights = masked_attention(query, key, value, mask)
    return self.W_o(merge_heads(self.dropout(weights) @ value)), weights


def scaled_in_eval_mode(self, heads, weights):
    """As the first paper on dropout had it: nothing is doubled in train mode, and eval mode has less."""
    p, merged = self.dropout.p, merge_heads(heads)
    merged = merged * (torch.rand_like(merged) > p) if self.training else merged * (1 - p)
    return self.W_o(merged), weights


def fixed_rate(self, heads, weights):
    return self.W_o(F.dropout(merge_heads(heads), 0.1, self.training and self.dropout.p > 0)), weights


def nan_in_the_gradient(query, key, value, mask=None):
    scores = query @ key.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask == 0, -math.inf)
    weights = torch.softmax(scores, -1).nan_to_num()
    return weights @ value, weights


def open_where_nothing_is_allowed(query, key, value, mask=None):
    opened = mask if mask is None else (mask != 0) | (mask == 0).all(-1, keepdim=True)
    return masked_attention(query, key, value, opened)


def bool_only(query, key, value, mask=None):
    if mask is None:
        return masked_attention(query, key, value)
    return masked_attention(query, key, value, mask & torch.ones_like(mask, dtype=torch.bool) if mask.dtype ==
                            torch.bool else mask == 0)


def widths_and_heads_swapped(x, num_heads):
    """d_k heads of width h."""
    return x.unflatten(-1, (-1, num_heads)).transpose(1, 2)


def every_other_feature(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


MULTI_HEAD_ATTENTION = {
    **{f"one draw for {what}": module(finish=partial(dropped_together, axes=axes)) for what, axes in (
        ("all sequences", (0,)), ("all tokens", (0, 1)), ("the features of a token", (2, 3)), ("a head", (1, 3)),
        ("everything", (0, 1, 2, 3)))},
    "h-th features": module(split=every_other_feature),
    "widths and heads swapped": module(split=widths_and_heads_swapped),
    "heads in reverse order": module(finish=lambda self, h, w: finished(self, h.flip(1), w)),
    "weights in reverse order": module(finish=lambda self, h, w: finished(self, h, w.flip(1))),
    "heads added and repeated": module(finish=lambda self, h, w: finished(
        self, h.sum(1, keepdim=True).expand_as(h), w)),
    "first head for all": module(finish=lambda self, h, w: finished(self, h[:, :1].expand_as(h), w)),
    "W_o twice": module(finish=lambda self, h, w: (self.W_o(finished(self, h, w)[0]), w)),
    "W_o transposed": module(finish=lambda self, h, w: (
        self.dropout(merge_heads(h)) @ self.W_o.weight + self.W_o.bias, w)),
    "bias of W_o left out": module(finish=lambda self, h, w: (
        F.linear(self.dropout(merge_heads(h)), self.W_o.weight), w)),
    "W_o in each head": module(finish=lambda self, h, w: (finished(self, h, w)[0] / self.num_heads, w)),
    "query added": around(lambda self, f, q, k, v, m: (f(q, k, v, m)[0] + q, f(q, k, v, m)[1])),
    "relu before W_o": module(finish=lambda self, h, w: finished(self, torch.relu(h), w)),
    "W_q and W_k swapped": module(project=lambda self, q, k, v: (self.W_k(q), self.W_q(k), self.W_v(v))),
    "W_k and W_v swapped": module(project=lambda self, q, k, v: (self.W_q(q), self.W_v(k), self.W_k(v))),
    "divided by the root of the keys": module(attend=lambda q, k, v, m=None: masked_attention(
        q * (q.size(-1) / k.size(-2)) ** 0.5, k, v, m)),
    "divided after the softmax": module(attend=lambda q, k, v, m=None: tuple(
        t / q.size(-1) ** 0.5 for t in masked_attention(q * q.size(-1) ** 0.5, k, v, m))),
    "mask with one more axis": module(attend=lambda q, k, v, m=None: masked_attention(
        q, k, v, None if m is None else m.unsqueeze(1))),
    "dropout of a tenth": prepared(lambda self, d, h: setattr(self, "dropout", nn.Dropout(0.1))),
    "W_v for the keys": module(project=lambda self, q, k, v: (self.W_q(q), self.W_v(k), self.W_v(v))),
    "keys not projected": module(project=lambda self, q, k, v: (self.W_q(q), k, self.W_v(v))),
    "values not projected": module(project=lambda self, q, k, v: (self.W_q(q), self.W_k(k), v)),
    "keys and values swapped": module(project=lambda self, q, k, v: (self.W_q(q), self.W_k(v), self.W_v(k))),
    "no bias used in the projections": module(project=lambda self, q, k, v: tuple(
        F.linear(x, layer.weight) for x, layer in ((q, self.W_q), (k, self.W_k), (v, self.W_v)))),
    "scaled twice": module(attend=with_scores(lambda s, m: s / math.sqrt(11))),
    "scores clamped": module(attend=with_scores(lambda s, m: s.clamp(-1, 1))),
    "scores multiplied by the number of keys": module(attend=with_scores(lambda s, m: s * s.size(-1))),
    "mask of the first sentence": module(attend=lambda q, k, v, m: masked_attention(
        q, k, v, m if m is None or m.dim() < 4 else m[:1])),
    "mask of the first query": module(attend=lambda q, k, v, m: masked_attention(
        q, k, v, m if m is None else m[..., :1, :])),
    "causal in addition": module(attend=lambda q, k, v, m: masked_attention(
        q, k, v, torch.ones(q.size(-2), k.size(-2)).tril(k.size(-2) - 4) * (1 if m is None else m))),
    "mask read by bool code": module(attend=bool_only),
    "NaN only in the gradient": module(attend=nan_in_the_gradient),
    "open where nothing is allowed": module(attend=open_where_nothing_is_allowed),
    "mask required": MaskRequired,
    "weights of the last head": module(finish=lambda self, h, w: (finished(self, h, w)[0], w[:, -1])),
    "largest weights over the heads": module(finish=lambda self, h, w: (finished(self, h, w)[0], w.amax(1))),
    "weights transposed": module(finish=lambda self, h, w: (finished(self, h, w)[0], w.mT)),
    "weights detached": module(finish=lambda self, h, w: (finished(self, h, w)[0], w.detach())),
    "heads detached": module(finish=lambda self, h, w: finished(self, h.detach(), w)),
    "weights dropped inside": around(weights_dropped_inside),
    "queries dropped": module(project=lambda self, q, k, v: projected(self, self.dropout(q), k, v)),
    "values dropped": module(project=lambda self, q, k, v: projected(self, q, k, self.dropout(v))),
    "dropped twice": module(finish=lambda self, h, w: (self.dropout(finished(self, h, w)[0]), w)),
    "dropped in eval mode alone": module(finish=lambda self, h, w: (
        self.W_o(F.dropout(merge_heads(h), self.dropout.p, not self.training)), w)),
    "always a rate of 0.1": module(finish=fixed_rate),
    "another rate unless asked": AnotherDefaultRate,
    "no dropout unless asked": NoDropoutUnlessAsked,
    "scaled in eval mode": module(finish=scaled_in_eval_mode),
    "whole heads dropped, and their weights": module(finish=lambda self, h, w: finished(
        self, h, w * self.dropout(torch.ones(1, w.size(1), 1, 1)))),
    "squeezed": around(lambda self, f, q, k, v, m: tuple(t.squeeze() for t in f(q, k, v, m))),
    "view of the input": around(lambda self, f, q, k, v, m: f(q.view(-1, q.size(-1)).view(q.shape), k, v, m)),
    "float32 inside": around(lambda self, f, q, k, v, m: tuple(t.float().to(q.dtype) for t in f(q, k, v, m))),
    "always float32": around(lambda self, f, q, k, v, m: tuple(t.float() for t in f(q, k, v, m))),
    "in place on the values": around(lambda self, f, q, k, v, m: (f(q, k, v, m), v.data.mul_(2))[0]),
    "in place on the mask": around(lambda self, f, q, k, v, m: (f(q, k, v, m), m if m is None else m.fill_(1))[0]),
    "a temperature of its own": prepared(lambda self, d, h: setattr(self, "scale", nn.Parameter(torch.ones(1)))),
    "bias in W_o only": prepared(lambda self, d, h: [setattr(
        self, f"W_{x}", nn.Linear(d, d, bias=False)) for x in "qkv"]),
    "a norm inside": prepared(lambda self, d, h: setattr(self, "norm", nn.LayerNorm(d))),
    "not registered": NotRegistered,
    "one matrix for three": OneMatrixForThree,
    "one layer for each head": OneLayerPerHead,
    "nothing refused": refusing(lambda d_model, num_heads: None),
    "another exception": refusing(another_exception),
    "numbers not in the text": refusing(without_numbers),
    "one number in the text": refusing(one_number),
    "refused for odd numbers only": refusing(odd_numbers_only),
    "a remainder of one is taken": refusing(a_remainder_of_one_is_taken),
    "refused the other way round": refusing(the_other_way_round),
    "refused only when called": RefusedOnlyWhenCalled,
}

WRONG = {"MultiHeadAttention": MULTI_HEAD_ATTENTION}

NAMED = {
    ("MultiHeadAttention", "W_k and W_v swapped"): "keys_and_values_changed_over",
    ("MultiHeadAttention", "divided by the root of the keys"): "divided_by_the_root_of_the_keys",
    ("MultiHeadAttention", "divided after the softmax"): "weights_divided",
    ("MultiHeadAttention", "mask with one more axis"): "an_axis_too_many_in_the_mask",
    ("MultiHeadAttention", "dropout of a tenth"): "head_dropout_rate_of_its_own",
    ("MultiHeadAttention", "NaN only in the gradient"): "not_a_number_painted_over",
    ("MultiHeadAttention", "dropped in eval mode alone"): "dropped_in_eval_mode_too",
    ("MultiHeadAttention", "refused for odd numbers only"): "uneven_split_accepted",
    ("MultiHeadAttention", "scaled twice"): "scaled_twice",
    ("MultiHeadAttention", "no dropout unless asked"): "no_dropout_by_default",
    ("MultiHeadAttention", "nothing refused"): "uneven_split_accepted",
    ("MultiHeadAttention", "refused only when called"): "uneven_split_accepted",
}
