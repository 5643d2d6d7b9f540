"""The sandbox's end for an instructor's own tests: objects stay here, numbered; data and gradients travel.

The trusted side asks for one operation at a time (`operate`). A tensor that carries gradients goes out as `Live`,
with a number under which `backward` finds it again.
"""

from typing import Any

import torch

from autograder.learner.calls import CodeError, Handle, Live, Reply, Seed
from autograder.learner.wire import WireError, dumps, loads

KEPT: list[Any] = []
LEAVES: dict[int, list[torch.Tensor]] = {}


def operate(namespace: dict[str, Any], text: str) -> str:
    """Carry out (operation, *arguments) and give the result, or the exception, as a reply in text."""
    operation, *arguments = loads(text)
    try:
        result = _name(namespace, *arguments) if operation == "name" else OPERATIONS[operation](*arguments)
        return dumps(Reply("returned", output=result))
    except Exception as error:
        return dumps(Reply("raised", error=CodeError(type(error).__name__, str(error)[:500])))


def _name(namespace: dict[str, Any], name: str) -> Any:
    return _out(namespace[name])


def _call(number: int, args: tuple, named: dict) -> Any:
    leaves: list[torch.Tensor] = []
    result = KEPT[number](*[_in(a, leaves) for a in args], **{name: _in(a, leaves) for name, a in named.items()})
    return _out(result, leaves)


def _attribute(number: int, name: str) -> Any:
    return _out(getattr(KEPT[number], name))


def _item(number: int, key: Any) -> Any:
    return _out(KEPT[number][_in(key, [])])


def _length(number: int) -> int:
    return len(KEPT[number])


def _text(number: int) -> str:
    return repr(KEPT[number])[:1_000]


def _backward(number: int, gradient: torch.Tensor) -> tuple:
    """Accumulate gradients as torch does; those of the arguments of the call go back."""
    leaves = LEAVES.get(number, [])
    for leaf in leaves:
        leaf.grad = None
    torch.autograd.backward(KEPT[number], gradient, retain_graph=True)
    return tuple(leaf.grad for leaf in leaves)


OPERATIONS = {"call": _call, "attribute": _attribute, "item": _item, "length": _length, "text": _text,
              "backward": _backward}


def _keep(thing: Any) -> int:
    KEPT.append(thing)
    return len(KEPT) - 1


def _in(value: Any, leaves: list[torch.Tensor]) -> Any:
    """An argument as the learner's code gets it; tensors that carry gradients are noted as leaves."""
    if isinstance(value, Handle):
        return KEPT[value.number]
    if isinstance(value, Seed):
        return torch.Generator().manual_seed(value.value)
    if isinstance(value, Live):
        leaf = value.value.clone().requires_grad_()
        leaves.append(leaf)
        return leaf
    if isinstance(value, tuple):
        return tuple(_in(part, leaves) for part in value)
    return {key: _in(part, leaves) for key, part in value.items()} if isinstance(value, dict) else value


def _out(value: Any, leaves: list[torch.Tensor] | None = None) -> Any:
    """A result as it travels: data by value, everything else as a handle."""
    if isinstance(value, torch.Tensor):
        if not value.requires_grad:
            return value.detach()
        number = _keep(value)
        LEAVES[number] = leaves or []
        return Live(value.detach(), number, value.grad if value.is_leaf else None)
    if isinstance(value, (tuple, list)):
        return tuple(_out(part, leaves) for part in value)
    if isinstance(value, dict):
        return {str(key): _out(part, leaves) for key, part in value.items()}
    try:
        dumps(value)
        return value
    except WireError:
        kind = value if isinstance(value, type) else type(value)
        bases = tuple(f"{base.__module__}.{base.__qualname__}"[:200] for base in kind.__mro__[:30])
        return Handle(_keep(value), "type" if isinstance(value, type) else kind.__name__[:80], bases)
