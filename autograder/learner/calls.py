"""What goes to the learner's code and what comes back: plain data, so that both can cross into a sandbox."""

from dataclasses import dataclass, field
from typing import Any

import torch

PATIENCE = 2.5
"""How many times its seconds a call may take on the clock, where the machine does not let it run."""


@dataclass(frozen=True)
class Seed:
    """Stands for a `torch.Generator` among the arguments: a generator travels as its seed."""

    value: int


@dataclass(frozen=True)
class Table:
    """Stands for a small public model among the arguments: a `models.TableDecoder` made of these."""

    scores: torch.Tensor
    remembers: bool = False


@dataclass(frozen=True)
class Opaque:
    """Stands for a returned object that is not data: only the name of its type comes back."""

    type_name: str


@dataclass(frozen=True)
class Handle:
    """Stands for an object that stays in the sandbox: its number there, its type's name and those of its bases."""

    number: int
    type_name: str
    bases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Live:
    """A tensor that carries gradients: its value, its number in the sandbox (-1: none), its gradient so far."""

    value: torch.Tensor
    number: int = -1
    grad: torch.Tensor | None = None


@dataclass(frozen=True)
class Call:
    """One thing to do with the learner's object.

    A function is called with `args`. A class (when `init` is given) is constructed with `init`, gets `weights` by
    name, is put into train or eval mode, and is then called with `args`: itself, or a part or method of it (`part`,
    with dots for a part of a part).

    args: tensors, plain values, lists of them; a `Seed` or a `Table` where it cannot travel itself.
    cotangents: one tensor for each tensor of the output. When given, every floating tensor among the arguments
        and every parameter gets the gradient of sum(cotangent * output).
    substitute: sizes of a `SubstituteAttention` that takes the place of the module's own attention; None: its own.
    watch: families of library functions (see `guard.FAMILIES`) whose use is to be reported.
    measured: whether the size of the largest tensor is to be reported, see `memory`; the backward pass is left out.
    seconds: the call is stopped when it has had the processor for so long, or after PATIENCE times as long.
    """

    args: tuple = ()
    init: tuple | None = None
    weights: dict[str, torch.Tensor] | None = None
    part: str = ""
    substitute: tuple[int, ...] | None = None
    training: bool = False
    dtype: torch.dtype = torch.float32
    cotangents: tuple[torch.Tensor, ...] | None = None
    watch: tuple[str, ...] = ()
    measured: bool = False
    seconds: float = 10.0


@dataclass(frozen=True)
class CodeError:
    """An exception of the learner's code: its type, its text, and the last line of the answer that was at work.

    line: 0 where it is not known. inside: what that line called, where the exception comes from other code than the
    answer's, such as a class that was given.
    """

    kind: str
    text: str
    line: int = 0
    source: str = ""
    inside: str = ""


@dataclass
class Reply:
    """What came back from one call.

    status: "returned", "raised", "not_attempted" (the stub's own NotImplementedError), "timed_out" or "died".
    output: nested tuples, lists and dicts of tensors and plain values; anything else is an `Opaque`.
    gradients: for each tensor argument its gradient, None where none arrived; empty unless asked for.
    parameters: name and shape of every parameter of a module; `parameter_gradients` likewise by name.
    buffers: name and shape of every buffer of a module.
    changed: positions of the arguments that the call changed.
    used: the watched library functions that were called.
    largest: elements of the largest tensor that an operation made; 0 where it was not asked for.
    printed: the beginning of what the code printed.
    """

    status: str
    output: Any = None
    gradients: tuple[torch.Tensor | None, ...] = ()
    parameters: dict[str, tuple[int, ...]] = field(default_factory=dict)
    parameter_gradients: dict[str, torch.Tensor | None] = field(default_factory=dict)
    buffers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    changed: tuple[int, ...] = ()
    used: tuple[str, ...] = ()
    largest: int = 0
    error: CodeError | None = None
    printed: str = ""


def tensors_in(output: Any) -> list[torch.Tensor]:
    """All tensors of a nested output, in order."""
    if isinstance(output, torch.Tensor):
        return [output]
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (tuple, list)):
        return [tensor for part in output for tensor in tensors_in(part)]
    return []
