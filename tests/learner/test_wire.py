"""The wire: what goes in comes out, and nothing else gets through."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.learner.calls import Call, CodeError, Opaque, Reply, Seed
from autograder.learner.runner import run
from autograder.learner.wire import DTYPES, WireError, dumps, loads

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20)


@given(PLAIN)
def test_plain_values_come_back(value):
    assert loads(dumps(value)) == value


@pytest.mark.parametrize("dtype", DTYPES.values())
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_tensors_come_back_bit_for_bit_with_their_layout(dtype, shape):
    tensor = torch.randn(shape).mul(10).to(dtype)
    for value in (tensor, tensor.permute(tuple(reversed(range(tensor.dim()))))):
        back = loads(dumps(value))
        assert back.dtype == dtype and back.shape == value.shape
        assert torch.equal(back, value) and back.is_contiguous() == value.is_contiguous()


def test_special_values_survive():
    values = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
    assert torch.equal(loads(dumps(values)).view(torch.int32), values.view(torch.int32))
    assert loads(dumps(float("inf"))) == float("inf")


def test_a_call_and_its_reply_cross():
    call = Call((torch.randn(2, 3).T, 3, Seed(7)), init=(2,), weights={"w": torch.ones(2)}, watch=("softmax",),
                dtype=torch.float64, cotangents=(torch.ones(2),))
    back = loads(dumps(call))
    assert back.args[2] == Seed(7) and back.init == (2,) and back.dtype is torch.float64
    assert not back.args[0].is_contiguous()
    reply = run(lambda x: (x, 1.5, object()), Call((torch.ones(2),), cotangents=(torch.ones(2),)))
    again = loads(dumps(reply))
    assert again.output[1:] == (1.5, Opaque("object")) and torch.equal(again.gradients[0], torch.ones(2))
    raised = loads(dumps(run(lambda x: 1 / 0, Call((1,)))))
    assert raised.error.kind == "ZeroDivisionError"


def test_what_is_no_data_does_not_cross():
    with pytest.raises(WireError, match="object"):
        dumps(object())


def forged(**changes) -> str:
    message = json.loads(dumps(Reply("returned", output=1.0)))
    message["fields"].update(changes)
    return json.dumps(message)


@pytest.mark.parametrize("text", [
    "", "nonsense", '{"record": "Trial", "fields": {}}', '{"record": "Reply", "fields": {}}',
    '{"tensor": "float32", "shape": [2], "axes": [0], "bytes": ""}',
    '{"tensor": "float32", "shape": [-1], "axes": [0], "bytes": ""}',
    '{"tensor": "float32", "shape": [1], "axes": [1], "bytes": "AAAAAA=="}',
    '{"tensor": "object", "shape": [], "axes": [], "bytes": ""}', '{"dict": 3}',
    "[" * 100_000, forged(status="passed"), forged(gradients=[3]), forged(changed=["a"]), forged(used=[[]]),
    forged(largest=-1), forged(largest=True), forged(largest="0"),
    forged(parameters={"dict": {"w": 3}}), forged(printed=7), forged(extra=1), forged(status="died"),
    forged(status="raised"),
])
def test_forged_messages_are_refused(text):
    with pytest.raises(WireError):
        loads(text)


def test_a_message_that_is_too_long_is_refused():
    with pytest.raises(WireError, match="too long"):
        loads("9" * (64 * 2**20 + 1))
    with pytest.raises(WireError, match="too long"):
        dumps(torch.zeros(64 * 2**20, dtype=torch.uint8))


def test_texts_of_a_stranger_are_cut():
    error = CodeError("E" * 10_000, "t" * 10_000, 1, "s")
    assert loads(dumps(error)).kind == "Exception" and len(loads(dumps(error)).text) == 500


@pytest.mark.parametrize("name, kind", [("ValueError", "ValueError"), ("MyError", "MyError"), ("<b>", "Exception"),
                                        ("x = 0.123", "Exception"), ("", "Exception")])
def test_an_exception_has_a_name_and_no_more(name, kind):
    assert loads(dumps(CodeError(name, "t"))).kind == kind
