"""Marks for others to read: nbgrader export plug-ins.

    nbgrader export --to marks.csv                                                 a spreadsheet, with states
    nbgrader export --exporter=autograder.classroom.export.Canvas --to canvas.csv  what Canvas imports
    nbgrader export --exporter=autograder.classroom.export.Moodle --to moodle.csv  what Moodle imports

The same gradebook gives the same bytes. Texts that a spreadsheet would take for a formula are made harmless. A
learning platform gets final marks alone: where a person has yet to look, the field stays empty, and the log says so.
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

FORMULA = re.compile(r"(^|[,;\t\r\n])(?=[\s\"']*[=+\-@\t\r＝＋－＠])")
"""Where a spreadsheet may begin a formula: at the start, and after whatever it takes for a separator."""


def harmless(value: object) -> str:
    """A field as text that no spreadsheet executes: an apostrophe says "this is text". Numbers stay numbers."""
    if value is None:
        return ""
    if isinstance(value, float | int):
        return str(value)
    return FORMULA.sub(r"\1'", str(value))


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
        place = Path(self.to or self.name)
        place.write_text(table(self.rows(list(self.entries(gradebook)))), encoding=self.encoding, newline="")
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

    def export(self, gradebook: Gradebook) -> None:
        super().export(gradebook)
        left = [e for e in self.entries(gradebook) if e.submission and e.final is None]
        if left and not self.unfinished:
            self.log.warning("%d marks are not final and were left empty; formgrader shows what waits.", len(left))

    def mark(self, entry: Entry) -> float | None:
        return entry.score if self.unfinished and entry.submission else entry.final

    def rows(self, entries: list[Entry]) -> list[list[object]]:
        assignments = {e.assignment.name: e.assignment for e in entries}
        by_student: dict[str, list[Entry]] = {}
        for entry in entries:
            by_student.setdefault(entry.student.id, []).append(entry)
        return [*self.head(list(assignments.values())), *([*self.who(theirs[0].student), *self.marks(theirs)]
                                                          for theirs in by_student.values())]

    def marks(self, entries: list[Entry]) -> list[object]:
        return [self.mark(entry) for entry in entries]

    def head(self, assignments: list[Assignment]) -> list[list[object]]:
        raise NotImplementedError

    def who(self, student: Student) -> list[object]:
        raise NotImplementedError


class Canvas(Platform):
    """Canvas's gradebook file. It knows a student by `ID` (nbgrader's lms_user_id), else by the login."""

    name = "canvas.csv"

    def head(self, assignments: list[Assignment]) -> list[list[object]]:
        return [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(a.name for a in assignments)],
                ["    Points Possible", *[None] * 4, *(float(a.max_score) for a in assignments)]]

    def who(self, student: Student) -> list[object]:
        name = ", ".join(part for part in (student.last_name, student.first_name) if part)
        return [name or student.id, student.lms_user_id, None, student.id, None]


class Moodle(Platform):
    """Moodle's CSV import. Map "Email address" or "ID number" to the user, and both columns of an assignment."""

    name = "moodle.csv"

    def head(self, assignments: list[Assignment]) -> list[list[object]]:
        pairs = [column for a in assignments for column in (f"{a.name} (Real)", f"{a.name} (Feedback)")]
        return [["First name", "Last name", "ID number", "Email address", *pairs]]

    def who(self, student: Student) -> list[object]:
        return [student.first_name, student.last_name, student.lms_user_id or student.id, student.email]

    def marks(self, entries: list[Entry]) -> list[object]:
        return [field for e in entries for field in (self.mark(e), escape(str(e.ending), quote=False))]
