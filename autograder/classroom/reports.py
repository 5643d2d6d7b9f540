"""Reads from a graded notebook what `check` found: the data that it displays beside the readable report."""

import re
from dataclasses import dataclass

from autograder.reporting.text import title
from autograder.settings import book_link

REPORT = "application/vnd.autograder.report+json"
GUARDED = re.compile(r"Your code calls (.+?); this exercise asks you to write that yourself")


@dataclass(frozen=True)
class Criterion:
    """What a report says about one criterion: its name, the sentence that it states, "passed", "failed", ..."""

    name: str
    sentence: str
    status: str


@dataclass(frozen=True)
class Report:
    """What a check found about one answer. Whoever runs code can write this data too: it explains a mark, the
    gradebook gives it."""

    exercise: str
    diagnoses: tuple[str, ...]
    not_attempted: bool
    could_not_run: bool
    all_holds: bool
    raised: str
    criteria: tuple[Criterion, ...] = ()
    guarded: str = ""


def found_report(cell) -> Report | None:
    """The last report among a cell's outputs, or None."""
    for output in reversed(cell.get("outputs", [])):
        bundle = output.get("data", {})
        data = bundle.get(REPORT)
        if isinstance(data, dict):
            diagnoses = data.get("diagnoses")
            text = str(bundle.get("text/plain", ""))
            raised, guarded = re.search(r"Your code raised (\w+)", text), GUARDED.search(text)
            return Report(
                exercise=str(data.get("exercise", "")),
                diagnoses=tuple(map(str, diagnoses)) if isinstance(diagnoses, list) else (),
                not_attempted=data.get("attempted") is False,
                could_not_run=data.get("needs_a_person") is True,
                all_holds=data.get("score") == data.get("points"),
                raised=raised[1] if raised else "",
                criteria=criteria(data),
                guarded=guarded[1].replace("`", "") if guarded else "",
            )
    return None


def criteria(data: dict) -> tuple[Criterion, ...]:
    """The outcomes of a report; what is no outcome is left out."""
    outcomes = data.get("outcomes")
    return tuple(Criterion(str(o.get("criterion", "")), str(o.get("sentence", "")), str(o.get("status", "")))
                 for o in (outcomes if isinstance(outcomes, list) else []) if isinstance(o, dict))


def has_error(cell) -> str:
    """The name of the exception that ended a cell, or an empty string."""
    return next((str(output.get("ename", "an error")) for output in cell.get("outputs", [])
                 if output.get("output_type") == "error"), "")


@dataclass(frozen=True)
class Mistake:
    """A diagnosed misconception as pages and tables name it."""

    title: str
    sentence: str
    link: str


def mistakes(report: Report) -> list[Mistake]:
    """The report's diagnoses, explained; names that the exercise does not know are left out."""
    found = (known_mistake(report.exercise, name) for name in report.diagnoses)
    return [mistake for mistake in found if mistake]


def known_mistake(exercise: str, name: str) -> Mistake | None:
    """One misconception, explained; None where the exercise does not know it."""
    from autograder.judging.catalogue import all_exercises  # loads torch, and most pages have no diagnosis

    asked = all_exercises().get(exercise)
    return next((Mistake(title(name), m.sentence, book_link(m.see))
                 for m in (asked.misconceptions if asked else []) if m.name == name), None)
