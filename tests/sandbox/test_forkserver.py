"""A kernel that was forked into the walls is as much inside as one that started there."""

import json
import os
import shutil
import subprocess
import time

import pytest

from autograder.sandbox import warm
from autograder.sandbox.kernel import Sandbox
from autograder.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
SPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
LOOK = f"""
import json, os, resource
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([
    [os.readlink(f"/proc/self/ns/{{name}}") for name in {SPACES}], [status[k].strip() for k in (
        "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid")],
    [resource.getrlimit(k) for k in range(16)], sorted(os.listdir("/")), os.getcwd(),
    sorted(set(os.environ) - {{"PWD", "OLDPWD", "SHLVL", "_", "PYDEVD_USE_FRAME_EVAL"}}),  # a shell's, ipykernel's
    open("/proc/self/environ").read().count("CLASSROOM"), os.getsid(0) == os.getpid()]))
"""


def look(box: Sandbox) -> list:
    return json.loads(box.execute(LOOK)[0].text)


def is_forked(box: Sandbox) -> bool:
    return box.manager.provisioner.kernel is not None


@pytest.fixture(scope="module")
def seen():
    """What one forked kernel, another one, and one that started from nothing see of themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLASSROOM", "/secret")
        with Sandbox() as first, Sandbox() as second:
            assert is_forked(first) and is_forked(second)
            patch.setenv(warm.COLD, "1")
            with Sandbox() as cold:  # while the others live: the kernel gives a number away again when a namespace ends
                assert not is_forked(cold)
                return [look(first), look(second), look(cold)]


def test_it_shares_no_namespace_with_us_nor_with_another(seen):
    ours = [os.readlink(f"/proc/self/ns/{name}") for name in SPACES]
    for number in range(len(SPACES)):
        assert len({ours[number], *(facts[0][number] for facts in seen)}) == 4


def test_it_has_the_powers_limits_and_surroundings_of_one_that_started_there(seen):
    forked, _, cold = seen
    assert forked[1:-1] == cold[1:-1]
    assert forked[1][:6] == ["0" * 16] * 5 + ["1"] and forked[-1]


def test_every_submission_finds_the_libraries_as_they_were_loaded():
    drawn = []
    for _ in range(2):
        with Sandbox() as box:
            drawn.append(box.execute("import random, torch\nprint(torch.rand(3).tolist(), random.random())")[0].text)
            box.execute("torch.add = torch.sub; torch.evil = 1")
    assert drawn[0] == drawn[1]
    with Sandbox() as box:
        said = box.execute("import torch; print(int(torch.add(torch.ones(1), 1)), hasattr(torch, 'evil'))")[0].text
    assert said == "2 False\n"


def test_it_ends_with_its_kernel_and_the_server_lives_on():
    with Sandbox() as box:
        server = warm.fork_server()
        box.client.execute("import os; os._exit(3)")
        for _ in range(100):
            if not box.alive:
                break
            os.sched_yield()
            box._message("iopub", "", 0.1)
        assert not box.alive
    assert warm.fork_server() is server and server.process.poll() is None


def test_a_server_that_died_is_replaced():
    server = warm.fork_server()
    server.process.kill()
    server.process.wait()
    with Sandbox(limits=Limits()) as box:
        assert is_forked(box) and warm.fork_server() is not server


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_one(monkeypatch):
    def too_late(*arguments):
        monkeypatch.undo()
        time.sleep(1)
        raise TimeoutError("timed out")

    with Sandbox() as box:
        assert is_forked(box)
    monkeypatch.setattr(warm.socket, "recv_fds", too_late)
    with Sandbox() as box:
        assert not is_forked(box) and "2" in str(box.execute("1 + 1"))
    with Sandbox() as box:
        assert is_forked(box) and "2" in str(box.execute("1 + 1")) and box.alive


def test_a_server_that_cannot_fork_is_asked_once(monkeypatch, tmp_path):
    script = tmp_path / "refuses.py"
    script.write_text("import os, time; os.write(0, b'-'); time.sleep(600)")
    monkeypatch.setattr(warm, "SCRIPT", script)
    server = warm.ForkServer()
    with subprocess.Popen(warm.HOLD, stdin=subprocess.PIPE) as walls:
        for seconds in (60, 5):
            monkeypatch.setattr(warm, "START_SECONDS", seconds)
            with pytest.raises(warm.Cold, match="several threads"):
                server.fork(walls.pid, [], Limits())
        walls.stdin.close()
    server.close()


def test_where_nothing_can_be_forked_the_kernel_starts_from_nothing(monkeypatch):
    def refuse(*arguments):
        raise warm.Cold("not here")

    monkeypatch.setattr(warm.ForkServer, "fork", refuse)
    with Sandbox() as box:
        assert not is_forked(box) and "2" in str(box.execute("1 + 1"))


def test_the_compiler_is_not_loaded_by_the_first_guarded_call():
    """`torch._dynamo` takes a second to load; so do the sympy modules, which the server has loaded beforehand."""
    import torch

    from autograder.learner.calls import Call
    with Sandbox() as box:
        box.execute("import torch\ndef f(x):\n    return x.softmax(-1)")
        box.ask("f", Call((torch.ones(2, 3),), cotangents=(torch.ones(2, 3),), watch=("softmax",)), 0)
        assert "False" in box.execute("import sys; print('torch._dynamo' in sys.modules)")[0].text
