"""Stand-ins for the learner's objects in an instructor's own tests: they look like the thing, the thing stays inside.

Known limits: an argument changed in place inside the sandbox stays as it was here, and so do a module's weights that
a test changes in place (copy them with `load_state_dict`, which is a call).
"""

import importlib
from typing import Any

import torch

from autograder.learner.calls import Handle, Live, Seed
from autograder.sandbox.answering import Answering

TRUSTED_BASES = ("torch.", "builtins.", "collections.")
"""Classes that a stand-in may claim to be: libraries, never something that the submission defines."""


class LearnerError(Exception):
    """The learner's code raised an exception, or gave no answer."""


def stand_in(sandbox: Answering, name: str) -> Any:
    """What the learner calls `name`: a copy of data, a stand-in for anything else."""
    return _ask(sandbox, "name", name)


class StandIn:
    """An object in the sandbox. Calls, attributes, items, len and repr go there and come back."""

    def __init__(self, sandbox: Answering, handle: Handle):
        self.__dict__.update(_sandbox=sandbox, _handle=handle)

    @property
    def __class__(self):
        """The nearest library class, so that `isinstance(module, nn.Module)` holds."""
        return type if self._handle.type_name == "type" else _library_class(self._handle.bases)

    def __call__(self, *args, **named):
        leaves: list[torch.Tensor] = []
        sent = tuple(_send(a, leaves) for a in args), {name: _send(a, leaves) for name, a in named.items()}
        return _ask(self._sandbox, "call", self._handle.number, *sent, leaves=leaves)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _ask(self._sandbox, "attribute", self._handle.number, name)

    def __setattr__(self, name: str, value: Any):
        raise AttributeError(f"{name!r} cannot be set: the learner's object stays in the sandbox.")

    def __getitem__(self, key: Any):
        return _ask(self._sandbox, "item", self._handle.number, _send(key, []))

    def __len__(self) -> int:
        return _ask(self._sandbox, "length", self._handle.number)

    def __repr__(self) -> str:
        return str(_ask(self._sandbox, "text", self._handle.number))

    def __instancecheck__(self, thing: Any) -> bool:
        """`isinstance(made, LearnersClass)`: whether the class is among the bases of what `thing` stands for."""
        handle = getattr(thing, "__dict__", {}).get("_handle")
        return isinstance(handle, Handle) and self._handle.bases[0] in handle.bases


class _Across(torch.autograd.Function):
    """Gives a tensor of the sandbox a place in our graph: the way back goes through the sandbox's own."""

    @staticmethod
    def forward(ctx, sandbox, number, value, *leaves):
        ctx.sandbox, ctx.number, ctx.shapes = sandbox, number, [leaf.shape for leaf in leaves]
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        found = _ask(ctx.sandbox, "backward", ctx.number, gradient.detach()) or (None,) * len(ctx.shapes)
        fits = len(found) == len(ctx.shapes) and all(
            g is None or (isinstance(g, torch.Tensor) and g.shape == s) for g, s in zip(found, ctx.shapes, strict=True))
        if not fits:
            raise LearnerError("The gradients that came back do not fit the arguments.")
        return None, None, None, *found


def _ask(sandbox: Answering, *request: Any, leaves: list[torch.Tensor] | None = None) -> Any:
    reply = sandbox.operate(request)
    if reply.status != "returned":
        raise LearnerError(f"{reply.error.kind}: {reply.error.text}" if reply.error else "It gave no answer.")
    return _receive(sandbox, reply.output, leaves or [])


def _receive(sandbox: Answering, value: Any, leaves: list[torch.Tensor]) -> Any:
    if isinstance(value, Handle):
        return StandIn(sandbox, value)
    if isinstance(value, Live):
        if leaves:
            return _Across.apply(sandbox, value.number, value.value, *leaves)
        anchor = torch.zeros((), requires_grad=True)  # a module's own parameters carry gradients without any argument
        tensor = _Across.apply(sandbox, value.number, value.value, anchor) if value.grad is None else value.value
        if value.grad is not None and value.grad.shape == tensor.shape:
            tensor = tensor.clone().requires_grad_()
            tensor.grad = value.grad
        return tensor
    if isinstance(value, tuple):
        return tuple(_receive(sandbox, part, leaves) for part in value)
    return {k: _receive(sandbox, v, leaves) for k, v in value.items()} if isinstance(value, dict) else value


def _send(value: Any, leaves: list[torch.Tensor]) -> Any:
    if type(value) is StandIn:
        return value._handle
    if isinstance(value, torch.Generator):
        return Seed(value.initial_seed())
    if isinstance(value, torch.Tensor) and value.requires_grad:
        leaves.append(value)
        return Live(value.detach())
    if isinstance(value, (tuple, list)):
        return tuple(_send(part, leaves) for part in value)
    return {str(k): _send(v, leaves) for k, v in value.items()} if isinstance(value, dict) else value


def _library_class(bases: tuple[str, ...]) -> type:
    for name in bases:
        if name.startswith(TRUSTED_BASES):
            module, _, kind = name.rpartition(".")
            found = getattr(importlib.import_module(module), kind, None)
            if isinstance(found, type):
                return found
    return StandIn
