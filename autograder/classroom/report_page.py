"""The class report as one HTML page: no script, nothing from elsewhere, the look of the feedback pages."""

import os
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.settings import book_link

if TYPE_CHECKING:
    from autograder.classroom.report import ClassReport

HERE = Path(__file__).parent


def number(value: float) -> str:
    """6.0 is written 6; more than one decimal place tells nobody more."""
    return f"{round(float(value), 1):g}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def code_marked(text: str) -> Markup:
    """Escaped text with `backquoted` parts as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text)))


def bar(parts: list[tuple[str, float]], whole: float, label: str = "") -> Markup:
    """A horizontal bar of coloured parts, each with its style class. Without a label the text beside it says it all."""
    shapes, at = [], 0.0
    for kind, count in parts:
        width = 100 * count / whole if whole else 0.0
        if width:
            shapes.append(f'<rect class="{escape(kind)}" x="{at:g}" width="{width:g}" height="1"/>')
        at += width
    said = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    return Markup(f'<svg class="bar-of" viewBox="0 0 100 1" preserveAspectRatio="none" {said}>'
                  + "".join(shapes) + "</svg>")


def counted_bar(counts: dict[str, int]) -> Markup:
    """How many answers ended how."""
    label = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return bar([(kind.replace(" ", "-"), count) for kind, count in counts.items()], sum(counts.values()), label)


def column(count: int, most: int) -> Markup:
    """One upright bar of a histogram, as high as its count, so that the number stands on it."""
    height = 8 * count / most if most else 0.0
    return Markup(f'<svg style="height: {height:.3g}rem" viewBox="0 0 1 1" preserveAspectRatio="none" '
                  'aria-hidden="true"><rect class="passed" width="1" height="1"/></svg>')


def page(report: "ClassReport", folder: Path) -> str:
    """The page; links to feedback pages are relative to `folder`, where it will lie."""
    environment = Environment(loader=FileSystemLoader([HERE / "report_template", HERE / "feedback_template"]),
                              autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=number, percent=percent, code_marked=code_marked)
    environment.globals.update(bar=bar, counted_bar=counted_bar, column=column, book_link=book_link, len=len, max=max)
    environment.globals["feedback_link"] = lambda place: quote(os.path.relpath(place, folder))
    return environment.get_template("report.html.j2").render(report=report)
