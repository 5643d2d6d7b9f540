"""Measures how much memory the largest single tensor takes that an answer makes.

What counts is where a result lies, not its shape: a view costs nothing, and a slice of a large tensor keeps all of it.
Not seen: what one operator takes for itself and gives back, and what is computed outside of torch.
"""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.learner.calls import tensors_in


class Largest(TorchDispatchMode):
    """A context that keeps in `elements` the size of the largest memory in which a result of an operator lies."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """As in `guard`: otherwise the first call loads torch's compiler."""
        return False

    def __init__(self):
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in (t for t in tensors_in(result) if t.layout is torch.strided):  # a sparse one has no storage
            self.elements = max(self.elements, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result
