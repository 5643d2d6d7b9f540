"""A report as plain text."""

import re
from typing import Any

from autograder.judging.report import COULD_NOT_RUN, FAILED, NOT_ATTEMPTED, NOT_LOOKED_AT, PASSED, Example, Report
from autograder.settings import book_link

MARKS = {PASSED: "holds", FAILED: "does not hold", NOT_LOOKED_AT: "not looked at yet",
         COULD_NOT_RUN: "could not be checked"}


def points(number: float) -> str:
    """A number of points as people write it: 3, or 2.5."""
    return f"{number:g}"


def title(name: str) -> str:
    """A misconception's name as people read it: `divided_by_d_k` is "divided by d_k"."""
    return re.sub(r"\b([dn]) (k|q|v|model)\b", r"\1_\2", name.replace("_", " "))


def headline(report: Report) -> str:
    """The exercise and the marks, in one line."""
    return f"{report.exercise}: {points(report.score)} of {points(report.points)} points"


def summary(report: Report) -> str:
    """One sentence that says where the answer stands."""
    if not report.attempted:
        return "Not attempted yet: replace the stub in the answer cell, run it, then run this cell again."
    if report.needs_a_person:
        return "Part of this could not be checked. A person should look."
    failed, waiting = (sum(o.status == status for o in report.outcomes) for status in (FAILED, NOT_LOOKED_AT))
    if not failed and not waiting:
        return f"All {len(report.outcomes)} criteria hold."
    later = f"; {waiting} {'is' if waiting == 1 else 'are'} not looked at before the result is right" if waiting else ""
    return f"{failed} of {len(report.outcomes)} criteria {'does' if failed == 1 else 'do'} not hold yet{later}."


def first_of_all(report: Report) -> list[str]:
    """What is said before anything else: the parts that are wrong by themselves."""
    return [f"First look at `{part}`: called by itself it does not give what a right `{exercise}` gives. If that "
            "exercise has full marks, look at the arguments that it is constructed with here."
            for part, exercise in report.broken.items()]


def messages(report: Report) -> dict[str, str]:
    """What each criterion has to say, by its name; what was said before is not said in full again."""
    told, said = set(), {}
    for outcome in report.outcomes:
        message = "" if outcome.message == NOT_ATTEMPTED else outcome.message
        again = "" if outcome.status == NOT_LOOKED_AT else "The same as above."
        said[outcome.criterion] = again if message and message in told else message
        told.add(message)
    return said


def as_text(report: Report) -> str:
    """The whole report."""
    lines, said = [headline(report), summary(report), *first_of_all(report)], messages(report)
    for name, (sentence, see) in report.explanations.items():
        lines += [f"Looks like: {title(name)}. {sentence}", f"  Read: {book_link(see)}"]
    if report.attempted:
        for outcome in report.outcomes:
            lines.append(f"[{MARKS[outcome.status]}] {outcome.sentence} "
                         f"({points(outcome.earned)}/{points(outcome.points)})")
            if said[outcome.criterion]:
                lines.append(f"    {said[outcome.criterion]}")
            if outcome.example:
                lines += ["    " + line for line in example_as_text(outcome.example).splitlines()]
    if report.printed and report.score < report.points:
        lines += ["Your code printed:", report.printed.rstrip()]
    return "\n".join(lines)


def example_as_text(example: Example) -> str:
    parts = [f"{name} = {number(value)}" for name, value in example.arguments.items()]
    for name, (yours, right) in example.results.items():
        parts += [f"{name}, yours: {number(yours)}", f"{name}, right: {number(right)}"]
    return "\n".join(parts)


def number(value: Any) -> str:
    """A small value, rounded to what a reader can use."""
    return str(rounded(value.tolist() if hasattr(value, "tolist") else value))


def rounded(value: Any) -> Any:
    """Four digits, and 0 for the -0.0 of floating point."""
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.4g}") + 0.0 if isinstance(value, float) else value
