"""What a class has understood: `autograder report ASSIGNMENT` writes one HTML page and a CSV file.

Marks, each criterion's pass rate, the misconceptions of the class by how many made them, and the submissions that a
person should look at. All of it is read from the gradebook and from the reports in the graded notebooks.
"""

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade

from autograder.classroom.export import some, table
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import Mark, full_names, marks_of
from autograder.classroom.report_page import page
from autograder.classroom.reports import Mistake, Report, found_report, has_error, known_mistake
from autograder.classroom.roster import not_enrolled
from autograder.classroom.state import FAILED, NOT_HANDED_IN, NOT_JUDGED, Ending, ending_in, gave_no_result

BINS = 10
STATUSES = ("passed", "failed", "not looked at", "not attempted", "could not run")


@dataclass
class Person:
    """One student's part in an assignment."""

    id: str
    name: str
    ending: Ending
    marks: list[Mark]
    page: Path | None
    looks: list[str] = field(default_factory=list)

    @property
    def earned(self) -> float:
        return sum(mark.score for mark in self.marks if not mark.pending)

    @property
    def available(self) -> float:
        """Points that have been decided."""
        return sum(mark.points for mark in self.marks if not mark.pending)

    @property
    def share(self) -> float | None:
        """The share of the decided points; None where nothing could be decided."""
        return self.earned / self.available if self.available and self.ending.state != FAILED else None


@dataclass
class CriterionCount:
    """How many answers ended how at one criterion."""

    name: str
    sentence: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))

    @property
    def judged(self) -> int:
        return self.counts["passed"] + self.counts["failed"]

    @property
    def rate(self) -> float | None:
        """The share that passed, of the answers that were attempted, were looked at and could be judged."""
        return self.counts["passed"] / self.judged if self.judged else None


@dataclass
class ExerciseCount:
    """One exercise: its criteria, and how the answers as a whole went."""

    name: str
    points: float = 0.0
    earned: list[float] = field(default_factory=list)
    criteria: dict[str, CriterionCount] = field(default_factory=dict)
    full: int = 0
    not_attempted: int = 0
    stopped: int = 0
    unknown: list[str] = field(default_factory=list)

    def add(self, person: Person, mark: Mark, report: Report | None, error: str = "") -> None:
        """Count one check. Without a report it is a test of the instructor's own, or ended in an error."""
        self.points = mark.points
        if not mark.pending:
            self.earned.append(mark.score)
            self.full += mark.score == mark.points
        if report is None:
            self.stopped += bool(error)
            return
        self.not_attempted += report.not_attempted
        for c in report.criteria:
            status = "not attempted" if report.not_attempted else c.status.replace("_", " ")
            counts = self.criteria.setdefault(c.name, CriterionCount(c.name, c.sentence)).counts
            counts[status] = counts.get(status, 0) + 1
        strange = not (report.all_holds or report.not_attempted or report.diagnoses or report.could_not_run)
        if strange and not report.guarded and not report.raised:
            self.unknown.append(person.name)

    @property
    def mean(self) -> float:
        return mean(self.earned) if self.earned else 0.0


@dataclass
class Misunderstanding:
    """A misconception and who has it."""

    exercise: str
    mistake: Mistake
    people: list[str]


@dataclass
class ClassReport:
    """Everything that the page and the CSV say."""

    assignment: str
    points: float
    people: list[Person]
    exercises: list[ExerciseCount]
    mistakes: list[Misunderstanding]

    @property
    def handed_in(self) -> list[Person]:
        return [p for p in self.people if p.ending.state != NOT_HANDED_IN]

    @property
    def shares(self) -> list[float]:
        return sorted(p.share for p in self.handed_in if p.share is not None)

    @property
    def median(self) -> float | None:
        return median(self.shares) if self.shares else None

    @property
    def open(self) -> int:
        """Submissions with a written answer that nobody has marked, and nothing else that is open."""
        return sum(any(mark.pending for mark in p.marks) and not p.ending.needs_a_person for p in self.handed_in)

    @property
    def bins(self) -> list[int]:
        """How many students have up to 10 %, up to 20 %, ... of the decided points."""
        counts = [0] * BINS
        for share in self.shares:
            counts[min(int(share * BINS), BINS - 1)] += 1
        return counts

    @property
    def to_look_at(self) -> list[Person]:
        return sorted((p for p in self.handed_in if p.looks), key=lambda p: (p.ending.state != FAILED, p.id))


def gather(classroom: Classroom, assignment: str) -> ClassReport:
    """Read one assignment of a class. Nothing is executed."""
    exercises: dict[str, ExerciseCount] = {}
    made: dict[tuple[str, str], list[str]] = defaultdict(list)
    people, points, strangers = [], 0.0, not_enrolled(classroom)
    for student, name in full_names(classroom).items():
        folder = classroom.autograded / student / assignment
        marks = marks_of(classroom, assignment, student) or []
        pages = sorted((classroom.feedback / student / assignment).glob("*.html"))
        person = Person(student, name, ending_in(folder, classroom.submitted / student / assignment), marks,
                        pages[0] if pages else None)
        people.append(person)
        points = max(points, sum(mark.points for mark in marks))
        by_cell = {mark.cell: mark for mark in marks}
        for notebook in (nbformat.read(path, 4) for path in sorted(folder.glob("*.ipynb"))):
            person.looks += reasons_to_look(notebook, person.ending)
            if person.ending.state != FAILED:
                _count(notebook, person, by_cell, exercises, made)
        if person.ending.state == FAILED and not person.looks:
            person.looks.append(str(person.ending))
        person.looks += odd_folder(classroom.submitted / student / assignment, folder)
        if student in strangers:
            person.looks.append(f"`{student}` is not in `students.csv`: is the name of the folder a slip?")
    ranked = sorted(made.items(), key=lambda item: (-len(item[1]), item[0]))
    mistakes = [Misunderstanding(exercise, known, who) for (exercise, name), who in ranked
                if (known := known_mistake(exercise, name))]
    return ClassReport(assignment, points, people, list(exercises.values()), mistakes)


def _count(notebook: NotebookNode, person: Person, marks: dict[str, Mark], exercises: dict[str, ExerciseCount],
           made: dict[tuple[str, str], list[str]]) -> None:
    """Add one notebook's checks to the counts."""
    for cell in notebook.cells:
        mark = marks.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if cell.cell_type != "code" or mark is None:
            continue
        report = found_report(cell)
        name = report.exercise if report else mark.cell.removeprefix("check_")
        exercises.setdefault(name, ExerciseCount(name)).add(person, mark, report, has_error(cell))
        for diagnosis in report.diagnoses if report else ():
            made[name, diagnosis].append(person.name)


def reasons_to_look(notebook: NotebookNode, ending: Ending) -> list[str]:
    """Why a person should look at a submission, each reason in a sentence."""
    reasons = [str(ending)] if ending.needs_a_person else []
    if not ending.protected:
        reasons.append("graded without a sandbox")
    if ending.slow:
        reasons.append("took nearly all of its time")
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "").removeprefix("check_")
        report, error = found_report(cell), has_error(cell)
        if report and report.guarded:
            reasons.append(f"{name} calls {report.guarded}")
        if report and gave_no_result(cell):
            reasons.append(f"{name} could not be judged to the end")
        if error == "TimeoutError":
            reasons.append(f"cell {number} was stopped at the time limit")
        elif error in NOT_JUDGED and ending.state != FAILED and is_grade(cell):
            reasons.append(f"{name} was not judged")
    return list(dict.fromkeys(reasons))


def odd_folder(submitted: Path, graded: Path) -> list[str]:
    """A reason to look, where more notebooks were handed in than asked for: the answers may be in another."""
    handed_in, asked = (sorted(path.name for path in folder.glob("*.ipynb")) for folder in (submitted, graded))
    more = len(handed_in) > len(asked) > 0
    return [f"handed in {len(handed_in)} notebooks ({some(handed_in)}) for {', '.join(asked)}"] if more else []


def rows(report: ClassReport) -> list[list[object]]:
    """The facts of the page, one in a row."""
    head = ["kind", "exercise", "name", "what", "students", "of", "link"]
    lines: list[list[object]] = [head]
    for i, count in enumerate(report.bins):
        lines.append(["marks", None, f"{i * 100 // BINS} to {(i + 1) * 100 // BINS} %", None, count,
                      len(report.shares), None])
    for exercise in report.exercises:
        lines.append(["exercise", exercise.name, "full marks", None, exercise.full, len(exercise.earned), None])
        lines.append(["exercise", exercise.name, "not attempted", None, exercise.not_attempted,
                      len(report.handed_in), None])
        lines += [["criterion", exercise.name, c.name, c.sentence, c.counts["passed"], c.judged, None]
                  for c in exercise.criteria.values()]
    lines += [["misconception", m.exercise, m.mistake.title, m.mistake.sentence, len(m.people),
               len(report.handed_in), m.mistake.link] for m in report.mistakes]
    lines += [["look", None, p.id, reason, None, None, None] for p in report.to_look_at for reason in p.looks]
    return lines


def write(report: ClassReport, folder: Path) -> list[Path]:
    """Write both files; their places."""
    folder.mkdir(parents=True, exist_ok=True)
    html, sheet = (folder / f"{report.assignment}{ending}" for ending in (".html", ".csv"))
    html.write_text(page(report, folder), encoding="utf-8", newline="")
    sheet.write_text(table(rows(report)), encoding="utf-8-sig", newline="")
    return [html, sheet]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder report", description=__doc__)
    parser.add_argument("assignment", help="for example 05_scaling")
    parser.add_argument("--classroom", help="its folder (default: the environment's CLASSROOM, else classroom)")
    parser.add_argument("--to", type=Path, help="where the two files go (default: report/ in the classroom)")
    options = parser.parse_args(argv)
    classroom = Classroom.at(options.classroom)
    known = sorted({p.name for p in classroom.autograded.glob("*/*") if p.is_dir()})
    if not classroom.gradebook.exists() or options.assignment not in known:
        remedy = f"graded are: {', '.join(known)}" if known else "run `autograder grade` first"
        print(f"report: nothing of {options.assignment} is graded in {classroom.folder}; {remedy}.", file=sys.stderr)
        return 1
    for place in write(gather(classroom, options.assignment), options.to or classroom.folder / "report"):
        print(place)
    return 0
