"""Chapter 10: the mistakes that are named in how a decoder speaks, with a cache, and from a nucleus."""

import math

import torch
import torch.nn.functional as F

from autograder.exercises.families import CHAPTER
from autograder.exercises.families_decoding import cached_attention, top_p_filter

# --- cached_attention ------------------------------------------------------------------------------------------


@cached_attention.misconception(see=f"{CHAPTER}#mistake-mask-with-a-cache")
def mask_in_the_top_left_corner(query, key, value, cache=None):
    """Your causal mask starts at the first key, as if there were no past: query t sees t + 1 keys only."""
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value, (key, value)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-mask-with-a-cache")
def no_mask(query, key, value, cache=None):
    """You have no causal mask; with more than one new token, each of them sees those after it."""
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value, (key, value)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-mask-with-a-cache")
def no_mask_with_a_cache(query, key, value, cache=None):
    """You leave the mask out as soon as there is a cache; that is right for one new token, and for no more."""
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
    allowed = allowed if past else allowed.tril()
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value, (key, value)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-mask-with-a-cache")
def past_only_before_the_first(query, key, value, cache=None):
    """Each new token sees one key too many: the first of them stands at position `past` and sees past + 1."""
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril(past + 1)
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value, (key, value)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-mask-with-a-cache")
def itself_not_seen(query, key, value, cache=None):
    """Your tokens do not see themselves, so the first one of all sees nothing."""
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril(past - 1)
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value, (key, value)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-what-the-cache-holds")
def cache_not_read(query, key, value, cache=None):
    """You keep the cache and do not look at it: the new tokens see only each other."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
    output = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    return output, (key, value)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-what-the-cache-holds")
def only_the_new_is_kept(query, key, value, cache=None):
    """Your cache holds what is new alone; from the third call on, the first tokens are forgotten."""
    new = (key, value)
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril(past)
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value, new


@cached_attention.misconception(see=f"{CHAPTER}#mistake-what-the-cache-holds")
def new_before_old(query, key, value, cache=None):
    """You put the new keys before the old ones, so the mask hides the wrong positions."""
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key, value = torch.cat([key, cache[0]], dim=-2), torch.cat([value, cache[1]], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril(past)
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value, (key, value)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-what-the-cache-holds")
def values_before_keys(query, key, value, cache=None):
    """You return the cache as (values, keys); keys come first."""
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril(past)
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1) @ value, (value, key)


@cached_attention.misconception(see=f"{CHAPTER}#mistake-what-the-cache-holds")
def scaled_keys_are_kept(query, key, value, cache=None):
    """You divide the keys by sqrt(d) and keep the divided ones; the cache holds keys as they came."""
    past = 0 if cache is None else cache[0].shape[-2]
    key = key / math.sqrt(query.shape[-1])
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril(past)
    scores = (query @ key.transpose(-2, -1)).masked_fill(~allowed, -math.inf)
    return torch.softmax(scores, dim=-1) @ value, (key, value)


@cached_attention.misconception(see="05_scaling#mistake-no-scaling")
def not_scaled(query, key, value, cache=None):
    """Your scores are not divided by the square root of d before the softmax."""
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril(past)
    scores = (query @ key.transpose(-2, -1)).masked_fill(~allowed, -math.inf)
    return torch.softmax(scores, dim=-1) @ value, (key, value)


# --- top_p_filter ----------------------------------------------------------------------------------------------


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-crossing-token")
def crossing_token_left_out(logits, p):
    """You leave out the token that crosses p; without it the nucleus does not reach p, and may be empty."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    outside = (values.cumsum(dim=-1) > p) & (p < 1)
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-crossing-token")
def crossing_token_left_out_but_never_empty(logits, p):
    """You keep the most likely token, and of the others those below p; the one that crosses p belongs there too."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    outside = (values.cumsum(dim=-1) > p) & (p < 1)
    outside[:, 0] = False
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-crossing-token")
def one_token_too_many(logits, p):
    """You keep one token after the nucleus has reached p already."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = values.cumsum(dim=-1) - values
    outside = F.pad((before >= p)[:, :-1], (1, 0), value=False) & (p < 1)
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-crossing-token")
def nothing_guards_p_of_one(logits, p):
    """With p = 1 you drop tokens: rounding lets the sum reach 1 before the last ones were added."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    outside = values.cumsum(dim=-1) - values >= p
    outside[:, 0] = False
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-crossing-token")
def empty_for_p_of_zero(logits, p):
    """With p = 0 nothing is left; the most likely token always stays."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-order-of-the-vocabulary")
def left_in_sorted_order(logits, p):
    """Your result is sorted; each logit has to go back to its place in the vocabulary."""
    ordered = logits.sort(dim=-1, descending=True)[0]
    values = torch.softmax(ordered, dim=-1)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    outside[:, 0] = False
    return ordered.masked_fill(outside, -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-order-of-the-vocabulary")
def gathered_in_place_of_scattered(logits, p):
    """You use `gather`, which sorts the mask a second time; `scatter` brings each entry back to its token."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    outside[:, 0] = False
    return logits.masked_fill(outside.gather(-1, order), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-order-of-the-vocabulary")
def sorted_mask_on_unsorted_logits(logits, p):
    """You apply a mask that belongs to the sorted order to logits that are not sorted."""
    values = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)[0]
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    outside[:, 0] = False
    return logits.masked_fill(outside, -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-order-of-the-vocabulary")
def not_sorted(logits, p):
    """You add up in the order of the vocabulary; the most likely tokens have to come first."""
    values = torch.softmax(logits, dim=-1)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    return logits.masked_fill(outside, -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-order-of-the-vocabulary")
def least_likely_first(logits, p):
    """You sort with the least likely token first, so your nucleus is the tail."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    outside[:, 0] = False
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-threshold-or-nucleus")
def each_probability_against_p(logits, p):
    """You compare each probability with p; p is what they reach together."""
    probabilities = torch.softmax(logits, dim=-1)
    inside = (probabilities >= 1 - p) | (probabilities == probabilities.amax(dim=-1, keepdim=True))
    return logits.masked_fill(~inside, -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-threshold-or-nucleus")
def share_of_the_vocabulary(logits, p):
    """You keep the share p of the tokens, as top-k does; p is a share of the probability."""
    count = max(1, math.ceil(p * logits.shape[-1]))
    threshold = logits.topk(count, dim=-1)[0][:, -1:]
    return logits.masked_fill(logits < threshold, -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-threshold-or-nucleus")
def same_number_in_each_row(logits, p):
    """You take the number of tokens from the first row and keep it in all; each row has a nucleus of its own."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    outside[:, 0] = False
    outside = outside[:1].expand_as(outside)
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-threshold-or-nucleus")
def probabilities_returned(logits, p):
    """You return probabilities; the logits that stay have to be what they were."""
    probabilities = torch.softmax(logits, dim=-1)
    values, order = probabilities.sort(dim=-1, descending=True)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    outside[:, 0] = False
    return probabilities.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -math.inf)


@top_p_filter.misconception(see=f"{CHAPTER}#mistake-threshold-or-nucleus")
def zero_in_place_of_minus_infinity(logits, p):
    """You set the other logits to 0, and e^0 is 1: such a token is still drawn; minus infinity never is."""
    values, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    outside = (values.cumsum(dim=-1) - values >= p) & (p < 1)
    outside[:, 0] = False
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), 0.0)
