"""The map of the course on the first page: a drawn road and the list of chapters, both from `chapters.py`.

`autograder road` writes book/_static/road.html and book/chapter_map.md, and the road of chapter 12, one_page.svg.
The road is SVG inside the page, so it follows the theme.
It is drawn twice, winding for a wide page and straight down for a phone, and CSS shows one.
"""

import argparse
import sys
from html import escape
from itertools import pairwise
from pathlib import Path

from autograder.book.chapters import BOOK, CHAPTERS, PARTS, ROOT, Chapter
from autograder.book.one_page import one_page

Point = tuple[float, float]
MADE = "made by `autograder road` from autograder/book/chapters.py"
ALT = "A road with twelve stops, one for each chapter, in four parts. Each stop opens its chapter."
LEGEND = "Filled stops are written; hollow ones are to come."


def wide(book: Path) -> str:
    """Four rows, one for each part, walked from left to right and back again."""
    stops: list[tuple[Chapter, Point]] = []
    parts: list[tuple[str, Point]] = []
    for row, part in enumerate(PARTS):
        chapters = [c for c in CHAPTERS if c.part == part]
        y, step = 52 + 96 * row, 560 / (len(chapters) - 1)
        backwards = row % 2
        for i, chapter in enumerate(chapters):
            stops.append((chapter, (640 - step * i if backwards else 80 + step * i, y)))
        parts.append((PARTS[part], (360, y - 30)))
    bends = {80.0: -84.0, 640.0: 84.0}
    road = [segment(a, b, bends[a[1][0]] if a[1][1] != b[1][1] else 0, book) for a, b in pairwise(stops)]
    words = [stage(text, at, "middle") for text, at in parts]
    marks = [stop(c, p, (p[0], p[1] + 38), "middle", book) for c, p in stops]
    return svg("wide", (720, 392), road + words + marks, legend(book))


def narrow(book: Path) -> str:
    """One stop under the other, the road swinging gently, for a phone."""
    stops: list[tuple[Chapter, Point]] = []
    parts: list[tuple[str, Point]] = []
    y, part = 22.0, None
    for chapter in CHAPTERS:
        y += 50
        if chapter.part != part:
            part, y = chapter.part, y + (34 if part else -24)
            parts.append((PARTS[part], (100, y - 30)))
        stops.append((chapter, (38 + 24 * (chapter.number % 2), y + 4)))
    road = [segment(a, b, 0, book) for a, b in pairwise(stops)]
    words = [stage(text, at, "start") for text, at in parts]
    marks = [stop(c, p, (100, p[1] + 5), "start", book) for c, p in stops]
    return svg("narrow", (320, y + 30), road + words + marks, legend(book))


def stage(text: str, at: Point, anchor: str) -> str:
    return f'<text class="stage" text-anchor="{anchor}" x="{at[0]:g}" y="{at[1]:g}">{escape(text)}</text>'


def segment(start: tuple[Chapter, Point], end: tuple[Chapter, Point], bend: float, book: Path) -> str:
    """The road from one stop to the next: solid where both are written."""
    (a, (x0, y0)), (b, (x1, y1)) = start, end
    kind = "walked" if a.file(book) and b.file(book) else "open"
    if bend:
        curve = f"C {x0 + bend:g} {y0:g} {x1 + bend:g} {y1:g} {x1:g} {y1:g}"
    else:
        middle = (y0 + y1) / 2
        curve = f"C {x0:g} {middle:g} {x1:g} {middle:g} {x1:g} {y1:g}"
    return f'<path class="path {kind}" d="M {x0:g} {y0:g} {curve}"/>'


def stop(chapter: Chapter, at: Point, label: Point, anchor: str, book: Path) -> str:
    """One stop: a circle with the chapter's number, its short name, and a link once it is written."""
    x, y = at
    written = chapter.file(book) is not None
    drawn = (
        f'<g class="stop {"written" if written else "open"}"><circle cx="{x:g}" cy="{y:g}" r="17"/>'
        f'<text class="number" x="{x:g}" y="{y + 5.5:g}">{chapter.number}</text>'
        f'<text text-anchor="{anchor}" x="{label[0]:g}" y="{label[1]:g}">{escape(chapter.short)}</text></g>'
    )
    return f'<a href="{chapter.id}.html">{drawn}</a>' if written else drawn


def legend(book: Path) -> str:
    """What a hollow stop means, as long as there is one."""
    return "" if all(chapter.file(book) for chapter in CHAPTERS) else f" {LEGEND}"


def svg(name: str, size: tuple[float, float], parts: list[str], words: str) -> str:
    inside = "\n  ".join(parts)
    return (
        f'<svg class="{name}" viewBox="0 0 {size[0]:g} {size[1]:g}" role="group" aria-label="{ALT}{words}">\n'
        f"  {inside}\n</svg>"
    )


def road_html(book: Path = BOOK) -> str:
    """The whole figure, both drawings, as it stands in book/_static/road.html."""
    caption = f"The road of the course.{legend(book)}"
    drawn = f"{wide(book)}\n{narrow(book)}\n<figcaption><p>{caption}</p></figcaption>"
    return f'<!-- {MADE}: do not edit -->\n<figure class="road">\n{drawn}\n</figure>\n'


def chapter_map(book: Path = BOOK) -> str:
    """The list of chapters as MyST Markdown, with links to those that are written."""
    lines = [f"<!-- {MADE}: do not edit -->"]
    for part, title in PARTS.items():
        lines += ["", f"**{title}**", ""]
        for chapter in (c for c in CHAPTERS if c.part == part):
            page = chapter.file(book)
            name = f"[{chapter.title}]({page.name})" if page else chapter.title
            mark = "" if page else " [to come]{.verdict .verdict-open}"
            number = f"{chapter.number}. "
            lines += [f"{number}{name}{mark}\\", " " * len(number) + chapter.answers]
    if legend(book):
        lines += ["", "Chapters marked *to come* are planned and not yet written."]
    return "\n".join(lines) + "\n"


def files(book: Path = BOOK) -> dict[Path, str]:
    """What the command writes: path -> text."""
    static = book / "_static"
    return {
        static / "road.html": road_html(book),
        book / "chapter_map.md": chapter_map(book),
        static / "pictures" / "one_page.svg": one_page(),
    }


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder road", description="Draw the map of the course.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args(argv).check
    stale = [p for p, text in files().items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    if check and stale:
        names = ", ".join(str(p.relative_to(ROOT)) for p in stale)
        print(f"Out of date: {names}. Run `autograder road`.", file=sys.stderr)
        return 1
    for path in stale:
        path.write_text(files()[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0
