"""Chapter 04: the mistakes that are named in SelfAttention, each a wrong module that stands alone."""

import torch
from torch import nn

from autograder.exercises.self_attention import CHAPTER, self_attention


class _Projections(nn.Module):
    """What the wrong implementations below have in common: they register the right parameters."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)


@self_attention.misconception(see="05_scaling#mistake-no-scaling")
class not_scaled(_Projections):
    """Your scores are not divided by the square root of d_k before the softmax."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-wrong-divisor")
class divided_by_d_k(_Projections):
    """You divide the scores by d_k (or by its square root twice); one square root is asked for."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1], dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-wrong-divisor")
class divided_by_root_of_d_model(_Projections):
    """You divide by the square root of d_model; the dot product runs over d_k features."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / x.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-wrong-divisor")
class divided_by_root_of_tokens(_Projections):
    """You divide by the square root of the number of tokens; the dot product runs over d_k features."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / x.shape[1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see="05_scaling#mistake-after-softmax")
class scaled_after_softmax(_Projections):
    """You divide the weights, after the softmax; the scores are to be divided, before it."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1) / q.shape[-1] ** 0.5
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-softmax-axis")
class normalised_over_queries(_Projections):
    """Your softmax runs down the columns: each key's weights sum to 1, where each query's should."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-2)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-key-as-value")
class keys_mixed(_Projections):
    """You mix the keys where the values should be mixed: W_v has no effect."""

    def forward(self, x):
        q, k = self.W_q(x), self.W_k(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ k, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-projections")
class tokens_mixed(_Projections):
    """You mix the tokens themselves where their values should be mixed: W_v has no effect."""

    def forward(self, x):
        q, k = self.W_q(x), self.W_k(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ x, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-overflow")
class maximum_not_subtracted_inside(_Projections):
    """The formula is right, but your own exp overflows on large scores: infinity divided by infinity is NaN."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        exponentials = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).exp()
        weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-swapped")
class keys_ask(_Projections):
    """Your scores are transposed: rows belong to keys and columns to queries, so each key chooses among queries."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class one_projection_for_query_and_key(_Projections):
    """Your queries and keys come from the same matrix, so W_k has no effect."""

    def forward(self, x):
        q, v = self.W_q(x), self.W_v(x)
        weights = torch.softmax(q @ q.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class weights_not_returned(_Projections):
    """You return the output alone; the attention weights are asked for too."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        return torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) @ v


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class projections_with_bias(nn.Module):
    """Your three projections have a bias; in this exercise they are matrices alone (`bias=False`)."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k)
        self.W_k = nn.Linear(d_model, d_k)
        self.W_v = nn.Linear(d_model, d_k)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights @ v, weights


@self_attention.misconception(see=f"{CHAPTER}#mistake-module")
class output_and_weights_swapped(_Projections):
    """You return the weights first and the output second; it is the other way round."""

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return weights, weights @ v
