"""One class, one run of plain `nbgrader autograde`: honest students between attackers who use files and metadata.

Honest students get full marks, attackers what their answers are worth; nothing stops the run, and every submission
ends in a state that is written down.
"""

import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from class_tools import nbgrader
from pupils import ASSIGNMENT, ATTACKER, FULL, NOTEBOOK, OPEN, PUPILS, UNREADABLE, World

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import marks_of, opened
from autograder.classroom.sample import Material
from autograder.judging.catalogue import all_exercises

pytestmark = [pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap"),
              pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
SEED = 77_007
EARLIER = "json"
"""This student had full marks, and then handed in something that cannot be read."""


class TheClass:
    """The classroom before and after the run."""

    def __init__(self, folder: Path, temporary: Path):
        self.room, self.temporary = Classroom(folder / "class"), temporary
        self.room.make()
        self.room.write_seed(SEED)
        self.world = World(self.room, Material(ASSIGNMENT))
        self.nbgrader("generate_assignment", ASSIGNMENT, f"--CourseDirectory.release_directory={self.room.release}")
        for student, (_, hand_in) in PUPILS.items():
            place = self.room.submitted / student / ASSIGNMENT
            place.mkdir(parents=True)
            hand_in(place, self.world)
        self.give_full_marks(EARLIER)
        self.before = snapshot(self.room.submitted)
        self.said = self.nbgrader("autograde", ASSIGNMENT, "--force")

    def nbgrader(self, *arguments: str) -> str:
        return nbgrader(*arguments, CLASSROOM=str(self.room.folder), OMP_NUM_THREADS="1",
                        TMPDIR=str(self.temporary))

    def give_full_marks(self, student: str) -> None:
        with opened(self.room) as gradebook:
            gradebook.add_student(student)
            gradebook.add_submission(ASSIGNMENT, student)
            for mark in gradebook.find_submission(ASSIGNMENT, student).notebooks[0].grades:
                mark.auto_score = mark.manual_score = mark.max_score
                mark.needs_manual_grade = False
            gradebook.db.commit()

    def graded(self, student: str) -> nbformat.NotebookNode:
        return nbformat.read(self.room.autograded / student / ASSIGNMENT / NOTEBOOK, 4)


def snapshot(folder: Path) -> dict[str, str]:
    """All that lies in a folder: what kind of thing, and a hash of its content."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place) / name
            regular = stat.S_ISREG(path.lstat().st_mode) and path.lstat().st_size < 2**30
            content = hashlib.sha256(path.read_bytes()).hexdigest() if regular else ""
            found[str(path)] = f"{stat.S_IFMT(path.lstat().st_mode)} {content}"
    return found


@pytest.fixture(scope="module")
def the_class(tmp_path_factory) -> Iterator[TheClass]:
    with tempfile.TemporaryDirectory(prefix="k-") as short:  # there are sockets below it, whose paths must be short
        yield TheClass(tmp_path_factory.mktemp("attacked").resolve(), Path(short))


def honest_marks(worth: str) -> dict[str, float]:
    points = {f"check_{e.name}": e.points for e in all_exercises().values() if e.chapter == ASSIGNMENT}
    left_open = {FULL: (), ATTACKER: OPEN, UNREADABLE: [name.removeprefix("check_") for name in points]}[worth]
    return points | {f"check_{name}": 0.0 for name in left_open}


@pytest.mark.parametrize("student", PUPILS)
def test_everybody_gets_what_the_answers_are_worth(the_class, student, record_property):
    worth, _ = PUPILS[student]
    marks = marks_of(the_class.room, ASSIGNMENT, student)
    assert marks is not None, "the gradebook does not know this submission"
    given = {mark.cell: mark.score for mark in marks if mark.cell.startswith("check_")}
    honest = honest_marks(worth)
    record_property("attack", f"{'class: ' + student:<45} honest {sum(honest.values()):>4g}   "
                              f"given {sum(given.values()):>4g}")
    assert given == honest
    state = the_class.graded(student).metadata["autograder"]
    unread = worth == UNREADABLE and student != "no cells"
    assert state["state"] == ("failed" if unread else "graded") and bool(state["reason"]) == unread


def test_nobody_touched_anything(the_class):
    assert snapshot(the_class.room.submitted) == the_class.before
    assert the_class.room.grading_seed() == SEED
    assert list(the_class.temporary.glob("nss-*")) == []
    with opened(the_class.room) as gradebook:
        assert {student.id for student in gradebook.students} == PUPILS.keys()


def test_a_graded_folder_holds_copies_and_nothing_else(the_class):
    for place, folders, files in os.walk(the_class.room.autograded):
        for name in (*folders, *files):
            facts = (Path(place) / name).lstat()
            assert stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode), name
            assert facts.st_size < 16 * 2**20
    assert (the_class.room.autograded / "librarian" / ASSIGNMENT / "data" / "übung.txt").read_text() == "mine"


def test_the_seed_is_nowhere(the_class):
    texts = [json.dumps(the_class.graded(student)) for student in PUPILS]
    assert not [text for text in texts if str(SEED) in text]
