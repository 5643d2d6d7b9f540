"""Additive attention (Bahdanau, Cho and Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and
Translate", section 3.1 and appendix A).

Shape letters as in book/conventions.md: batch, src, d_s (decoder state), d_h (encoder state), d_a (attention), vocab.
"""

import torch
from torch import Tensor, nn


def additive_scores(state: Tensor, encoder_states: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Tensor:
    """e_j = v^T tanh(W_s s + W_h h_j) for every source position j.

    state (batch, d_s), encoder_states (batch, src, d_h), W_s (d_a, d_s), W_h (d_a, d_h), v (d_a,) -> (batch, src).
    """
    return torch.tanh((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T) @ v


def masked_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the real positions of each row; every other position gets exactly 0.

    scores, mask (batch, src), True = real -> weights (batch, src). A row with nothing real is all zeros: softmax
    alone would give NaN there, so such a row gets finite scores first.
    """
    nothing = ~mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask & ~nothing, float("-inf")), dim=-1)
    return weights.masked_fill(~mask, 0)


def context_vector(weights: Tensor, encoder_states: Tensor) -> Tensor:
    """c = sum_j alpha_j h_j: weights (batch, src), encoder_states (batch, src, d_h) -> (batch, d_h)."""
    return (weights.unsqueeze(1) @ encoder_states).squeeze(1)


class AdditiveAttention(nn.Module):
    """Scores, weights and context in one: where a decoder in state s should look.

    state (batch, decoder_dim), encoder_states (batch, src, encoder_dim), mask (batch, src) or None (all real)
    -> context (batch, encoder_dim), weights (batch, src).
    """

    def __init__(self, decoder_dim: int, encoder_dim: int, attention_dim: int):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, state: Tensor, encoder_states: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        scores = additive_scores(state, encoder_states, self.W_s.weight, self.W_h.weight, self.v.weight.squeeze(0))
        weights = torch.softmax(scores, dim=-1) if mask is None else masked_weights(scores, mask)
        return context_vector(weights, encoder_states), weights


class BahdanauDecoderStep(nn.Module):
    """One step of the decoder: look with the previous state, then read context and last word, then say a word.

    c_t = attention(s_{t-1}); s_t = GRU([c_t ; y_{t-1}], s_{t-1}); logits = W s_t + b.
    token (batch,) int64, state (batch, hidden), encoder_states (batch, src, encoder_dim), mask (batch, src) or None
    -> logits (batch, vocab), new_state (batch, hidden), weights (batch, src).
    """

    def __init__(self, vocab_size: int, embed_dim: int, hidden_dim: int, encoder_dim: int, attention_dim: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = AdditiveAttention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def forward(self, token: Tensor, state: Tensor, encoder_states: Tensor,
                mask: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        context, weights = self.attention(state, encoder_states, mask)
        new_state = self.cell(torch.cat([context, self.embedding(token)], dim=-1), state)
        return self.out(new_state), new_state, weights
