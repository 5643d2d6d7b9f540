"""Marks for others to read: nbgrader export plug-ins.

    nbgrader export --to marks.csv                                                 a spreadsheet, with states
    nbgrader export --exporter=autograder.classroom.export.Canvas --to canvas.csv  what Canvas imports
    nbgrader export --exporter=autograder.classroom.export.Moodle --to moodle.csv  what Moodle imports

The same gradebook gives the same bytes. Texts that a spreadsheet would take for a formula are made harmless. A
learning platform gets final marks alone: where a person has yet to look there is none, and the log says so.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, MissingEntry, Student, SubmittedAssignment
from nbgrader.plugins import ExportPlugin
from traitlets import Bool

from autograder.classroom.state import Ending, ending_in
from autograder.writing import write_whole

NO_MARK = "-"
"""What Moodle's own exports write where there is no mark."""
FORMULA = re.compile(r"(^|[,;\t\r\n])(?=[\s\"']*[=+\-@\t\r＝＋－＠])")
"""Where a spreadsheet may begin a formula: at the start, and after whatever it takes for a separator."""


def harmless(value: object) -> str:
    """A field as text that no spreadsheet executes: an apostrophe says "this is text". Numbers stay numbers."""
    if value is None:
        return ""
    if isinstance(value, float | int) or value == NO_MARK:
        return str(value)
    return FORMULA.sub(r"\1'", str(value))


def one_line(value: object) -> object:
    """A text that every reader of CSV takes for one field. Canvas looks for the separator in the first three lines, so
    a field must not go over several; PHP, and so Moodle, takes a backslash before a quotation mark for an escape."""
    return " ".join(value.split()).replace("\\", "/") if isinstance(value, str) else value


def some(names: list[str], most: int = 5) -> str:
    """Names for a sentence: the first few, and how many more."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def table(rows: list[list[object]]) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([harmless(field) for field in row] for row in rows)
    return text.getvalue()


@dataclass(frozen=True)
class Entry:
    """One student's standing in one assignment. `open` counts points that a person has yet to give."""

    student: Student
    assignment: Assignment
    submission: SubmittedAssignment | None
    ending: Ending
    open: float

    @property
    def penalty(self) -> float:
        return float(self.submission.late_submission_penalty or 0) if self.submission else 0.0

    @property
    def raw(self) -> float:
        return float(self.submission.score) if self.submission else 0.0

    @property
    def score(self) -> float:
        """What nbgrader exports too: open points count zero."""
        return max(0.0, self.raw - self.penalty)

    @property
    def final(self) -> float | None:
        """The mark once nobody has to look any more, else None."""
        return self.score if self.submission and not self.open else None


class ClassExport(ExportPlugin):
    """What the three exports share: who is in them, and writing the file."""

    name = "marks.csv"
    encoding = "utf-8"

    def entries(self, gradebook: Gradebook) -> Iterator[Entry]:
        """Every student in every assignment, in the order of their ids."""
        students, assignments = (set(map(str, wanted)) for wanted in (self.student, self.assignment))
        for assignment in sorted(gradebook.assignments, key=lambda a: a.name):
            for student in sorted(gradebook.students, key=lambda s: s.id):
                if (not students or student.id in students) and (not assignments or assignment.name in assignments):
                    yield self.entry(gradebook, assignment, student)

    def entry(self, gradebook: Gradebook, assignment: Assignment, student: Student) -> Entry:
        course = self.parent.coursedir
        folders = [Path(course.format_path(step, student.id, assignment.name))
                   for step in (course.autograded_directory, course.submitted_directory)]
        try:
            submission = gradebook.find_submission(assignment.name, student.id)
        except MissingEntry:
            submission = None
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades] if submission else []
        waiting = float(sum(grade.max_score for grade in grades if grade.needs_manual_grade))
        return Entry(student, assignment, submission, ending_in(*folders), waiting)

    def export(self, gradebook: Gradebook) -> None:
        for wanted, known in ((self.student, gradebook.students), (self.assignment, gradebook.assignments)):
            names = sorted(getattr(thing, "name", None) or thing.id for thing in known)
            for name in sorted({str(name) for name in wanted} - set(names)):
                self.log.warning("The gradebook has no %r; it has %s.", name, some(names, most=12) or "nothing")
        place = Path(self.to or self.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, table(self.rows(list(self.entries(gradebook)))).encode(self.encoding))
        self.log.info("Wrote %s", place)

    def rows(self, entries: list[Entry]) -> list[list[object]]:
        raise NotImplementedError


class Spreadsheet(ClassExport):
    """nbgrader's own columns, and the state of each submission."""

    encoding = "utf-8-sig"  # without the mark at its beginning, Excel takes names for Latin-1

    def rows(self, entries: list[Entry]) -> list[list[object]]:
        head = ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
                "late_submission_penalty", "score", "max_score", "open_points", "state", "reason", "cell",
                "exercise", "sandboxed"]
        return [head, *([
            e.assignment.name, e.assignment.duedate, e.submission and e.submission.timestamp, e.student.id,
            e.student.last_name, e.student.first_name, e.student.email, e.raw, e.penalty, e.score,
            float(e.assignment.max_score), e.open, e.ending.state, e.ending.reason, e.ending.cell,
            e.ending.exercise, ("yes" if e.ending.protected else "NO") if e.submission else None] for e in entries)]


class Platform(ClassExport):
    """One row for each student, one column for each assignment, final marks."""

    unfinished = Bool(False, help="also export marks that are not final: what was earned so far").tag(config=True)
    nothing: str | None = None
    """What the platform takes for "no mark"."""

    def export(self, gradebook: Gradebook) -> None:
        super().export(gradebook)
        left = [e for e in self.entries(gradebook) if e.submission and e.final is None]
        if left and not self.unfinished:
            self.log.warning("%d marks are not final and were left out; formgrader shows what waits.", len(left))

    def mark(self, entry: Entry) -> float | str | None:
        mark = entry.score if self.unfinished and entry.submission else entry.final
        return self.nothing if mark is None else round(mark, 2)

    def rows(self, entries: list[Entry]) -> list[list[object]]:
        assignments = {e.assignment.name: e.assignment for e in entries}
        by_student: dict[str, list[Entry]] = {}
        for entry in entries:
            by_student.setdefault(entry.student.id, []).append(entry)
        people = self.people([theirs[0].student for theirs in by_student.values()])
        return [*self.head(list(people), list(assignments.values())), *(
            [one_line(field) for field in (*who, *self.marks(theirs))]
            for *who, theirs in zip(*people.values(), by_student.values(), strict=True))]

    def marks(self, entries: list[Entry]) -> list[object]:
        return [self.mark(entry) for entry in entries]

    def head(self, columns: list[str], assignments: list[Assignment]) -> list[list[object]]:
        raise NotImplementedError

    def people(self, students: list[Student]) -> dict[str, list[str | None]]:
        """The columns that say who it is, with a field for each student."""
        raise NotImplementedError


class Canvas(Platform):
    """Canvas's gradebook file. It looks for a student by `ID`, then by `SIS User ID`, by the login, by the name."""

    name = "canvas.csv"

    def head(self, columns: list[str], assignments: list[Assignment]) -> list[list[object]]:
        return [[*columns, *(a.name for a in assignments)],
                ["    Points Possible", *[None] * (len(columns) - 1), *(float(a.max_score) for a in assignments)]]

    def people(self, students: list[Student]) -> dict[str, list[str | None]]:
        names = [", ".join(part for part in (s.last_name, s.first_name) if part) or s.id for s in students]
        numbers = [s.lms_user_id or "" for s in students]
        if strangers := [s.id for s, number in zip(students, numbers, strict=True) if not number]:
            self.log.warning("Without lms_user_id, Canvas looks for the login and then for the name: %s.",
                             some(strangers))
        # Canvas reads "4711-x" as its number 4711, which may be somebody else's
        own = [number.isascii() and number.isdecimal() for number in numbers]
        return {"Student": names, "ID": [n if is_own else None for n, is_own in zip(numbers, own, strict=True)],
                "SIS User ID": [None if is_own else n for n, is_own in zip(numbers, own, strict=True)],
                "SIS Login ID": [s.id for s in students], "Section": [None] * len(students)}


class Moodle(Platform):
    """Moodle's CSV import. Map one of "Username", "ID number" and "Email address" to the user."""

    name = "moodle.csv"
    nothing = NO_MARK  # an empty field is "no mark" for a grade item that is there, but not for a new one

    def head(self, columns: list[str], assignments: list[Assignment]) -> list[list[object]]:
        pairs = [column for a in assignments for column in (f"{a.name} (Real)", f"{a.name} (Feedback)")]
        return [[*columns, *pairs]]

    def people(self, students: list[Student]) -> dict[str, list[str | None]]:
        """Only complete columns: where the user's field is blank, Moodle gives the marks to the student above."""
        columns = {"First name": [s.first_name for s in students], "Last name": [s.last_name for s in students],
                   "Username": [s.id for s in students]}
        for column, field in (("ID number", "lms_user_id"), ("Email address", "email")):
            found = [getattr(s, field) for s in students]
            without = [s.id for s, value in zip(students, found, strict=True) if value in (None, "", "0")]
            if not without:
                columns[column] = found
            elif len(without) < len(students):
                self.log.warning("There is no column %r, because some have no %s: %s.", column, field, some(without))
        return columns

    def marks(self, entries: list[Entry]) -> list[object]:
        return [field for e in entries for field in (self.mark(e), escape(str(e.ending), quote=False))]
