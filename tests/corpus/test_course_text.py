"""The text of the course is sentences without markup, and long enough for a small language model."""

import re

from autograder.corpus.course_text import course_text, sentences


def test_lines_are_sentences_without_markup():
    lines = course_text().splitlines()
    assert len(lines) > 1_000
    for line in lines:
        assert re.match(r"^[A-Z].*[.?!:]$", line), line
        assert not re.search(r"[$`{}|<>\\=^_\[\]*]", line), line


def test_markup_goes_and_lines_with_formulas_are_left_out():
    lines = ["## A title", "- A **word** has a [link](01.ipynb) {cite:p}`one2020work`.", "Here $x$ is.", "$$",
             "Not this.", "$$ (eq-a)", "```{code}", "Nor this.", "```", "1. Read `code`.", "2. Read."]
    markdown = "\n".join(lines)
    assert sentences(markdown) == ["A word has a link.", "Read."]
