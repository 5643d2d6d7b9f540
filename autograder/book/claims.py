"""`autograder claims`: book/claims.md from book/claims.toml and the chapters' stored outputs.

The page is a pure function of these files. A claim that "holds" or is "corrected" is settled by a cell with the
tag `claim-ID` that ends in an assert and prints one line "ID: what was measured"; a label `(claim-id)=` in a
Markdown cell before it is where the page links to.
"""

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.book.chapters import BOOK, BY_ID

VERDICTS = {
    "holds": "An executed cell asserts it.",
    "corrected": "It does not hold as it is usually said; an executed cell shows what does.",
    "cited": "A citation settles it.",
    "not yet covered": "Its chapter is still to be written.",
}
SETTLED = ("holds", "corrected")
SECTIONS = {
    0: "The announcement",
    1: "The bottleneck",
    2: "Bahdanau attention",
    3: "Luong attention",
    4: "Self-attention, and why it is scaled",
    5: "Multi-head attention and the causal mask",
    6: "Positional encoding",
    7: "The Transformer",
    9: "Self-attention, RNN and CNN compared",
    10: "Three families",
    11: "Questions and answers",
}
"""Claims are numbered in tens: C46 belongs to section 4, C104 to section 10."""


class ClaimsError(Exception):
    """The list and the chapters do not agree; one line for each problem."""


@dataclass(frozen=True)
class Claim:
    """One entry of claims.toml."""

    id: str
    text: str
    verdict: str
    chapter: str | None = None
    note: str = ""
    cite: tuple[str, ...] = ()

    @property
    def section(self) -> int:
        return int(self.id[1:]) // 10

    @property
    def tag(self) -> str:
        return f"claim-{self.id}"

    @property
    def label(self) -> str:
        return self.tag.lower()


@dataclass(frozen=True)
class Settled:
    """What a chapter says about a claim: the printed measurement, and what is wrong with the cell."""

    measured: str
    problems: tuple[str, ...]


def read_claims(book: Path = BOOK) -> list[Claim]:
    entries = tomllib.loads((book / "claims.toml").read_text(encoding="utf-8"))["claim"]
    return [Claim(**{**entry, "cite": tuple(entry.get("cite", ()))}) for entry in entries]


def read_cells(chapter: str, book: Path = BOOK) -> list:
    path = book / f"{chapter}.ipynb"
    return nbformat.read(path, as_version=4).cells if path.exists() else []


def settle(claim: Claim, cells: list) -> Settled:
    """Find the claim's cell, its measurement and its faults."""
    where = f"{claim.id} ({claim.chapter})"
    places = [i for i, cell in enumerate(cells) if claim.tag in cell.metadata.get("tags", [])]
    if len(places) != 1:
        count = "no cell has" if not places else f"{len(places)} cells have"
        return Settled("", (f"{where}: {count} the tag {claim.tag}; one must.",))
    cell, before = cells[places[0]], cells[: places[0]]
    problems = []
    if not ends_in_assert(cell.source):
        problems.append(f"{where}: cell {cell.id} does not end in an assert.")
    lines = re.findall(rf"^{claim.id}: (.+)$", printed(cell), flags=re.MULTILINE)
    if len(lines) != 1:
        problems.append(f'{where}: cell {cell.id} prints {len(lines)} lines "{claim.id}: ..."; one is needed.')
    if not any(f"({claim.label})=" in c.source for c in before if c.cell_type == "markdown"):
        problems.append(f"{where}: no Markdown cell before {cell.id} has the label ({claim.label})=.")
    return Settled(lines[0].strip() if lines else "", tuple(problems))


def printed(cell) -> str:
    return "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")


def ends_in_assert(source: str) -> bool:
    """Whether the last statement is an assert, or a loop or `with` block whose last one is."""
    lines = (line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))
    body = ast.parse("\n".join(lines)).body
    while body and isinstance(body[-1], ast.For | ast.With):
        body = body[-1].body
    return bool(body) and isinstance(body[-1], ast.Assert)


def problems_of_list(claims: list[Claim], book: Path) -> list[str]:
    """What is wrong with claims.toml by itself."""
    keys = set(re.findall(r"^@\w+\{([^,\s]+),", (book / "references.bib").read_text(encoding="utf-8"), re.MULTILINE))
    found = [f"{id} stands in the list {n} times." for id, n in Counter(c.id for c in claims).items() if n > 1]
    for claim in claims:
        if claim.verdict not in VERDICTS:
            found.append(f"{claim.id}: the verdict {claim.verdict!r} is none of {', '.join(VERDICTS)}.")
        if claim.section not in SECTIONS:
            found.append(f"{claim.id}: there is no section {claim.section}.")
        if claim.verdict != "cited" and claim.chapter not in BY_ID:
            found.append(f"{claim.id}: {claim.chapter!r} is no chapter.")
        if claim.verdict == "cited" and not claim.cite:
            found.append(f"{claim.id}: a cited claim needs a citation.")
        if claim.verdict == "corrected" and not claim.note:
            found.append(f"{claim.id}: a corrected claim needs a note that says what is true.")
        found += [f"{claim.id}: {key} is not in references.bib." for key in claim.cite if key not in keys]
    return found


def problems_of_chapters(claims: list[Claim], book: Path) -> list[str]:
    """Tags in the chapters that the list does not know as settled there."""
    known = {(c.chapter, c.tag) for c in claims if c.verdict in SETTLED}
    found = []
    for chapter in BY_ID:
        for cell in read_cells(chapter, book):
            for tag in cell.metadata.get("tags", []):
                if tag.startswith("claim-") and (chapter, tag) not in known:
                    found.append(
                        f"{chapter}: cell {cell.id} has the tag {tag}, which claims.toml does not settle there."
                    )
    return found


def page(book: Path = BOOK) -> str:
    """The Markdown of book/claims.md; ClaimsError if the list and the chapters disagree."""
    claims = read_claims(book)
    found = problems_of_list(claims, book) + problems_of_chapters(claims, book)
    if found:
        raise ClaimsError("\n".join(found))
    cells = {c.chapter: read_cells(c.chapter, book) for c in claims if c.verdict in SETTLED}
    settled = {c.id: settle(c, cells[c.chapter]) for c in claims if c.verdict in SETTLED}
    found = [problem for result in settled.values() for problem in result.problems]
    if found:
        raise ClaimsError("\n".join(found))
    lines = head(claims)
    for section, title in SECTIONS.items():
        chosen = [c for c in claims if c.section == section]
        lines += ["", f"## {title}", ""]
        for claim in chosen:
            measured = settled[claim.id].measured if claim.id in settled else ""
            lines += [*entry(claim, measured), ""]
    lines += ["## References", "", "```{bibliography}", ":filter: docname in docnames", "```"]
    return "\n".join(lines) + "\n"


def head(claims: list[Claim]) -> list[str]:
    """Title, explanation, and how many claims have which verdict."""
    counts = Counter(c.verdict for c in claims)
    rows = [f"| {pill(v)} | {counts[v]} | {meaning} |" for v, meaning in VERDICTS.items() if counts[v]]
    return [
        "<!-- made by `autograder claims` from book/claims.toml and the chapters: do not edit -->",
        "# Claims",
        "",
        "What texts about attention say, in our own words, and what we found.",
        "A claim is settled by a cell that measures it and asserts the result, or by a citation.",
        "The measured line is what that cell printed, copied by a program; the link leads to it.",
        "",
        "| Verdict | Claims | What it means |",
        "|---|---|---|",
        *rows,
    ]


def pill(verdict: str) -> str:
    return f"[{verdict}]{{.verdict .verdict-{'open' if verdict == 'not yet covered' else verdict}}}"


def entry(claim: Claim, measured: str) -> list[str]:
    """One claim as a block of MyST."""
    lines = [":::{div} claim", f"**{claim.id}** {pill(claim.verdict)}", "", claim.text]
    if claim.note:
        lines += ["", f"*{claim.note}*"]
    if measured:
        chapter = BY_ID[claim.chapter]
        lines += ["", f"{{ref}}`Chapter {chapter.number} <{claim.label}>` measures: {code(measured)}"]
    elif claim.cite:
        lines += ["", f"See {{cite:t}}`{','.join(claim.cite)}`."]
    elif claim.chapter:
        chapter = BY_ID[claim.chapter]
        lines += ["", f"To be settled in chapter {chapter.number}, *{chapter.title}*."]
    return [*lines, ":::"]


def code(text: str) -> str:
    """The text as inline code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="autograder claims", description="Write book/claims.md from book/claims.toml and the chapters."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    check = parser.parse_args(argv).check
    target = BOOK / "claims.md"
    try:
        text = page()
    except ClaimsError as error:
        print(error, file=sys.stderr)
        return 1
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print("book/claims.md is out of date. Run `autograder claims`.", file=sys.stderr)
        return 1
    target.write_text(text, encoding="utf-8")
    print("wrote book/claims.md")
    return 0
