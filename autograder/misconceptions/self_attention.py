"""Chapter 04: the mistakes that are named, each a wrong implementation that stands alone."""

import torch
from torch import nn

from autograder.exercises.self_attention import (
    CHAPTER,
    attention_scores,
    attention_weights,
    project_qkv,
    weighted_sum,
)

# --- project_qkv -----------------------------------------------------------------------------------------------


@project_qkv.misconception(see=f"{CHAPTER}#mistake-projections")
def weights_not_transposed(x, w_q, w_k, w_v):
    """You multiply by W where W transposed is needed: the features of x must meet the last axis of W."""
    return x @ w_q, x @ w_k, x @ w_v


@project_qkv.misconception(see=f"{CHAPTER}#mistake-projections")
def query_and_key_swapped(x, w_q, w_k, w_v):
    """Your q was made with the key matrix and your k with the query matrix."""
    return x @ w_k.T, x @ w_q.T, x @ w_v.T


@project_qkv.misconception(see=f"{CHAPTER}#mistake-key-as-value")
def key_used_as_value(x, w_q, w_k, w_v):
    """Your v is the key: a token then gives away what it is found by, not what it has to say."""
    return x @ w_q.T, x @ w_k.T, x @ w_k.T


@project_qkv.misconception(see=f"{CHAPTER}#mistake-projections")
def value_not_projected(x, w_q, w_k, w_v):
    """Your v is x itself, and w_v is not used."""
    return x @ w_q.T, x @ w_k.T, x


@project_qkv.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def query_scaled_here(x, w_q, w_k, w_v):
    """You already divide the query by the square root of d_k; here only the projections are asked for."""
    return x @ w_q.T / w_q.shape[0] ** 0.5, x @ w_k.T, x @ w_v.T


# --- attention_scores ------------------------------------------------------------------------------------------


@attention_scores.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def already_scaled(q, k):
    """You divide by the square root of d_k here; the scores are asked for as they are, scaling comes later."""
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5


@attention_scores.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def mean_instead_of_sum(q, k):
    """You average the products over the features; a dot product adds them up."""
    return q @ k.transpose(-2, -1) / q.shape[-1]


@attention_scores.misconception(see=f"{CHAPTER}#mistake-early-scaling")
def cosine_similarity(q, k):
    """You normalise the vectors to length 1 first: that is the cosine, and lengths no longer count."""
    q, k = nn.functional.normalize(q, dim=-1), nn.functional.normalize(k, dim=-1)
    return q @ k.transpose(-2, -1)


@attention_scores.misconception(see=f"{CHAPTER}#mistake-swapped")
def keys_ask_queries(q, k):
    """Your scores are transposed: rows belong to keys and columns to queries."""
    return k @ q.transpose(-2, -1)


@attention_scores.misconception(see=f"{CHAPTER}#mistake-swapped")
def keys_not_transposed(q, k):
    """You multiply q by k without turning k: the features of both must be the axis that is summed."""
    return q @ k


@attention_scores.misconception(see=f"{CHAPTER}#mistake-swapped")
def all_axes_reversed(q, k):
    """You turn all axes of k around with `k.T`, the batch too; only the last two are to be swapped."""
    return q @ k.T


# --- attention_weights -----------------------------------------------------------------------------------------


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def softmax_over_queries(scores):
    """You normalise down the columns: each key's weights sum to 1, where each query's should."""
    scores = scores - scores.amax(dim=-2, keepdim=True) if scores.dim() > 1 else scores - scores.max()
    axis = -2 if scores.dim() > 1 else -1
    return scores.exp() / scores.exp().sum(dim=axis, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def softmax_over_batch(scores):
    """You normalise over the first axis, so different sequences of the batch compete with each other."""
    exponentials = (scores - scores.amax(dim=0, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=0, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def softmax_over_everything(scores):
    """You divide by the sum of the whole tensor; each row needs a sum of its own."""
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum()


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def maximum_not_subtracted(scores):
    """The formula is right, but exp overflows on large scores: infinity divided by infinity is NaN."""
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def one_maximum_for_all_rows(scores):
    """You take the maximum of the whole tensor away; a row that lies far below it becomes 0 divided by 0."""
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def scores_cut_off(scores):
    """You cut large scores off so that exp stays finite; then very different scores get the same weight."""
    exponentials = scores.clamp(-50, 50).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-overflow")
def not_a_number_painted_over(scores):
    """You replace NaN afterwards; what the overflow lost does not come back, and such a row sums to 0."""
    return torch.nan_to_num(scores.exp() / scores.exp().sum(dim=-1, keepdim=True))


@attention_weights.misconception(see=f"{CHAPTER}#mistake-not-normalised")
def exponentials_not_normalised(scores):
    """You take exp but do not divide by the sum of the row."""
    return (scores - scores.amax(dim=-1, keepdim=True)).exp()


@attention_weights.misconception(see=f"{CHAPTER}#mistake-not-normalised")
def divided_without_exp(scores):
    """You divide the scores by their sum without exp: negative scores give negative weights."""
    return scores / scores.sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-in-place")
def scores_edited_in_place(scores):
    """Your weights are right, but you subtract the maximum inside the scores that you were given."""
    scores -= scores.amax(dim=-1, keepdim=True)
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@attention_weights.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
def summed_axis_lost(scores):
    """The axis that you reduce disappears, so the rows no longer line up; `keepdim=True` keeps it with size 1."""
    exponentials = (scores - scores.amax(dim=-1)).exp()
    return exponentials / exponentials.sum(dim=-1)


# --- weighted_sum ----------------------------------------------------------------------------------------------


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def weights_transposed(weights, v):
    """You turned the weights: their rows belong to queries already, and their columns meet the keys of v."""
    return weights.transpose(-2, -1) @ v


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def softmax_applied_again(weights, v):
    """You apply softmax to weights that are weights already, which flattens them."""
    return torch.softmax(weights, dim=-1) @ v


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def divided_by_number_of_keys(weights, v):
    """You divide by the number of keys as well; the weights are the division already."""
    return weights @ v / weights.shape[-1]


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def only_the_best_key(weights, v):
    """You copy the value of the strongest key; the weighted sum mixes all of them."""
    best = weights.argmax(dim=-1)
    return torch.stack([values[row] for values, row in zip(v, best, strict=True)])


@weighted_sum.misconception(see=f"{CHAPTER}#mistake-mixing")
def renormalised(weights, v):
    """You divide the weights by their sum once more; here they are to be used as they are given."""
    return (weights / weights.sum(dim=-1, keepdim=True)) @ v
