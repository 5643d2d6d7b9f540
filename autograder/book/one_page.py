"""The whole road on one page: `book/_static/pictures/one_page.svg`, written by `autograder road`.

A picture of its own and not part of a page, so that it can be printed: vector, transparent, in the colours of the
figures, which stand out from both themes. 400 units are the width of a phone.
"""

from html import escape
from math import cos, exp, pi, sin

from autograder.book.stations import STATIONS, Station
from autograder.book.style import INK, PALETTE

WIDTH, TOP, ROW = 400, 16, 78
ROAD, WORDS, PICTURE = 26, 58, 296
"""Where the road runs, where words begin, and where the small pictures begin (92 wide, 58 high)."""
BLUE, ORANGE, GREEN, PINK = (PALETTE[name] for name in ("blue", "orange", "green", "pink"))
FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif"
TITLE = "The whole road on one page"


def one_page() -> str:
    """The SVG of the figure: a stop, four words, a formula and a small picture for each chapter."""
    height = TOP + ROW * len(STATIONS)
    first, last = TOP + ROW / 2, height - ROW / 2
    parts = [line([(ROAD, first), (ROAD, last)], BLUE, 3)]
    for i, station in enumerate(STATIONS):
        parts += stop(station, TOP + ROW * i)
    inside = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH + 60}" '
            f'height="{height * (WIDTH + 60) / WIDTH:g}" font-family="{FONT}">\n'
            f"<title>{TITLE}</title>\n{inside}\n</svg>\n")


def stop(station: Station, y: float) -> list[str]:
    """One row: number, name, what it says, formula, picture."""
    number, middle = station.chapter.number, y + ROW / 2
    picture = PICTURES.get(station.id, no_picture)()
    return [
        f'<circle cx="{ROAD}" cy="{middle:g}" r="15" fill="{BLUE}"/>',
        text(ROAD, middle + 5, str(number), "#fdfdfb", 14, "middle", bold=True),
        text(WORDS, y + 22, station.chapter.short, BLUE, 15.5, bold=True),
        text(WORDS, y + 41, station.says, INK, 13),
        text(WORDS, y + 62, station.formula, ORANGE, 14.5),
        f'<g transform="translate({PICTURE} {y + 12:g})">{"".join(picture)}</g>',
    ]


def text(x: float, y: float, words: str, colour: str, size: float, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}"{weight} '
            f'fill="{colour}" xml:space="preserve">{escape(words)}</text>')


def line(points, colour: str, width: float = 1.5) -> str:
    path = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
    return (f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            'stroke-linecap="round" stroke-linejoin="round"/>')


def dot(x: float, y: float, r: float, colour: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{colour}"/>'


def box(x: float, y: float, w: float, h: float, colour: str, fill: float = 0.15) -> str:
    return (f'<rect x="{x:.4g}" y="{y:.4g}" width="{w:.4g}" height="{h:.4g}" rx="{min(2, w / 4):.2g}" fill="{colour}" '
            f'fill-opacity="{fill:.3g}" stroke="{colour}" stroke-width="1"/>')


def cells(x: float, y: float, side: float, shade, n: int = 5, colour: str = BLUE) -> list[str]:
    """A matrix of n by n cells, each as dark as shade(i, j) says."""
    return [box(x + side * j, y + side * i, side - 1, side - 1, colour, shade(i, j))
            for i in range(n) for j in range(n)]


def through_one_vector() -> list[str]:
    ys = [4 + 10 * i for i in range(6)]
    fan = [line([(8, y), (46, 29), (84, y)], INK, 1) for y in ys]
    return [*fan, *(dot(x, y, 3, c) for x, c in ((8, ORANGE), (84, BLUE)) for y in ys), dot(46, 29, 7, PINK)]


def looking_back() -> list[str]:
    weights = (0.6, 1, 5, 1.4, 0.6)
    fan = [line([(8 + 19 * i, 50), (60, 10)], PINK, w) for i, w in enumerate(weights)]
    return [*fan, *(dot(8 + 19 * i, 50, 4, ORANGE) for i in range(5)), dot(60, 10, 5, BLUE)]


def two_arrows() -> list[str]:
    def arrow(x, y, colour):
        back = [(x - 9, y - 1), (x, y), (x - 5, y + 8)]
        return [line([(18, 52), (x, y)], colour, 2.5), line(back, colour, 2.5)]

    arc = [(18 + 34 * cos(a), 52 - 34 * sin(a)) for a in (0.42, 0.55, 0.68, 0.81, 0.92)]
    return [*arrow(80, 24, ORANGE), *arrow(56, 4, BLUE), line(arc, INK, 1)]


def all_pairs() -> list[str]:
    return cells(18, 0, 11.5, lambda i, j: 0.12 + 0.78 * exp(-((i * 3 + 1) % 5 - j) ** 2 / 1.2))


def sharp_and_soft() -> list[str]:
    sharp, soft = (0.04, 0.06, 0.95, 0.05), (0.28, 0.36, 0.75, 0.32)
    bars = [box(x + 10 * i, 50 - 46 * v, 7, 46 * v, c, 0.7)
            for x, values, c in ((0, sharp, INK), (52, soft, BLUE)) for i, v in enumerate(values)]
    return [*bars, line([(42, 28), (49, 28), (46, 25)], INK), line([(49, 28), (46, 31)], INK)]


def three_masked_heads() -> list[str]:
    def head(x, y, shift, colour):
        return cells(x, y, 7, lambda i, j: 0 if j > i else 0.8 if (i + shift) % 3 == j % 3 else 0.25, 4, colour)

    return [*head(0, 14, 0, BLUE), *head(32, 14, 1, GREEN), *head(64, 14, 2, PINK)]


def waves() -> list[str]:
    def wave(turns, y, colour):
        return line([(x, y - 9 * sin(2 * pi * turns * x / 92)) for x in range(0, 93, 2)], colour, 2)

    return [wave(6, 9, BLUE), wave(2.5, 29, GREEN), wave(1, 49, PINK)]


def block() -> list[str]:
    around = [line([(34, y), (14, y), (14, y - 22), (34, y - 22)], GREEN, 2) for y in (55, 28)]
    boxes = [box(22, y, 44, 14, c, 0.25) for y, c in ((37, BLUE), (10, ORANGE))]
    return [line([(44, 58), (44, 2)], INK), *around, *boxes, text(72, 34, "× N", INK, 13)]


def curves() -> list[str]:
    square = [(x, 54 - 50 * (x / 84) ** 2) for x in range(0, 85, 4)]
    return [line([(0, 0), (0, 56), (90, 56)], INK, 1), line(square, BLUE, 2.2), line([(0, 54), (88, 22)], ORANGE, 2.2)]


def three_masks() -> list[str]:
    full, past = (lambda i, j: 0.6), (lambda i, j: 0.6 if j <= i else 0)
    return [*cells(0, 16, 6.5, full, 4, ORANGE), *cells(33, 16, 6.5, past, 4, BLUE),
            *cells(66, 2, 6.5, full, 4, ORANGE), *cells(66, 30, 6.5, past, 4, BLUE)]


def well_and_ill() -> list[str]:
    well = [(x, 8 + 44 * (1 - exp(-x / 18))) for x in range(0, 91, 5)]
    ill = [(x, 8 + 17 * (1 - exp(-x / 12)) + 2 * sin(x)) for x in range(0, 91, 5)]
    return [line([(0, 0), (0, 56), (90, 56)], INK, 1), line(well, GREEN, 2.2), line(ill, PINK, 2.2)]


def no_picture() -> list[str]:
    return [line([(36, 54), (36, 6)], INK, 2.5), f'<path d="M36 6 L72 16 L36 27 z" fill="{ORANGE}"/>']


PICTURES = {
    "01_bottleneck": through_one_vector, "02_bahdanau": looking_back, "03_luong": two_arrows,
    "04_self_attention": all_pairs, "05_scaling": sharp_and_soft, "06_multi_head": three_masked_heads,
    "07_positional_encoding": waves, "08_transformer": block, "09_comparison": curves, "10_families": three_masks,
    "11_questions": well_and_ill,
}  # fmt: skip
