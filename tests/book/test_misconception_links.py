"""What a report links to exists; the labels themselves are looked for in test_chapters.py."""

from autograder.book.chapters import BY_ID
from autograder.judging.catalogue import all_exercises


def test_every_misconception_links_to_a_written_chapter():
    for exercise in all_exercises().values():
        assert exercise.misconceptions
        for misconception in exercise.misconceptions:
            page, _, anchor = misconception.see.partition("#")
            assert page in BY_ID and BY_ID[page].file(), f"{exercise.name}, {misconception.name}: no page {page!r}"
            assert anchor.startswith("mistake-"), f"{exercise.name}, {misconception.name}: {misconception.see}"
