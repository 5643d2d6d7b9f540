"""Shows reports and hints: as rich output in a notebook, as plain text elsewhere."""

from dataclasses import asdict

from autograder.judging.exercise import Exercise
from autograder.judging.report import Report
from autograder.reporting.html import as_html, hint_as_html
from autograder.reporting.text import as_text

REPORT_MIME = "application/vnd.autograder.report+json"


def show(report: Report) -> None:
    """Display a report."""
    _show(as_bundle(report))


def as_bundle(report: Report) -> dict:
    """A report in every form that a notebook may show; programs find its data under `REPORT_MIME`."""
    return {"text/plain": as_text(report), "text/html": as_html(report), REPORT_MIME: as_data(report)}


def show_hint(exercise: Exercise, number: int) -> None:
    text, total = exercise.hints[number - 1], len(exercise.hints)
    _show({"text/plain": f"Hint {number} of {total} ({exercise.name}): {text}",
           "text/html": hint_as_html(exercise.name, number, total, text)})


def as_data(report: Report) -> dict:
    """A report as JSON data: marks, outcomes, diagnoses; no inputs and no values."""
    outcomes = [{k: v for k, v in asdict(o).items() if k not in ("example", "message")} for o in report.outcomes]
    return {"exercise": report.exercise, "chapter": report.chapter, "score": report.score, "points": report.points,
            "attempted": report.attempted, "needs_a_person": report.needs_a_person,
            "diagnoses": list(report.diagnoses), "outcomes": outcomes}


def _show(bundle: dict) -> None:
    if _in_notebook():
        from IPython.display import display

        display(bundle, raw=True)
    else:
        print(bundle["text/plain"])


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None
