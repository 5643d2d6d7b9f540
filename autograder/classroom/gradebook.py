"""What a classroom's gradebook says."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import nbgrader.api
from nbgrader.api import Gradebook, MissingEntry

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
    """While this lasts, every Gradebook of this process uses one SQLAlchemy engine.

    nbgrader opens the gradebook a dozen times for each submission, and a new engine compiles each query anew.
    """
    create = nbgrader.api.create_engine
    nbgrader.api.create_engine = cache(create)
    try:
        yield
    finally:
        nbgrader.api.create_engine = create


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
        return sorted((Mark(g.name, float(g.score), float(g.max_score), bool(g.needs_manual_grade))
                       for notebook in submission.notebooks for g in notebook.grades), key=lambda mark: mark.cell)


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
        shown = [person.first_name, person.last_name, submission.late_submission_penalty]
        for notebook in submission.notebooks:
            shown += sorted((g.name, g.score, g.max_score, g.needs_manual_grade) for g in notebook.grades)
            shown += sorted((c.name, c.comment or "") for c in notebook.comments)
        return hashlib.sha256(repr(shown).encode()).hexdigest()
