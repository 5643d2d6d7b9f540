"""Holds what came back against what is right: form first (type, shape, dtype, finite), then values.

An answer is never broadcast to the expected shape. A `Difference` is split in two: `message` may be shown
always, `detail` may hold values and is for the public seed only.
"""

import builtins
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from autograder.learner.calls import CodeError, Opaque, Reply, tensors_in

TOLERANCES = {torch.float32: (1e-5, 1e-4), torch.float64: (1e-10, 1e-8)}
"""Absolute and relative tolerance by dtype: the order of a sum may differ, the formula may not.

For float64 it is tight enough to notice a result that was float32 on the way.
"""


@dataclass(frozen=True)
class Difference:
    message: str
    detail: str = ""

    def __post_init__(self):
        for name in ("message", "detail"):
            text = getattr(self, name)
            object.__setattr__(self, name, text[:1].upper() + text[1:])


def form_problem(reply: Reply, expected: Reply, names: Sequence[str], source: str = "") -> Difference | None:
    """What is wrong with the reply before any value is looked at, or None; `source` says where a dtype is from."""
    if reply.status == "raised":
        return raised_problem(reply.error)
    if reply.parameters != expected.parameters:
        return _parameter_problem(reply.parameters, expected.parameters)
    return _form(reply.output, expected.output, names, "the result", source)


def raised_problem(error: CodeError) -> Difference:
    """The learner's own exception. Its text may quote inputs, and so may the name of a class of its own."""
    kind = error.kind if isinstance(getattr(builtins, error.kind, None), type) else "an exception"
    place = ", ".join(part for part in (f"line {error.line}" if error.line else "",
                                        f"`{error.source}`" if error.source else "",
                                        f"inside `{error.inside}`" if error.inside else "",
                                        error.kind if error.kind != kind else "") if part)
    return Difference(f"Your code raised {kind}.", f"{place}: {error.text}" if place else error.text)


def _parameter_problem(found: dict, wanted: dict) -> Difference:
    missing, extra = [n for n in wanted if n not in found], [n for n in found if n not in wanted]
    if missing or extra:
        told = [f"{what}: {_listed(names)}" for what, names in (("too many", extra), ("missing", missing)) if names]
        return Difference(f"Your module registers other parameters than the exercise asks for; {'; '.join(told)}."
                          if found else
                          f"Your module registers no parameters; the exercise asks for {_listed(missing)}.")
    name = next(n for n in wanted if found[n] != wanted[n])
    return Difference(f"The parameter `{name}` has the shape {found[name]}; the exercise asks for {wanted[name]}.")


def _listed(names: Sequence[str], at_most: int = 8) -> str:
    shown = [f"`{name}`" for name in names[:at_most]]
    return ", ".join(shown) + (f" and {len(names) - at_most} more" if len(names) > at_most else "")


def _form(found: Any, wanted: Any, names: Sequence[str], what: str, source: str) -> Difference | None:
    if found is None:
        return Difference("Your code returned None: is a `return` missing?" if what == "the result"
                          else f"{what} is None.")
    if _was_list(wanted) and what != "the result":  # how long it is, is a question of its values
        return None if isinstance(found, tuple) else Difference(f"{what} should be a list; yours is {_kind(found)}.")
    if isinstance(wanted, tuple):
        return _tuple_form(found, wanted, names, what, source)
    if isinstance(wanted, torch.Tensor):
        return _tensor_form(found, wanted, what, source)
    if isinstance(wanted, float):
        return _number_form(found, what)
    if type(found) is not type(wanted):
        return Difference(f"{what} should be {_kind(wanted)}; yours is {_kind(found)}.")
    return None


def _tuple_form(found: Any, wanted: tuple, names: Sequence[str], what: str, source: str) -> Difference | None:
    asked, kind, count = f"{what} should have {len(wanted)} values", "yours is", "yours has"
    if what == "the result":
        asked = f"Your code should return {len(wanted)} values ({', '.join(names)})"
        kind = count = "it returned"
    if not isinstance(found, tuple):
        return Difference(f"{asked}; {kind} {_kind(found)}.")
    if len(found) != len(wanted):
        return Difference(f"{asked}; {count} {len(found)}.")
    parts = zip(found, wanted, names, strict=True)
    return next((p for f, w, n in parts if (p := _form(f, w, parts_of(n, w), quoted(n), source)) is not None), None)


def quoted(name: str) -> str:
    """A name of code in backquotes; words as they are."""
    return name if " " in name else f"`{name}`"


def parts_of(name: str, value: Any) -> list[str]:
    """The names of what stands in a value of that name: `cache[0]` and `cache[1]` in a pair, otherwise itself."""
    return [f"{name}[{i}]" for i in range(len(value))] if isinstance(value, tuple) else [name]


def _was_list(value: Any) -> bool:
    """Whether a tuple was a list of plain data before it travelled."""
    return isinstance(value, tuple) and not tensors_in(value)


def _tensor_form(found: Any, wanted: torch.Tensor, what: str, source: str) -> Difference | None:
    if not isinstance(found, torch.Tensor):
        return Difference(f"{what} should be a tensor; yours is {_kind(found)}.")
    if found.shape != wanted.shape:
        return Difference(f"{what} should have the shape {tuple(wanted.shape)}; yours has {tuple(found.shape)}.")
    if found.dtype != wanted.dtype:
        told = source if wanted.is_floating_point() else ""
        return Difference(f"{what} should be {wanted.dtype}{told}; yours is {found.dtype}.")
    if found.is_floating_point() and bool((~found.isfinite() & wanted.isfinite()).any()):
        if bool(found.isnan().any()):
            return Difference(f"{what} contains NaN.", f"{_share(found.isnan())} of it are NaN.")
        if not bool(wanted.isinf().any()):  # otherwise infinity is a value like others
            return Difference(f"{what} contains infinite values.")
    return None


def _number_form(found: Any, what: str) -> Difference | None:
    if type(found) is not float:
        tip = " (`.item()` makes one of a tensor)" if isinstance(found, torch.Tensor) else ""
        return Difference(f"{what} should be a plain float{tip}; yours is {_kind(found)}.")
    return None if math.isfinite(found) else Difference(f"{what} is {'NaN' if math.isnan(found) else 'infinite'}.")


def _kind(value: Any) -> str:
    if isinstance(value, Opaque):
        return f"an object of type {value.type_name}"[:80]
    if value is None:
        return "None"
    if isinstance(value, tuple):
        return "a list or tuple"  # a list has become a tuple on its way here
    kind = "tensor" if isinstance(value, torch.Tensor) else type(value).__name__
    return f"a {kind}" if kind[0] not in "aeiou" else f"an {kind}"


def value_problem(found: Any, wanted: Any, names: Sequence[str], tolerance: dict | None = None) -> Difference | None:
    """What is wrong with the values of a well-formed output, or None."""
    if isinstance(wanted, tuple):
        parts = zip(found, wanted, names, strict=True)
        return next((p for f, w, n in parts if (p := _part_problem(f, w, n, tolerance)) is not None), None)
    what = "the result" if len(names) != 1 else quoted(names[0])
    if not isinstance(wanted, torch.Tensor):
        same = close_numbers(found, wanted) if isinstance(wanted, float) else found == wanted
        return None if same else Difference(f"{what} is wrong.", f"Yours is {found}, right is {wanted}.")
    wrong = ~close(found, wanted, tolerance)
    if not bool(wrong.any()):
        return None
    if bool((nan := found.isnan() & ~wanted.isnan()).any()):
        return Difference(f"{_share(nan)} of {what} are NaN; the right ones are not.")
    count = _share(wrong)
    if wanted.dtype == torch.bool:  # any two that differ, differ by 1
        return Difference(f"{count} of {what} differ from the right ones.")
    largest = (found.double() - wanted.double())[wrong].abs().max().item()
    detail = f"The largest difference is {largest:.3g}." if math.isfinite(largest) else ""
    return Difference(f"{count} of {what} differ from the right ones.", detail)


def _share(which: torch.Tensor) -> str:
    """How many values these are, in words that stand before "of ..."."""
    share = 100 * which.double().mean().item()
    return "All values" if share == 100 else f"{min(share, 99):.0f} % of the values" if share >= 1 else "A few values"


def _part_problem(found: Any, wanted: Any, name: str, tolerance: dict | None) -> Difference | None:
    if not _was_list(wanted):
        return value_problem(found, wanted, parts_of(name, wanted), tolerance)
    same = list(map(type, found)) == list(map(type, wanted)) and found == wanted
    told = f"Yours is {list(found)}, right is {list(wanted)}."
    return None if same else Difference(f"{quoted(name)} is wrong.", told)


def close(found: torch.Tensor, wanted: torch.Tensor, tolerance: dict | None = None) -> torch.Tensor:
    """Elementwise: equal up to the dtype's tolerance (exactly for whole numbers and booleans)."""
    if not wanted.is_floating_point():
        return found == wanted
    absolute, relative = (tolerance or TOLERANCES)[wanted.dtype]
    return torch.isclose(found, wanted, atol=absolute, rtol=relative, equal_nan=True)


def close_numbers(found: float, wanted: float) -> bool:
    return math.isclose(found, wanted, rel_tol=1e-5, abs_tol=1e-6)


def same_data(a, b) -> bool:
    """Equal type, structure, shape and dtype, and values equal up to the dtype's tolerance."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and bool(close(a, b).all())
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same_data, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_data(a[key], b[key]) for key in a)
    return close_numbers(a, b) or a == b if isinstance(a, float) else a == b


def gradient_problem(reply: Reply, expected: Reply, arguments: Sequence[str],
                     tolerance: dict | None = None) -> Difference | None:
    """A gradient that does not arrive, or is wrong, at an argument or at a parameter; or None."""
    found = dict(zip(arguments, reply.gradients, strict=False)) | reply.parameter_gradients
    wanted = dict(zip(arguments, expected.gradients, strict=False)) | expected.parameter_gradients
    for name, right in wanted.items():
        if right is None:
            continue
        yours = found.get(name)
        if yours is None:
            return Difference(f"No gradient reaches `{name}`: somewhere the computation leaves torch's graph.")
        if problem := value_problem(yours, right, [f"the gradient of `{name}`"], tolerance):
            return problem
    return None
