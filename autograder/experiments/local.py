"""Luong's translator with predictive local attention (Luong et al. 2015, section 3.2, local-p)."""

import torch
from torch import Tensor, nn

from autograder.corpus import Vocabulary
from autograder.experiments.models import LuongTranslator
from autograder.reference.luong import local_weights

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
