"""What a classroom's gradebook says."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import nbgrader.api
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy.orm import scoped_session, sessionmaker, undefer

import autograder.classroom.patience  # noqa: F401 - for what importing it does
from autograder.classroom.folders import Classroom


@dataclass(frozen=True)
class Mark:
    """The mark of one graded cell; `pending` while a person has yet to give it."""

    cell: str
    score: float
    points: float
    pending: bool


@contextmanager
def opened(classroom: Classroom) -> Iterator[Gradebook]:
    with Gradebook(classroom.db_url) as gradebook:
        yield gradebook


@contextmanager
def one_engine() -> Iterator[None]:
    """While this lasts, the Gradebooks of this process share an engine, and only the first of a kind looks for tables.

    nbgrader opens the gradebook a dozen times for each submission. A new engine connects and compiles each query anew,
    and looking whether every table is there asks thirteen questions.
    """
    engine, begin = cache(nbgrader.api.create_engine), Gradebook.__init__
    known = set()

    def begin_again(self, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
        if (db_url, course_id) not in known:
            begin(self, db_url, course_id, authenticator)
            known.add((db_url, course_id))
            return
        self.engine = engine(db_url, echo=False, future=True)
        self.db = scoped_session(sessionmaker(autoflush=True, bind=self.engine, future=True))
        self.course_id, self.authenticator = course_id, authenticator

    try:
        with (replaced(nbgrader.api, create_engine=engine, get_alembic_version=newest_schema),
              replaced(Gradebook, __init__=begin_again, close=lambda self: self.db.remove())):
            yield
    finally:
        for db_url, _ in known:
            engine(db_url, echo=False, future=True).dispose()


@contextmanager
def replaced(owner: Any, **things: Any) -> Iterator[None]:
    """While this lasts, these attributes of a module or a class are others."""
    before = {name: getattr(owner, name) for name in things}
    try:
        for name, thing in things.items():
            setattr(owner, name, thing)
        yield
    finally:
        for name, thing in before.items():
            setattr(owner, name, thing)


def newest_schema() -> str:
    """What a new gradebook notes as its version. nbgrader starts the program `alembic` to ask, which takes seconds."""
    from alembic.script import ScriptDirectory  # only a new gradebook needs it

    return ScriptDirectory(ALEMBIC_DIR).get_current_head()


class MarkedCells:
    """The grades and the comments of one submitted notebook, by cell, all looked up at once.

    It stands where nbgrader's preprocessors ask a gradebook for one after the other.
    """

    def __init__(self, gradebook: Gradebook, notebook: str, assignment: str, student: str):
        self.db = gradebook.db
        self.notebook = gradebook.find_submission_notebook(notebook, assignment, student)
        cells = self.db.query(BaseCell.id, BaseCell.name).filter(BaseCell.notebook_id == self.notebook.notebook_id)
        self.names = dict(cells)
        self.grades: dict[str, Grade] = self._by_name(Grade, undefer(Grade.max_score))
        self.comments: dict[str, Comment] = self._by_name(Comment)

    def _by_name(self, kind: type, *options: Any) -> dict:
        found = self.db.query(kind).options(*options).filter(kind.notebook_id == self.notebook.id)
        return {self.names[thing.cell_id]: thing for thing in found}

    def find_grade(self, name: str, *place: str) -> Grade:
        return self.grades[name]

    def find_comment(self, name: str, *place: str) -> Comment:
        return self.comments[name]


def full_names(classroom: Classroom) -> dict[str, str]:
    """Everybody in the gradebook, by id, in order; who has no name there is called by the id."""
    if not classroom.gradebook.exists():
        return {}
    with opened(classroom) as gradebook:
        names = {s.id: " ".join(part for part in (s.first_name, s.last_name) if part) or s.id
                 for s in gradebook.students}
    return dict(sorted(names.items()))


def marks_of(classroom: Classroom, assignment: str, student: str) -> list[Mark] | None:
    """Every mark of one submission, by cell; None where there is no submission in the gradebook."""
    with opened(classroom) as gradebook:
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return None
        rows = _cells(gradebook, submission, Grade, Grade.score, Grade.max_score, Grade.needs_manual_grade)
    return sorted((Mark(name, float(score), float(points), bool(pending)) for _, name, score, points, pending in rows),
                  key=lambda mark: mark.cell)


def _cells(gradebook: Gradebook, submission: SubmittedAssignment, kind: type[Grade | Comment],
           *columns: Any) -> list[tuple]:
    """The notebook, the name and these columns of each graded or commented cell: one query, where a loop asks many."""
    query = gradebook.db.query(kind.notebook_id, BaseCell.name, *columns).select_from(kind)
    query = query.join(kind.cell).join(kind.notebook).filter(SubmittedNotebook.assignment_id == submission.id)
    return sorted(map(tuple, query))


def mark_of(classroom: Classroom, assignment: str, student: str) -> tuple[float, float]:
    """Points earned and available so far, without those that wait for a person."""
    marks = [mark for mark in marks_of(classroom, assignment, student) or [] if not mark.pending]
    return sum(mark.score for mark in marks), sum(mark.points for mark in marks)


def fingerprint_of_marks(classroom: Classroom, assignment: str, student: str) -> str:
    """Changes whenever a mark, a comment or the name does: the feedback page shows them."""
    with opened(classroom) as gradebook:
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return ""
        person = submission.student
        shown = [person.first_name, person.last_name, submission.late_submission_penalty,
                 *_cells(gradebook, submission, Grade, Grade.score, Grade.max_score, Grade.needs_manual_grade),
                 *_cells(gradebook, submission, Comment, Comment.comment)]
    return hashlib.sha256(repr(shown).encode()).hexdigest()
