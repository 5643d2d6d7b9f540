"""nbgrader's feedback page, as the course wants it: no script, no network, the look of the book.

`nbgrader_config.py` names both classes. `Summarise` gathers what stands at the top of the page, `FeedbackExporter`
renders the notebook below it with the template in `feedback_template/`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from pathlib import Path

from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbgrader import utils
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.preprocessors import GetGrades
from pygments.formatters import HtmlFormatter
from traitlets import Bool, default

from autograder.classroom.gradebook import MarkedCells
from autograder.classroom.markup import mathml, sanitise
from autograder.classroom.reports import Mistake, Report, found_report, has_error, mistakes
from autograder.classroom.state import FAILED, GRADED, PARTLY, ending_of, gave_no_result
from autograder.grading.exporter import InPlace
from autograder.grading.hidden import without_hidden_tests
from autograder.grading.intake import only_comments
from autograder.settings import book_link

TEMPLATE = Path(__file__).parent / "feedback_template"
TEXT_LIMIT = 20_000
"""Characters of one output that a page shows; an answer can print without end."""


NOTICES = {
    GRADED: "Every check ran to its end.",
    PARTLY: "A check that could not be judged counts nothing until a person has looked at it; the others count.",
    FAILED: "Nothing could be judged, and no earlier mark stands in its place. A person should look. "
            "If you may still hand in, mend this and hand in again.",
}
"""What each state means for the marks."""


@dataclass
class Row:
    """One line of the table of marks."""

    anchor: str
    title: str
    score: float
    points: float
    pending: bool
    verdict: str
    report: Report | None
    written: bool = False

    @property
    def mistakes(self) -> list[Mistake]:
        return mistakes(self.report) if self.report and self.score < self.points else []


class Summarise(GetGrades):
    """Brings marks and comments into the graded cells, as nbgrader's GetGrades does, and gathers the table of marks."""

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb, resources):
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = place = (
            names["notebook"], names["assignment"], names["student"])
        with Gradebook(names["db_url"]) as gradebook:
            student = gradebook.find_student(names["student"])
            name = " ".join(part for part in (student.first_name, student.last_name) if part)
            self.gradebook = marked = MarkedCells(gradebook, *place)
            nb, resources = super(GetGrades, self).preprocess(nb, resources)
            names |= totals(marked.notebook)
            pending = {name for name, grade in marked.grades.items() if grade.needs_manual_grade}
        for cell in nb.cells:
            if cell.cell_type == "code" and not utils.is_solution(cell):
                cell.source = without_hidden_tests(cell.source)
        rows = list(self._rows(nb, pending))
        resources["feedback"] = {
            "student": name or names["student"],
            "ending": ending_of(nb),
            "notice": NOTICES.get(ending_of(nb).state, ""),
            "title": take_title(nb) or names["assignment"],
            "percent": round(100 * names["score"] / (names["max_score"] or 1), 1),
            "rows": rows,
            "begins": first_exercise(nb),
            "pending_points": sum(row.points for row in rows if row.pending),
            "pending_for": "are for answers that a person has not marked yet" if any(
                row.pending and not row.written for row in rows)
            else "are for written answers that a person has not marked yet",
        }
        return nb, resources

    def _rows(self, nb, pending: set[str]) -> Iterator[Row]:
        heading = ""
        for cell in nb.cells:
            heading = last_heading(cell) or heading
            if utils.is_grade(cell) or utils.is_task(cell):
                yield self._row(cell, heading, pending)

    def _row(self, cell, heading: str, pending: set[str]) -> Row:
        details = cell.metadata.nbgrader
        report = found_report(cell)
        return Row(
            anchor=details.grade_id,
            title=heading or details.grade_id,
            score=details.score,
            points=details.points,
            pending=details.grade_id in pending,
            verdict=verdict(cell, report, details.grade_id in pending),
            report=report,
            written=cell.cell_type == "markdown",
        )


def totals(notebook: SubmittedNotebook) -> dict[str, float]:
    """What nbgrader's GetGrades says about a notebook as a whole."""
    penalty = notebook.late_submission_penalty or 0
    return {"score": notebook.score - penalty, "max_score": notebook.max_score, "late_penalty": penalty}


def verdict(cell, report: Report | None, pending: bool) -> str:
    """What the table says about one graded cell in a few words; empty where the diagnoses say it."""
    details = cell.metadata.nbgrader
    if cell.cell_type == "code" and gave_no_result(cell):
        return "could not be judged; a person should look" if pending else "a person has looked"
    if pending:
        return "waits to be read by a person"
    if report is None:
        error = has_error(cell)
        return f"stopped with {error}" if error else "nothing was written" if details.score == 0 else ""
    if report.not_attempted:
        return "not attempted"
    if details.score == details.points:
        return "everything holds"
    if report.diagnoses:
        return ""
    if report.guarded:
        return "your code calls what it should write itself"
    return f"your code raised {report.raised}" if report.raised else "not a mistake that we know; see the report"


def take_title(nb) -> str:
    """The notebook's first heading, which becomes the page's; it is taken out of the notebook in memory."""
    for cell in nb.cells:
        if cell.cell_type == "markdown" and (match := re.search(r"^# +(.+?) *$", cell.source, re.MULTILINE)):
            cell.source = cell.source.replace(match[0], "", 1)
            return match[1]
    return ""


def last_heading(cell) -> str:
    """The last heading below the title in a Markdown cell that is not an answer."""
    if cell.cell_type != "markdown" or utils.is_solution(cell):
        return ""
    return next(iter(re.findall(r"^##+ +(.+?) *#*$", cell.source, re.MULTILINE)[::-1]), "")


def first_exercise(nb) -> int:
    """Which cell begins the first exercise: the last heading before the first cell that is answered or graded."""
    asked = next((i for i, cell in enumerate(nb.cells) if utils.is_solution(cell) or utils.is_grade(cell)), 0)
    return next((i for i in range(asked, -1, -1) if last_heading(nb.cells[i])), asked)


class PageRenderer(IPythonRenderer):
    """Markdown of a notebook as a part of a larger page: MathML, and headings one level down."""

    def heading(self, text, level, **attrs):
        return super().heading(text, min(level + 1, 6), **attrs)

    def block_math(self, body):
        return f'<span class="formula">{mathml(body, display=True)}</span>'

    def inline_math(self, body):
        return mathml(body)

    def _embed_image_or_attachment(self, src):
        known = not src.startswith("attachment:") or src.removeprefix("attachment:") in self.attachments
        return super()._embed_image_or_attachment(src) if known else ""

    def latex_environment(self, name, body):
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def markdown(source: str, attachments=None) -> str:
    """Markdown as harmless HTML."""
    return _rendered(source, attachments) if attachments else _rendered_once(source)


def _rendered(source: str, attachments=None) -> str:
    renderer = PageRenderer(escape=False, exclude_anchor_links=True, attachments=attachments or {})
    return sanitise(MarkdownWithMath(renderer=renderer).render(source))


_rendered_once = lru_cache(maxsize=1_024)(_rendered)  # the tasks are the same on everybody's page


def inline_markdown(source: str) -> str:
    """One line of Markdown without the paragraph around it; a number at its beginning does not make it a list."""
    one_paragraph = re.sub(r"^(\d+)([.)])", r"\1\\\2", source)
    return re.sub(r"^\s*<p>(.*)</p>\s*$", r"\1", markdown(one_paragraph), flags=re.DOTALL)


def marks(number: float) -> str:
    """6.0 is written 6, and 5.5 stays."""
    return f"{float(number):g}"


def capitalize_first(text: str) -> str:
    """"cell 3 (SelfAttention)" at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def plain(text: str) -> str:
    """Text for an attribute or a title: Markdown's back ticks and stars left out."""
    return escape(re.sub(r"[`*$]", "", text))


def shortened(text: str) -> str:
    """The beginning of a text that is too long for a page, and how much is left out."""
    left_out = len(text) - TEXT_LIMIT
    return text if left_out <= 0 else f"{text[:TEXT_LIMIT]}\n… and {left_out:,} more characters"


@cache
def code_style() -> str:
    """Pygments' rules for both themes, the ones that the book's theme uses too."""
    light = HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")
    dark = HtmlFormatter(style="a11y-high-contrast-dark").get_style_defs(".highlight")
    both = light + "\n@media (prefers-color-scheme: dark) {\n" + dark + "\n}"
    return re.sub(r"^.*(?:linenos|\.highlight \{|\.hll).*$\n", "", both, flags=re.MULTILINE)


class FeedbackExporter(InPlace, HTMLExporter):
    """HTML with the course's feedback template."""

    @default("template_name")
    def _template_name_default(self):
        return TEMPLATE.name

    @default("extra_template_basedirs")
    def _extra_template_basedirs_default(self):
        return [str(TEMPLATE.parent)]

    def default_filters(self):
        yield from super().default_filters()
        highlight = lru_cache(maxsize=1_024)(Highlight2HTML(pygments_lexer="python", parent=self))
        yield "highlight_code", lambda source, metadata: highlight(source)  # the given cells are the same on every page
        for function in (markdown, inline_markdown, sanitise, marks, only_comments, plain, shortened, capitalize_first):
            yield function.__name__, function

    def from_notebook_node(self, nb, resources=None, **more):
        """HTMLExporter's own would parse the whole page once more, to mark up what its own templates write."""
        return TemplateExporter.from_notebook_node(self, nb, resources, **more)

    def _init_resources(self, resources):
        resources = super()._init_resources(resources)
        resources["book_link"] = book_link
        resources["code_style"] = code_style()
        return resources
