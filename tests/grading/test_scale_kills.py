"""`kill -9` at thirty random moments, and a disk that is full: run again, and all is as if nothing had happened."""

import random
import resource
import shutil
import subprocess
import time

import psutil
import pytest
from scale_tools import (
    ASSIGNMENT,
    GRADE,
    Child,
    autograder_grade,
    copied,
    left_by,
    nbgrader,
    remove_temporary,
    sample_class,
)

from autograder.settings import REPOSITORY

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own use of its database
]
WRITING, NBGRADER, RUNNING, WORKERS = 14, 6, 6, 4
"""How often each kind of run below is killed: at thirty random moments in all."""


@pytest.fixture(autouse=True)
def no_folders_left():
    yield
    remove_temporary()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A class that was graded in peace, and what that left."""
    room = sample_class(tmp_path_factory.mktemp("peace").resolve() / "class", 3)
    completed(room)
    return room, left_by(room)


def completed(room) -> float:
    """Grade to the end; how long that took. Nothing temporary is left, whatever earlier runs had to leave."""
    began, child = time.monotonic(), Child(autograder_grade, room)
    assert child.ends(400) == 0, child.said()
    assert list(child.temporary.glob("nss-*")) == []
    return time.monotonic() - began


def killed(start, times: int, longest: float, anew) -> None:
    """Start a run and kill it at a random moment, until that has met a run at work as often as wanted.

    A run that is through first shows how long one takes, and `anew` makes the next one begin again.
    """
    moments, hit = random.Random(times), 0
    while hit < times:
        child, moment = start(), moments.uniform(0.05, longest)
        if child.ends(moment) is None and child.kill():
            hit += 1
        else:
            longest = max(0.3, 0.9 * min(longest, moment))
            anew()


def test_the_grader_is_killed_while_it_writes(undisturbed, tmp_path):
    peaceful, expected = undisturbed
    room = copied(peaceful, tmp_path / "class")
    seconds = completed(room)
    ended = room.folder / "graded.json"
    ended.unlink()
    killed(lambda: Child(autograder_grade, room), WRITING, seconds, lambda: ended.unlink(missing_ok=True))
    completed(room)
    assert left_by(room) == expected


def test_nbgrader_itself_is_killed_while_it_writes(undisturbed, tmp_path):
    peaceful, expected = undisturbed
    room = copied(peaceful, tmp_path / "class")
    seconds = completed(room)
    killed(lambda: Child(nbgrader, room, "autograde", ASSIGNMENT, "--force"), NBGRADER, seconds, lambda: None)
    completed(room)
    assert left_by(room) == expected


def test_the_grader_is_killed_while_submissions_run(undisturbed, tmp_path):
    peaceful, expected = undisturbed
    room = copied(peaceful, tmp_path / "class", results=False)

    def anew():
        (room.folder / "graded.json").unlink(missing_ok=True)
        shutil.rmtree(room.executed, ignore_errors=True)

    killed(lambda: Child(autograder_grade, room, "--workers", "1"), RUNNING, 10, anew)
    completed(room)
    assert left_by(room) == expected


def test_workers_are_killed(undisturbed, tmp_path):
    """The grader copes: another worker takes over, or the next run does."""
    peaceful, expected = undisturbed
    room = copied(peaceful, tmp_path / "class", results=False)
    moments, hit = random.Random(WORKERS), 0
    while hit < WORKERS:
        child = Child(autograder_grade, room, "--force", "--workers", "1")
        while hit < WORKERS and child.ends(moments.uniform(0.05, 1)) is None:
            for worker in filter(runs_a_submission, child.descendants()):
                worker.kill()
                hit += 1
        assert child.ends(400) in (0, 1), child.said()  # longer than anybody waits for workers
        assert "Traceback" not in child.said()
    completed(room)
    assert left_by(room) == expected


def runs_a_submission(process: psutil.Process) -> bool:
    """Whether this is a worker, and there are walls that it has built."""
    try:
        return "spawn_main" in " ".join(process.cmdline()) and any(
            child.name() == "bwrap" for child in process.children(recursive=True))
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("kibibytes", [1, 60, 150])
def test_a_disk_that_is_full(undisturbed, tmp_path, kibibytes):
    """No file can grow beyond a size: at first not even the state, then not the gradebook."""
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kibibytes * 1024,) * 2)

    peaceful, expected = undisturbed
    room = copied(peaceful, tmp_path / "class")
    process = subprocess.run([*GRADE, "--classroom", str(room.folder)], cwd=REPOSITORY, preexec_fn=little_room,
                             capture_output=True, text=True, timeout=300)
    assert process.returncode == 1 and process.stderr.startswith("grade: ")
    completed(room)
    assert left_by(room) == expected
