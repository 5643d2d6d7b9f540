"""A report as HTML that needs no script and no style sheet of the page around it.

Everything that came from the learner or the library is escaped. State is said in words, never by colour alone.
JupyterLab's sanitiser (for notebooks not yet trusted) keeps these elements and inline styles.
"""

from html import escape
from typing import Any

import torch

from autograder.judging.report import COULD_NOT_RUN, FAILED, NOT_LOOKED_AT, PASSED, Example, Outcome, Report
from autograder.reporting.text import first_of_all, headline, messages, points, rounded, summary, title
from autograder.settings import book_link

ACCENT = {PASSED: "#2a9d6f", FAILED: "#c8553d", NOT_LOOKED_AT: "#808080", COULD_NOT_RUN: "#b58900"}
SIGN = {PASSED: "✓", FAILED: "✗", NOT_LOOKED_AT: "…", COULD_NOT_RUN: "?"}
WORD = {PASSED: "Holds", FAILED: "Does not hold", NOT_LOOKED_AT: "Not looked at yet",
        COULD_NOT_RUN: "Could not be checked"}
CARD = "border-left: 4px solid {accent}; padding: 0.4em 0 0.4em 1em; margin: 0.5em 0; max-width: 46em; line-height: 1.5"
QUIET = "opacity: 0.75"
# JupyterLab takes the triangle away from what can be unfolded; this brings it back.
SUMMARY = '<summary style="cursor: pointer; list-style: revert">'
CELL = "border: 1px solid rgba(128,128,128,0.4); padding: 0.15em 0.5em; text-align: right"


def as_html(report: Report) -> str:
    """The whole report as one section; what failed comes first, what holds can be unfolded."""
    state = _state(report)
    style = CARD.format(accent=ACCENT[state])
    parts = [f'<section class="autograder-report" aria-label="Report on {escape(report.exercise)}" style="{style}">',
             f'<p style="margin: 0"><strong>{escape(headline(report))}</strong><br>{escape(summary(report))}</p>']
    parts += [f'<p style="margin: 0.6em 0">{code_marked(sentence)}</p>' for sentence in first_of_all(report)]
    parts += [_diagnosis(name, *report.explanations[name]) for name in report.diagnoses]
    if report.attempted:
        wrong = [outcome for outcome in report.outcomes if outcome.status in (FAILED, COULD_NOT_RUN)]
        said = messages(report)
        parts += [_outcome(outcome, said) for outcome in wrong[:1]]
        parts.append(_the_other_failures(wrong[1:], said))
        parts.append(_folded("Not looked at before the result is right", report, NOT_LOOKED_AT))
        parts.append(_folded("What holds", report, PASSED))
    if report.printed and report.score < report.points:
        parts.append(f"<details>{SUMMARY}What your code printed</summary><pre>{escape(report.printed)}</pre></details>")
    return "".join(parts) + "</section>"


def hint_as_html(name: str, number: int, total: int, text: str) -> str:
    style = CARD.format(accent="#4477aa")
    return (f'<section aria-label="Hint {number} of {total}" style="{style}"><strong>Hint {number} of {total}</strong> '
            f'<span style="{QUIET}">({escape(name)})</span><br>{code_marked(text)}</section>')


def code_marked(text: str) -> str:
    """Escaped text with `backquoted` parts as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def _state(report: Report) -> str:
    if report.needs_a_person:
        return COULD_NOT_RUN
    return PASSED if report.score == report.points else FAILED


def _diagnosis(name: str, sentence: str, see: str) -> str:
    return (f'<p style="margin: 0.6em 0"><strong>This looks like: {escape(title(name))}.</strong> '
            f'{code_marked(sentence)} <a href="{escape(book_link(see))}" target="_blank" rel="noopener">'
            f"Read about it in the book</a>.</p>")


def _line(outcome: Outcome) -> str:
    sign = f'<span style="color: {ACCENT[outcome.status]}; font-weight: bold" aria-hidden="true">' \
           f"{SIGN[outcome.status]}</span>"
    earned = f"{points(outcome.earned)} of {points(outcome.points)}"
    return (f"{sign} <strong>{WORD[outcome.status]}:</strong> {code_marked(outcome.sentence)} "
            f'<span style="{QUIET}">({earned})</span>')


def _outcome(outcome: Outcome, said: dict[str, str]) -> str:
    message = f"<br>{code_marked(said[outcome.criterion])}" if said[outcome.criterion] else ""
    example = _example(outcome.example) if outcome.example else ""
    return f'<div style="margin: 0.6em 0">{_line(outcome)}{message}{example}</div>'


def _the_other_failures(outcomes: list[Outcome], said: dict[str, str]) -> str:
    """Folded: after a wrong value most criteria fail too, and the first one is what to work on."""
    if not outcomes:
        return ""
    return (f"<details>{SUMMARY}Does not hold either ({len(outcomes)})</summary>"
            + "".join(_outcome(outcome, said) for outcome in outcomes) + "</details>")


def _folded(heading: str, report: Report, status: str) -> str:
    """The criteria of one status, a line each."""
    lines = [_line(outcome) for outcome in report.outcomes if outcome.status == status]
    if not lines:
        return ""
    items = "".join(f'<li style="list-style: none">{line}</li>' for line in lines)
    return (f"<details>{SUMMARY}{heading} ({len(lines)})</summary>"
            f'<ul style="padding-left: 0.5em; margin: 0.3em 0">{items}</ul></details>')


def _example(example: Example) -> str:
    given = "".join(_named(name, value) for name, value in example.arguments.items())
    results = "".join(f"<div>{_named(f'{name}, yours', yours, right)}{_named(f'{name}, right', right)}</div>"
                      for name, (yours, right) in example.results.items())
    what = "A small case where it goes wrong" if example.whole else "The first rows that go wrong"
    return f"<details open>{SUMMARY}{what}</summary><div>{given}</div>{results}</details>"


def _named(name: str, value: Any, right: Any = None) -> str:
    """One value under its name; where `right` is given, the entries that differ from it are marked."""
    body = _table(value, right) if isinstance(value, torch.Tensor) else escape(str(rounded(value)))
    return (f'<div style="display: inline-block; vertical-align: top; margin: 0.3em 1.2em 0.3em 0">'
            f"<code>{escape(name)}</code><br>{body}</div>")


def _table(value: torch.Tensor, right: Any) -> str:
    while value.dim() > 2 and value.size(0) == 1:
        value, right = value[0], right[0] if isinstance(right, torch.Tensor) else right
    if value.dim() > 2:
        return f"<code>{escape(str(rounded(value.tolist())))}</code>"
    rows = value.reshape(-1, value.shape[-1] if value.dim() else 1)
    wrong = torch.zeros_like(rows, dtype=torch.bool)
    if isinstance(right, torch.Tensor):
        wrong = ~torch.isclose(rows, right.reshape(rows.shape), rtol=1e-3, atol=1e-4)
    body = "".join("<tr>" + "".join(_cell(x, w) for x, w in zip(row, bad, strict=True)) + "</tr>"
                   for row, bad in zip(rows.tolist(), wrong.tolist(), strict=True))
    return f'<table style="border-collapse: collapse; display: inline-table; margin: 0">{body}</table>'


def _cell(value: float, wrong: bool) -> str:
    text = escape(f"{value + 0.0:.3g}")  # + 0.0 makes 0 of -0.0
    return f'<td style="{CELL}">{f"<strong><u>{text}</u></strong>" if wrong else text}</td>'
