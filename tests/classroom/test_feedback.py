"""Feedback pages: complete, harmless, readable without a network."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import nbformat
import pytest
from class_tools import ASSIGNMENT

from autograder.classroom.feedback import TEXT_LIMIT, FeedbackExporter, Row, inline_markdown, markdown, shortened
from autograder.classroom.markup import mathml, sanitise
from autograder.settings import book_link

STUDENTS = ["ada", "bao", "chloe", "dmitri", "esra", "fatou", "goran", "hana"]


class Page(HTMLParser):
    """What a page consists of: elements, headings, text."""

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, {name: value or "" for name, value in attributes}))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "pre", "code"} & set(self.open):
            self.text += data

    def all(self, *tags: str) -> list[dict]:
        return [attributes for tag, attributes in self.elements if tag in tags]


def assert_harmless(html: str) -> None:
    page = Page(html)
    assert not page.all("script", "iframe", "object", "embed", "form", "link", "base", "video", "audio", "svg")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert attributes.get("src", "data:").startswith("data:image/"[: 5]), (tag, attributes)
        assert "srcset" not in attributes and "url(" not in attributes.get("style", "")
        if tag == "a":
            assert re.match(r"#|https?:|file:|mailto:|$", attributes.get("href", "")), attributes
    style = "".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
    assert "url(" not in style and "@import" not in style


@pytest.mark.parametrize("student", STUDENTS)
def test_no_script_and_nothing_from_elsewhere(graded, student):
    html = graded.page(student).read_text(encoding="utf-8")
    assert_harmless(html)
    assert "default-src 'none'" in html


@pytest.mark.parametrize("student", STUDENTS)
def test_mathematics_became_mathml(graded, student):
    page = Page(graded.page(student).read_text(encoding="utf-8"))
    assert len(page.all("math")) > 20
    assert "$" not in page.text and "\\frac" not in page.text


@pytest.mark.parametrize("student", STUDENTS)
def test_headings_and_anchors_lead_through_the_page(graded, student):
    page = Page(graded.page(student).read_text(encoding="utf-8"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(names) == len(set(names))
    inside = [a["href"][1:] for a in page.all("a") if a.get("href", "").startswith("#")]
    assert len(inside) > 6 and set(inside) <= set(names)
    assert all(image.get("alt") for image in page.all("img"))


def test_the_marks_stand_at_the_top(graded):
    html = graded.page("ada").read_text(encoding="utf-8")
    assert "Feedback for Ada Kowalska" in html
    assert '<strong>31.5</strong> of 32 points' in html
    assert html.count("everything holds") == 5
    assert '<a href="#check_attention_weights">' in html and 'id="check_attention_weights"' in html


def test_a_mark_that_is_open_says_so(graded):
    html = graded.page("bao").read_text(encoding="utf-8")
    assert "4 of these points are for written answers that a person has not marked yet." in html
    assert "waits to be read by a person" in html and "not marked yet" in html


def test_a_comment_is_shown_and_its_script_is_not(graded):
    html = graded.page("ada").read_text(encoding="utf-8")
    aside = re.search(r"<aside.*?</aside>", html, re.DOTALL)[0]
    assert "Good: you saw that" in aside and "<math" in aside and "alert" not in aside
    assert html.count("<aside") == 1


def test_a_mistake_leads_into_the_book(graded):
    html = graded.page("chloe").read_text(encoding="utf-8")
    link = book_link(f"{ASSIGNMENT}#mistake-softmax-axis")
    table = re.search(r"<tbody>.*?</tbody>", html, re.DOTALL)[0]
    assert f'<a href="{link}">softmax over queries</a>' in table


def test_each_state_has_its_words(graded):
    assert graded.page("fatou").read_text(encoding="utf-8").count('<span class="quiet">not attempted</span>') == 5
    crashed = graded.page("goran").read_text(encoding="utf-8")
    assert "your code raised AttributeError" in crashed and "stopped with NameError" in crashed


HOSTILE = """
# <script>alert(1)</script>Title
<img src=x onerror=alert(1)> <img src="https://example.org/a.png"> ![b](http://example.org/b.png)
<iframe srcdoc="<script>alert(1)</script>"></iframe> <a href="javascript:alert(1)">a</a> [b](javascript:alert(1))
<svg onload=alert(1)></svg> <style>body { background: url(https://example.org/c.png) }</style>
<p style="background: url(https://example.org/d.png); color: red">d</p> <base href="https://example.org">
<form action="https://example.org"><input></form> <object data="https://example.org"></object>
$\\href{javascript:alert(1)}{x}$ $\\text{<script>alert(1)</script>}$ ![c](attachment:none.png)
"""


def test_hostile_markdown_is_harmless():
    html = markdown(HOSTILE)
    assert_harmless(html)
    assert "Title" in html and "a picture from elsewhere is left out" in html


def test_a_hostile_notebook_gives_a_harmless_page():
    cells = [nbformat.v4.new_markdown_cell(HOSTILE), nbformat.v4.new_code_cell("</pre><script>alert(1)</script>")]
    attack = '</pre><script>alert(1)</script><img src="x" onerror="alert(1)">'
    bundles = {"text/html": attack, "text/plain": attack, "text/markdown": attack, "image/png": f'"{attack}',
               "image/svg+xml": f"<svg>{attack}</svg>", "application/javascript": "alert(1)"}
    for kind, content in bundles.items():
        cells[1].outputs.append(nbformat.v4.new_output("display_data", data={kind: content}))
    cells[1].outputs.append(nbformat.v4.new_output("stream", text=attack))
    cells[1].outputs.append(nbformat.v4.new_output("error", ename=attack, evalue=attack, traceback=[attack]))
    row = Row("x", attack, 0.0, 1.0, False, attack, None)
    resources = {"nbgrader": {"score": 0, "max_score": 1, "late_penalty": 0},
                 "feedback": {"student": attack, "title": attack, "rows": [row], "percent": 0, "begins": 0,
                              "pending_points": 0}}
    html, _ = FeedbackExporter().from_notebook_node(nbformat.v4.new_notebook(cells=cells), resources)
    assert_harmless(html)
    assert "&lt;script&gt;" in html


def test_formulas():
    assert mathml("d_k") == '<math display="inline"><mrow><msub><mi>d</mi><mi>k</mi></msub></mrow></math>'
    assert "<mi>softmax</mi>" in mathml(r"\operatorname{softmax}(x)")
    assert "<mn>10,000</mn>" in mathml("10{,}000")
    assert mathml(r"\lVert x \rVert").count('<mo stretchy="false">‖</mo>') == 2
    assert mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}").count("<mtr>") == 2
    assert "<" in mathml("a < b & c") and "&amp;" in mathml("a < b & c")
    assert mathml(r"\frac{\frac{") .startswith(("<math", "<code>"))


def test_markdown_of_a_table_of_marks():
    assert inline_markdown("3. From `scores` to *weights*") == "3. From <code>scores</code> to <em>weights</em>"
    assert inline_markdown("Why $d_k$?").startswith("Why <math")


def test_a_report_keeps_its_look():
    look = 'style="border-left:4px solid #2a9d6f;opacity:0.75"'
    clean = sanitise(f'<section class="r" {look}><details open=""><summary>x</summary>')
    assert look in clean and "<details open" in clean


def test_endless_output_is_cut():
    assert shortened("x" * TEXT_LIMIT) == "x" * TEXT_LIMIT
    assert shortened("x" * (TEXT_LIMIT + 1_500)).endswith("\n… and 1,500 more characters")
