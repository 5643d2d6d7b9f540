"""The runner: what an answer does comes back as data, and nothing of it disturbs the process."""

import contextlib
import logging
import sys
import time
import warnings

import pytest
import torch
from torch import nn

from autograder.learner.calls import Call, Opaque, Seed, tensors_in
from autograder.learner.runner import PRINTED_LIMIT, run

X = torch.arange(6.0).reshape(2, 3)


def test_output_and_gradients_come_back():
    reply = run(lambda x, w: x @ w, Call((X, X.T), cotangents=(torch.ones(2, 2),)))
    assert reply.status == "returned"
    assert torch.equal(reply.output, X @ X.T)
    assert torch.equal(reply.gradients[0], torch.ones(2, 2) @ X)
    assert not reply.output.requires_grad


def test_no_gradient_through_a_detached_result():
    assert run(lambda x: x.detach() * 2, Call((X,), cotangents=(X,))).gradients == (None,)


def test_module_gets_weights_mode_and_dtype():
    class Scale(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(size))

        def forward(self, x):
            return x * self.weight * (1 if self.training else 10)

    weights = {"weight": torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)}
    call = Call((X.double(),), init=(3,), weights=weights, dtype=torch.float64, cotangents=(torch.ones(2, 3).double(),))
    reply = run(Scale, call)
    assert torch.equal(reply.output, X.double() * weights["weight"] * 10)
    assert reply.parameters == {"weight": (3,)}
    assert torch.equal(reply.parameter_gradients["weight"], X.double().sum(0) * 10)


def test_changed_arguments_are_noticed_and_the_callers_are_safe():
    mine = X.clone()
    assert run(lambda x: x.add_(1), Call((mine,))).changed == (0,)
    assert run(lambda a, b: b.unsqueeze_(0), Call((mine, mine))).changed == (1,)
    assert run(lambda x: x + 1, Call((mine,))).changed == ()
    assert torch.equal(mine, X)


def test_changed_tensors_in_a_tuple_are_noticed_and_the_callers_are_safe():
    cache = (X.clone(), (X.clone(), [1]))
    assert run(lambda x, pair: pair[1][0].add_(1), Call((X, cache))).changed == (1,)
    assert run(lambda x, pair: pair[1][1].append(2), Call((X, cache))).changed == (1,)
    assert run(lambda x, pair: pair[0] + 1, Call((X, cache))).changed == ()
    assert torch.equal(cache[0], X) and torch.equal(cache[1][0], X) and cache[1][1] == [1]


def test_memory_layout_survives_the_copy():
    assert run(lambda x: x.is_contiguous(), Call((X.T,))).output is False


def test_a_generator_travels_as_its_seed():
    def one(generator):
        return torch.rand((), generator=generator).item()

    first, again, other = (run(one, Call((Seed(seed),))).output for seed in (3, 3, 4))
    assert first == again != other


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit(3), RecursionError(), GeneratorExit()])
def test_any_exception_of_the_answer_is_reported(error):
    def answer(x):
        raise error

    reply = run(answer, Call((X,)))
    assert (reply.status, reply.error.kind) == ("raised", type(error).__name__)
    assert reply.error.line > 0


def test_the_stub_is_not_an_error_but_torchs_missing_kernels_are():
    def stub(x):
        raise NotImplementedError("write your answer here")

    assert run(stub, Call((X,))).status == "not_attempted"
    missing = run(lambda x: torch.linalg.inv(x.to(torch.int8) @ x.to(torch.int8).T), Call((X,)))
    assert missing.status == "raised"


def test_a_module_without_forward_is_no_stub():
    class Misspelt(torch.nn.Module):
        def foward(self, x):
            return x

    reply = run(Misspelt, Call((X,), init=()))
    assert (reply.status, reply.error.kind) == ("raised", "NotImplementedError") and "forward" in reply.error.text


def test_time_is_limited_even_for_an_answer_that_catches_exceptions():
    def endless(x):
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.01)

    assert run(endless, Call((X,), seconds=0.2)).status == "timed_out"


def test_time_that_a_busy_machine_took_is_not_the_answers():
    def without_the_processor(x):
        time.sleep(1.5)
        return x

    assert run(without_the_processor, Call((X,), seconds=1)).status == "returned"


def test_an_answer_that_computes_on_is_stopped():
    def endless(x):
        while True:
            x = x + 1

    assert run(endless, Call((X,), seconds=0.2)).status == "timed_out"


def test_output_warnings_and_logs_are_captured(capfd):
    def loud(x):
        print("a" * 10_000_000)
        print("to stderr", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        logging.getLogger("answer").warning("logged")
        return x

    reply = run(loud, Call((X,)))
    captured = capfd.readouterr()
    assert reply.status == "returned" and len(reply.printed) <= PRINTED_LIMIT
    assert captured.out == captured.err == ""


def test_the_process_is_left_as_it_was():
    def careless(x):
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.manual_seed(1)
        return torch.rand(3)

    before = torch.get_rng_state()
    run(careless, Call((X,)))
    assert torch.get_default_dtype() is torch.float32 and torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before)


def test_only_plain_data_comes_back():
    class Trick(torch.Tensor):
        def __eq__(self, other):
            return True

    reply = run(lambda x: (x.as_subclass(Trick), [1, 2.5, "a"], {"b": x}, object()), Call((X,)))
    assert type(reply.output[0]) is torch.Tensor
    assert reply.output[1] == (1, 2.5, "a")
    assert reply.output[3] == Opaque("object")
    assert len(tensors_in(reply.output)) == 2


GIVEN = """
class Given:
    def __call__(self, x):
        return self.half(x)

    def half(self, x):
        return x / 0
"""
ANSWER = """
def helper(x):
    return Given()(x)


class Answer:
    def forward(self, x):
        return helper(x)


def answer(x):
    return Answer().forward(x)
"""


@pytest.mark.parametrize("name, part", [("answer", ""), ("Answer", "forward")])
def test_an_error_in_given_code_points_to_the_last_line_of_the_answer(name, part):
    names = {}
    for place, source in (("<given>", GIVEN), ("<answer>", ANSWER)):  # as two cells of a notebook
        exec(compile(source, place, "exec"), names)
    error = run(names[name], Call((1,), init=() if part else None, part=part)).error
    assert (error.kind, error.line, error.inside) == ("ZeroDivisionError", 3, "Given")


def test_an_error_in_the_answer_itself_is_inside_nothing():
    error = run(lambda x: x / 0, Call((1,))).error
    assert error.line > 0 and error.inside == ""
