"""Decoding with remembered keys and values: the same tokens as `Transformer.decode`, at a linear cost a step.

Without it, step t computes the hidden states of all t tokens again. But the mask is causal, so what an earlier token
computed can never change: its keys and values are kept, and a step computes those of one token alone.
Shape letters as in book/conventions.md: batch, heads, src, d_model, d_k; t tokens have been said before the step.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.reference.multi_head import MultiHeadAttention, masked_attention, merge_heads, split_heads
from autograder.reference.positional_encoding import first_rows
from autograder.reference.transformer import DecoderLayer, Transformer, residual


@dataclass
class DecoderState:
    """What a step needs of the past; batch first, so that a search can repeat and choose rows as of a tensor.

    source: keys and values of cross-attention (batch, layers, 2, heads, src, d_k), computed once; source_mask
    (batch, 1, 1, src) or None; said: those of self-attention (batch, layers, 2, heads, t, d_k), longer by one a step.
    """

    source: Tensor
    source_mask: Tensor | None
    said: Tensor

    def __len__(self) -> int:
        return len(self.said)

    def __getitem__(self, rows: Tensor) -> "DecoderState":
        mask = None if self.source_mask is None else self.source_mask[rows]
        return DecoderState(self.source[rows], mask, self.said[rows])

    def repeat_interleave(self, repeats: int, dim: int = 0) -> "DecoderState":
        """Every row `repeats` times, one after the other; `dim` is 0, as for the rows of a tensor."""
        return self[torch.arange(len(self), device=self.device).repeat_interleave(repeats, dim=dim)]

    @property
    def device(self) -> torch.device:
        return self.said.device


class CachedDecoder:
    """A Transformer in eval mode as `greedy_decode` and `beam_search` ask for it: `start`, then `step` by step."""

    def __init__(self, model: Transformer):
        self.model = model

    def start(self, src: Tensor, src_mask: Tensor | None = None) -> DecoderState:
        """src (batch, src), src_mask (batch, 1, 1, src) -> the state before the first token."""
        enc_out = self.model.encode(src, src_mask)
        source = torch.stack([keys_values(layer.cross_attn, enc_out) for layer in self.model.decoder], dim=1)
        return DecoderState(source, src_mask, source[..., :0, :])

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """tokens (batch,), those at position t -> logits of the next ones (batch, vocab), the state after t.

        Raises ValueError where t is beyond the table of positions.
        """
        x = self.embed(tokens, state.said.size(-2))
        longer = []
        for number, layer in enumerate(self.model.decoder):
            x, said = layer_step(layer, x, state.said[:, number], state.source[:, number], state.source_mask)
            longer.append(said)
        state = DecoderState(state.source, state.source_mask, torch.stack(longer, dim=1))
        return self.model.proj(x.squeeze(1)), state

    def embed(self, tokens: Tensor, position: int) -> Tensor:
        """As `Transformer.embed`, for one position: tokens (batch,) -> (batch, 1, d_model)."""
        embedding = self.model.tgt_emb
        row = first_rows(self.model.pos.pe, position + 1)[position]
        return embedding(tokens).unsqueeze(1) * math.sqrt(embedding.embedding_dim) + row


def layer_step(layer: DecoderLayer, x: Tensor, past: Tensor, source: Tensor,
               source_mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """A decoder layer for one position: x (batch, 1, d_model) -> the same shape, and the past with this position."""
    said = past

    def look_back(y: Tensor) -> Tensor:
        nonlocal said
        said = torch.cat([past, keys_values(layer.self_attn, y)], dim=-2)
        return attend(layer.self_attn, y, said)

    x = residual(layer, layer.norm1, x, look_back)
    x = residual(layer, layer.norm2, x, lambda y: attend(layer.cross_attn, y, source, source_mask))
    return residual(layer, layer.norm3, x, layer.ffn), said


def keys_values(attn: MultiHeadAttention, x: Tensor) -> Tensor:
    """What x offers to be found by, and gives: x (batch, seq, d_model) -> (batch, 2, heads, seq, d_k)."""
    return torch.stack([split_heads(linear(x), attn.num_heads) for linear in (attn.W_k, attn.W_v)], dim=1)


def attend(attn: MultiHeadAttention, x: Tensor, kept: Tensor, mask: Tensor | None = None) -> Tensor:
    """`MultiHeadAttention.forward` with keys and values that are there already: x and result (batch, 1, d_model)."""
    heads, _ = masked_attention(split_heads(attn.W_q(x), attn.num_heads), kept[:, 0], kept[:, 1], mask)
    return attn.W_o(merge_heads(heads))
