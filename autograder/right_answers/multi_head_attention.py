"""Right answers to the exercise masked_attention of chapter 06, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer


@right_answer("masked_attention")
def low_fill_and_zeros(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.matmul(weights, value), weights


@right_answer("masked_attention")
def scores_kept_where_nothing_is_allowed(query, key, value, mask=None):
    scores = query @ key.mT * query.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones(1, dtype=torch.bool)
    allowed = (mask != 0).expand(scores.shape)
    nothing = allowed.logical_not().all(dim=-1, keepdim=True)
    weights = torch.softmax(torch.where(allowed | nothing, scores, -math.inf), dim=-1)
    weights = torch.where(nothing, 0.0, weights)
    return weights @ value, weights


@right_answer("masked_attention")
def not_a_number_replaced(query, key, value, mask=None):
    # Behind masked_fill no gradient of a forbidden score passes, not even NaN.
    scores = torch.einsum("...id,...jd->...ij", query, key) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.bool().logical_not(), float("-inf"))
    weights = torch.nan_to_num(scores.softmax(dim=-1), nan=0.0)
    return torch.einsum("...ij,...jd->...id", weights, value), weights


@right_answer("masked_attention")
def exponentials_masked(query, key, value, mask=None):
    scores = (query / math.sqrt(key.shape[-1])) @ key.transpose(-1, -2)
    allowed = torch.ones_like(scores) if mask is None else mask.to(scores.dtype).expand_as(scores)
    top = scores.masked_fill(allowed == 0, -math.inf).amax(dim=-1, keepdim=True)
    top = torch.where(top.isinf(), scores.amax(-1, keepdim=True), top).detach()
    exponentials = torch.exp((scores - top).clamp(max=0)) * allowed
    total = exponentials.sum(dim=-1, keepdim=True)
    weights = exponentials / torch.where(total == 0, 1.0, total)
    return weights @ value, weights


@right_answer("masked_attention")
def additive_and_finite(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        weights = scores.softmax(-1)
        return weights @ value, weights
    bias = (1 - mask.to(scores.dtype)) * torch.finfo(scores.dtype).min / 2
    weights = nn.Softmax(dim=-1)(scores + bias)
    weights = weights.masked_fill(mask == 0, 0.0)
    return torch.matmul(input=weights, other=value), weights


@right_answer("masked_attention")
def query_by_query(query, key, value, mask=None):
    leading, n_q, n_k = query.shape[:-2], query.size(-2), key.size(-2)
    allowed = torch.ones(n_q, n_k) if mask is None else mask
    allowed = torch.broadcast_to(allowed, (*leading, n_q, n_k)) > 0
    rows = []
    for i in range(n_q):
        row = (query[..., i : i + 1, :] * key).sum(dim=-1) / query.size(-1) ** 0.5  # (..., n_k)
        row = row.masked_fill(~allowed[..., i, :], torch.finfo(row.dtype).min)
        rows.append(torch.softmax(row, dim=-1) * allowed[..., i, :])
    weights = torch.stack(rows, dim=-2)
    return weights @ value, weights


@right_answer("masked_attention")
def only_the_allowed_keys(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.bool().expand(scores.shape)
    flat, chosen = scores.reshape(-1, key.size(-2)), allowed.reshape(-1, key.size(-2))
    rows = []
    for row, keep in zip(flat, chosen, strict=True):
        places = keep.nonzero().squeeze(-1)
        rows.append(torch.zeros_like(row).index_add(0, places, torch.softmax(row[places], dim=0)))
    weights = torch.stack(rows).view(scores.shape)
    return weights @ value, weights


@right_answer("masked_attention")
def log_softmax_and_exp(query, key, value, mask=None):
    scores = torch.matmul(query, key.swapaxes(-1, -2)).div(key.size(-1) ** 0.5)
    keep = None if mask is None else mask.bool()
    if keep is not None:
        scores = torch.where(keep, scores, torch.full_like(scores, -1e30))
    weights = torch.log_softmax(scores, dim=-1).exp()
    weights = weights if keep is None else torch.where(keep, weights, torch.zeros_like(weights))
    return weights.matmul(value), weights
