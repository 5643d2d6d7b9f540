"""Self-attention, piece by piece (Vaswani et al. 2017, "Attention Is All You Need", section 3.2).

Shape letters as in book/conventions.md: batch, seq (n_q queries, n_k keys), d_model, d_k, d_v; `...` stands for
any leading axes.
"""

import math

from torch import Tensor, nn


def project_qkv(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """q_i = W_Q x_i, k_i = W_K x_i, v_i = W_V x_i for every position i.

    x (batch, seq, d_model); w_q, w_k (d_k, d_model); w_v (d_v, d_model)
    -> q, k (batch, seq, d_k), v (batch, seq, d_v).
    """
    return x @ w_q.T, x @ w_k.T, x @ w_v.T


def attention_scores(q: Tensor, k: Tensor) -> Tensor:
    """S_ij = q_i . k_j, not scaled: q (batch, n_q, d_k), k (batch, n_k, d_k) -> (batch, n_q, n_k)."""
    return q @ k.transpose(-2, -1)


def attention_weights(scores: Tensor) -> Tensor:
    """Softmax along the last axis, exp(s_j - m) / sum_j exp(s_j - m), with m the largest score of the row.

    scores (..., n_q, n_k) -> weights (..., n_q, n_k), each row summing to 1. Taking m away changes nothing in
    exact arithmetic and keeps exp from overflowing.
    """
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def weighted_sum(weights: Tensor, v: Tensor) -> Tensor:
    """o_i = sum_j A_ij v_j: weights (batch, n_q, n_k), v (batch, n_k, d_v) -> (batch, n_q, d_v)."""
    return weights @ v


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V (equation 1 of the paper), with the weights.

    query (..., n_q, d_k), key (..., n_k, d_k), value (..., n_k, d_v)
    -> output (..., n_q, d_v), weights (..., n_q, n_k).
    """
    weights = attention_weights(attention_scores(query, key) / math.sqrt(query.size(-1)))
    return weighted_sum(weights, value), weights


class SelfAttention(nn.Module):
    """One head: every token of a sequence attends to every token of the same sequence, itself included.

    x (batch, seq, d_model) -> out (batch, seq, d_k), weights (batch, seq, seq).
    """

    def __init__(self, d_model: int, d_k: int):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x))
