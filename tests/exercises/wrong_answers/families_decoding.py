"""Chapter 10, how a decoder speaks."""

import math

import torch
import torch.nn.functional as F

from autograder.reference.families import cached_attention, top_p_filter


def attended(mask=None, scale=None, weigh=None, joined=None, kept=None):
    """cached_attention with one thing exchanged."""
    def answer(query, key, value, cache=None):
        old = cache or (key[..., :0, :], value[..., :0, :])
        past = old[0].size(-2)
        key, value = joined(old, key, value) if joined else (
            torch.cat([old[0], key], dim=-2), torch.cat([old[1], value], dim=-2))
        d, new, total = query.size(-1), query.size(-2), key.size(-2)
        scores = query @ key.mT / (scale(d, total) if scale else math.sqrt(d))
        seen = torch.ones(new, total, dtype=torch.bool).tril(past) if mask is None else mask(new, total, past)
        scores = scores.masked_fill(~seen, -torch.inf)
        weights = weigh(scores) if weigh else scores.softmax(-1)
        return weights @ value, kept(key, value, past) if kept else (key, value)

    return answer


MEMORY = {}


def one_cache_for_all(query, key, value, cache=None):
    """The cache that was made last, whichever is given."""
    past = MEMORY.get("cache") if cache is not None else None
    fits = past is not None and past[0].size(-2) == cache[0].size(-2) and past[0].shape[:2] == key.shape[:2]
    output, MEMORY["cache"] = cached_attention(query, key, value, past if fits else cache)
    return output, MEMORY["cache"]


def cache_spoiled(query, key, value, cache=None):
    result = cached_attention(query, key, value, cache)
    for tensor in cache or ():
        tensor.zero_()
    return result


def square(new, total, past):
    return torch.ones(new, total, dtype=torch.bool)


CACHED_ATTENTION = {
    "mask from the top left": attended(mask=lambda new, total, past: square(new, total, past).tril()),
    "mask one farther": attended(mask=lambda new, total, past: square(new, total, past).tril(past + 1)),
    "mask from the wrong side": attended(mask=lambda new, total, past: square(new, total, past).triu(past)),
    "mask of the new alone": attended(mask=lambda new, total, past: torch.cat(
        [torch.zeros(new, past, dtype=torch.bool), torch.ones(new, new, dtype=torch.bool).tril()], dim=1)),
    "past alone": attended(mask=lambda new, total, past: torch.cat(
        [torch.ones(new, past, dtype=torch.bool), torch.eye(new, dtype=torch.bool)], dim=1)),
    "no mask": attended(mask=square),
    "last eight alone": attended(mask=lambda new, total, past: square(new, total, past).tril(past).triu(past - 7)),
    "divided by d": attended(scale=lambda d, total: d),
    "not divided": attended(scale=lambda d, total: 1.0),
    "divided by the root of all keys": attended(scale=lambda d, total: math.sqrt(total)),
    "multiplied by the root": attended(scale=lambda d, total: d**-0.5),
    "root of eleven": attended(scale=lambda d, total: math.sqrt(11)),
    "softmax over queries": attended(weigh=lambda s: s.masked_fill(s.isinf(), -1e9).softmax(-2)),
    "no softmax": attended(weigh=lambda s: s.masked_fill(s.isinf(), 0.0)),
    "sigmoid": attended(weigh=torch.sigmoid),
    "masked with zero": attended(weigh=lambda s: s.masked_fill(s.isinf(), 0.0).softmax(-1)),
    "weights in half": attended(weigh=lambda s: s.softmax(-1).half().to(s.dtype)),
    "old keys with new values first": attended(joined=lambda old, k, v: (
        torch.cat([old[0], k], dim=-2), torch.cat([v, old[1]], dim=-2))),
    "new first": attended(joined=lambda old, k, v: (
        torch.cat([k, old[0]], dim=-2), torch.cat([v, old[1]], dim=-2))),
    "keys and values of the past exchanged": attended(joined=lambda old, k, v: (
        torch.cat([old[1], k], dim=-2), torch.cat([old[0], v], dim=-2))),
    "keys as values": attended(joined=lambda old, k, v: (torch.cat([old[0], k], dim=-2),) * 2),
    "past detached and rounded": attended(joined=lambda old, k, v: (
        torch.cat([old[0].half().to(k.dtype), k], dim=-2), torch.cat([old[1], v], dim=-2))),
    "joined along the width": lambda q, k, v, cache=None: cached_attention(q, k, v) if cache is None else (
        cached_attention(q, torch.cat([cache[0], k], dim=-1), v)),
    "cache detached": attended(kept=lambda k, v, past: (k.detach(), v.detach())),
    "new alone kept": attended(kept=lambda k, v, past: (k[..., past:, :], v[..., past:, :])),
    "past alone kept": attended(kept=lambda k, v, past: (k[..., :past, :], v[..., :past, :])),
    "stacked cache": attended(kept=lambda k, v, past: torch.stack([k, v])),
    "cache a dict": attended(kept=lambda k, v, past: {"k": k, "v": v}),
    "keys alone kept": attended(kept=lambda k, v, past: k),
    "flat": lambda *args: (cached_attention(*args)[0], *cached_attention(*args)[1]),
    "output alone": lambda *args: cached_attention(*args)[0],
    "no cache returned": lambda *args: (cached_attention(*args)[0], None),
    "last output alone": lambda *args: (cached_attention(*args)[0][..., -1:, :], cached_attention(*args)[1]),
    "heads merged": lambda *args: (cached_attention(*args)[0].transpose(1, 2).flatten(2), cached_attention(*args)[1]),
    "float32 inside": lambda q, k, v, cache=None: cached_attention(
        q, k, v.float().to(v.dtype), cache),
    "cache has to be given": lambda q, k, v, cache: cached_attention(q, k, v, cache),
    "one cache for all": one_cache_for_all,
    "cache spoiled": cache_spoiled,
    "query scaled in place": lambda q, k, v, cache=None: cached_attention(q.data.mul_(1.1), k, v, cache),
    "library": lambda q, k, v, cache=None: (F.scaled_dot_product_attention(
        q, *cached_attention(q, k, v, cache)[1],
        attn_mask=torch.ones(q.size(-2), k.size(-2) + (cache[0].size(-2) if cache else 0), dtype=torch.bool).tril(
            cache[0].size(-2) if cache else 0)), cached_attention(q, k, v, cache)[1]),
}


def nucleus(belongs, guarded=True, first=True, fill=-math.inf, of=lambda z: z):
    """top_p_filter with another rule: belongs(values, p) for probabilities in descending order."""
    def answer(logits, p):
        values, order = of(logits).softmax(-1).sort(-1, descending=True)
        outside = ~belongs(values, p)
        if guarded and p >= 1:
            outside = torch.zeros_like(outside)
        if first:
            outside[:, 0] = False
        return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), fill)

    return answer


def before(values):
    return values.cumsum(-1) - values


def right(values, p):
    return before(values) < p


TOP_P_FILTER = {
    "no guard": nucleus(right, guarded=False),
    "no guard, a shifted sum": nucleus(lambda v, p: F.pad(v.cumsum(-1), (1, 0))[:, :-1] < p, guarded=False),
    "no guard, a rounded sum": nucleus(lambda v, p: before(v) < p - 1e-6, guarded=False),
    "guard at a tenth": nucleus(lambda v, p: right(v, p) if p < 0.9 else torch.ones_like(v, dtype=torch.bool)),
    "crossing token out": nucleus(lambda v, p: v.cumsum(-1) <= p),
    "one too many": nucleus(lambda v, p: before(v) - v.roll(1, -1) < p),
    "half of the crossing": nucleus(lambda v, p: before(v) + v / 2 < p),
    "one minus p": nucleus(lambda v, p: before(v) < 1 - p, guarded=False),
    "p squared": nucleus(lambda v, p: before(v) < p * p),
    "each against p": nucleus(lambda v, p: v >= 1 - p),
    "min-p": nucleus(lambda v, p: v >= (1 - p) * v[:, :1]),
    "top-k of the share": nucleus(lambda v, p: torch.arange(v.size(-1)).expand_as(v) < p * v.size(-1)),
    "first row decides": nucleus(lambda v, p: right(v[:1], p).expand_as(v)),
    "mean row decides": nucleus(lambda v, p: right(v.mean(0, keepdim=True), p).expand_as(v)),
    "batch as one": nucleus(lambda v, p: right(v, p).all(0, keepdim=True).expand_as(v)),
    "empty for zero": nucleus(right, first=False),
    "two at least": nucleus(lambda v, p: right(v, p) | (torch.arange(v.size(-1)) < 2)),
    "zero outside": nucleus(right, fill=0.0),
    "large negative outside": nucleus(right, fill=-1e9),
    "infinity outside": nucleus(right, fill=math.inf),
    "nan outside": nucleus(right, fill=math.nan),
    "temperature": nucleus(right, of=lambda z: z / 0.7),
    "negative logits": nucleus(right, of=lambda z: -z),
    "softmax over the batch": lambda z, p: top_p_filter(z.mT, p).mT,
    "normalised": lambda z, p: top_p_filter(z, p).log_softmax(-1),
    "probabilities": lambda z, p: top_p_filter(z, p).softmax(-1),
    "shifted": lambda z, p: top_p_filter(z - z.amax(-1, keepdim=True), p),
    "sorted": lambda z, p: top_p_filter(z, p).sort(-1, descending=True)[0],
    "scattered with the wrong order": lambda z, p: top_p_filter(z, p).gather(-1, z.argsort(-1)),
    "a mask": lambda z, p: top_p_filter(z, p).isfinite(),
    "kept alone": lambda z, p: z[top_p_filter(z, p).isfinite()],
    "unchanged": lambda z, p: z.clone(),
    "most likely alone": lambda z, p: top_p_filter(z, 0.0),
    "half precision": lambda z, p: top_p_filter(z.half().float(), p).to(z.dtype),
    "float32": lambda z, p: top_p_filter(z, p).float(),
    "in place": lambda z, p: z.copy_(top_p_filter(z, p)),
    "exponentials without the maximum": lambda z, p: nucleus(right)(
        (z.exp() / z.exp().sum(-1, keepdim=True)).log(), p).where(top_p_filter(z, p).isinf(), z) * 1.01,
}

WRONG = {"cached_attention": CACHED_ATTENTION, "top_p_filter": TOP_P_FILTER}
NAMED = {
    ("cached_attention", "mask of the new alone"): "cache_not_read",
    ("cached_attention", "mask from the top left"): "mask_in_the_top_left_corner",
    ("cached_attention", "mask one farther"): "past_only_before_the_first",
    ("cached_attention", "no mask"): "no_mask",
    ("cached_attention", "not divided"): "not_scaled",
    ("cached_attention", "new first"): "new_before_old",
    ("cached_attention", "new alone kept"): "only_the_new_is_kept",
    ("top_p_filter", "no guard"): "nothing_guards_p_of_one",
    ("top_p_filter", "no guard, a shifted sum"): "nothing_guards_p_of_one",
    ("top_p_filter", "crossing token out"): "crossing_token_left_out_but_never_empty",
    ("top_p_filter", "empty for zero"): "empty_for_p_of_zero",
    ("top_p_filter", "one too many"): "one_token_too_many",
    ("top_p_filter", "top-k of the share"): "share_of_the_vocabulary",
    ("top_p_filter", "each against p"): "each_probability_against_p",
    ("top_p_filter", "first row decides"): "same_number_in_each_row",
    ("top_p_filter", "zero outside"): "zero_in_place_of_minus_infinity",
    ("top_p_filter", "sorted"): "left_in_sorted_order",
    ("top_p_filter", "probabilities"): "probabilities_returned",
    ("top_p_filter", "negative logits"): "least_likely_first",
}
