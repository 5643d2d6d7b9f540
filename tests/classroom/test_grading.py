"""The gradebook holds what `judge` says, for everybody; whatever happens to a submission is said."""

import contextlib
import csv
import io
import stat

import nbformat
import pytest
from class_tools import ASSIGNMENT, NOTEBOOK
from nbgrader.utils import is_solution

from autograder.classroom import pipeline
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import marks_of
from autograder.classroom.reports import found_report, has_error
from autograder.classroom.steps import Failure
from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge

STUDENTS = ["ada", "bao", "chloe", "dmitri", "esra", "fatou", "goran", "hana"]
EXERCISES = [e for e in all_exercises().values() if e.chapter == ASSIGNMENT]


def answers(graded, student) -> dict:
    """What a student's notebook defines, cell by cell as a kernel runs it: a cell that fails defines nothing."""
    notebook = nbformat.read(graded.classroom.submitted / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb", 4)
    namespace = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and (is_solution(cell) or cell.source.startswith("import")):
            with contextlib.suppress(Exception):
                exec(compile(cell.source.replace("Markdown(", "str("), cell.id, "exec"), namespace)
    return namespace


def stored(graded, student) -> dict[str, float]:
    return {mark.cell: mark.score for mark in marks_of(graded.classroom, ASSIGNMENT, student)}


@pytest.mark.parametrize("student", STUDENTS)
def test_the_gradebook_holds_exactly_what_judge_says(graded, student):
    seed, defined, marks = graded.classroom.grading_seed(), answers(graded, student), stored(graded, student)
    for exercise in EXERCISES:
        expected = judge(defined[exercise.name], seed=seed).score if exercise.name in defined else 0.0
        assert marks[f"check_{exercise.name}"] == expected, exercise.name


def test_the_points_in_the_notebook_are_the_exercises_points(graded):
    marks = {mark.cell: mark.points for mark in marks_of(graded.classroom, ASSIGNMENT, "ada")}
    assert {f"check_{e.name}": e.points for e in EXERCISES} | {"why_three_projections": 4.0} == marks


@pytest.mark.parametrize("student", ["ada", "bao"])
def test_solutions_and_other_right_answers_get_full_marks(graded, student):
    marks = stored(graded, student)
    assert all(marks[f"check_{e.name}"] == e.points for e in EXERCISES)


def test_a_stub_gets_nothing_and_is_called_not_attempted(graded):
    assert set(stored(graded, "fatou").values()) == {0.0}
    reports = [found_report(cell) for cell in graded.autograded("fatou").cells if cell.get("outputs")]
    reports = [report for report in reports if report]
    assert len(reports) == len(EXERCISES) and all(report.not_attempted for report in reports)


def test_a_crash_costs_its_own_exercise_and_says_what_happened(graded):
    marks = stored(graded, "goran")
    assert [marks[f"check_{e.name}"] == e.points for e in EXERCISES] == [True, True, False, False, False]
    checks = [cell for cell in graded.autograded("goran").cells
              if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code"]
    assert [report.raised for cell in checks if (report := found_report(cell))] == [
        "", "", "AttributeError", "ZeroDivisionError"]
    assert has_error(checks[-1]) == "NameError"  # the cell with the syntax error never defined the class


def test_a_misconception_is_named(graded):
    found = [found_report(cell) for cell in graded.autograded("chloe").cells]
    diagnoses = {report.exercise: report.diagnoses for report in found if report}
    assert diagnoses["attention_weights"] == ("softmax_over_queries",)
    assert diagnoses["attention_scores"] == ()


def test_grading_uses_the_secret_seed_and_shows_nothing_of_it(graded):
    public = judge(answers(graded, "chloe")["attention_weights"])
    assert any(outcome.example for outcome in public.outcomes)  # with the public seed there is a case to show
    text = nbformat.writes(graded.autograded("chloe"))
    assert "does not hold" in text and "small case" not in text and "expected:" not in text
    assert str(graded.classroom.grading_seed()) not in text


def test_every_student_is_reported_in_one_line(graded):
    lines = [line for line in graded.first if "/8  " in line]
    assert [line[: len(ASSIGNMENT) + 7] for line in lines] == [f"{ASSIGNMENT}    {n}/8" for n in range(1, 9)]
    assert sum("/8  Ada Kowalska " in line and " 28 of 28  (" in line for line in lines) == 1
    assert f"{ASSIGNMENT}  feedback: 8 of 8 pages written" in graded.first


def test_a_second_run_grades_nobody_again(graded):
    assert graded.second == [f"{ASSIGNMENT}: 8 of 8 submissions are graded already"]


def test_a_mark_given_by_hand_renews_one_page_and_the_export(graded):
    assert graded.third == [f"{ASSIGNMENT}: 8 of 8 submissions are graded already",
                            f"{ASSIGNMENT}  feedback: 1 of 1 pages written"]
    with graded.classroom.marks.open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert rows.keys() == set(STUDENTS)
    assert rows["ada"]["score"] == "31.5" and rows["ada"]["max_score"] == "32.0"
    assert rows["esra"]["last_name"] == "Şahin"


def test_nothing_to_grade_is_said(tmp_path):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        assert pipeline.main(["--classroom", str(tmp_path)]) == 1
    assert "nothing was handed in under" in errors.getvalue()


def test_a_mistyped_assignment_is_said_with_those_there_are(tmp_path, capsys):
    assert pipeline.main(["--classroom", str(tmp_path), "05_scalling"]) == 1
    assert "There is no assignment 05_scalling; the course has 01_bottleneck, " in capsys.readouterr().err


def test_a_folder_with_a_mistyped_name_stops_nobody_and_is_named(tmp_path, capsys):
    for name in ("05_scaling", "05_scalling"):
        (tmp_path / "submitted" / "ada" / name).mkdir(parents=True)
    assert pipeline.chosen([], Classroom(tmp_path)) == ["05_scaling"]
    said = capsys.readouterr().err
    assert str(tmp_path / "submitted" / "ada" / "05_scalling") in said and "Give the folder its right name" in said


def test_a_command_of_nbgrader_that_fails_is_shown(tmp_path):
    with pytest.raises(Failure, match="`nbgrader generate_assignment no_such_assignment"):
        pipeline.Course(Classroom(tmp_path / "class")).grade(["no_such_assignment"])


def test_the_classroom_is_private(graded):
    assert stat.S_IMODE(graded.classroom.folder.stat().st_mode) == 0o700
