"""Multiplicative and local attention (Luong, Pham and Manning 2015, "Effective Approaches to Attention-based Neural
Machine Translation", section 3).

Shape letters as in book/conventions.md: batch, src, d_s (decoder state), d_h (encoder state), d_a (attention).
"""

import torch
from torch import Tensor, nn

from autograder.reference.bahdanau import context_vector, masked_weights

METHODS = ("dot", "general", "concat")


def dot_score(state: Tensor, encoder_states: Tensor) -> Tensor:
    """s^T h_j: state (batch, d), encoder_states (batch, src, d) -> (batch, src)."""
    return (encoder_states @ state.unsqueeze(-1)).squeeze(-1)


def general_score(state: Tensor, encoder_states: Tensor, W: Tensor) -> Tensor:
    """s^T W h_j: state (batch, d_s), encoder_states (batch, src, d_h), W (d_s, d_h) -> (batch, src)."""
    return dot_score(state @ W, encoder_states)


def concat_score(state: Tensor, encoder_states: Tensor, W: Tensor, v: Tensor) -> Tensor:
    """v^T tanh(W [s ; h_j]): W (d_a, d_s + d_h), v (d_a,) -> (batch, src)."""
    states = state.unsqueeze(1).expand(-1, encoder_states.size(1), -1)
    return torch.tanh(torch.cat([states, encoder_states], dim=-1) @ W.T) @ v


def local_window(center: Tensor, half_width: int, length: int) -> Tensor:
    """True for the 2 D + 1 positions around each rounded centre, cut at both ends of the source.

    center (batch,) float or int, half_width D >= 1, length src -> bool (batch, src).
    """
    positions = torch.arange(length, device=center.device)
    return (positions - center.round().unsqueeze(-1)).abs() <= half_width


def local_weights(scores: Tensor, center: Tensor, half_width: int) -> Tensor:
    """softmax over the window, times exp(-(j - p)^2 / (2 sigma^2)), sigma = D / 2, not renormalised (equation 10).

    scores (batch, src), center p (batch,), not rounded in the Gaussian -> weights (batch, src), 0 outside the window.
    """
    length = scores.size(-1)
    weights = masked_weights(scores, local_window(center, half_width, length))
    distance = torch.arange(length, device=scores.device) - center.unsqueeze(-1)
    return weights * torch.exp(-distance**2 / (2 * (half_width / 2) ** 2))


class LuongAttention(nn.Module):
    """Where the decoder's current state looks, and what it says after looking: tanh(W_c [c ; s]) (equation 5).

    state (batch, hidden_dim), encoder_states (batch, src, encoder_dim), mask (batch, src) or None (all real)
    -> attentional state (batch, hidden_dim), weights (batch, src); a row with nothing real has zero weights.
    Raises ValueError for a method that is not one of `METHODS`, and for "dot" with unequal sizes.
    """

    def __init__(self, hidden_dim: int, encoder_dim: int, method: str):
        super().__init__()
        if method not in METHODS:
            raise ValueError(f"There is no method {method!r}; choose one of {', '.join(METHODS)}.")
        if method == "dot" and hidden_dim != encoder_dim:
            raise ValueError(f"dot needs equal sizes, but hidden_dim is {hidden_dim} and encoder_dim is "
                             f"{encoder_dim}; use general, or project the encoder states.")
        self.method = method
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
        if method == "general":
            self.W = nn.Linear(encoder_dim, hidden_dim, bias=False)
        elif method == "concat":
            self.W = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
            self.v = nn.Linear(hidden_dim, 1, bias=False)

    def score(self, state: Tensor, encoder_states: Tensor) -> Tensor:
        """The chosen one of the three scores: (batch, src)."""
        if self.method == "dot":
            return dot_score(state, encoder_states)
        if self.method == "general":
            return general_score(state, encoder_states, self.W.weight)
        return concat_score(state, encoder_states, self.W.weight, self.v.weight.squeeze(0))

    def forward(self, state: Tensor, encoder_states: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        scores = self.score(state, encoder_states)
        weights = torch.softmax(scores, dim=-1) if mask is None else masked_weights(scores, mask)
        context = context_vector(weights, encoder_states)
        return torch.tanh(self.W_c(torch.cat([context, state], dim=-1))), weights
