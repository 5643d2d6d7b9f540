"""Luong's translator with local attention (Luong et al. 2015, section 3.2): local-m and local-p."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.corpus import Vocabulary
from autograder.experiments.models import LuongTranslator
from autograder.reference.bahdanau import masked_weights
from autograder.reference.luong import local_weights, local_window

PADDING_SCORE = -1e9
"""Finite, so that a window with nothing but padding gives no NaN; the states there are zero, and so is the context."""


class LocalTranslator(LuongTranslator):
    """Looks only at the 2 D + 1 words around p_t = (length - 1) sigmoid(v_p^T tanh(W_p s_t)), which it predicts.

    The rows of its alignment sum to less than 1: the Gaussian around p_t is not renormalised.
    """

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, embed_dim: int = 64, hidden_dim: int = 128,
                 method: str = "dot", half_width: int = 5):
        super().__init__(source_words, target_words, embed_dim, hidden_dim, method)
        self.half_width = half_width
        self.W_p = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.v_p = nn.Linear(hidden_dim, 1, bias=False)

    def weigh(self, scores: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        center = self.center(states, mask.sum(dim=-1, keepdim=True))
        scores = scores.masked_fill(~mask.unsqueeze(1), PADDING_SCORE)
        return local_weights(scores.flatten(0, 1), center.flatten(), self.half_width).view_as(scores)

    def center(self, states: Tensor, lengths: Tensor) -> Tensor:
        """states (batch, seq, hidden), lengths (batch, 1) -> p_t (batch, seq), from the first word to the last."""
        return (lengths - 1) * torch.sigmoid(self.v_p(torch.tanh(self.W_p(states)))).squeeze(-1)


class MonotonicTranslator(LuongTranslator):
    """Looks only at the 2 D + 1 words around p_t = t: the window moves on by one source word a step (local-m).

    No Gaussian, so the rows of its alignment sum to 1. The state has one row more in front, the number of the step:
    (batch, 2 + src, hidden).
    """

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, embed_dim: int = 64, hidden_dim: int = 128,
                 method: str = "dot", half_width: int = 5):
        super().__init__(source_words, target_words, embed_dim, hidden_dim, method)
        self.half_width = half_width

    def encode(self, source: Tensor, lengths: Tensor) -> Tensor:
        return F.pad(super().encode(source, lengths), (0, 0, 1, 0))

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        logits, new, _ = self._decode(tokens.unsqueeze(1), state)
        return logits.squeeze(1), torch.cat([state[:, :1] + 1, new.unsqueeze(1), state[:, 2:]], dim=1)

    def _decode(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        first, encoder_states = state[:, 0, :1], state[:, 2:]
        mask = (encoder_states != 0).any(dim=-1)
        steps = first + torch.arange(tokens.size(1), device=tokens.device)  # (batch, seq)
        return self.decode(tokens, state[:, 1], encoder_states, self.windows(steps, mask))

    def windows(self, steps: Tensor, mask: Tensor) -> Tensor:
        """steps (batch, seq), mask (batch, src) -> (batch, seq, src); after the last word the window stays there."""
        center = steps.minimum(mask.sum(dim=-1, keepdim=True) - 1)
        inside = local_window(center.flatten(), self.half_width, mask.size(1))
        return inside.view(*steps.shape, -1) & mask.unsqueeze(1)

    def weigh(self, scores: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """mask: the windows, (batch, seq, src)."""
        return masked_weights(scores, mask)
