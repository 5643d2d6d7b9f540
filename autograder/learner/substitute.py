"""An attention of ours inside a learner's module, for an exercise that uses one which is judged elsewhere.

Where the learner's own attention is at fault, the module around it is judged with this one in its place.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

PART, CLASS = "attention", "AdditiveAttention"
"""What a module calls its attention, and the class that the learner makes it from."""


class SubstituteAttention(nn.Module):
    """From outside it is an `AdditiveAttention`: the same arguments, parameters and results.

    Inside it is another formula, so that it answers no exercise: weight j is the sigmoid of the product of W_s s,
    W_h h_j and v. It depends on everything that it is given, so whoever uses it wrongly gets other numbers.
    """

    def __init__(self, decoder_dim: int, encoder_dim: int, attention_dim: int):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, state: Tensor, encoder_states: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        query = self.W_s(state) * self.v.weight / math.sqrt(self.v.in_features)
        weights = torch.einsum("ba,bja->bj", query, self.W_h(encoder_states)).sigmoid()
        if mask is not None:
            weights = weights * mask
        return torch.einsum("bj,bjd->bd", weights, encoder_states), weights


def with_substitute(learner_class: Any, init: tuple, sizes: tuple[int, ...]) -> Any:
    """`learner_class(*init)` with a `SubstituteAttention(*sizes)` for its attention.

    While the module is built the learner's own class is out of the way, because it may not even be written.
    """
    names = getattr(learner_class.__init__, "__globals__", {})
    own = names.get(CLASS)
    names[CLASS] = SubstituteAttention
    try:
        module = learner_class(*init)
    finally:
        if own is None:
            del names[CLASS]
        else:
            names[CLASS] = own
    if _fits(getattr(module, PART, None), ours := SubstituteAttention(*sizes)):
        setattr(module, PART, ours)
    return module


def _fits(own: Any, ours: SubstituteAttention) -> bool:
    """Whether `own`, made without the name of the class, was made for these sizes; else the module is wrong."""
    if not isinstance(own, nn.Module) or isinstance(own, SubstituteAttention):
        return False
    shapes = {name: parameter.shape for name, parameter in own.named_parameters()}
    return bool(shapes) and all(shapes.get(name, p.shape) == p.shape for name, p in ours.named_parameters())
