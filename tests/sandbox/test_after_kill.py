"""`kill -9` of what builds sandboxes: nothing goes on running, and the next process removes what lies around."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from autograder.sandbox import scratch

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
BEGIN = """
import os, signal
from autograder.sandbox import warm
from autograder.sandbox.kernel import Sandbox
"""
SLEEP = f"sleep {1_000_000 + os.getpid()}"
AT_WORK = BEGIN + f"""
box = Sandbox()
box.execute("import subprocess; subprocess.Popen({SLEEP.split()}, start_new_session=True)")
os.kill(os.getpid(), signal.SIGKILL)
"""
STILL_WAITING = BEGIN + """
warm.ForkServer.fork = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
Sandbox()
"""
JUST_BEGUN = BEGIN + """
warm.inside = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)  # bubblewrap is still building
Sandbox()
"""


def running(word: str) -> list[str]:
    """Command lines of processes in which a word appears."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line and int(process.name) != os.getpid():
            found.append(line)
    return found


@needs_bubblewrap
@pytest.mark.parametrize("moment", [AT_WORK, STILL_WAITING, JUST_BEGUN], ids=["at work", "waiting", "just begun"])
def test_nothing_goes_on_when_its_owner_is_killed(moment, tmp_path, monkeypatch):
    killed = subprocess.run([sys.executable, "-c", moment], env=os.environ | {"TMPDIR": str(tmp_path)}, timeout=120)
    assert killed.returncode == -9
    assert len(list(tmp_path.glob("nss-*"))) == 2  # a folder and its lock
    end = time.monotonic() + 30
    while (lines := running(str(tmp_path)) + running(SLEEP)) and time.monotonic() < end:
        time.sleep(0.1)
    assert lines == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch.remove_stale()
    assert list(tmp_path.glob("nss-*")) == []


def test_a_folder_lives_as_long_as_its_process(tmp_path):
    ask = "from autograder.sandbox.scratch import scratch; print(scratch(), flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", ask], env=os.environ | {"TMPDIR": str(tmp_path)}, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    folder = Path(process.stdout.readline().strip())
    assert folder.parent == tmp_path and folder.exists()
    process.communicate("\n", timeout=60)
    assert not folder.exists()


KILL = """
import os, shutil, signal
from autograder.sandbox import scratch
def kill(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)
"""
FULL = "(scratch.scratch() / 'deep').mkdir(); (scratch.scratch() / 'deep' / 'file').touch()\n"
HALF_REMOVED = """
def half(folder, **more):
    (folder / "deep" / "file").unlink()
    kill()
shutil.rmtree = half
"""
MOMENTS = {
    "before its lock is held": KILL + "scratch.fcntl.flock = kill\nscratch.scratch()",
    "before its folder is made": KILL + "scratch.Path.mkdir = kill\nscratch.scratch()",
    "while it works": KILL + FULL + "kill()",
    "while it removes its folder": KILL + FULL + HALF_REMOVED,
    "before it removes its lock": KILL + FULL + "scratch.Path.unlink = kill",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_whatever_moment_a_process_is_killed_at_the_next_one_removes_what_it_left(moment, tmp_path, monkeypatch):
    killed = subprocess.run([sys.executable, "-c", MOMENTS[moment]], env=os.environ | {"TMPDIR": str(tmp_path)},
                            timeout=60)
    assert killed.returncode == -9 and list(tmp_path.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch.remove_stale()
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_killed_while_it_removes_what_another_left_leaves_it_to_the_next(tmp_path, monkeypatch):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    for code in (KILL + FULL + "kill()", KILL + HALF_REMOVED + "scratch.remove_stale()"):
        assert subprocess.run([sys.executable, "-c", code], env=environment, timeout=60).returncode == -9
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch.remove_stale()
    assert list(tmp_path.iterdir()) == []


def test_only_what_nobody_holds_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stale, held, without, other = (tmp_path / name for name in ("nss-stale", "nss-held", "nss-without", "other"))
    for folder in (stale, held, without, other):
        folder.mkdir()
    for folder in (stale, held, other):
        folder.with_suffix(".lock").touch()
    with (tmp_path / "nss-held.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        scratch.remove_stale()
        assert not stale.exists() and not stale.with_suffix(".lock").exists()
        assert held.exists() and without.exists() and other.exists() and other.with_suffix(".lock").exists()


def test_a_lock_that_was_taken_for_a_stale_one_is_not_used(tmp_path, monkeypatch):
    """Another process looks just between its making and its locking."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lock, looked = fcntl.flock, []

    def late(descriptor, operation):
        if not looked:
            looked.append(True)
            scratch.remove_stale()
        lock(descriptor, operation)

    monkeypatch.setattr(scratch.fcntl, "flock", late)
    held = scratch._held_lock()
    assert looked and list(tmp_path.iterdir()) == [held]
    scratch.remove_stale()
    assert held.exists()


def test_a_path_that_is_too_long_for_sockets_is_refused_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 20)))
    with pytest.raises(OSError, match="set TMPDIR to one of at most 79 bytes"):
        scratch._scratch(-1)
