"""How each submission's grading ended, wherever marks are shown: gradebook, feedback page, table, report, export.

The grading writes it into the notebook's metadata (`grading.run.State`). Here it is read, and `SaveGrades`, which
stands in place of nbgrader's SaveAutoGrades, brings it into the gradebook: a check without a result waits for a
person, and its comment says why.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import is_grade, is_solution

from autograder.classroom.folders import STAMP
from autograder.classroom.gradebook import MarkedCells
from autograder.classroom.reports import found_report
from autograder.grading.states import FAILED, GRADED, PARTLY

if TYPE_CHECKING:
    from autograder.grading.plugin import SandboxedExecute

NOT_HANDED_IN = "not handed in"
WORST = (FAILED, PARTLY, GRADED)
NOT_JUDGED = ("NotGraded", "Stopped")
"""Errors that the grader itself writes into a check: nothing is known about the answer."""
NEARLY = 0.8
"""The share of a notebook's time above which a submission is called slow."""
ENDINGS = "autograder"
"""The notebook metadata that holds the state."""


@dataclass(frozen=True)
class Ending:
    """`waiting` names the checks that gave no result; `protected` is False without a sandbox; `slow`: nearly too long.

    cell, exercise: the cell that stopped the grading (counted from 1) and, where it belongs to one, its exercise.
    """

    state: str
    reason: str = ""
    cell: int | None = None
    waiting: tuple[str, ...] = ()
    protected: bool = True
    exercise: str = ""
    slow: bool = False

    def __str__(self) -> str:
        """One sentence or two, the state first."""
        where = f" at {self.place}" if self.cell else ""
        return f"{self.state}{where}: {self.reason}" if self.reason else self.state

    @property
    def place(self) -> str:
        """The cell that stopped the grading, in words; empty where none did."""
        return f"cell {self.cell}" + (f" ({self.exercise})" if self.exercise else "") if self.cell else ""

    @property
    def needs_a_person(self) -> bool:
        return self.state in (PARTLY, FAILED)


def gave_no_result(cell: NotebookNode) -> bool:
    """A check that says nothing about its answer, for a reason that a person should look at."""
    report = found_report(cell)
    stopped = any(o.get("output_type") == "error" and o.get("ename") in NOT_JUDGED for o in cell.get("outputs", []))
    return stopped or (report is not None and report.could_not_run)


def ending_of(notebook: NotebookNode) -> Ending:
    """The state of one graded notebook. One without any was graded by something else than this course."""
    facts = notebook.metadata.get(ENDINGS, {})
    waiting = tuple(c.metadata.nbgrader["grade_id"] for c in notebook.cells
                    if c.cell_type == "code" and is_grade(c) and not is_solution(c) and gave_no_result(c))
    state, reason = str(facts.get("state", GRADED)), str(facts.get("reason", ""))
    if state == GRADED and waiting:
        names = ", ".join(f"`{name.removeprefix('check_')}`" for name in waiting)
        state, reason = PARTLY, f"The check of {names} could not be run to its end."
    number = facts.get("cell")
    number = number if isinstance(number, int) and 0 < number <= len(notebook.cells) else None
    return Ending(state, reason, number, waiting, facts.get("protected", True),
                  exercise_at(notebook, number) if number else "", facts.get("slow", False))


def exercise_at(notebook: NotebookNode, number: int) -> str:
    """The exercise that a cell belongs to: that of the last answer or check up to it."""
    named = [cell.metadata.nbgrader["grade_id"] for cell in notebook.cells[:number]
             if is_solution(cell) or is_grade(cell)]
    return named[-1].removeprefix("check_") if named else ""


def worst(endings: Iterable[Ending]) -> Ending:
    """The state of several notebooks together."""
    return min(endings, key=lambda ending: WORST.index(ending.state) if ending.state in WORST else 0)


def ending_in(autograded: Path, submitted: Path) -> Ending:
    """The state of one submission, from the folders of one student and one assignment."""
    notebooks = sorted(autograded.glob("*.ipynb"))
    if notebooks:
        return worst(ending_of(nbformat.read(path, 4)) for path in notebooks)
    if submitted.exists():
        return Ending(FAILED, "It was handed in and could not be graded.")
    return Ending(NOT_HANDED_IN)


class SaveGrades(SaveAutoGrades):
    """Saves marks as nbgrader does, and the state with them.

    A check without a result gets 0, waits for a person, and loses a mark that a person gave to an earlier submission.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        from autograder.grading.plugin import SandboxedExecute

        note_how_it_ran(nb.metadata.setdefault(ENDINGS, {}), SandboxedExecute(parent=self.parent))
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = place = (
            names["notebook"], names["assignment"], names["student"])
        stamp = Path(resources.get("metadata", {}).get("path") or ".") / STAMP
        with Gradebook(names["db_url"]) as gradebook:
            self.gradebook = marked = MarkedCells(gradebook, *place)
            before = {name: comment.auto_comment for name, comment in marked.comments.items()}
            database = gradebook.db
            save, database.commit = database.commit, database.flush  # all or nothing: nbgrader commits at each cell
            nb, resources = super(SaveAutoGrades, self).preprocess(nb, resources)
            save_ending(marked, nb, before, _text(stamp))
            save()
        return nb, resources


def note_how_it_ran(facts: dict, settings: "SandboxedExecute") -> None:
    """Write into a notebook's state whether a sandbox was used, and whether the time nearly ran out.

    The seconds themselves, which differ from run to run, are taken out: the same class gives the same notebooks.
    """
    facts["protected"] = settings.protected and not os.environ.get("AUTOGRADER_NO_SANDBOX")
    facts["slow"] = facts.pop("seconds", 0.0) > NEARLY * settings.notebook_seconds


def save_ending(marked: MarkedCells, notebook: NotebookNode, before: dict[str, str | None], handed_in: str) -> None:
    """Mark what waits for a person and say why.

    before: the comments of the last grading. Where a comment is the same, with the same time of handing in, this is
    the same submission again, and a mark that a person has given it since then stays.
    """
    ending = ending_of(notebook)
    grades, comments = marked.grades, marked.comments
    answers = answer_cells(notebook)
    waiting = list(grades) if ending.state == FAILED else ending.waiting
    text = comment_on(ending, handed_in)
    asked = {answers.get(name, name) for name in waiting} & comments.keys()
    if ending.state == FAILED:
        for name in asked:
            comments[name].auto_comment = None  # not "No response.": it is not known
        asked = set(list(answers.values())[:1]) & comments.keys()
    again = bool(handed_in) and bool(asked) and all(before.get(name) == text for name in asked)
    for name in waiting:
        if not again:
            grades[name].manual_score = grades[name].extra_credit = None
        grades[name].needs_manual_grade = grades[name].manual_score is None
    for name in asked:
        comments[name].auto_comment = text


def answer_cells(notebook: NotebookNode) -> dict[str, str]:
    """For each check, the answer cell above it."""
    found, last = {}, None
    for cell in notebook.cells:
        if is_solution(cell):
            last = cell.metadata.nbgrader["grade_id"]
        elif is_grade(cell) and last:
            found[cell.metadata.nbgrader["grade_id"]] = last
    return found


def comment_on(ending: Ending, handed_in: str) -> str:
    """What the gradebook says beside an answer that waits. File names in a reason must not become Markdown."""
    reason = re.sub(r"[<>\[\]`]", "", ending.reason) or "The check gave no result."
    where = f" It stopped at {ending.place}." if ending.cell else ""
    what = "This submission could not be graded" if ending.state == FAILED else "This answer could not be judged"
    when = f" Handed in {handed_in}." if handed_in else ""
    return f"{what}: {reason}{where} A person should look.{when}"


def _text(path: Path) -> str:
    try:
        return re.sub(r"(:\d\d)\.\d+", r"\1", path.read_text(encoding="utf-8").strip())[:40]
    except (OSError, ValueError):
        return ""
