"""One small causal attention model, and six ways to tell it where a token stands."""

import copy
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.reference.multi_head import causal_mask, merge_heads, split_heads
from autograder.reference.positional_encoding import (
    LearnedPositionalEmbedding,
    PositionalEncoding,
    alibi_bias,
    rotary,
    sinusoidal_encoding,
)

SCHEMES = ("none", "sinusoidal", "learned", "rope", "alibi", "joined")
"""joined: the sinusoidal code beside the embedding, half of the width each, in place of being added to it."""

LONGEST = 1024
"""Rows of the sinusoidal table, which cost nothing."""

SMALL = 0.1
"""Std of the first embeddings. torch's own is 1, fifty times a learned row's: then the rows are drowned at first."""


class JoinedEncoding(nn.Module):
    """[x ; PE(pos)]: x (batch, seq, d_model / 2) -> (batch, seq, d_model)."""

    def __init__(self, d_model: int, max_len: int = LONGEST):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model // 2))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.pe[:x.size(1)].expand(len(x), -1, -1)], dim=-1)


class PositionedAttention(nn.Module):
    """Causal attention with several heads; RoPE turns its queries and keys, ALiBi adds to its scores.

    x (batch, seq, d_model) -> the same shape.
    """

    def __init__(self, d_model: int, num_heads: int, scheme: str):
        super().__init__()
        self.num_heads, self.scheme = num_heads, scheme
        self.W_qkv = nn.Linear(d_model, 3 * d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (split_heads(part, self.num_heads) for part in self.W_qkv(x).chunk(3, dim=-1))
        if self.scheme == "rope":
            positions = torch.arange(x.size(1))
            query, key = rotary(query, positions), rotary(key, positions)
        # On some processors torch reads a float32 mask beside float64 queries wrongly, and says nothing.
        bias = self.bias(x.size(1)).to(query.dtype)
        return self.W_o(merge_heads(F.scaled_dot_product_attention(query, key, value, bias)))

    def bias(self, length: int) -> Tensor:
        """What is added to the scores: minus infinity at what comes later, and with ALiBi a price for distance."""
        if self.scheme == "alibi":
            return alibi_bias(self.num_heads, length)
        return torch.zeros(length, length).masked_fill(~causal_mask(length), -math.inf)


class PositionModel(nn.Module):
    """Embedding, position, then x + attention(LayerNorm(x)) for every layer, LayerNorm, and a score for each answer.

    tokens int64 (batch, seq) -> logits (batch, seq, answers). max_len: the rows of a learned table. No feed-forward
    network and no dropout: nothing but attention may move a token's content. Raises ValueError for an unknown scheme.
    """

    def __init__(self, tokens: int, answers: int, scheme: str, d_model: int = 64, num_heads: int = 4,
                 num_layers: int = 2, max_len: int = 32):
        super().__init__()
        if scheme not in SCHEMES:
            raise ValueError(f"There is no scheme {scheme!r}; choose one of {', '.join(SCHEMES)}.")
        self.embedding = nn.Embedding(tokens, d_model // 2 if scheme == "joined" else d_model)
        nn.init.normal_(self.embedding.weight, std=SMALL)
        self.position = self.make_position(scheme, d_model, max_len)
        self.layers = nn.ModuleList(PositionedAttention(d_model, num_heads, scheme) for _ in range(num_layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(num_layers + 1))
        self.proj = nn.Linear(d_model, answers)

    @staticmethod
    def make_position(scheme: str, d_model: int, max_len: int) -> nn.Module:
        """What happens between the embedding and the first layer; RoPE and ALiBi act inside the layers."""
        makers = {"sinusoidal": lambda: PositionalEncoding(d_model, LONGEST),
                  "learned": lambda: LearnedPositionalEmbedding(max_len, d_model),
                  "joined": lambda: JoinedEncoding(d_model)}
        return makers.get(scheme, nn.Identity)()

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.position(self.embedding(tokens))
        for norm, layer in zip(self.norms, self.layers, strict=False):
            x = x + layer(norm(x))
        return self.proj(self.norms[-1](x))


def with_untrained_rows(model: PositionModel, max_len: int) -> PositionModel:
    """A copy whose learned table has max_len rows; the new ones are as training found them, drawn with std 0.02."""
    longer = copy.deepcopy(model)
    rows = torch.randn(max_len, longer.position.table.size(1)) * 0.02
    rows[:len(longer.position.table)] = longer.position.table.detach()
    longer.position.table = nn.Parameter(rows)
    return longer
