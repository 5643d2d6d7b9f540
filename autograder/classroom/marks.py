"""Shows a class: students, marks, diagnosed misconceptions, and where everything lies. `autograder marks`."""

import argparse
import sys
from pathlib import Path

import nbformat

from autograder.classroom.columns import table
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import Mark, full_names, marks_of, opened
from autograder.classroom.reports import found_report, has_error
from autograder.classroom.roster import strangers_named
from autograder.classroom.state import FAILED, NOT_HANDED_IN, NOT_JUDGED, PARTLY, Ending, ending_in
from autograder.reporting.text import title
from autograder.settings import REPOSITORY, book_url

NOT_ATTEMPTED = "not attempted"


def marks_text(marks: list[Mark] | None, handed_in: bool, state: str = "") -> str:
    """The marks of one assignment in a few words; the state where it is not the usual one."""
    if marks is None:
        return "could not be graded" if handed_in else NOT_HANDED_IN
    if state == FAILED:
        return FAILED
    judged = [mark for mark in marks if not mark.pending]
    open_points = sum(mark.points for mark in marks if mark.pending)
    earned, available = sum(mark.score for mark in judged), sum(mark.points for mark in judged)
    waiting = f" (+{open_points:g})" if open_points else ""
    return f"{earned:g} of {available:g}{waiting}" + (f", {state}" if state == PARTLY else "")


def findings(folder: Path) -> list[tuple[str, str]]:
    """What the checks in a graded notebook found wrong, as (exercise, finding), in the notebook's order."""
    cells = [cell for path in sorted(folder.glob("*.ipynb")) for cell in nbformat.read(path, 4).cells
             if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")]
    return [(cell.metadata.nbgrader["grade_id"].removeprefix("check_"), what)
            for cell in cells for what in cell_findings(cell)]


def cell_findings(cell) -> list[str]:
    """Names of misconceptions where there are any, else in a few words what is known about one check."""
    report = found_report(cell)
    if report is None:
        error = has_error(cell)
        return ["a person should look" if error in NOT_JUDGED else f"stopped with {error}"] if error else []
    if report.not_attempted:
        return [NOT_ATTEMPTED]
    if report.could_not_run:
        return ["a person should look"]
    if report.guarded:
        return [*map(title, report.diagnoses), "calls what it should write"]
    if report.diagnoses or report.all_holds:
        return [title(name) for name in report.diagnoses]
    return [f"raises {report.raised}" if report.raised else "no known mistake"]


def findings_text(found: list[tuple[str, str]]) -> str:
    """Findings line by line; exercises that were left alone share one line."""
    empty = sum(finding == NOT_ATTEMPTED for _, finding in found)
    lines = [f"{name}: {finding}" for name, finding in found if finding != NOT_ATTEMPTED]
    return "\n".join(lines + ([f"{empty} exercise{'s' if empty > 1 else ''} not attempted"] if empty else []))


def class_table(classroom: Classroom) -> str:
    """The table of students: a block of lines for each assignment of each, so that many chapters are not wide."""
    assignments, rows, endings = classroom.assignments(), [], []
    handed_in = {assignment: classroom.students(assignment) for assignment in assignments}
    late = {assignment: penalties(classroom, assignment) for assignment in assignments}
    for student, name in full_names(classroom).items():
        for i, assignment in enumerate(assignments):
            graded = classroom.autograded / student / assignment
            ending = ending_in(graded, classroom.submitted / student / assignment)
            endings.append(ending)
            mark = marks_text(marks_of(classroom, assignment, student), student in handed_in[assignment], ending.state)
            notes = [f"late: {late[assignment][student]:g} points come off"] if student in late[assignment] else []
            notes += [shortened(str(ending))] if ending.needs_a_person else []
            if ending.state != FAILED:
                notes += filter(None, [findings_text(findings(graded))])
            rows.append(["" if i else name, assignment, mark, "\n".join(notes)])
    remarks = remarks_below(rows, endings, strangers_named(classroom))
    return "\n".join([table(["Student", "Assignment", "Marks", "What was found"], rows), *remarks])


def penalties(classroom: Classroom, assignment: str) -> dict[str, float]:
    """The points that are taken off because a submission came late, by student."""
    with opened(classroom) as gradebook:
        return {submission.student.id: submission.late_submission_penalty
                for submission in gradebook.assignment_submissions(assignment) if submission.late_submission_penalty}


def remarks_below(rows: list[list[str]], endings: list[Ending], strangers: str) -> list[str]:
    """What the table's signs mean, and who should not be in it."""
    remarks = []
    if any("(+" in cell for row in rows for cell in row):
        remarks.append("(+4): points for answers that a person has yet to mark")
    if not all(ending.protected for ending in endings):
        remarks.append("Graded WITHOUT A SANDBOX: an answer may have given itself its marks.")
    if strangers:
        remarks.append(strangers)
    return ["", *remarks] if remarks else []


def shortened(text: str, width: int = 110) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def shown(place: Path) -> str:
    return str(place.relative_to(REPOSITORY) if place.is_relative_to(REPOSITORY) else place)


def places(classroom: Classroom) -> str:
    """Where the book, the feedback pages and the marks lie; what is not there yet is left out."""
    book = REPOSITORY / "_build" / "html" / "index.html"
    pages = len(list(classroom.feedback.glob("*/*/*.html")))
    lines = [("Book", shown(book) if book.exists() else book_url() if book_url().startswith("http") else "")]
    lines.append(("Feedback", f"{shown(classroom.feedback)}/STUDENT/ASSIGNMENT/ ({pages} pages)" if pages else ""))
    lines.append(("Marks", shown(classroom.marks) if classroom.marks.exists() else ""))
    lines.append(("Gradebook", shown(classroom.gradebook)))
    return "\n".join(f"{name:<10} {place}" for name, place in lines if place)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder marks", description=__doc__)
    parser.add_argument("classroom", nargs="?", help="its folder (default: CLASSROOM, else classroom)")
    parser.add_argument("--classroom", dest="named", metavar="CLASSROOM", help="the same, as other commands have it")
    options = parser.parse_args(argv)
    classroom = Classroom.at(options.named or options.classroom)
    if not classroom.gradebook.exists():
        print(f"marks: {classroom.folder} has no gradebook yet; run `autograder grade` first.", file=sys.stderr)
        return 1
    print(f"{class_table(classroom)}\n\n{places(classroom)}")
    return 0
