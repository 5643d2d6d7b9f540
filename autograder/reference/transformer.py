"""The Transformer (Vaswani et al. 2017, "Attention Is All You Need", sections 3 and 5).

Shape letters as in book/conventions.md: batch, seq (src and tgt), d_model, d_ff, vocab. Masks say what is allowed:
True = may be attended to. Layers are Post-LN, as in the paper; `norm_first=True` makes them Pre-LN (Xiong et al. 2020).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.reference.multi_head import MultiHeadAttention, causal_mask, padding_mask
from autograder.reference.positional_encoding import PositionalEncoding


class LayerNorm(nn.Module):
    """weight (x - mean) / sqrt(variance + eps) + bias, over the last axis (Ba et al. 2016); the variance is biased.

    x (..., d_model) -> the same shape.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        centered = x - x.mean(dim=-1, keepdim=True)
        variance = centered.square().mean(dim=-1, keepdim=True)
        return self.weight * (centered * torch.rsqrt(variance + self.eps)) + self.bias


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2 for every position by itself (section 3.3); dropout after the activation.

    x (..., d_model) -> the same shape.
    """

    def __init__(self, d_model: int, d_ff: int = 2048, dropout: float = 0.1, *,
                 activation: Callable[[Tensor], Tensor] = F.relu):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward net, each as LayerNorm(x + Dropout(Sublayer(x))) (section 3.1).

    x (batch, seq, d_model), mask broadcast to (batch, heads, seq, seq) -> the shape of x.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1, *,
                 activation: Callable[[Tensor], Tensor] = F.relu, eps: float = 1e-5, norm_first: bool = False):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout, activation=activation)
        self.norm1, self.norm2 = LayerNorm(d_model, eps), LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = residual(self, self.norm1, x, lambda y: self.self_attn(y, y, y, mask)[0])
        return residual(self, self.norm2, x, self.ffn)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the encoder's output, the feed-forward net (section 3.1).

    x (batch, tgt, d_model), enc_out (batch, src, d_model), src_mask broadcast to (batch, heads, tgt, src), tgt_mask to
    (batch, heads, tgt, tgt) -> the shape of x. In cross-attention the queries come from the decoder, keys and values
    from the encoder.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1, *,
                 activation: Callable[[Tensor], Tensor] = F.relu, eps: float = 1e-5, norm_first: bool = False):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout, activation=activation)
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model, eps) for _ in range(3))
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x: Tensor, enc_out: Tensor, src_mask: Tensor | None = None,
                tgt_mask: Tensor | None = None) -> Tensor:
        x = residual(self, self.norm1, x, lambda y: self.self_attn(y, y, y, tgt_mask)[0])
        x = residual(self, self.norm2, x, lambda y: self.cross_attn(y, enc_out, enc_out, src_mask)[0])
        return residual(self, self.norm3, x, self.ffn)


def residual(layer: nn.Module, norm: nn.Module, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    """Post-LN: norm(x + sublayer(x)), the paper's. Pre-LN: x + sublayer(norm(x)), with a straight way for x."""
    if layer.norm_first:
        return x + layer.dropout(sublayer(norm(x)))
    return norm(x + layer.dropout(sublayer(x)))


class Transformer(nn.Module):
    """Embeddings times sqrt(d_model) plus positions, N encoder and N decoder layers, a projection (section 3).

    src (batch, src), tgt (batch, tgt) int64 -> logits (batch, tgt, tgt_vocab). Every parameter of more than one
    dimension starts Xavier-uniform.
    """

    def __init__(self, src_vocab: int, tgt_vocab: int, d_model: int = 512, num_heads: int = 8, num_layers: int = 6,
                 d_ff: int = 2048, max_len: int = 5000, dropout: float = 0.1, *, norm_first: bool = False):
        super().__init__()
        self.src_emb = nn.Embedding(src_vocab, d_model)
        self.tgt_emb = nn.Embedding(tgt_vocab, d_model)
        self.pos = PositionalEncoding(d_model, max_len)
        sizes = (d_model, num_heads, d_ff, dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes, norm_first=norm_first) for _ in range(num_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes, norm_first=norm_first) for _ in range(num_layers))
        self.proj = nn.Linear(d_model, tgt_vocab)
        self.dropout = nn.Dropout(dropout)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    @staticmethod
    def make_pad_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
        """True for real tokens: seq (batch, length) -> bool (batch, 1, 1, length)."""
        return padding_mask(seq, pad_idx)

    @staticmethod
    def make_causal_mask(size: int) -> Tensor:
        """True on and below the diagonal: bool (size, size). `&` joins it with a padding mask."""
        return causal_mask(size)

    def embed(self, embedding: nn.Embedding, tokens: Tensor) -> Tensor:
        """Embeddings times sqrt(d_model), so that the positions do not drown them; dropout on the sum (section 5.4)."""
        return self.dropout(self.pos(embedding(tokens) * math.sqrt(embedding.embedding_dim)))

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """src (batch, src) -> hidden states (batch, src, d_model)."""
        x = self.embed(self.src_emb, src)
        for layer in self.encoder:
            x = layer(x, src_mask)
        return x

    def decode(self, tgt: Tensor, enc_out: Tensor, src_mask: Tensor | None = None,
               tgt_mask: Tensor | None = None) -> Tensor:
        """tgt (batch, tgt) -> hidden states (batch, tgt, d_model)."""
        x = self.embed(self.tgt_emb, tgt)
        for layer in self.decoder:
            x = layer(x, enc_out, src_mask, tgt_mask)
        return x

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
                tgt_mask: Tensor | None = None) -> Tensor:
        return self.proj(self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask))
