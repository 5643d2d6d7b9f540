"""Canvas and Moodle read in an export what the gradebook says, about everybody and about nobody else."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass

import nbformat
import pytest
from lms_readers import CanvasCourse, CanvasStudent, MoodleUser, NotImported, moodle_marks
from nbgrader.api import Gradebook
from nbgrader.apps import ExportApp
from nbgrader.coursedir import CourseDirectory

from autograder.classroom import export
from autograder.classroom.folders import Classroom, course_assignments
from autograder.classroom.gradebook import opened
from autograder.classroom.marks import penalties
from autograder.settings import REPOSITORY

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own use of its database
ASSIGNMENT = "05_scaling"


@dataclass(frozen=True)
class Person:
    """One student: the names in the gradebook, the mark (None while it waits), what came late."""

    id: str
    last: str | None
    first: str | None
    number: str | None
    email: str | None
    mark: float | None
    late: float = 0.0


PEOPLE = [
    Person("ada", "Kowalska, Dr.", "Ada", "101", "ada@example.org", 7.5),
    Person("bjoern", "Müller-Lüdenscheidt", "Björn", "102", "bjoern@example.org", 0.0),
    Person("chloe", 'D\'Arc; "la\nPucelle"', "Chloé", "4711-x", "chloe@example.org", 10.0, late=1.1),
    Person("dmitri", "Волков", "Дмитрий", "0103", "dmitri@example.org", None),
    Person("emma", 'back\\", slash\\', "=Emma", "105", "emma@example.org", 3.14159),
    Person("fatou", "Diop", "Fatou", "106", "fatou@example.org", 10.0),
]
NOBODY = Person("zoe", None, None, None, None, 1.0)
MARKS = {"ada": 7.5, "bjoern": 0.0, "chloe": 8.9, "dmitri": None, "emma": 3.14, "fatou": 10.0}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """What an export writes about some people, in a class of their own; each class is made once."""
    empty = Classroom(tmp_path_factory.mktemp("empty"))
    with opened(empty):
        pass
    rooms = {}

    def write(kind: str, *others: Person, people: list[Person] = PEOPLE, **options) -> bytes:
        everybody = (*people, *others)
        if everybody not in rooms:
            rooms[everybody] = Classroom(tmp_path_factory.mktemp("class"))
            shutil.copyfile(empty.gradebook, rooms[everybody].gradebook)
            with opened(rooms[everybody]) as gradebook:
                fill(gradebook, everybody)
        room = rooms[everybody]
        app = ExportApp()
        app.coursedir = CourseDirectory(submitted_directory=str(room.submitted),
                                        autograded_directory=str(room.autograded))
        place = room.folder / "new" / f"{kind}.csv"
        with opened(room) as gradebook:
            getattr(export, kind)(parent=app, to=str(place), **options).export(gradebook)
        return place.read_bytes()

    write.room = lambda people: rooms[tuple(people)]
    return write


def fill(gradebook: Gradebook, people: Iterable[Person]) -> None:
    gradebook.add_assignment(ASSIGNMENT)
    gradebook.add_notebook("scaling", ASSIGNMENT)
    gradebook.add_grade_cell("f", "scaling", ASSIGNMENT, max_score=10.0, cell_type="code")
    for p in people:
        gradebook.add_student(p.id, first_name=p.first, last_name=p.last, email=p.email, lms_user_id=p.number)
        for notebook in gradebook.add_submission(ASSIGNMENT, p.id).notebooks:
            notebook.late_submission_penalty = p.late
        grade = gradebook.find_grade("f", "scaling", ASSIGNMENT, p.id)
        grade.auto_score, grade.needs_manual_grade = p.mark or 0.0, p.mark is None
    gradebook.db.commit()


def course(**facts) -> CanvasCourse:
    """A Canvas course with the same people, and one whose number the beginning of another's SIS id is."""
    students = [CanvasStudent(101, "Ada", "x", "a1"), CanvasStudent(102, "Björn", "x", "b1"),
                CanvasStudent(104, "Chloé", "x", "c1", sis="4711-x"), CanvasStudent(4711, "Zoë", "x", "z1"),
                CanvasStudent(103, "Dmitri", "x", "d1"), CanvasStudent(105, "Emma", "x", "e1"),
                CanvasStudent(106, "Fatou", "x", "f1")]
    return CanvasCourse(**({"students": students, "assignments": {9: ASSIGNMENT}} | facts))


CANVAS = {101: "ada", 102: "bjoern", 104: "chloe", 103: "dmitri", 105: "emma", 106: "fatou"}


def stored(read: CanvasCourse) -> dict[str, float | None]:
    return {CANVAS[number]: None if mark is None else float(mark) for (number, _), mark in read.marks.items()}


def test_the_table_of_marks_knows_the_penalties(exported):
    exported("Canvas")
    assert penalties(exported.room(PEOPLE), ASSIGNMENT) == {"chloe": 1.1}


def test_canvas_reads_everybodys_mark(exported):
    read = course().upload(exported("Canvas"))
    assert stored(read) == MARKS and read.strangers == [] and read.new_assignments == []
    assert read.points == {ASSIGNMENT: "10.0"}


@pytest.mark.parametrize("title, new", [("05_scaling", []), ("Scaling", ["05_scaling"])])
def test_canvas_asks_about_an_assignment_of_another_name(exported, title, new):
    assert course(assignments={9: title}).upload(exported("Canvas")).new_assignments == new


@pytest.mark.parametrize("facts", [{"login": "ada"}, {"sortable": "Kowalska, Ada"}])
def test_canvas_finds_who_has_no_number_by_login_and_by_name(exported, facts):
    ada = Person("ada", "Kowalska", "Ada", None, None, 7.5)
    known = CanvasStudent(**({"id": 101, "name": "x", "sortable": "x"} | facts))
    read = course(students=[known]).upload(exported("Canvas", people=[ada]))
    assert read.marks == {(101, ASSIGNMENT): "7.5"}


def test_canvas_asks_who_a_stranger_is(exported):
    read = course().upload(exported("Canvas", NOBODY))
    assert read.strangers == ["zoe"] and stored(read) == MARKS


WAYS = [("Username", "username"), ("ID number", "idnumber"), ("Email address", "email")]
USERS = [MoodleUser(p.id, p.email, p.number) for p in PEOPLE]


@pytest.mark.parametrize("comma", [".", ","])
@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[1])
def test_moodle_reads_everybodys_mark(exported, way, new, comma):
    read = moodle_marks(exported("Moodle"), USERS, *way, ASSIGNMENT, new, comma)
    assert {student: mark for student, (mark, _) in read.items()} == MARKS
    assert all(remark == "not handed in" for _, remark in read.values())  # there are no files in this class


@pytest.mark.parametrize("email, number", [(None, "7"), ("zoe@example.org", "0")])
def test_moodle_never_gives_a_mark_to_the_student_above(exported, email, number):
    """It would, where the field that it looks for is blank; so a column that is not complete is not there."""
    zoe = Person("zoe", "Zimt", "Zoë", number, email, 1.0)
    content = exported("Moodle", zoe)
    found = 0
    for way in WAYS:
        try:
            read = moodle_marks(content, [*USERS, MoodleUser("zoe", email or "", number or "")], *way, ASSIGNMENT)
        except ValueError:
            continue  # no such column
        found += 1
        assert {student: mark for student, (mark, _) in read.items()} == MARKS | {"zoe": 1.0}
    assert found


def test_moodle_refuses_the_file_for_a_stranger(exported):
    with pytest.raises(NotImported, match="usermappingerror: fatou"):
        moodle_marks(exported("Moodle"), USERS[:-1], *WAYS[0], ASSIGNMENT)


def test_no_assignment_is_too_large_for_moodle():
    for assignment in course_assignments():
        cells = [cell for path in (REPOSITORY / "exercises" / assignment).glob("*.ipynb")
                 for cell in nbformat.read(path, 4).cells]
        assert 0 < sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in cells) <= 100


@pytest.mark.parametrize("kind", ["Canvas", "Moodle", "Spreadsheet"])
def test_a_mistyped_name_is_said(exported, kind, capsys):
    exported(kind, assignment=["05_scalling"], student=["adda"])
    said = capsys.readouterr().err
    assert "The gradebook has no '05_scalling'; it has 05_scaling." in said
    assert "The gradebook has no 'adda'; it has ada, bjoern" in said


def test_who_cannot_be_found_is_named(exported, capsys):
    exported("Canvas", NOBODY)
    exported("Moodle", NOBODY)
    said = capsys.readouterr().err
    assert "Without lms_user_id, Canvas looks for the login and then for the name: zoe." in said
    assert "There is no column 'Email address', because some have no email: zoe." in said
