"""The glossary is in order, and each of its links leads to a place that its chapter has."""

import functools
import re

import nbformat
import pytest

from autograder.book.chapters import BOOK, CHAPTERS

TEXT = (BOOK / "glossary.md").read_text(encoding="utf-8")
INSIDE = TEXT.split("```{glossary}\n")[1].split("\n```")[0]
ENTRIES = [entry.split("\n  ") for entry in INSIDE.split("\n\n")]
TERMS = [term.strip() for term, _ in ENTRIES]


@functools.cache
def prose(chapter: str) -> str:
    """The Markdown of a chapter."""
    cells = nbformat.read(BOOK / chapter, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@functools.cache
def places(chapter: str) -> frozenset[str]:
    """The anchors of its headings."""
    headings = re.findall(r"^#{1,3} (.+)$", prose(chapter), flags=re.MULTILINE)
    return frozenset(map(anchor_of, headings))


def bold_places(chapter: str, term: str) -> set[str]:
    """The anchors of the headings under which a chapter has the term in bold."""
    found, place = set(), ""
    for line in prose(chapter).splitlines():
        if heading := re.match(r"#{1,3} (.+)", line):
            place = anchor_of(heading[1])
        bold = (words.lower().rstrip("s.:") for words in re.findall(r"\*\*([^*]+)\*\*", line))
        if term.lower().rstrip("s") in bold:
            found.add(place)
    return found


def letters(term: str) -> str:
    return re.sub(r"[^a-z ]", "", term.lower()).strip()


def test_terms_are_in_order_and_stand_there_once():
    assert sorted(TERMS, key=letters) == TERMS
    assert len({term.lower() for term in TERMS}) == len(TERMS)


@pytest.mark.parametrize(("term", "text"), ENTRIES, ids=TERMS)
def test_a_term_has_one_sentence_and_a_link_to_where_it_is_taught(term, text):
    sentence, number, page, anchor = re.fullmatch(r"(.+) \[Chapter\s(\d+)\]\((\w+\.ipynb)#([\w-]+)\)", text).groups()
    assert sentence.endswith(".") and ". " not in sentence, "one sentence"
    assert page.startswith(f"{int(number):02d}_")
    assert anchor in places(page), f"{page} has no place #{anchor}"


@pytest.mark.parametrize(("term", "text"), ENTRIES, ids=TERMS)
def test_a_term_leads_to_where_its_chapter_introduces_it(term, text):
    """That is where it stands in bold, or the section that is named after it."""
    page, anchor = re.search(r"\((\w+\.ipynb)#([\w-]+)\)", text).groups()
    introduced = bold_places(page, term)
    named_after_it = anchor.startswith(anchor_of(term))
    assert not introduced or anchor in introduced or named_after_it, f"introduced at {', '.join(sorted(introduced))}"


def test_every_chapter_that_teaches_has_terms():
    assert {f"{chapter.id}.ipynb" for chapter in CHAPTERS if chapter.file() and chapter.exercises} <= set(
        re.findall(r"\((\w+\.ipynb)#", TEXT)
    ), "a chapter without a term in the glossary"


EMPHASIS = {"tired", "forbidden", "latest", "left"}
"""Bold words that are no terms: words of examples, and what must not be overlooked."""


@pytest.mark.parametrize("chapter", [c for c in CHAPTERS if c.exercises and c.file()], ids=lambda chapter: chapter.id)
def test_a_term_that_a_chapter_introduces_in_bold_is_explained(chapter):
    """A bold beginning of a paragraph ends in a full stop or a colon; the rest of what is bold are terms."""
    without_code = re.sub(r"```.*?```|`[^`\n]+`", "", prose(chapter.file().name), flags=re.DOTALL)
    bold = re.findall(r"\*\*([^*\n]+[^*\n.:?!])\*\*", without_code)
    known = TEXT.lower()
    missing = {term for term in bold if term.lower() not in EMPHASIS and term.lower().rstrip("s") not in known}
    assert not missing, f"not in book/glossary.md: {', '.join(sorted(missing))}"
