"""The ten patients of the clinic, mended: small pieces of a Transformer, each with the fault taken out.

Shape letters as in book/conventions.md: batch, heads, seq (n_q queries, n_k keys), d_model, d_ff, vocab. Masks say what
is allowed: True = may be attended to. Where a patient is a piece that an earlier chapter has built, that piece is it.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.reference.multi_head import merge_heads, padding_mask
from autograder.reference.positional_encoding import PositionalEncoding
from autograder.reference.transformer import EncoderLayer, FeedForward, LayerNorm

NAMES = {
    "clinic_1": "target_not_shifted",
    "clinic_2": "mask_after_softmax",
    "clinic_3": "mask_polarity_inverted",
    "clinic_4": "positions_along_the_batch",
    "clinic_5": "heads_merged_without_transpose",
    "clinic_6": "norm_over_the_sequence",
    "clinic_7": "layers_share_weights",
    "clinic_8": "loss_counts_padding",
    "clinic_9": "dropout_in_evaluation",
    "clinic_10": "cache_position_restarts",
}
"""What each patient suffers from."""

OTHERS = ("scale_forgotten", "residual_dropped", "softmax_over_the_queries", "softmax_before_the_loss",
          "mask_one_row_off", "keys_used_as_values", "no_positions_at_all", "embedding_not_scaled",
          "end_of_sentence_missing", "padding_masked_as_queries")
"""Faults that are as real, and that no patient has."""

TWENTY = sorted((*NAMES.values(), *OTHERS))
"""The list that a learner chooses from."""


def clinic_1(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """What a decoder is fed and what it shall say: tokens (batch, seq) -> two of (batch, seq - 1), one step apart."""
    return tokens[:, :-1], tokens[:, 1:]


def clinic_2(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """softmax(Q K^T / sqrt(d_k), over the allowed keys) V; each query may attend to something.

    query (batch, heads, n_q, d_k), key, value (batch, heads, n_k, d_k), mask broadcast to (batch, heads, n_q, n_k).
    """
    scores = query @ key.mT / math.sqrt(query.size(-1))
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ value


def clinic_3(tokens: Tensor, pad: int) -> Tensor:
    """True for real tokens: (batch, seq) -> bool (batch, 1, 1, seq)."""
    return padding_mask(tokens, pad)


class clinic_4(PositionalEncoding):
    """x plus the sinusoidal table's row of its position: x (batch, seq, d_model), seq <= max_len -> the same shape."""


def clinic_5(heads: Tensor) -> Tensor:
    """The heads of a position side by side: (batch, heads, seq, d_k) -> (batch, seq, heads * d_k)."""
    return merge_heads(heads)


class clinic_6(LayerNorm):
    """weight (x - mean) / sqrt(variance + eps) + bias over the features of a token: x (batch, seq, d_model)."""


class clinic_7(nn.Module):
    """num_layers encoder layers, one after the other, each with weights of its own: x (batch, seq, d_model)."""

    def __init__(self, num_layers: int, d_model: int, num_heads: int, d_ff: int):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return x


def clinic_8(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """Mean cross-entropy over the real tokens: logits (batch, seq, vocab), target (batch, seq) -> 0-dim."""
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad)


class clinic_9(FeedForward):
    """max(0, x W_1 + b_1) W_2 + b_2, with dropout after the activation while the module trains: x (..., d_model)."""


def clinic_10(x: Tensor, past: int, table: Tensor) -> Tensor:
    """Adds positions to new tokens whose predecessors are in a cache already.

    x (batch, new, d_model), past: positions that the cache holds, table (max_len, d_model) -> the shape of x.
    """
    return x + table[past : past + x.size(1)]
