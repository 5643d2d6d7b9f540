"""Exports: what spreadsheets, Canvas and Moodle read, with nothing that a spreadsheet would execute."""

import csv
import io
from datetime import datetime

import pytest
from class_tools import ASSIGNMENT, NOTEBOOK, nbgrader
from full_disk import full_disk
from nbformat import write
from nbformat.v4 import new_notebook
from nbgrader.apps import ExportApp
from nbgrader.coursedir import CourseDirectory

from autograder.classroom import export as module
from autograder.classroom.export import harmless, table
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import opened

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own use of its database
CLICK = '=HYPERLINK("http://example.org","click")'


@pytest.mark.parametrize(("text", "written"), [
    ("Ada", "Ada"), ("Anne-Marie", "Anne-Marie"), ("a+b", "a+b"), ("", ""), (None, ""), (1.5, "1.5"), (-1.0, "-1.0"),
    ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "'\t'=1"), (" =1", "' =1"),
    ("＝1", "'＝1"), ("-", "-"), ("x;=1", "x;'=1"), ("x\n=1", "x\n'=1"), ('"=1', "'\"=1"), ("\r=1", "'\r'=1"),
])
def test_formulas_become_text_and_numbers_stay_numbers(text, written):
    assert harmless(text) == written


def test_fields_are_quoted_where_they_must_be():
    assert table([["a,b", 'say "x"', None, 2.0]]) == '"a,b","say ""x""",,2.0\n'


@pytest.fixture
def room(tmp_path) -> Classroom:
    """Ada is done, Bảo waits for a written answer, Chloé failed, Dmitri handed nothing in."""
    room = Classroom(tmp_path / "class")
    room.make()
    people = {"ada": ("Ada", "Kowalska", "101"), "bao": (CLICK, "Nguyễn", None), "chloe": ("Chloé", "-Dubois", "103"),
              "dmitri": ("Дмитрий", "Волков", None)}
    with opened(room) as gradebook:
        for student, (first, last, number) in reversed(people.items()):
            gradebook.add_student(student, first_name=first, last_name=last, lms_user_id=number,
                                  email=f"{student}@example.org")
        gradebook.add_assignment(ASSIGNMENT)
        gradebook.add_notebook(NOTEBOOK, ASSIGNMENT)
        gradebook.add_grade_cell("check_f", NOTEBOOK, ASSIGNMENT, max_score=6.0, cell_type="code")
        gradebook.add_grade_cell("why", NOTEBOOK, ASSIGNMENT, max_score=4.0, cell_type="markdown")
        for student, why, failed in (("ada", 3.0, False), ("bao", None, False), ("chloe", None, True)):
            submission = gradebook.add_submission(ASSIGNMENT, student)
            submission.timestamp = datetime(2026, 11, 27, 12, 30)
            check, written = (gradebook.find_grade(name, NOTEBOOK, ASSIGNMENT, student) for name in ("check_f", "why"))
            check.auto_score, check.needs_manual_grade = 0.0 if failed else 4.5, failed
            written.manual_score, written.needs_manual_grade = why, why is None
            state = {"state": "failed", "reason": "a <b>link</b>; -x"} if failed else {"state": "graded"}
            folder = room.autograded / student / ASSIGNMENT
            folder.mkdir(parents=True)
            write(new_notebook(metadata={"autograder": state}), folder / f"{NOTEBOOK}.ipynb")
        gradebook.db.commit()
    return room


def export(room: Classroom, kind: str, **options) -> bytes:
    """What one plug-in writes."""
    app = ExportApp()
    app.coursedir = CourseDirectory(submitted_directory=str(room.submitted), autograded_directory=str(room.autograded))
    place = room.folder / f"{kind}.csv"
    with opened(room) as gradebook:
        getattr(module, kind)(parent=app, to=str(place), **options).export(gradebook)
    return place.read_bytes()


def rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


def test_the_spreadsheet_has_nbgraders_columns_and_the_state(room):
    content = export(room, "Spreadsheet")
    assert content.startswith(b"\xef\xbb\xbf"), "Excel needs the mark to read names"
    head, *lines = rows(content)
    found = {line["student_id"]: line for line in (dict(zip(head, line, strict=True)) for line in lines)}
    assert list(found) == ["ada", "bao", "chloe", "dmitri"]
    assert [found[s]["state"] for s in found] == ["graded", "graded", "failed", "not handed in"]
    assert [found[s]["score"] for s in found] == ["7.5", "4.5", "0.0", "0.0"]
    assert [found[s]["open_points"] for s in found] == ["0.0", "4.0", "10.0", "0.0"]
    assert found["bao"]["first_name"] == f"'{CLICK}" and found["chloe"]["last_name"] == "'-Dubois"
    assert found["chloe"]["reason"] == "a <b>link</b>;' -x" and found["dmitri"]["sandboxed"] == ""


def test_canvas_gets_final_marks_in_its_own_columns(room):
    head, possible, *lines = rows(export(room, "Canvas"))
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", ASSIGNMENT]
    assert possible == ["    Points Possible", "", "", "", "", "10.0"]
    assert lines[0] == ["Kowalska, Ada", "101", "", "ada", "", "7.5"]
    assert [line[3] for line in lines] == ["ada", "bao", "chloe", "dmitri"]
    assert [line[5] for line in lines] == ["7.5", "", "", ""], "an empty field: no mark yet"


def test_unfinished_marks_are_exported_when_asked_for(room):
    content = export(room, "Canvas", unfinished=True)
    assert [line[5] for line in rows(content)[2:]] == ["7.5", "4.5", "0.0", ""]


def test_moodle_gets_a_mark_and_a_remark(room):
    head, *lines = rows(export(room, "Moodle"))
    assert head == ["First name", "Last name", "Username", "Email address", f"{ASSIGNMENT} (Real)",
                    f"{ASSIGNMENT} (Feedback)"]
    assert lines[0] == ["Ada", "Kowalska", "ada", "ada@example.org", "7.5", "graded"]
    assert lines[2][4:] == ["-", "failed: a &lt;b&gt;link&lt;/b&gt;;' -x"] and lines[3][5] == "not handed in"


@pytest.mark.parametrize("kind", ["Spreadsheet", "Canvas", "Moodle"])
def test_the_same_gradebook_gives_the_same_bytes(room, kind):
    assert export(room, kind) == export(room, kind)


@pytest.mark.parametrize("kind", ["Spreadsheet", "Canvas", "Moodle"])
def test_an_export_that_is_cut_leaves_no_half_file(room, kind):
    """Where the file is missing the next `autograder grade` exports it; half of one it would take for all."""
    with full_disk(room=100), pytest.raises(OSError, match=f"{kind}.csv"):
        export(room, kind)
    assert list(room.folder.glob("*.csv")) == []
    whole = export(room, kind)
    with full_disk(room=100), pytest.raises(OSError, match=f"{kind}.csv"):
        export(room, kind)
    assert (room.folder / f"{kind}.csv").read_bytes() == whole


def test_only_some_students(room):
    assert [line[3] for line in rows(export(room, "Spreadsheet", student=["bao"]))[1:]] == ["bao"]


def test_nbgraders_own_command_chooses_the_export(room):
    here = {"CLASSROOM": str(room.folder)}
    assert "Using exporter: Spreadsheet" in nbgrader("export", "--to", str(room.folder / "marks.csv"), **here)
    assert (room.folder / "marks.csv").read_bytes() == export(room, "Spreadsheet")
    said = nbgrader("export", "--exporter=autograder.classroom.export.Canvas",
                    "--to", str(room.folder / "a.csv"), **here)
    assert "2 marks are not final and were left out" in said
    assert (room.folder / "a.csv").read_bytes() == export(room, "Canvas")
    nbgrader("export", "--exporter=autograder.classroom.export.Moodle", "--Moodle.unfinished=True",
             "--to", str(room.folder / "b.csv"), **here)
    assert (room.folder / "b.csv").read_bytes() == export(room, "Moodle", unfinished=True)
