"""Shows a class: students, marks, diagnosed misconceptions, and where everything lies. `autograder marks`."""

import argparse
import sys
from collections import Counter
from pathlib import Path

import nbformat

from autograder.classroom.columns import table
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import Mark, full_names, marks_of
from autograder.classroom.reports import found_report, has_error
from autograder.settings import REPOSITORY, book_url


def marks_text(marks: list[Mark] | None, handed_in: bool) -> str:
    """The marks of one assignment in a few words."""
    if marks is None:
        return "could not be graded" if handed_in else "not handed in"
    judged = [mark for mark in marks if not mark.pending]
    open_points = sum(mark.points for mark in marks if mark.pending)
    earned, available = sum(mark.score for mark in judged), sum(mark.points for mark in judged)
    return f"{earned:g} of {available:g}" + (f", {open_points:g} to mark by hand" if open_points else "")


def findings(folder: Path) -> list[tuple[str, str]]:
    """What the checks in a graded notebook found, as (exercise, finding), in the notebook's order.

    A finding is the name of a misconception, "not attempted", "stopped: ..." for a check that could not even begin,
    or "a person should look".
    """
    found = []
    for path in sorted(folder.glob("*.ipynb")):
        for cell in nbformat.read(path, 4).cells:
            details = cell.metadata.get("nbgrader", {})
            if cell.cell_type != "code" or not details.get("grade"):
                continue
            name, report = details["grade_id"].removeprefix("check_"), found_report(cell)
            if report is None:
                found += [(name, f"stopped: {error}")] if (error := has_error(cell)) else []
            elif report.not_attempted:
                found.append((name, "not attempted"))
            elif report.could_not_run:
                found.append((name, "a person should look"))
            else:
                found += [(name, diagnosis.replace("_", " ")) for diagnosis in report.diagnoses]
    return found


def findings_text(found: list[tuple[str, str]]) -> str:
    """Findings line by line; an assignment that was left empty altogether takes one line."""
    empty = [name for name, finding in found if finding == "not attempted"]
    lines = [f"{name}: {finding}" for name, finding in found if finding != "not attempted"]
    return "\n".join(lines + ([f"not attempted: {', '.join(empty)}"] if empty else []))


def class_table(classroom: Classroom) -> str:
    """The table of students; one block of lines for each."""
    assignments, rows = classroom.assignments(), []
    for student, name in full_names(classroom).items():
        cells, notes = [], []
        for assignment in assignments:
            handed_in = student in classroom.students(assignment)
            cells.append(marks_text(marks_of(classroom, assignment, student), handed_in))
            notes += findings(classroom.autograded / student / assignment)
        rows.append([name, *cells, findings_text(notes)])
    return table(["Student", *assignments, "What was found"], rows)


def ranking(classroom: Classroom) -> Counter[tuple[str, str]]:
    """How many students had each finding."""
    return Counter(finding for assignment in classroom.assignments() for student in classroom.students(assignment)
                   for finding in set(findings(classroom.autograded / student / assignment)))


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
    classroom = Classroom.at(parser.parse_args(argv).classroom)
    if not classroom.gradebook.exists():
        print(f"marks: {classroom.folder} has no gradebook yet; run `autograder grade` first.", file=sys.stderr)
        return 1
    print(f"{class_table(classroom)}\n\n{places(classroom)}")
    return 0
