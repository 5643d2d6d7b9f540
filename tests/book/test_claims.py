"""The page of claims agrees with the list and with what the chapters printed."""

import shutil

import nbformat
import pytest

from autograder.book.chapters import BOOK
from autograder.book.claims import (
    SETTLED,
    ClaimsError,
    code,
    ends_in_assert,
    main,
    page,
    read_cells,
    read_claims,
    settle,
)

CHAPTER = "04_self_attention"
LIST = """
[[claim]]
id = "C46"
chapter = "04_self_attention"
text = "The matrix of scores is square."
verdict = "holds"

[[claim]]
id = "C01"
text = "It was published."
verdict = "cited"
cite = ["vaswani2017attention"]
"""
CELL = 'n = 5\nprint(f"C46: {n} by {n}")\nassert n == 5'


def book_with(folder, source=CELL, printed="C46: 5 by 5\n", label="(claim-c46)=\nWe measure.", tags=("claim-C46",)):
    """A small book with one chapter, one settled claim and one cited one."""
    before = nbformat.v4.new_markdown_cell(label)
    cell = nbformat.v4.new_code_cell(source, execution_count=1, metadata={"tags": list(tags)})
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed)]
    nbformat.write(nbformat.v4.new_notebook(cells=[before, cell]), folder / f"{CHAPTER}.ipynb")
    (folder / "claims.toml").write_text(LIST)
    shutil.copy(BOOK / "references.bib", folder)
    return folder


def test_committed_page_is_up_to_date():
    assert main(["--check"]) == 0
    assert (BOOK / "claims.md").read_text(encoding="utf-8") == page()


def test_stale_page_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("autograder.book.claims.BOOK", tmp_path)
    monkeypatch.setattr("autograder.book.claims.page", lambda: "new")
    (tmp_path / "claims.md").write_text("old")
    assert main(["--check"]) == 1
    assert "out of date. Run `autograder claims`" in capsys.readouterr().err
    assert (tmp_path / "claims.md").read_text() == "old"
    assert main([]) == 0
    assert (tmp_path / "claims.md").read_text() == "new"
    assert main(["--check"]) == 0


def test_all_claims_are_listed_once_and_in_order():
    numbers = [int(claim.id[1:]) for claim in read_claims()]
    groups = [(1, 3), (10, 13), (20, 25), (30, 34), (40, 49), (50, 56), (60, 66), (70, 79), (90, 91)]
    groups += [(100, 104), (110, 115)]
    assert numbers == [number for first, last in groups for number in range(first, last + 1)]


@pytest.mark.parametrize("claim", [c for c in read_claims() if c.verdict in SETTLED], ids=lambda claim: claim.id)
def test_settled_claim_has_a_cell_with_an_assert_and_one_line(claim):
    assert settle(claim, read_cells(claim.chapter)).problems == ()


def test_page_shows_the_measured_line_and_the_link(tmp_path):
    text = page(book_with(tmp_path))
    assert "`5 by 5`" in text
    assert "{ref}`Chapter 4 <claim-c46>`" in text
    assert "{cite:t}`vaswani2017attention`" in text
    assert "| [holds]{.verdict .verdict-holds} | 1 |" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": 'n = 5\nprint(f"C46: {n} by {n}")'}, "does not end in an assert"),
        ({"source": 'assert True\nprint("C46: 5 by 5")'}, "does not end in an assert"),
        ({"printed": "nothing\n"}, 'prints 0 lines "C46: ..."'),
        ({"printed": "C46: a\nC46: b\n"}, 'prints 2 lines "C46: ..."'),
        ({"label": "We measure."}, r"no Markdown cell before \w+ has the label \(claim-c46\)="),
        ({"tags": ()}, "no cell has the tag claim-C46"),
        ({"tags": ("claim-C46", "claim-C47")}, "has the tag claim-C47, which claims.toml does not settle there"),
    ],
)
def test_a_faulty_cell_is_refused(tmp_path, change, message):
    with pytest.raises(ClaimsError, match=message):
        page(book_with(tmp_path, **change))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"holds"', '"proved"', "the verdict 'proved' is none of holds"),
        ('"holds"', '"corrected"', "C46: a corrected claim needs a note"),
        ('cite = ["vaswani2017attention"]', "", "C01: a cited claim needs a citation"),
        ("vaswani2017attention", "nobody1900", "C01: nobody1900 is not in references.bib"),
        ('"C01"', '"C46"', "C46 stands in the list 2 times"),
        ('"C46"', '"C86"', "C86: there is no section 8"),
        ("04_self_attention", "04_attention", "'04_attention' is no chapter"),
    ],
)
def test_a_faulty_list_is_refused(tmp_path, old, new, message):
    book = book_with(tmp_path)
    assert old in LIST
    (book / "claims.toml").write_text(LIST.replace(old, new))
    with pytest.raises(ClaimsError, match=message):
        page(book)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("assert x", True),
        ("for a in b:\n    assert a", True),
        ("with torch.no_grad():\n    y = 1\n    assert y", True),
        ("%matplotlib inline\nassert x", True),
        ("assert x\ny = 2", False),
        ("# assert x", False),
        ("def f():\n    assert x", False),
        ("", False),
    ],
)
def test_what_ends_in_an_assert(source, expected):
    assert ends_in_assert(source) is expected


def test_measurements_may_hold_backticks():
    assert code("a `b` c") == "``a `b` c``"
    assert code("`b`") == "`` `b` ``"
