"""The few things that an installation may set."""

import os
import tomllib
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
LARGEST_FILE = 16 * 2**20
"""Bytes of a file that is handed in beside a notebook; a larger one is left out."""


class Unusable(ValueError):
    """What was set or chosen for this installation cannot be used; the text says which, and what to do."""


@cache
def configured_book_url() -> str:
    """`[tool.autograder] book_url` of pyproject.toml; empty where there is no such file."""
    file = REPOSITORY / "pyproject.toml"
    if not file.exists():
        return ""
    return tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("autograder", {}).get("book_url", "")


def book_url() -> str:
    """Where the book lies: BOOK_URL in the environment, else pyproject.toml, else the locally built pages."""
    local = (REPOSITORY / "_build" / "html" / "book").as_uri()
    return (os.environ.get("BOOK_URL") or configured_book_url() or local).rstrip("/")


def book_link(place: str) -> str:
    """A link into the book; `place` is a page, or a page and an anchor: "05_scaling#mistake-no-scaling"."""
    page, _, anchor = place.partition("#")
    return f"{book_url()}/{page}.html" + (f"#{anchor}" if anchor else "")


def grading_seed() -> int | None:
    """The instructor's secret seed (AUTOGRADER_SEED) while a class is graded, else None."""
    value = os.environ.get("AUTOGRADER_SEED", "").strip()
    if not value:
        return None
    try:
        return int(value)
    except ValueError:
        raise Unusable(f"AUTOGRADER_SEED is {value!r}; it must be a whole number such as 4711.") from None
