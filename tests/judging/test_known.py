"""What the course's own code gives is worked out once for equal calls, and for nothing else."""

import time
from dataclasses import replace

import pytest
import torch

from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge
from autograder.judging.known import Asked, _remembered, reply_of
from autograder.learner.calls import Call

CALL = Call(args=(torch.arange(6.0).reshape(2, 3), 2))
OTHER_CALLS = {
    "values": replace(CALL, args=(torch.ones(2, 3), 2)),
    "a plain value": replace(CALL, args=(CALL.args[0], 3)),
    "the dtype": replace(CALL, args=(CALL.args[0].double(), 2)),
    "the memory layout": replace(CALL, args=(CALL.args[0].T.contiguous().T, 2)),
    "gradients asked for": replace(CALL, cotangents=(torch.ones(2, 3),)),
    "training mode": replace(CALL, training=True),
    "what is watched": replace(CALL, watch=("attention",)),
}


class Counted:
    """Counts how often it is called; takes as long as it is told."""

    def __init__(self, seconds: float = 0.0):
        self.times, self.seconds = 0, seconds

    def __call__(self, x, times):
        self.times += 1
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            pass
        return times * x


def test_an_equal_call_is_carried_out_once():
    ours = Counted()
    first = reply_of(ours, Asked(CALL))
    again = reply_of(ours, Asked(Call(args=(torch.arange(6.0).reshape(2, 3), 2))))
    assert ours.times == 1 and again is first
    assert torch.equal(first.output, 2 * CALL.args[0])


def test_code_without_a_hash_is_remembered_too():
    asked = Asked(Call(args=("a",)))
    lookup = {"a": "b"}.get
    assert reply_of(lookup, asked).output == "b" and reply_of(lookup, asked) is reply_of(lookup, asked)
    assert reply_of({"a": "c"}.get, asked).output == "c"


@pytest.mark.parametrize("call", OTHER_CALLS.values(), ids=OTHER_CALLS)
def test_another_call_is_carried_out(call):
    ours = Counted()
    reply_of(ours, Asked(CALL))
    reply_of(ours, Asked(call))
    assert ours.times == 2


def test_another_random_seed_is_another_call():
    ours = Counted()
    reply_of(ours, Asked(CALL), 0)
    reply_of(ours, Asked(CALL), 1)
    assert ours.times == 2


def test_what_took_too_long_is_tried_again():
    ours = Counted(seconds=1)
    hurried = Asked(replace(CALL, seconds=0.05))
    assert [reply_of(ours, hurried).status for _ in range(2)] == ["timed_out"] * 2
    assert ours.times == 2


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "MultiHeadAttention", "greedy_decode"])
def test_a_report_is_the_same_whether_or_not_the_answers_are_known(name):
    wrong = all_exercises()[name].misconceptions[0].implementation
    _remembered.cache_clear()
    first = judge(wrong, seed=3, exercise=name)
    known = _remembered.cache_info().currsize
    again = judge(wrong, seed=3, exercise=name)
    assert again == first and _remembered.cache_info().currsize == known > 0
