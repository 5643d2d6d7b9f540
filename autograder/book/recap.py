"""What chapter 12 needs to look back: what the claims' cells printed, and the figures that count them."""

import textwrap
from collections import Counter
from collections.abc import Sequence

import matplotlib.pyplot as plt

from autograder.book.claims import SECTIONS, SETTLED, Claim, read_cells, read_claims, settle
from autograder.book.style import INK, PALETTE

COLOURS = {"holds": "green", "corrected": "orange", "cited": "blue", "not yet covered": "grey"}
HATCHES = {"holds": "", "corrected": "//", "cited": "..", "not yet covered": "xx"}
WIDTH = 44
"""Letters in a printed line: what a phone shows without scrolling."""


def measured(claim: Claim) -> str:
    """What the claim's cell printed when its chapter was run; the verdict where no cell settles it."""
    if claim.verdict not in SETTLED:
        return claim.verdict
    return settle(claim, read_cells(claim.chapter)).measured


def recall(*ids: str) -> None:
    """Print what was measured for each claim, in lines that fit. Raises KeyError for an id that the list lacks."""
    claims = {claim.id: claim for claim in read_claims()}
    for id in ids:
        print(textwrap.fill(f"{id}: {measured(claims[id])}", WIDTH, subsequent_indent=" " * (len(id) + 2)))


def seven_picture(pairs: Sequence[tuple[str, str, float, str, float]]) -> None:
    """Two bars for each point, (title, one name, its value, another name, its value); each pair has its own scale."""
    _, ax = plt.subplots(figsize=(4.5, 0.95 * len(pairs)))
    for i, (title, first, one, second, other) in enumerate(pairs):
        top, most = -3.2 * i, max(one, other)
        ax.text(0, top + 0.72, title, fontsize=10, fontweight="bold", va="center")
        without, with_it = (top, first, one, "orange", "//"), (top - 0.95, second, other, "blue", "")
        for y, name, value, colour, hatch in (without, with_it):
            ax.barh(y, value / most, height=0.75, color=PALETTE[colour], hatch=hatch, alpha=0.75, ec=INK, linewidth=0)
            ax.text(value / most + 0.02, y, f"{figure(value)}  {name}", fontsize=9, va="center")
    ax.set(xlim=(0, 1.75), ylim=(-3.2 * len(pairs) + 1.4, 1.3))
    ax.axis("off")
    plt.show()


def figure(value: float) -> str:
    """A number as short as a label wants it; below a thousandth only its power of ten matters."""
    return f"{value:.0e}" if 0 < value < 1e-3 else f"{value:.1f}" if value < 10 and value % 1 else f"{value:,.0f}"


def verdict_picture(claims: Sequence[Claim]) -> None:
    """How many claims of each section hold, were corrected or are cited: one bar a section."""
    _, ax = plt.subplots(figsize=(4.5, 5.2))
    sections = list(SECTIONS)
    counts = {section: Counter(c.verdict for c in claims if c.section == section) for section in sections}
    used = [verdict for verdict in COLOURS if any(count[verdict] for count in counts.values())]
    left = [0] * len(sections)
    for verdict in used:
        widths = [counts[section][verdict] for section in sections]
        ax.barh(range(len(sections)), widths, left=left, height=0.62, label=verdict, alpha=0.8, linewidth=0,
                color=PALETTE[COLOURS[verdict]], hatch=HATCHES[verdict], edgecolor=INK)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    ax.set_yticks(range(len(sections)), [textwrap.fill(SECTIONS[section], 24) for section in sections])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xlabel="claims")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(used), columnspacing=1, handlelength=1.2)
    plt.show()


def said_picture(rows: Sequence[tuple[str, float, float]], unit: str) -> None:
    """What is said (a ring) and what was counted (a square), (name, said, counted) for each row."""
    _, ax = plt.subplots(figsize=(4.5, 0.62 * len(rows) + 1.1))
    for i, (_, said, counted) in enumerate(rows):
        ax.plot([said, counted], [i, i], color=INK, linewidth=1.5)
        ax.plot(said, i, "o", ms=9, color=PALETTE["orange"], fillstyle="none", mew=2, label=None if i else "said")
        ax.plot(counted, i, "s", ms=8, color=PALETTE["blue"], label=None if i else "counted")
        ax.annotate(f"{counted:.1f}", (counted, i), (0, 9), textcoords="offset points", ha="center", fontsize=9)
    ax.set_yticks(range(len(rows)), [name for name, *_ in rows])
    ax.set(xlabel=unit, ylim=(len(rows) - 0.5, -0.7), xlim=(0, 70))
    ax.grid(axis="y", visible=False)
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    plt.show()
