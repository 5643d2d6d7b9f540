"""Right answers to the tiled attention of chapter 09, each written in another way."""

import math

import torch
import torch.nn.functional as F

from autograder.right_answers import right_answer


@right_answer("tiled_attention")
def running_maximum_and_sums(query, key, value, block_size):
    *leading, n_q, d_k = query.shape
    n_k, d_v = value.shape[-2:]
    highest = torch.full((*leading, n_q, 1), -math.inf, dtype=query.dtype)
    total = torch.zeros(*leading, n_q, 1, dtype=query.dtype)
    output = torch.zeros(*leading, n_q, d_v, dtype=query.dtype)
    for start in range(0, n_k, block_size):
        k, v = key[..., start : start + block_size, :], value[..., start : start + block_size, :]
        scores = query @ k.transpose(-1, -2) / math.sqrt(d_k)
        new_highest = torch.maximum(highest, scores.max(dim=-1, keepdim=True).values)
        correction = torch.exp(highest - new_highest)
        p = torch.exp(scores - new_highest)
        total = correction * total + p.sum(dim=-1, keepdim=True)
        output = correction * output + p @ v
        highest = new_highest
    return output / total


@right_answer("tiled_attention")
def normalised_after_each_block(query, key, value, block_size):
    """The output is an average all the time; a new block moves it by its share of the sum."""
    output, log_total = 0.0, None
    for k, v in zip(torch.split(key, block_size, dim=-2), torch.split(value, block_size, dim=-2), strict=True):
        scores = torch.einsum("...qd,...kd->...qk", query, k) * query.shape[-1] ** -0.5
        block_total = scores.logsumexp(dim=-1, keepdim=True)
        if log_total is None:
            output, log_total = scores.softmax(dim=-1) @ v, block_total
            continue
        share = torch.sigmoid(block_total - log_total)
        output = output + share * (torch.softmax(scores, dim=-1) @ v - output)
        log_total = torch.logaddexp(log_total, block_total)
    return output


@right_answer("tiled_attention")
def maxima_first_then_sums(query, key, value, block_size):
    """Two passes over the keys: the second one knows the maximum."""
    query = query / math.sqrt(query.size(-1))
    starts = range(0, key.size(-2), block_size)
    maximum = None
    for i in starts:
        largest = (query @ key[..., i : i + block_size, :].mT).amax(-1, keepdim=True).detach()
        maximum = largest if maximum is None else torch.maximum(maximum, largest)
    numerator = denominator = 0
    for i in starts:
        weights = torch.exp(query @ key[..., i : i + block_size, :].mT - maximum)
        numerator = numerator + weights @ value[..., i : i + block_size, :]
        denominator = denominator + weights.sum(-1, keepdim=True)
    return numerator / denominator


@right_answer("tiled_attention")
def halves_joined(query, key, value, block_size):
    """Attention over the two halves of the blocks, joined by their sums, all the way down to a single block."""
    def attend(keys, values):
        n = keys.size(-2)
        if n <= block_size:
            scores = query @ keys.transpose(-2, -1) / math.sqrt(query.size(-1))
            return torch.softmax(scores, dim=-1) @ values, torch.logsumexp(scores, dim=-1, keepdim=True)
        half = math.ceil(n / block_size) // 2 * block_size
        left, left_total = attend(keys[..., :half, :], values[..., :half, :])
        right, right_total = attend(keys[..., half:, :], values[..., half:, :])
        total = torch.logaddexp(left_total, right_total)
        return left * (left_total - total).exp() + right * (right_total - total).exp(), total

    return attend(key, value)[0]


@right_answer("tiled_attention")
def one_sum_for_both(query, key, value, block_size):
    """A column of ones beside the values: the sum of the weights is one more feature of the output."""
    value = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    m = torch.full_like(query[..., :1], torch.finfo(query.dtype).min)
    both = torch.zeros(*query.shape[:-1], value.size(-1), dtype=query.dtype, device=query.device)
    while key.size(-2) > 0:
        scores = query @ key[..., :block_size, :].transpose(-2, -1)
        scores = scores.div(query.size(-1) ** 0.5)
        new = torch.where(scores.amax(-1, keepdim=True) > m, scores.amax(-1, keepdim=True), m)
        both = both * torch.exp(m - new) + torch.exp(scores - new) @ value[..., :block_size, :]
        m, key, value = new, key[..., block_size:, :], value[..., block_size:, :]
    return both[..., :-1] / both[..., -1:]


@right_answer("tiled_attention")
def query_by_query(query, key, value, block_size):
    """For each query alone, with plain vectors; leading axes become one."""
    leading, (n_q, d_k), (n_k, d_v) = query.shape[:-2], query.shape[-2:], value.shape[-2:]
    queries, keys, values = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
    rows = []
    for b in range(queries.size(0)):
        for i in range(n_q):
            m, z, o = torch.tensor(-math.inf, dtype=query.dtype), 0.0, 0.0
            for start in range(0, n_k, block_size):
                block = slice(start, start + block_size)
                scores = keys[b, block] @ queries[b, i] / math.sqrt(d_k)
                larger = torch.max(m, scores.max())
                shrink, weights = torch.exp(m - larger), torch.exp(scores - larger)
                z, o, m = z * shrink + weights.sum(), o * shrink + weights @ values[b, block], larger
            rows.append(o / z)
    return torch.stack(rows).reshape(*leading, n_q, d_v)


@right_answer("tiled_attention")
def padded_to_whole_blocks(query, key, value, block_size):
    """The last block is filled up, and what fills it gets minus infinity."""
    n_k = key.size(-2)
    block = min(block_size, n_k)
    missing = -n_k % block
    key, value = F.pad(key, (0, 0, 0, missing)), F.pad(value, (0, 0, 0, missing))
    m, z, o = None, None, None
    for number in range((n_k + missing) // block):
        places = torch.arange(number * block, (number + 1) * block)
        scores = query @ key[..., places, :].transpose(-2, -1) / math.sqrt(key.size(-1))
        scores = scores.masked_fill(places >= n_k, -math.inf)
        top = scores.amax(dim=-1, keepdim=True)
        new = top if m is None else torch.maximum(m, top)
        weights = (scores - new).exp()
        if m is None:
            z, o = weights.sum(-1, keepdim=True), weights @ value[..., places, :]
        else:
            z = z * (m - new).exp() + weights.sum(-1, keepdim=True)
            o = o * (m - new).exp() + weights @ value[..., places, :]
        m = new
    return o / z


@right_answer("tiled_attention")
def list_of_partial_results(query, key, value, block_size):
    """Each block is done by itself; its weight in the end is the softmax over the logarithms of the sums."""
    outputs, totals = [], []
    for keys, values in zip(key.split(block_size, -2), value.split(block_size, -2), strict=True):
        scores = query @ keys.transpose(-2, -1) / math.sqrt(query.size(-1))
        outputs.append(scores.softmax(-1) @ values)
        totals.append(scores.logsumexp(-1, keepdim=True))
    overall = totals[0]
    for total in totals[1:]:
        overall = torch.logaddexp(overall, total)
    return sum(output * (total - overall).exp() for output, total in zip(outputs, totals, strict=True))
