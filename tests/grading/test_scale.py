"""Grading a class in parallel: explicit states, nothing lost, and the same marks whatever the order and the number."""

import os
import shutil
import signal
import sqlite3
import threading
import time

import pytest
from scale_tools import ASSIGNMENT, begin, copied, grade, hand_in, left_by, marks, sample_class, scores, states, strays

from autograder.classroom.pipeline import Course, alone
from autograder.grading.collect import Collection
from autograder.grading.store import Store

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own use of its database
]
RIGHT = """def softmax_jacobian(p):
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)"""


@pytest.fixture(scope="module")
def motley(tmp_path_factory):
    """A class in which all sorts of things go wrong, graded once with two workers; and what was said."""
    room = sample_class(tmp_path_factory.mktemp("motley").resolve() / "class", 3)
    (room.submitted / "nothing" / ASSIGNMENT).mkdir(parents=True)
    (room.submitted / "nothing" / ASSIGNMENT / "notes.txt").write_text("my notebook is at home")
    hand_in(room, "broken", text="{")
    hand_in(room, "crash", "import os; os._exit(1)")
    hand_in(room, "linked", text="").unlink()
    (room.submitted / "linked" / ASSIGNMENT / "scaling.ipynb").symlink_to(
        room.submitted / "ada" / ASSIGNMENT / "scaling.ipynb")
    said = []
    assert Course(room, say=said.append, workers=2).grade([ASSIGNMENT])
    return room, said


def test_every_submission_ends_in_a_state(motley):
    found = states(motley[0])
    assert {student: state for student, (state, _) in found.items()} == {
        "ada": "graded", "bao": "graded", "chloe": "graded", "crash": "partly graded", "nothing": "failed",
        "broken": "failed", "linked": "failed"}
    assert "no scaling.ipynb" in found["nothing"][1]
    assert "not a notebook" in found["broken"][1] and "link" in found["linked"][1] and "ended" in found["crash"][1]


def test_the_marks_are_earned_and_everybody_is_in_the_export(motley):
    room, said = motley
    found = scores(room)
    assert found.keys() == set(states(room))
    assert found["ada"] == found["bao"] == 24 and 0 < found["chloe"] < 24
    assert [found[student] for student in ("crash", "nothing", "broken", "linked")] == [0, 0, 0, 0]
    assert any("nothing" in line and "failed: There is no scaling.ipynb" in line for line in said)
    assert len(list(room.feedback.glob("*/*/*.html"))) == 7


def test_a_second_run_changes_nothing(motley):
    room, _ = motley
    before, said = left_by(room), []
    assert Course(room, say=said.append).grade([ASSIGNMENT])
    assert said == [f"{ASSIGNMENT}: 7 of 7 submissions are graded already"]
    assert left_by(room) == before


def test_the_marks_depend_neither_on_the_number_of_workers_nor_on_the_order_nor_on_the_run(motley, tmp_path):
    room, _ = motley
    again = copied(room, tmp_path / "class", results=False)
    for student in ("nothing", "chloe,crash", "linked,broken,ada"):
        Course(again, say=lambda line: None, workers=1, students=student.split(",")).grade([ASSIGNMENT])
    assert Course(again, say=lambda line: None, workers=3).grade([ASSIGNMENT])
    assert left_by(again) == left_by(room)


def test_the_plugin_finds_everything_executed(motley, monkeypatch):
    """What the driver takes in is, byte for byte, what nbgrader's converter asks for: no result is made twice."""
    room, _ = motley
    monkeypatch.setenv("CLASSROOM", str(room.folder))
    collection, store = Collection(ASSIGNMENT), Store(room.executed)
    keys = {job.key for student in ("ada", "bao", "chloe", "crash") for job in collection.jobs(student)}
    assert len(keys) == 4 and all(key in store for key in keys)
    assert {path.stem for path in room.executed.glob("*/*.json")} == keys
    assert collection.jobs("broken") == []


def test_force_executes_again(motley):
    room, _ = motley
    kept = {path: path.stat().st_mtime_ns for path in room.executed.glob("*/*.json")}
    assert Course(room, force=True, say=lambda line: None, students=["crash"]).grade([ASSIGNMENT])
    changed = [path for path, time in kept.items() if path.stat().st_mtime_ns != time]
    assert len(changed) == 1 and set(room.executed.glob("*/*.json")) == kept.keys()


def test_a_failed_resubmission_does_not_keep_the_old_mark(motley, tmp_path):
    room = copied(motley[0], tmp_path / "class")
    grade(room, "--students", "ada,bao")
    assert scores(room)["ada"] == 24
    hand_in(room, "ada", text="no notebook any more")
    shutil.rmtree(room.submitted / "bao" / ASSIGNMENT)
    (room.submitted / "bao" / ASSIGNMENT).mkdir()
    grade(room, "--students", "ada,bao")
    assert [scores(room)[student] for student in ("ada", "bao")] == [0, 0]
    assert [states(room)[student][0] for student in ("ada", "bao")] == ["failed", "failed"]
    assert all(row[3] is None for row in marks(room) if len(row) == 5)


def test_a_gradebook_that_is_locked_for_a_while_costs_nobody_anything(motley, tmp_path):
    room = copied(motley[0], tmp_path / "class")
    grade(room, "--students", "ada")
    lock = sqlite3.connect(room.gradebook, check_same_thread=False)
    lock.execute("BEGIN EXCLUSIVE")
    threading.Timer(20, lock.rollback).start()
    assert Course(room, say=lambda line: None).grade([ASSIGNMENT])
    assert left_by(room) == left_by(motley[0])


def test_ctrl_c_stops_cleanly_and_the_next_run_goes_on(motley, tmp_path):
    room = copied(motley[0], tmp_path / "class", results=False)
    process = begin(room)
    while not list(room.executed.glob("*/*.json")) and process.poll() is None:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130 and "goes on from here" in said and "Traceback" not in said
    assert strays(room) == []
    done = {path: path.stat().st_mtime_ns for path in room.executed.glob("*/*.json")}
    grade(room)
    assert left_by(room) == left_by(motley[0])
    assert all(path.stat().st_mtime_ns == time for path, time in done.items())


def test_two_gradings_do_not_meet(motley, tmp_path):
    room = copied(motley[0], tmp_path / "class")
    with alone(room):
        assert "Another `autograder grade` is at work" in grade(room, check=False)
    assert not room.gradebook.exists()
