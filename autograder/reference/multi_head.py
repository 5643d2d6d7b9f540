"""Multi-head attention and masks (Vaswani et al. 2017, "Attention Is All You Need", sections 3.2.2 and 3.2.3).

Shape letters as in book/conventions.md: batch, heads, seq (n_q queries, n_k keys), d_model, d_k = d_model / heads;
`...` stands for any leading axes. A mask says what is allowed: True or 1 = may be attended to, False or 0 = forbidden.
"""

import math

import torch
from torch import Tensor, nn

from autograder.reference.attention import attention_scores, weighted_sum
from autograder.reference.bahdanau import masked_weights


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Head i gets features i d_k to (i + 1) d_k: x (batch, seq, d_model) -> (batch, heads, seq, d_k)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Puts the heads side by side again: x (batch, heads, seq, d_k) -> (batch, seq, d_model)."""
    return x.transpose(1, 2).flatten(2)


def causal_mask(size: int) -> Tensor:
    """Position i may attend to j <= i: bool (size, size), True on and below the diagonal."""
    return torch.ones(size, size, dtype=torch.bool).tril()


def padding_mask(tokens: Tensor, pad: int) -> Tensor:
    """True for real tokens: (batch, seq) -> bool (batch, 1, 1, seq), the same for all heads and all queries."""
    return (tokens != pad)[:, None, None, :]


def masked_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """softmax(Q K^T / sqrt(d_k), over the allowed keys) V, with the weights.

    query (..., n_q, d_k), key (..., n_k, d_k), value (..., n_k, d_v), mask broadcast to (..., n_q, n_k)
    -> output (..., n_q, d_v), weights (..., n_q, n_k). A forbidden weight is exactly 0; a query that may attend to
    nothing gets zeros, with finite gradients.
    """
    scores = attention_scores(query, key) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_weights(scores, mask.bool())
    return weighted_sum(weights, value), weights


class MultiHeadAttention(nn.Module):
    """Concat(head_1 .. head_h) W_o with head_i = Attention(Q W_q_i, K W_k_i, V W_v_i) (section 3.2.2).

    q (batch, n_q, d_model), k, v (batch, n_k, d_model), mask broadcast to (batch, heads, n_q, n_k)
    -> output (batch, n_q, d_model), weights (batch, heads, n_q, n_k). Dropout acts on the merged heads before W_o;
    most other code drops attention weights instead. Raises ValueError where num_heads does not divide d_model.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} cannot be split into {num_heads} heads of equal width; "
                             "choose a number of heads that divides it.")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        query = split_heads(self.W_q(q), self.num_heads)
        key = split_heads(self.W_k(k), self.num_heads)
        value = split_heads(self.W_v(v), self.num_heads)
        heads, weights = masked_attention(query, key, value, mask)
        return self.W_o(self.dropout(merge_heads(heads))), weights
