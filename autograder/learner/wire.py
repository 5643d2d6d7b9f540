"""How calls and replies cross the wall of the sandbox: JSON text, tensors as raw bytes inside it.

Never pickle: what comes out of a sandbox is data from a stranger. Everything is checked before it is believed:
the kind, the dtype, the shape, the number of bytes. Whatever does not fit is a `WireError`.
"""

import base64
import dataclasses
import json
import math
from typing import Any

import torch

from autograder.learner.calls import Call, CodeError, Handle, Live, Opaque, Reply, Seed, Table

LIMIT = 16 * 2**20
"""Bytes of one message; a reply to a criterion has a few thousand."""

LONGEST_NAME = 40
"""Characters of an exception's name."""

DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool, torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.complex64, torch.complex128)}
RECORDS = {record.__name__: record for record in (Call, CodeError, Handle, Live, Opaque, Reply, Seed, Table)}


class WireError(ValueError):
    """A message that is not what the wire carries."""


def dumps(value: Any) -> str:
    """A value as text. Raises WireError for what cannot cross."""
    text = json.dumps(_encode(value), allow_nan=True)
    if len(text) > LIMIT:
        raise WireError(f"A message of {len(text):,} bytes is too long; the limit is {LIMIT:,}.")
    return text


def loads(text: str) -> Any:
    """The value in a message. Raises WireError for anything that `dumps` does not write."""
    if len(text) > LIMIT:
        raise WireError(f"A message of {len(text):,} bytes is too long; the limit is {LIMIT:,}.")
    try:
        return _decode(json.loads(text))
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError, RecursionError) as error:
        raise WireError(f"A message could not be read: {type(error).__name__}.") from None


def _encode(value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, torch.Tensor):
        return _encode_tensor(value)
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, tuple):
        return [_encode(part) for part in value]
    if isinstance(value, list):
        return {"list": [_encode(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): _encode(part) for key, part in value.items()}}
    if type(value).__name__ in RECORDS and dataclasses.is_dataclass(value):
        fields = {field.name: _encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"record": type(value).__name__, "fields": fields}
    raise WireError(f"An object of type {type(value).__name__} cannot cross.")


def _encode_tensor(value: torch.Tensor) -> dict:
    """Bytes in the order of memory, with the order of the axes, so that a transposed tensor arrives transposed."""
    value = value.detach().cpu()
    axes = sorted(range(value.dim()), key=lambda axis: -value.stride(axis))
    packed = value.permute(axes).contiguous()
    raw = packed.reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
    return {"tensor": str(value.dtype).removeprefix("torch."), "shape": list(packed.shape), "axes": axes,
            "bytes": base64.b64encode(raw).decode("ascii")}


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(part) for part in value)
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return _decode_tensor(value)
    if "dtype" in value:
        return DTYPES[value["dtype"]]
    if "list" in value:
        return [_decode(part) for part in value["list"]]
    if "dict" in value:
        return {key: _decode(part) for key, part in value["dict"].items()}
    return _decode_record(RECORDS[value["record"]], value["fields"])


def _decode_tensor(value: dict) -> torch.Tensor:
    dtype, shape, axes = DTYPES[value["tensor"]], value["shape"], value["axes"]
    if not all(type(size) is int and 0 <= size <= LIMIT for size in shape) or len(shape) > 16:
        raise WireError(f"{shape} is no shape.")
    if sorted(axes) != list(range(len(shape))):
        raise WireError(f"{axes} is no order of {len(shape)} axes.")
    raw = base64.b64decode(value["bytes"], validate=True)
    count = math.prod(shape)
    if len(raw) != count * dtype.itemsize:
        raise WireError(f"{len(raw)} bytes are no {dtype} tensor of shape {tuple(shape)}.")
    flat = torch.frombuffer(bytearray(raw), dtype=dtype) if count else torch.empty(0, dtype=dtype)
    return flat.reshape(shape).permute([axes.index(axis) for axis in range(len(axes))])


def _decode_record(record: type, fields: dict) -> Any:
    values = {name: _decode(part) for name, part in fields.items()}
    check = CHECKS.get(record)
    if check is not None:
        check(values)
    return record(**values)


def _check_reply(fields: dict) -> None:
    """A reply comes from a stranger: only the types that a judge relies on are let in."""
    wanted = {"gradients": tuple, "parameters": dict, "parameter_gradients": dict, "buffers": dict, "changed": tuple,
              "used": tuple, "printed": str}
    wrong = [name for name, kind in wanted.items() if not isinstance(fields.get(name), kind)]
    if wrong or fields["status"] not in ("returned", "raised", "not_attempted", "timed_out"):
        raise WireError(f"A reply whose {', '.join(wrong) or 'status'} is malformed.")
    if not all(isinstance(g, torch.Tensor | None) for g in
               (*fields["gradients"], *fields["parameter_gradients"].values())):
        raise WireError("A gradient that is no tensor.")
    if not all(isinstance(shape, tuple) for shape in (*fields["parameters"].values(), *fields["buffers"].values())):
        raise WireError("A parameter or buffer without a shape.")
    if not all(type(i) is int and 0 <= i < 100 for i in fields["changed"]):
        raise WireError("A changed argument that is none.")
    if not all(isinstance(name, str) for name in fields["used"]):
        raise WireError("A library function without a name.")
    if type(fields["largest"]) is not int or fields["largest"] < 0:
        raise WireError("A largest tensor that has no size.")
    if (fields["status"] == "raised") != isinstance(fields["error"], CodeError):
        raise WireError("An exception without its text, or a text without an exception.")
    fields["printed"] = fields["printed"][:2_000]


def _check_error(fields: dict) -> None:
    for name in ("kind", "text", "source", "inside"):
        if not isinstance(fields[name], str):
            raise WireError(f"An exception whose {name} is no text.")
        fields[name] = fields[name][:500]
    if not fields["kind"].isidentifier() or len(fields["kind"]) > LONGEST_NAME:
        fields["kind"] = "Exception"  # a report shows it, and a name can be made of what a hidden test sends
    if type(fields["line"]) is not int:
        raise WireError("An exception in no line.")


def _check_opaque(fields: dict) -> None:
    if not isinstance(fields["type_name"], str):
        raise WireError("A type without a name.")
    fields["type_name"] = fields["type_name"][:80]


def _check_handle(fields: dict) -> None:
    names = (fields["type_name"], *fields["bases"])
    if type(fields["number"]) is not int or not all(isinstance(name, str) and len(name) <= 200 for name in names):
        raise WireError("A handle without a number or a type.")


def _check_live(fields: dict) -> None:
    if not isinstance(fields["value"], torch.Tensor) or type(fields["number"]) is not int:
        raise WireError("A live tensor without a value or a number.")
    if not isinstance(fields["grad"], torch.Tensor | None):
        raise WireError("A gradient that is no tensor.")


CHECKS = {Reply: _check_reply, CodeError: _check_error, Opaque: _check_opaque, Handle: _check_handle,
          Live: _check_live}
