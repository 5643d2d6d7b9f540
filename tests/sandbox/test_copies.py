"""Copies of the learner's process: as it was at their place, apart from each other, and inside the same walls."""

import shutil

import pytest
import torch

from autograder.learner.calls import Call
from autograder.sandbox import answering
from autograder.sandbox.kernel import Sandbox
from autograder.sandbox.limits import MIB, Limits

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
ONE = Call((torch.ones(2),))


@pytest.fixture
def box():
    with Sandbox() as box:
        yield box


def says(place, name="f"):
    reply = place.ask(name, ONE, 0)
    return reply.output if reply.status == "returned" else reply.status


def test_a_copy_knows_what_was_before_it_and_nothing_later(box):
    box.execute("factor = 2\ndef f(x): return factor * x.sum()")
    early = box.copy()
    box.execute("factor = 5\ng = f")
    late = box.copy()
    assert (says(early), says(late), says(box)) == (4, 10, 10)
    assert not early.defines("g") and late.defines("g")


def test_copies_and_kernel_do_not_see_each_others_changes(box):
    box.execute("seen = []\ndef f(x):\n    seen.append(1)\n    return len(seen)")
    copies = [box.copy(), box.copy()]
    assert [says(copies[0]), says(copies[0]), says(copies[1]), says(box)] == [1, 2, 1, 1]


def test_a_copy_that_ends_takes_nothing_with_it(box):
    box.execute("import os\ndef f(x): os._exit(0)\ndef g(x): return 7")
    copies = [box.copy(), box.copy()]
    assert says(copies[0]) == "died" and not copies[0].alive
    assert says(copies[0]) == "died", "it stays so"
    assert says(copies[1], "g") == 7 and copies[1].alive and box.alive


def test_a_copy_that_is_deaf_ends_the_sandbox(box, monkeypatch):
    monkeypatch.setattr(answering, "ANSWER_SECONDS", 0)
    box.execute("import signal, time\ndef f(x):\n    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\n"
                "    while True: time.sleep(1)")
    copy = box.copy()
    assert says(copy) == "timed_out"
    assert not copy.alive and not box.alive


def test_an_endless_call_is_stopped_inside_the_copy(box):
    box.execute("def f(x):\n    while True: pass\ndef g(x): return 7")
    copy = box.copy()
    assert says(copy) == "timed_out" and says(copy, "g") == 7 and copy.alive


@pytest.mark.parametrize("use", ["torch.set_num_threads(4); torch.randn(3_000_000).exp()",
                                 "torch.ones(3, requires_grad=True).sum().backward()", "import matplotlib.pyplot"])
def test_libraries_work_in_a_copy_of_a_process_that_used_them(box, use):
    box.execute(f"import torch\n{use}\ndef f(x):\n    w = torch.ones(1_000_000, requires_grad=True)\n"
                "    (w * w.exp()).sum().backward()\n    return (w.grad > 5).all() & (w @ w == 1e6)")
    assert torch.as_tensor(says(box.copy()))  # a word instead of a tensor raises


def test_a_process_with_threads_of_its_own_is_not_copied(box):
    box.execute("from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor()\n"
                "def f(x): return pool.submit(x.sum).result().item()\npool.submit(print).result()")
    assert box.copy() is None
    assert says(box) == 2


def test_many_copies_of_a_large_process_are_not_more_than_they_are():
    limits = Limits(memory=700 * MIB)
    with Sandbox(limits=limits) as box:
        box.execute("import torch\nlarge = torch.ones(100_000_000)\ndef f(x): return large[0]")  # 400 MB
        copies = [box.copy() for _ in range(8)]
        assert [says(copy) for copy in copies] == [1.0] * 8
        box.execute("import time; time.sleep(1)")
        assert box.verdict is None


def test_a_copy_that_takes_too_much_ends_the_sandbox():
    with Sandbox(limits=Limits(memory=700 * MIB)) as box:
        box.execute("import time, torch\ndef f(x):\n    large = torch.ones(250_000_000)\n    time.sleep(30)\n"
                    "    return 1")
        assert says(box.copy()) == "died"
        assert "more than 700 MiB" in box.verdict
