"""The course's own sentences: a small text for a language model to learn from.

`python -m autograder.corpus.course_text` wrote course_text.txt from chapters 1 to 9. The file stays as it is when a
chapter changes: a model that learns from it must not learn something else because a comma moved.
"""

import json
import re
from pathlib import Path

FILE = Path(__file__).with_suffix(".txt")
BOOK = Path(__file__).resolve().parents[2] / "book"

NOT_PROSE = [
    (r"^(`{3,}).*?^\1`*$", ""),  # directives and code
    (r"\$\$.*?\$\$(?: \(.*?\))?", ""),  # equations and their labels
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),  # a link keeps its words
    (r" ?\{cite:?[pt]?\}`[^`]*`", ""),
    (r"\*+", ""),
]
MARKUP = r"[$`{}|<>\\=^_[\]]| [.,;:?]"
"""A formula, code, or a space that a reference left before a full stop."""


def course_text() -> str:
    """About 80,000 characters, one sentence or a few on each line."""
    return FILE.read_text(encoding="utf-8")


def sentences(markdown: str) -> list[str]:
    """The lines that are sentences, without markup; lines with a formula or code in them are left out."""
    for pattern, replacement in NOT_PROSE:
        markdown = re.sub(pattern, replacement, markdown, flags=re.DOTALL | re.MULTILINE)
    lines = (re.sub(r"^\s*(?:- |\d+\. )?", "", line).strip() for line in markdown.splitlines())
    return [line for line in lines if re.match(r"^[A-Z].*[.?!:]$", line) and not re.search(MARKUP, line)]


def of_chapter(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return [sentence for text in texts for sentence in sentences(text)]


def write(book: Path = BOOK, file: Path = FILE) -> None:
    """Chapters 1 to 9 in their order; later ones are about the text, or not written when it was made."""
    lines = [line for path in sorted(book.glob("0[1-9]_*.ipynb")) for line in of_chapter(path)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
