"""Right answers to the exercises of chapter 10 on how a decoder speaks, each written in another way."""

import math

import torch
import torch.nn.functional as F

from autograder.right_answers import right_answer

# --- cached_attention ------------------------------------------------------------------------------------------


@right_answer("cached_attention")
def mask_from_positions(query, key, value, cache=None):
    past = 0 if cache is None else cache[0].size(2)
    if cache is not None:
        key, value = torch.cat((cache[0], key), 2), torch.cat((cache[1], value), 2)
    standing = torch.arange(past, past + query.size(2)).unsqueeze(1)
    scores = query @ key.mT / math.sqrt(query.size(-1))
    scores = scores.masked_fill(torch.arange(key.size(2)) > standing, float("-inf"))
    return scores.softmax(-1) @ value, (key, value)


@right_answer("cached_attention")
def empty_cache_at_the_start(query, key, value, cache=None):
    old_keys, old_values = cache if cache is not None else (key[:, :, :0], value[:, :, :0])
    keys, values = torch.cat([old_keys, key], dim=-2), torch.cat([old_values, value], dim=-2)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, keys) * query.shape[-1] ** -0.5
    ahead = torch.ones_like(scores).triu(old_keys.shape[-2] + 1).bool()
    weights = torch.softmax(scores.masked_fill(ahead, -math.inf), dim=-1)
    return torch.einsum("bhqk,bhkd->bhqd", weights, values), (keys, values)


@right_answer("cached_attention")
def one_query_after_the_other(query, key, value, cache=None):
    if cache:
        key, value = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value), strict=True))
    past = key.size(2) - query.size(2)
    rows = []
    for t in range(query.size(2)):
        seen = past + t + 1
        scores = query[:, :, t:t + 1] @ key[:, :, :seen].transpose(2, 3) / query.size(3) ** 0.5
        rows.append(torch.softmax(scores, dim=-1) @ value[:, :, :seen])
    return torch.cat(rows, dim=2), (key, value)


@right_answer("cached_attention")
def added_minus_infinity(query, key, value, cache=None):
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    new, total = query.shape[-2], key.shape[-2]
    bias = torch.full((new, total), -torch.inf, dtype=query.dtype).triu(1 + total - new)
    return torch.softmax(query / query.shape[-1] ** 0.5 @ key.mT + bias, dim=-1) @ value, (key, value)


@right_answer("cached_attention")
def last_rows_of_the_whole_mask(query, key, value, cache=None):
    keys, values = key, value
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=2), torch.cat([cache[1], values], dim=2)
    n = keys.size(2)
    mask = torch.tril(torch.ones(n, n, dtype=torch.bool))[n - query.size(2):]
    scores = torch.where(mask, query @ keys.transpose(-1, -2), -torch.inf) / math.sqrt(query.size(-1))
    return torch.matmul(scores.softmax(dim=-1), values), (keys, values)


@right_answer("cached_attention")
def softmax_in_two_parts(query, key, value, cache=None):
    """The past is open to all new queries, only the square of the new needs a mask."""
    root = math.sqrt(query.size(-1))
    scores = query @ key.mT / root
    scores = scores.masked_fill(torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1), -torch.inf)
    if cache is None:
        return torch.softmax(scores, dim=-1) @ value, (key.clone(), value.clone())
    old_keys, old_values = cache
    weights = torch.softmax(torch.cat([query @ old_keys.mT / root, scores], dim=-1), dim=-1)
    past = old_keys.size(-2)
    output = weights[..., :past] @ old_values + weights[..., past:] @ value
    return output, (torch.cat([old_keys, key], dim=-2), torch.cat([old_values, value], dim=-2))


@right_answer("cached_attention")
def exponentials_by_hand(query, key, value, cache=None):
    if cache is not None:
        key, value = torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2)
    new, total = query.size(-2), key.size(-2)
    seen = torch.ones(new, total, dtype=query.dtype).tril(total - new)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
    weights = (scores - scores.amax(-1, keepdim=True).detach()).exp() * seen
    return weights / weights.sum(-1, keepdim=True) @ value, (key, value)


# --- top_p_filter ----------------------------------------------------------------------------------------------


@right_answer("top_p_filter")
def row_by_row_until_it_is_reached(logits, p):
    filtered = torch.full_like(logits, float("-inf"))
    for row, result in zip(logits, filtered, strict=True):
        reached = 0.0
        probabilities = row.double().softmax(-1)
        for i in probabilities.argsort(descending=True).tolist():
            result[i] = row[i]
            reached += probabilities[i].item()
            if reached >= p and p < 1:
                break
    return filtered


@right_answer("top_p_filter")
def number_of_tokens_counted(logits, p):
    if p >= 1:
        return logits.clone()
    sums = torch.softmax(logits, -1).sort(-1, descending=True).values.cumsum(-1)
    count = (sums < p).sum(-1, keepdim=True)  # this many do not reach p, and one more does
    ranks = logits.argsort(-1, descending=True).argsort(-1)
    return torch.where(ranks <= count, logits, -torch.inf)


@right_answer("top_p_filter")
def smallest_logit_that_stays(logits, p):
    if p >= 1:
        return logits.clone()
    ordered = logits.sort(dim=-1, descending=True)[0]
    sums = ordered.softmax(dim=-1).cumsum(dim=-1)
    last = (sums < p).sum(dim=-1, keepdim=True).clamp(max=logits.size(-1) - 1)
    return logits.masked_fill(logits < ordered.gather(-1, last), -math.inf)


@right_answer("top_p_filter")
def from_the_least_likely(logits, p):
    """As the libraries do it: the tail that may go is at most 1 - p."""
    ordered, order = logits.sort(dim=-1)
    tail = ordered.softmax(dim=-1).cumsum(dim=-1)
    drop = (tail <= 1 - p) & (p < 1)
    drop[..., -1:] = False
    return logits.masked_fill(drop.scatter(-1, order, drop), -math.inf)


@right_answer("top_p_filter")
def shifted_by_one(logits, p):
    ordered, order = torch.sort(logits, descending=True)
    reached = torch.cumsum(F.softmax(ordered, dim=-1), dim=-1) >= p
    drop = torch.cat([torch.zeros_like(reached[:, :1]), reached[:, :-1]], dim=1)
    if p == 1:
        drop = torch.zeros_like(drop)
    ordered = ordered.masked_fill(drop, -torch.inf)
    return torch.empty_like(logits).scatter(1, order, ordered)


@right_answer("top_p_filter")
def what_is_more_likely_summed_for_each(logits, p):
    """For each token the probability of all that are more likely, without sorting."""
    if p == 1:
        return logits.clone()
    probabilities = torch.softmax(logits, dim=-1)
    more_likely = logits.unsqueeze(1) > logits.unsqueeze(2)  # (batch, token, other token)
    before = (more_likely * probabilities.unsqueeze(1)).sum(dim=-1)
    stays = (before < p) | ~more_likely.any(dim=-1)
    return torch.where(stays, logits, torch.tensor(-torch.inf, dtype=logits.dtype))


@right_answer("top_p_filter")
def into_an_empty_result(logits, p):
    values, order = logits.softmax(-1).sort(-1, descending=True)
    result = torch.full_like(logits, -torch.inf)
    for i in range(len(logits)):
        count = logits.size(1) if p >= 1 else int((values[i].cumsum(0) < p).sum()) + 1
        kept = order[i, :count]
        result[i, kept] = logits[i, kept]
    return result
