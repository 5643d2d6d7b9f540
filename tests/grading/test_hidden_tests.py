"""An instructor's hidden tests are run, count, and are never shown."""

import shutil
from contextlib import nullcontext
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade

from autograder.classroom.feedback import FeedbackExporter, Row
from autograder.grading.assertions import Statements
from autograder.grading.hidden import hidden_lines, without_hidden_tests
from autograder.grading.run import Run

CELL = """
assert double(torch.ones(1)) == 2
print("visible")
### BEGIN HIDDEN TESTS
secret = 4711.5
print(secret)
assert double(torch.tensor(secret)) == 2 * secret, f"expected {2 * secret}"
### END HIDDEN TESTS
print("visible again")
2.5
"""
RIGHT = "def double(x):\n    return 2 * x"
TALKER = "def double(x):\n    raise ValueError(f'I was given {x}')"


def graded(source, test=CELL):
    facts = {"grade": True, "solution": False, "locked": True, "points": 4, "grade_id": "check_double"}
    setup = {"grade": False, "solution": False, "locked": True, "grade_id": "imports"}
    cells = [new_code_cell("import torch", metadata={"nbgrader": setup}), new_code_cell(source),
             new_code_cell(test, metadata={"nbgrader": facts})]
    return Run(new_notebook(cells=cells), None, 1)().cells[2]


needs_walls = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")


def test_which_lines_are_hidden():
    assert hidden_lines(CELL) == {4, 5, 6, 7, 8}
    assert hidden_lines("a\n    ### BEGIN HIDDEN TESTS\nb") == {2, 3}
    assert hidden_lines("a\nb") == set()
    assert without_hidden_tests("a\n### BEGIN HIDDEN TESTS\nb\n### END HIDDEN TESTS\nc") == "a\nc"


def test_an_error_of_a_visible_helper_that_a_hidden_line_calls_is_hidden():
    source = "def helper(x):\n    assert x == 3, x\n### BEGIN HIDDEN TESTS\nhelper(4711)\n### END HIDDEN TESTS"
    test = Statements(source, None)
    with pytest.raises(AssertionError) as error:
        test.run({})
    assert test.in_hidden(error.value)


@needs_walls
def test_a_right_answer_gets_the_mark_and_sees_only_what_is_visible():
    cell = graded(RIGHT)
    assert determine_grade(cell)[0] == 2.5
    assert [o.get("text") for o in cell.outputs] == ["visible\nvisible again\n", None]


@needs_walls
@pytest.mark.parametrize("source", ["def double(x):\n    return torch.full_like(x, 2.)", TALKER.replace(
    "raise", "if x.item() > 1: raise").replace("x}')", "x}')\n    return 2 * x")])
def test_a_hidden_test_that_fails_says_nothing_about_itself(source):
    cell = graded(source)
    assert determine_grade(cell)[0] == 0
    assert cell.outputs[-1].ename == "HiddenTest" and "4711" not in str(cell.outputs)


@needs_walls
@pytest.mark.parametrize("result, outcome", [("1e999", "NotGraded"), ("-1", "NotGraded"), ("4.5", "NotGraded"),
                                             ("float('nan')", "NotGraded"), ("double(2)", "NotGraded"), ("4", 4)])
def test_a_test_whose_result_is_no_mark_is_for_a_person(result, outcome):
    cell = graded("def double(x):\n    return 7.0", result)
    assert cell.outputs[-1].get("ename", None) == outcome if isinstance(outcome, str) \
        else determine_grade(cell)[0] == outcome


@needs_walls
@pytest.mark.parametrize("result", ["torch.tensor(0.5)", "double", "True", "'0.5'"])
def test_a_last_value_that_is_no_number_is_not_a_mark(result):
    assert graded("def double(x):\n    return 7.0", result).outputs == []


def test_the_feedback_page_does_not_show_them(graded_page):
    assert "visible" in graded_page and "4711" not in graded_page and "HIDDEN" not in graded_page


@pytest.fixture
def graded_page(monkeypatch):
    """What the feedback exporter makes of a notebook after `Summarise` has gone through it."""
    from autograder.classroom import feedback

    facts = {"grade": True, "solution": False, "locked": True, "points": 4.0, "grade_id": "check_double"}
    cell = new_code_cell(CELL, metadata={"nbgrader": facts})
    cell.outputs = [nbformat.v4.new_output("error", ename="HiddenTest", evalue="A hidden test does not hold.",
                                           traceback=[])]

    grade = SimpleNamespace(score=0.0, max_score=4.0, needs_manual_grade=False)
    marked = SimpleNamespace(grades={"check_double": grade}, find_grade=lambda *a: grade,
                             notebook=SimpleNamespace(score=0.0, max_score=4.0, late_submission_penalty=None))
    ada = SimpleNamespace(find_student=lambda name: SimpleNamespace(first_name="Ada", last_name=""))
    monkeypatch.setattr(feedback, "Gradebook", lambda url: nullcontext(ada))
    monkeypatch.setattr(feedback, "MarkedCells", lambda *a: marked)
    names = {"db_url": "", "student": "ada", "notebook": "n", "assignment": "a"}
    notebook, resources = feedback.Summarise().preprocess(new_notebook(cells=[cell]), {"nbgrader": names})
    assert isinstance(resources["feedback"]["rows"][0], Row)
    return FeedbackExporter().from_notebook_node(notebook, resources)[0]
