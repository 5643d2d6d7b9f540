"""The table of contents has every written chapter, in order, with its exercises below it."""

import yaml

from autograder.book.chapters import BOOK, CHAPTERS, ROOT

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
ENTRIES = next(part["chapters"] for part in TOC["parts"] if part["caption"] == "Chapters")


def test_written_chapters_are_listed_in_order():
    written = [f"book/{chapter.id}" for chapter in CHAPTERS if chapter.file()]
    assert [entry["file"] for entry in ENTRIES] == written


def test_exercises_stand_below_their_chapter():
    for entry in ENTRIES:
        folder = ROOT / "exercises" / entry["file"].removeprefix("book/")
        notebooks = [f"exercises/{folder.name}/{path.stem}" for path in sorted(folder.glob("*.ipynb"))]
        assert [section["file"] for section in entry.get("sections", [])] == notebooks


def test_pages_without_a_number_are_listed_too():
    listed = str(TOC)
    for page in BOOK.glob("*.md"):
        if page.stem != "chapter_map" and not page.stem.startswith("_"):
            assert f"book/{page.stem}" in listed
