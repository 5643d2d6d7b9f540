"""Small public models, for exercises that take a model as an argument."""

import torch
from torch import nn


class TableDecoder(nn.Module):
    """A decoder that looks its scores up: `scores[row, step, token]` are the logits of the next word.

    scores: (rows, steps, vocab, vocab). The state says where each row of a batch is: (batch, 2), its row of the
    table and its step, as floating numbers, because a state is no token. A batch may leave rows out, or hold one
    twice: the state says which is which.
    remembers: a row that is fed the token t goes on in row + t, from the last row on to the first, so that the state
    tells what was said.
    """

    def __init__(self, scores: torch.Tensor, remembers: bool = False):
        super().__init__()
        self.scores, self.remembers = scores, remembers

    def start(self) -> torch.Tensor:
        """The state before the first step, for all rows in order."""
        rows = torch.arange(len(self.scores), dtype=self.scores.dtype)
        return torch.stack([rows, torch.zeros_like(rows)], dim=1)

    def step(self, tokens: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """tokens (batch,) int64, the word that each row said last; state -> logits (batch, vocab), the next state.

        Raises TypeError or ValueError for tokens that are none, IndexError after the last step of the table.
        """
        self._check(tokens, state)
        row, step = state.long().unbind(dim=1)
        if bool((step >= self.scores.size(1)).any()):
            raise IndexError(f"The model was asked for step {int(step.max()) + 1} of {self.scores.size(1)}; "
                             "stop after max_len steps.")
        onward = (row + tokens) % len(self.scores) if self.remembers else row
        return self.scores[row, step, tokens], torch.stack([onward, step + 1], dim=1).to(state.dtype)

    def _check(self, tokens: torch.Tensor, state: torch.Tensor) -> None:
        if not isinstance(tokens, torch.Tensor) or tokens.dtype != torch.int64:
            kind = tokens.dtype if isinstance(tokens, torch.Tensor) else type(tokens).__name__
            raise TypeError(f"step needs the tokens as an int64 tensor; it was given {kind}.")
        if tokens.shape != (len(state),):
            raise ValueError(f"step needs one token for each of the {len(state)} rows of the state, a tensor of shape "
                             f"({len(state)},); it was given {tuple(tokens.shape)}.")
        vocab = self.scores.size(-1)
        unknown = tokens[(tokens < 0) | (tokens >= vocab)]
        if len(unknown):
            raise ValueError(f"step was given the token {int(unknown[0])}; the model knows 0 to {vocab - 1}.")
