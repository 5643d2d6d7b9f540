"""The walls: what code inside can reach, what it may use, and what is left of it afterwards."""

import math
import shutil
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import torch

from autograder.learner.calls import Call
from autograder.sandbox import answering, bubblewrap
from autograder.sandbox.bubblewrap import NoSandbox
from autograder.sandbox.kernel import Sandbox, Stopped
from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.watchdog import Watchdog

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
SMALL = Limits(cell_seconds=30, notebook_seconds=300, memory=700 * MIB, processes=20, disk_bytes=8 * MIB,
               file_bytes=4 * MIB, output_bytes=20_000)
IMPATIENT = replace(SMALL, cell_seconds=4)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    given = tmp_path_factory.mktemp("given")
    (given / "data.txt").write_text("mine")
    with Sandbox(given, SMALL) as box:
        yield box


def said(outputs) -> str:
    return " ".join(str(o.get("text") or o.get("evalue") or o.get("data", {}).get("text/plain")) for o in outputs)


def test_ordinary_code_runs_and_shows_what_it_always_shows(sandbox):
    outputs = sandbox.execute("print('hello')\n1 + 1")
    assert [o.output_type for o in outputs] == ["stream", "execute_result"] and said(outputs) == "hello\n 2"
    assert "division" in said(sandbox.execute("1 / 0"))


def test_the_submissions_files_are_there_as_copies(sandbox):
    assert "mine" in said(sandbox.execute("print(open('data.txt').read()); open('data.txt', 'w').write('changed')"))


@pytest.mark.parametrize("code, word", [
    ("import socket; socket.create_connection(('1.1.1.1', 53), timeout=1)", "unreachable"),
    ("open('/usr/x', 'w')", "Read-only"), ("open('/x', 'w')", "Read-only"), ("open('/dev/x', 'w')", "Read-only"),
    ("open('/course/autograder/learner/runner.py', 'a')", "Read-only"),
    ("import autograder.judging", "No module"), ("import autograder.exercises", "No module"),
    ("import autograder.corpus.french", "No module"), ("import autograder.corpus.lexicon", "No module"),
    ("from autograder.corpus import sentence_pairs; sentence_pairs(1, 0, 0, 'en-fr', split='test')", "grader keeps"),
    ("import autograder.reference", "No module"), ("from autograder import judge", "No module"),
    ("input()", "not support"), ("open('big', 'wb').write(b'0' * (5 * 2**20))", "File too large"),
    ("import os; os.setuid(0)", "Invalid argument"), ("import os; os.chroot('/')", "not permitted"),
    ("import subprocess; subprocess.run(['unshare', '-U', 'true'], check=True)", "non-zero"),
    ("import subprocess; subprocess.run(['mount', '-t', 'tmpfs', 'x', '/tmp'], check=True)", "non-zero"),
])
def test_what_is_out_of_reach(sandbox, code, word):
    assert word in said(sandbox.execute(code))


def test_nothing_of_the_host_shows(sandbox):
    repository = Path(bubblewrap.PACKAGE).parent
    code = f"import os; print(os.path.exists({str(repository / 'pyproject.toml')!r}), sorted(os.listdir('/home')))"
    assert "False ['learner']" in said(sandbox.execute(code))
    assert "1000" in said(sandbox.execute("import os; print(os.getuid())"))
    names = said(sandbox.execute("import os; print(sorted(os.environ))"))
    assert "AUTOGRADER_SEED" not in names and "CLASSROOM" not in names
    processes = said(sandbox.execute("import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))"))
    assert int(processes) < 6


def test_disk_is_limited_in_every_folder_that_can_be_written(sandbox):
    code = """
for folder in ('.', '/tmp', '/home/learner', '/dev/shm'):
    try:
        for i in range(5):
            open(f'{folder}/f{i}', 'wb').write(b'0' * (3 * 2**20))
        print('endless', folder)
    except OSError as error:
        print(error.strerror)
"""
    assert "endless" not in said(sandbox.execute(code))


def test_output_is_cut_and_the_cell_still_ends(sandbox):
    outputs = sandbox.execute("print('a' * 5_000_000)\nfor i in range(20_000): print(i)\nlast = 7")
    assert len(said(outputs)) < 30_000
    assert said(sandbox.execute("last")) == "7"


def test_a_kernel_that_stalls_has_not_flooded_anybody(sandbox, monkeypatch):
    heard, until = sandbox._message, [math.inf]

    def late(channel, request, wait):
        """The outputs arrive a second after the reply."""
        left = until[0] - time.monotonic()
        if channel == "iopub" and left > 0:
            time.sleep(min(left, wait))
            if left > wait:
                return None
        found = heard(channel, request, wait)
        if channel == "shell" and found:
            until[0] = time.monotonic() + 1
        return found

    monkeypatch.setattr(sandbox, "_message", late)
    assert said(sandbox.execute("print('all of it')")) == "all of it\n"


def test_calls_cross_the_wall_with_gradients(sandbox):
    sandbox.execute("import torch\ndef double(x):\n    print('loud')\n    return 2 * x")
    call = Call((torch.ones(2, 3, dtype=torch.float64),), cotangents=(torch.ones(2, 3, dtype=torch.float64),))
    reply = sandbox.ask("double", call, 0)
    assert torch.equal(reply.output, 2 * call.args[0]) and torch.equal(reply.gradients[0], 2 * call.args[0])
    assert sandbox.defines("double") and not sandbox.defines("triple")


def test_a_cache_of_two_tensors_crosses_the_wall_and_is_watched(sandbox):
    sandbox.execute("def grow(x, pair=None):\n    return x, (x, x if pair is None else pair[0] + pair[1].add_(1))")
    x, pair = torch.ones(2), (torch.ones(2), torch.zeros(2))
    assert sandbox.ask("grow", Call((x, None)), 0).changed == ()
    reply = sandbox.ask("grow", Call((x, pair)), 0)
    output, (first, second) = reply.output
    assert reply.changed == (1,) and torch.equal(output, x) and torch.equal(first, x) and torch.equal(second, 2 * x)


def test_an_endless_cell_is_interrupted_and_the_next_one_runs():
    with Sandbox(limits=IMPATIENT) as box:
        assert "longer than 4 seconds" in said(box.execute("while True: pass"))
        assert said(box.execute("3")) == "3"


def test_a_cell_that_cannot_be_interrupted_ends_its_sandbox():
    stubborn = ("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                "while True:\n    try: time.sleep(1)\n    except BaseException: pass")
    with Sandbox(limits=IMPATIENT) as box, pytest.raises(Stopped, match="could not be interrupted"):
        box.execute(stubborn)


@pytest.mark.parametrize("code, reason", [
    ("import os; os._exit(0)", "ended the Python process"),
    ("import ctypes; ctypes.string_at(0)", "ended the Python process"),
    ("import os, signal; os.kill(1, signal.SIGKILL); os.kill(os.getpid(), 9)", "ended the Python process"),
    ("x = [bytearray(50 * 2**20) for _ in range(1000)]", "memory"),
    ("import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(25)", "processes"),
    ("import os, time\nwhile True:\n    if os.fork() == 0: pass", "processes"),
    ("open(__import__('ipykernel').connect.get_connection_file().replace('c.json', 'x'), 'wb').write(b'0' * 3_000_000)"
     "\nimport time; time.sleep(25)", "sockets"),
])
def test_what_ends_a_sandbox_says_why(code, reason):
    with Sandbox(limits=SMALL) as box, pytest.raises(Stopped, match=reason):
        box.execute(code)


def test_a_crowd_is_seen_before_the_watchdog_has_looked_at_everybody(tmp_path):
    for number in range(SMALL.processes + 1):
        (tmp_path / str(number)).mkdir()
        watchdog = Watchdog(tmp_path, SMALL, tmp_path, kill=lambda: None, interval=3600)
        assert (watchdog.verdict_now() is None) == (number < SMALL.processes)
        watchdog.stop()


def test_the_whole_notebook_has_a_deadline():
    with Sandbox(limits=Limits(notebook_seconds=90)) as box, pytest.raises(Stopped, match="longer than 90 seconds"):
        box.manager.provisioner.watchdog.end = time.monotonic()  # however long the start took
        box.execute("import time; time.sleep(20)")


def test_an_answer_that_never_comes_ends_the_sandbox(monkeypatch):
    monkeypatch.setattr(answering, "ANSWER_SECONDS", 3)
    with Sandbox(limits=SMALL) as box:
        box.execute("import signal, torch\nsignal.setitimer = lambda *a: None\ndef f(x):\n    while True: pass")
        assert box.ask("f", Call((torch.ones(1),), seconds=0.5), 0).status == "timed_out"
        assert not box.alive


def test_nothing_survives():
    with Sandbox(limits=SMALL) as box:
        provisioner = box.manager.provisioner
        roots = [psutil.Process(pid) for pid in (provisioner.process.pid, process_id(provisioner.kernel))]
        box.execute("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)")
        inside = [process for root in roots for process in (root, *root.children(recursive=True))]
        folder = provisioner.folder
    assert len(inside) >= 4  # bubblewrap, its first process inside, the kernel, what the kernel started
    end = time.monotonic() + 20
    while any(map(runs, inside)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(runs, inside)) and not folder.exists()


def process_id(descriptor: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))


def runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE  # whoever has to bury it
    except psutil.NoSuchProcess:
        return False


def test_without_bubblewrap_there_is_no_grading(monkeypatch):
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    with pytest.raises(NoSandbox, match="apt install bubblewrap"):
        bubblewrap.bubblewrap()


def test_a_message_from_a_stranger_is_not_believed(sandbox):
    sandbox.execute("""
import sys, types
import autograder.learner
fake = types.ModuleType("autograder.learner.remote")
fake.answer = lambda *arguments: '{"record": "Trial"}'
sys.modules["autograder.learner.remote"] = autograder.learner.remote = fake
""")
    assert sandbox.ask("double", Call((1,)), 0).status == "raised"
