"""One student goes the whole way, with nbgrader's own commands: from the release to the feedback."""

from pathlib import Path

import nbformat
import pytest
from class_tools import nbgrader

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import marks_of
from autograder.classroom.sample import Material
from autograder.classroom.source import standalone_source
from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge

ASSIGNMENT, NOTEBOOK = "05_scaling", "scaling.ipynb"
WRONG = "scaled_dot_product_attention"
COURSE = "no-step-skipped"


class Way:
    """The teacher's and the student's side of one exchange."""

    def __init__(self, folder: Path):
        self.room = Classroom(folder / "class")
        self.release = folder / "release"
        self.home = folder / "home"
        self.home.mkdir()

    def teacher(self, *command: str) -> str:
        return nbgrader(*command, f"--CourseDirectory.release_directory={self.release}",
                        CLASSROOM=str(self.room.folder))

    def student(self, *command: str, check: bool = True) -> str:
        return nbgrader(*command, f"--CourseDirectory.course_id={COURSE}", f"--Exchange.root={self.room.exchange}",
                        cwd=self.home, check=check, HOME=str(self.home))

    @property
    def notebook(self) -> Path:
        return self.home / ASSIGNMENT / NOTEBOOK

    def answer(self, wrong: dict[str, str] = {}) -> None:  # noqa: B006 - it is only read
        solutions = Material(ASSIGNMENT).solutions | wrong
        notebook = nbformat.read(self.notebook, 4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = solutions[cell.metadata.nbgrader.grade_id]
        nbformat.write(notebook, self.notebook)


@pytest.fixture(scope="module")
def way(tmp_path_factory):
    way = Way(tmp_path_factory.mktemp("exchange").resolve())
    way.teacher("generate_assignment", ASSIGNMENT)
    way.teacher("release_assignment", ASSIGNMENT)
    way.student("fetch_assignment", ASSIGNMENT)
    return way


def test_validate_accepts_right_answers_and_names_a_wrong_one(way):
    way.answer()
    assert "Success! Your notebook passes all the tests." in way.student("validate", str(way.notebook))
    misconception = all_exercises()[WRONG].misconceptions[0]
    way.answer({WRONG: standalone_source(misconception.implementation, WRONG)})
    said = way.student("validate", str(way.notebook))
    assert "VALIDATION FAILED ON 1 CELL(S)" in said and f"check({WRONG})" in said


def test_from_submitting_to_fetching_the_feedback(way):
    misconception = all_exercises()[WRONG].misconceptions[0]
    way.answer({WRONG: standalone_source(misconception.implementation, WRONG)})
    way.student("submit", ASSIGNMENT)
    for command in ("collect", "autograde", "generate_feedback", "release_feedback"):
        way.teacher(command, ASSIGNMENT)
    way.student("fetch_feedback", ASSIGNMENT)

    [student] = way.room.students(ASSIGNMENT)
    marks = {mark.cell: mark for mark in marks_of(way.room, ASSIGNMENT, student)}
    expected = judge(misconception.implementation, seed=way.room.grading_seed(), exercise=WRONG).score
    assert marks[f"check_{WRONG}"].score == expected < marks[f"check_{WRONG}"].points
    assert marks["check_softmax_jacobian"].score == marks["check_softmax_jacobian"].points
    assert marks["why_not_d_k"].pending

    [page] = (way.home / ASSIGNMENT / "feedback").rglob("*.html")
    html = page.read_text(encoding="utf-8")
    assert misconception.name.replace("_", " ") in html and "<script" not in html
