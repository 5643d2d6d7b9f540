"""Two games that are lost by whoever does not know the order of the tokens; answers are asked for at every place."""

import torch
from torch import Tensor

NO_ANSWER = -100
"""Places without an answer, which `F.cross_entropy` leaves out."""

OFFSET, LETTERS = 5, 16
NAMES, VALUES = 4, 8
SIZES = {"back": (LETTERS, LETTERS), "latest": (NAMES * VALUES, VALUES)}
"""For each task the number of different tokens, and of different answers."""


def draw(task: str, batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Tokens and answers, both int64 (batch, length), of the task "back" or "latest"."""
    return {"back": back, "latest": latest}[task](batch, length, generator)


def back(batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Which letter stood five places ago? The first five places have no answer."""
    tokens = torch.randint(LETTERS, (batch, length), generator=generator)
    answers = torch.full_like(tokens, NO_ANSWER)
    answers[:, OFFSET:] = tokens[:, :-OFFSET]
    return tokens, answers


def latest(batch: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Which value was written last under this name? A token is a name with its new value, name * VALUES + value.

    The first place of a name has no answer.
    """
    names = torch.randint(NAMES, (batch, length), generator=generator)
    values = torch.randint(VALUES, (batch, length), generator=generator)
    same = (names.unsqueeze(2) == names.unsqueeze(1)).tril(-1)          # (batch, place, earlier place)
    last = (same * torch.arange(1, length + 1)).amax(dim=-1)            # its place, counted from 1; 0 = none
    answers = values.gather(1, (last - 1).clamp(min=0)).masked_fill(last == 0, NO_ANSWER)
    return names * VALUES + values, answers
