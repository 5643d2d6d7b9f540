"""`kill -9` at random moments, and a disk that is full: run again, and all is as if nothing had happened."""

import os
import random
import resource
import shutil
import signal
import subprocess
import time

import psutil
import pytest
from scale_tools import GRADE, begin, copied, grade, left_by, sample_class, strays

from autograder.settings import REPOSITORY

pytestmark = [
    pytest.mark.deep,  # thirty gradings that are killed and begun again take ten minutes and more
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own use of its database
]
WRITING, RUNNING, PARTS = 12, 12, 6
"""How often each of the three kinds of runs below is killed: at thirty random moments in all."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A class that was graded in peace; what that left; how long it takes when everything has been executed."""
    room = sample_class(tmp_path_factory.mktemp("peace").resolve() / "class", 4)
    grade(room)
    again = copied(room, tmp_path_factory.mktemp("again").resolve() / "class")
    began = time.monotonic()
    grade(again)
    assert left_by(again) == left_by(room)
    return room, left_by(room), time.monotonic() - began


def killed_again_and_again(room, times: int, longest: float, kill, kept: bool) -> None:
    """Begin to grade and kill at a random moment, until it has met a run at work as often as wanted.

    A run that is through first shows how long one takes now; the next begins anew, over what is there. kept: whether
    it finds the results of what was executed.
    """
    moments, hit = random.Random(times), 0
    while hit < times:
        process, began = begin(room), time.monotonic()
        try:
            process.wait(moments.uniform(0.3, longest))
            longest = min(longest, time.monotonic() - began)
        except subprocess.TimeoutExpired:
            hit += 1
            kill(process, moments)
        process.communicate(timeout=300)
        if process.returncode == 0:
            (room.folder / "graded.json").unlink()
            shutil.rmtree(room.executed) if not kept else None
    end = time.monotonic() + 20
    while (left := strays(room)) and time.monotonic() < end:
        time.sleep(0.2)
    assert left == []


def kill_grader(process, moments) -> None:
    os.kill(process.pid, signal.SIGKILL)


def kill_child(process, moments) -> None:
    """A worker, or the nbgrader that writes; the grader itself goes on and copes."""
    children = [child for child in psutil.Process(process.pid).children()
                if any(word in " ".join(child.cmdline()) for word in ("spawn_main", "nbgrader"))]
    if children:
        moments.choice(children).kill()


def test_the_grader_is_killed_while_it_writes(undisturbed, tmp_path):
    peaceful, expected, seconds = undisturbed
    room = copied(peaceful, tmp_path / "class")
    killed_again_and_again(room, WRITING, seconds, kill_grader, kept=True)
    grade(room)
    assert left_by(room) == expected


def test_the_grader_is_killed_while_submissions_run(undisturbed, tmp_path):
    peaceful, expected, seconds = undisturbed
    room = copied(peaceful, tmp_path / "class", results=False)
    killed_again_and_again(room, RUNNING, 2 * seconds, kill_grader, kept=False)
    grade(room)
    assert left_by(room) == expected


def test_workers_and_nbgrader_are_killed(undisturbed, tmp_path):
    peaceful, expected, seconds = undisturbed
    room = copied(peaceful, tmp_path / "class", results=False)
    killed_again_and_again(room, PARTS, 2 * seconds, kill_child, kept=False)
    grade(room)
    assert left_by(room) == expected


@pytest.mark.parametrize("kibibytes", [1, 60, 150])
def test_a_disk_that_is_full(undisturbed, tmp_path, kibibytes):
    """No file can grow beyond a size: at first not even the state, then not the gradebook."""
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kibibytes * 1024,) * 2)

    peaceful, expected, _ = undisturbed
    room = copied(peaceful, tmp_path / "class")
    process = subprocess.run([*GRADE, "--classroom", str(room.folder)], cwd=REPOSITORY, preexec_fn=little_room,
                             capture_output=True, text=True, timeout=300)
    assert process.returncode == 1 and process.stderr.startswith("grade: ")
    grade(room)
    assert left_by(room) == expected
