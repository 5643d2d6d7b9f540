"""Where things lie, and what the environment may change: the book's address and the grading seed."""

import os
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT_BOOK = ROOT / "_build" / "html"


@cache
def configured_book_url() -> str:
    """`book_url` of `[tool.autograder]` in pyproject.toml; empty where there is no such file or entry."""
    path = ROOT / "pyproject.toml"
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return tomllib.load(file).get("tool", {}).get("autograder", {}).get("book_url", "")


def book_url() -> str:
    """The address of the folder that holds the chapters' pages, without a final slash.

    The environment variable BOOK_URL (`make lab` sets it) goes before `book_url` in pyproject.toml;
    with neither, it is the locally built book.
    """
    return (os.environ.get("BOOK_URL") or configured_book_url() or (BUILT_BOOK / "book").as_uri()).rstrip("/")


def book_link(anchor: str) -> str:
    """The link to a place in the book: `05_scaling#mistake-no-scaling` is a page and a label on it."""
    page, hash_sign, label = anchor.partition("#")
    return f"{book_url()}/{page}.html{hash_sign}{label}"


def grading_seed() -> int | None:
    """The secret seed of class grading, from AUTOGRADER_SEED; None, the public seed, where it is not set."""
    text = os.environ.get("AUTOGRADER_SEED", "").strip()
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"AUTOGRADER_SEED is {text!r}; give a whole number, or unset it.") from None
