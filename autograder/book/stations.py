"""The twelve stations of the road: what each one computes, with which shapes, at what cost, and where it was shown.

One list for two figures of chapter 12: the drawing of the whole road on one page (`one_page.py`) and the road whose
stations can be opened. Formulas are written in Unicode, because neither figure can set mathematics.
"""

from dataclasses import dataclass

import altair as alt

from autograder.book.chapters import BY_ID, CHAPTERS, Chapter
from autograder.book.style import INK, PALETTE
from autograder.settings import book_link

IN_A_ROW = 6
LINE = 44
"""Letters that fit into a line on a phone."""


@dataclass(frozen=True)
class Station:
    """One chapter in four lines; `place` is a label of its page."""

    id: str
    says: str
    formula: str
    shapes: str
    cost: str
    place: str

    @property
    def chapter(self) -> Chapter:
        return BY_ID[self.id]

    @property
    def name(self) -> str:
        return f"{self.chapter.number} {self.chapter.short}"

    @property
    def link(self) -> str:
        return f"{self.id}#{self.place}" if self.place else self.id


STATIONS = [
    Station("01_bottleneck", "all of the source in one vector", "c = h(n)",
            "(batch, src, d) → (batch, d)", "n steps in a row, n·d² each time", "claim-c10"),
    Station("02_bahdanau", "look back before every word", "vᵀ tanh(Wₛ sₜ₋₁ + Wₕ hⱼ)",
            "(batch, d), (batch, src, d) → (batch, src)", "a small network for each pair of words", "claim-c20"),
    Station("03_luong", "match by multiplying", "sₜᵀ hⱼ",
            "(batch, d), (batch, src, d) → (batch, src)", "d multiplications for each pair", "claim-c30"),
    Station("04_self_attention", "each word looks at every word", "qᵢ · kⱼ → aᵢⱼ,  Σⱼ aᵢⱼ vⱼ",
            "(batch, n, n) scores → (batch, n, d)", "n² scores, no step that waits", "claim-c46"),
    Station("05_scaling", "one root keeps the softmax soft", "softmax(Q Kᵀ / √dₖ) V",
            "(batch, n, n) → (batch, n, n)", "one division for each score", "claim-c49"),
    Station("06_multi_head", "several views, never the future", "[head₁, …, headₕ] W_O",
            "(batch, n, d) → (batch, heads, n, d / heads)", "as one wide head; heads times the weights", "claim-c50"),
    Station("07_positional_encoding", "order, put back", "x + PE(pos):  sin, cos",
            "(n, d), added to (batch, n, d)", "a table, and nothing to learn", "claim-c62"),
    Station("08_transformer", "gather, compute, keep the way free", "LayerNorm(x + Sublayer(x))",
            "(batch, n, d) → (batch, n, d)", "12·n·d² + 2·n²·d for an encoder layer", "claim-c72"),
    Station("09_comparison", "the square, and when to pay it", "n²·d    n·d²    k·n·d²",
            "path: 1, n − 1, log n", "n² numbers a head, unless in blocks", "claim-c90"),
    Station("10_families", "three models from the same blocks", "encoder,  decoder,  both",
            "(batch, n) → (batch, n, vocab)", "one pass to read, one for each word said", "claim-c101"),
    Station("11_questions", "what breaks, and how it shows", "x + Sublayer(LayerNorm(x))",
            "(16, 4000, 4000) scores in float16", "2·16·4000² bytes = 512 MB", "claim-c114"),
    Station("12_takeaways", "what to keep", "attend, compute, N times",
            "seven points", "40 minutes", "seven-points"),
]  # fmt: skip


def open_road() -> alt.LayerChart:
    """The road as a figure: a station is chosen with a finger, the pointer or the list, and says its four lines."""
    rows = [_row(i, station) for i, station in enumerate(STATIONS)]
    pick = alt.selection_point(
        name="pick", fields=["station"], value=[{"station": STATIONS[4].name}], empty=False, toggle=False,
        clear=False, on="click",
        bind={"station": alt.binding_select(options=[station.name for station in STATIONS], name="Station ")})
    chart = alt.Chart(alt.Data(values=rows))
    chosen = chart.transform_filter(pick)
    layers = [*_stops(chart, pick), *_words(chosen)]
    return alt.layer(*layers).properties(width=300, height=320, description=(
        "A road with twelve numbered stops in two rows. Below it, for the chosen stop: what it says, its formula, "
        "its shapes, its cost, and a link to the place in the book."))


LINES = ("formula", "shapes", "cost")
TITLE, SAYS, FIRST, STEP, BELOW, LINK, LAST = -1.65, -2.05, -2.55, 0.88, 0.36, -5.25, -5.5
"""Heights of the words below the two rows of stops, which lie at 0 and -1: a label, and its line a little below."""


def _row(i: int, station: Station) -> dict:
    """The record of one stop; the second row runs back from right to left."""
    row, column = divmod(i, IN_A_ROW)
    return {"i": i, "x": IN_A_ROW - 1 - column if row else column, "y": -row, "number": str(station.chapter.number),
            "station": station.name, "says": station.says, "formula": station.formula,
            "shapes": station.shapes, "cost": station.cost, "link": book_link(station.link),
            "open": f"Open chapter {station.chapter.number} at this place"}


def _scales() -> dict:
    return {"x": alt.X("x:Q", scale=alt.Scale(domain=[-0.45, IN_A_ROW - 0.55]), axis=None),
            "y": alt.Y("y:Q", scale=alt.Scale(domain=[LAST, 0.45]), axis=None)}


def _stops(chart, pick) -> tuple:
    """The road, its stops and their numbers; a stop is large enough for a finger."""
    at = _scales()
    road = chart.mark_line(color=PALETTE["blue"], strokeWidth=3).encode(**at, order="i:Q")
    colour = alt.condition(pick, alt.value(PALETTE["orange"]), alt.value(PALETTE["blue"]))
    stops = chart.mark_point(shape="circle", filled=True, size=900, opacity=1, cursor="pointer").encode(
        **at, color=colour, tooltip=[alt.Tooltip("station:N", title="station")]).add_params(pick)
    numbers = chart.mark_text(fontSize=14, fontWeight="bold", color="#fdfdfb", cursor="pointer").encode(
        **at, text="number:N")
    return road, stops, numbers


def _text(chosen, name: str, y: float, **look):
    return chosen.mark_text(align="left", **look).encode(
        x=alt.X(datum=-0.4, type="quantitative"), y=alt.Y(datum=y, type="quantitative"), text=f"{name}:N")


def _words(chosen) -> list:
    """Title, three labelled lines and the link of the chosen stop."""
    layers = [_text(chosen, "station", TITLE, fontSize=15, fontWeight="bold", color=PALETTE["orange"]),
              _text(chosen, "says", SAYS, fontSize=14, color=INK)]
    for i, name in enumerate(LINES):
        labelled = chosen.transform_calculate(label=f"'{name}'")
        layers.append(_text(labelled, "label", FIRST - STEP * i, fontSize=11, color=PALETTE["blue"]))
        layers.append(_text(chosen, name, FIRST - STEP * i - BELOW, fontSize=14, color=INK))
    link = _text(chosen, "open", LINK, fontSize=14, fontWeight="bold", color=PALETTE["blue"], cursor="pointer")
    # Beside a selection, Vega-Lite lets a mark be clicked only if it has a tooltip.
    return [*layers, link.encode(href="link:N", tooltip=alt.Tooltip("station:N", title="open"))]


if len(STATIONS) != len(CHAPTERS):
    raise ValueError(f"{len(STATIONS)} stations for {len(CHAPTERS)} chapters; each chapter needs one.")
