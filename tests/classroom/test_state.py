"""Every submission ends in a state that is said everywhere, and no mark outlives the submission it was given for."""

import shutil

import nbformat
import pytest
from class_tools import ASSIGNMENT, NOTEBOOK, nbgrader
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import marks_of, opened
from autograder.classroom.marks import class_table
from autograder.classroom.reports import REPORT
from autograder.classroom.sample import write_class
from autograder.classroom.state import (
    FAILED,
    GRADED,
    NOT_HANDED_IN,
    PARTLY,
    Ending,
    ending_in,
    ending_of,
    note_how_it_ran,
    worst,
)
from autograder.grading.plugin import SandboxedExecute
from autograder.settings import REPOSITORY

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None,
                                      reason="bubblewrap is missing: apt install bubblewrap")


def check_cell(name: str, *outputs):
    facts = {"grade": True, "solution": False, "locked": True, "points": 4, "grade_id": f"check_{name}"}
    return new_code_cell(f"check({name})", metadata={"nbgrader": facts}, outputs=list(outputs))


def report_output(needs_a_person: bool):
    return new_output("display_data", data={REPORT: {"exercise": "f", "needs_a_person": needs_a_person}})


def notebook(*cells, **state):
    return new_notebook(cells=list(cells), metadata={"autograder": state} if state else {})


def test_the_state_is_read_from_the_notebook():
    cells = (new_code_cell("x"), check_cell("f"))
    assert ending_of(notebook(*cells)) == Ending(GRADED)
    stopped = ending_of(notebook(*cells, state=PARTLY, reason="The process ended.", cell=2))
    assert str(stopped) == "partly graded at cell 2 (f): The process ended."
    assert ending_of(notebook(*cells, state=FAILED, reason="A link.", cell=None)).place == ""
    assert ending_of(notebook(*cells, state=PARTLY, reason="x", cell=99)).cell is None


@pytest.mark.parametrize("output", [report_output(True), new_output("error", ename="NotGraded", evalue="x")])
def test_a_check_without_a_result_is_no_graded_submission(output):
    ending = ending_of(notebook(check_cell("f", output), state=GRADED, reason="", cell=None))
    assert ending.state == PARTLY and ending.waiting == ("check_f",) and "`f`" in ending.reason


@pytest.mark.parametrize("output", [report_output(False), new_output("error", ename="NameError", evalue="f")])
def test_a_wrong_answer_is_a_graded_one(output):
    assert ending_of(notebook(check_cell("f", output), state=GRADED)) == Ending(GRADED)


@pytest.mark.parametrize(("seconds", "slow"), [(10.0, False), (190.0, True)])
def test_a_submission_near_its_time_limit_is_called_slow(seconds, slow):
    graded = notebook(check_cell("f"), state=GRADED, seconds=seconds)
    note_how_it_ran(graded.metadata["autograder"], SandboxedExecute(notebook_seconds=200, protected=False))
    assert ending_of(graded).slow == slow and not ending_of(graded).protected
    assert "seconds" not in graded.metadata["autograder"]


def test_the_worst_notebook_decides():
    assert worst([Ending(GRADED), Ending(FAILED), Ending(PARTLY)]).state == FAILED


def test_folders_tell_what_was_never_graded(tmp_path):
    (tmp_path / "submitted").mkdir()
    assert ending_in(tmp_path / "autograded", tmp_path / "submitted").state == FAILED
    assert ending_in(tmp_path / "autograded", tmp_path / "nothing").state == NOT_HANDED_IN


class Room:
    """A classroom with one student, graded by plain `nbgrader autograde`."""

    def __init__(self, folder):
        self.classroom = Classroom(folder)
        write_class(self.classroom, 1, 1217, [ASSIGNMENT])
        self.run("generate_assignment", ASSIGNMENT, "--force",
                 f"--CourseDirectory.release_directory={self.classroom.release}")
        self.submitted = self.classroom.submitted / "ada" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"

    def run(self, *arguments: str) -> str:
        return nbgrader(*arguments, CLASSROOM=str(self.classroom.folder), OMP_NUM_THREADS="1")

    def answer(self, source: str) -> None:
        """Hand in a notebook whose first answer is `source` and whose others are missing."""
        released = REPOSITORY / "exercises" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
        handed_in = nbformat.read(released, 4)
        next(c for c in handed_in.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "project_qkv"
             ).source = source
        nbformat.write(handed_in, self.submitted)

    def grade(self) -> dict:
        self.run("autograde", ASSIGNMENT, "--force")
        return {mark.cell: mark for mark in marks_of(self.classroom, ASSIGNMENT, "ada")}

    def comment(self, name: str = "project_qkv") -> str | None:
        with opened(self.classroom) as gradebook:
            return gradebook.find_comment(name, NOTEBOOK, ASSIGNMENT, "ada").comment

    def give(self, score: float, name: str = "check_project_qkv") -> None:
        """A person's mark."""
        with opened(self.classroom) as gradebook:
            grade = gradebook.find_grade(name, NOTEBOOK, ASSIGNMENT, "ada")
            grade.manual_score, grade.needs_manual_grade = score, False
            gradebook.db.commit()

    def page(self) -> str:
        self.run("generate_feedback", ASSIGNMENT, "--force")
        return (self.classroom.feedback / "ada" / ASSIGNMENT / f"{NOTEBOOK}.html").read_text(encoding="utf-8")

    def exported(self, place) -> str:
        self.run("export", "--to", str(place))
        return place.read_text(encoding="utf-8-sig")


DIES = "def project_qkv(x, w_q, w_k, w_v):\n    import os\n    os._exit(1)"


@needs_bubblewrap
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_states_and_marks_from_submission_to_submission(tmp_path):
    """Graded, then an answer that ends its process, then a file that is no notebook; a person marks on the way."""
    room = Room(tmp_path / "class")
    first = room.grade()
    assert sum(mark.score for mark in first.values()) == 28 and not first["check_project_qkv"].pending
    assert "Graded." in (page := room.page()) and "Every check ran to its end." in page
    room.give(3)

    room.answer(DIES)
    marks = room.grade()
    assert marks["check_project_qkv"].pending and marks["check_project_qkv"].score == 0, "the old mark stands no more"
    assert not marks["check_attention_scores"].pending, "what was judged stays judged"
    assert "This answer could not be judged: " in room.comment() and "(project_qkv)" in room.comment()
    page = room.page()
    assert "Partly graded." in page and "(project_qkv): The code ended the Python process" in page
    assert ", partly graded" in class_table(room.classroom) and "at cell 7 (project_qkv)" in class_table(room.classroom)
    assert ",partly graded,The code ended the Python process while it was checked.,7,project_qkv,yes" in (
        room.exported(tmp_path / "marks.csv"))

    room.give(2)
    again = room.grade()["check_project_qkv"]
    assert again.score == 2 and not again.pending, "the same submission graded again keeps a person's mark"

    room.submitted.write_text("<html>", encoding="utf-8")
    marks = room.grade()
    assert all(mark.pending and mark.score == 0 for mark in marks.values())
    assert room.comment().startswith("This submission could not be graded: ")
    assert room.comment("attention_scores") is None
    assert "Failed." in (page := room.page()) and "is not a notebook that can be read" in page
    assert "  failed  " in class_table(room.classroom)
    assert ",28.0,28.0,failed," not in (text := room.exported(tmp_path / "marks.csv")) and ",32.0,32.0,failed," in text
