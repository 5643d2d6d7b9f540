"""One look for every figure of the course.

A figure is drawn once and read on white paper, on a dark page and on a phone.
So backgrounds are transparent, text and lines are mid-grey, and every colour of the palette has the same
middle lightness: at least 3.4 : 1 against both pages, text 4 : 1 (`tests/book/test_style.py` measures it).
Hue alone must not carry meaning, so the line style changes with the colour.
"""

from collections.abc import Sequence

import altair as alt
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython import get_ipython
from matplotlib.colors import LinearSegmentedColormap
from matplotlib_inline.backend_inline import set_matplotlib_formats

INK = "#7d7d7d"
"""Text, axes and ticks: as far from white as from the dark page."""

PALETTE = {
    "blue": "#2f86c9",
    "orange": "#d8601a",
    "green": "#0e9a75",
    "pink": "#c766a0",
    "gold": "#a48218",
    "grey": INK,
}
"""Colour-blind-safe colours by name (after Okabe and Ito), all of middle lightness."""

PAGES = {"light": "#fdfdfb", "dark": "#15191f"}
"""The two page backgrounds, the same as in book/_static/course.css."""

_PAPER = "#f4f1e8"

HEAT_COLOURS = [_PAPER, "#a9cfe0", "#4f97c4", "#1f5c93", "#0d2d55"]
DIVERGING_COLOURS = ["#a8450c", "#e8a87c", _PAPER, "#7fb6dc", "#1b5a94"]

HEAT = LinearSegmentedColormap.from_list("course_heat", HEAT_COLOURS)
"""From paper to deep blue, for weights from 0 upwards; reads in grey too."""

DIVERGING = LinearSegmentedColormap.from_list("course_diverging", DIVERGING_COLOURS)
"""Orange below zero, blue above: for scores of either sign. Use a symmetric vmin and vmax."""

WIDTH = 4.5
"""Inches. Wider figures have labels that nobody can read on a phone."""

_LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1))]

RC = {
    "figure.figsize": (WIDTH, 2.9),
    "figure.dpi": 100,
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "savefig.bbox": "tight",
    "font.size": 10,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with Matplotlib: the same figure on every machine
    "mathtext.fontset": "cm",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=list(PALETTE.values())) + cycler(linestyle=_LINES),
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": INK,
    "grid.alpha": 0.22,
    "grid.linewidth": 0.6,
    "lines.linewidth": 2,
    "lines.markersize": 5,
    "legend.frameon": False,
    "image.cmap": "course_heat",
    "svg.hashsalt": "no-step-skipped",  # stable ids, so that a figure drawn again is the same file
}


def use_course_style() -> None:
    """Switch Matplotlib and Altair to the course's look; in a notebook also to sharp (2x) pictures."""
    for colours in (HEAT, DIVERGING):
        if colours.name not in mpl.colormaps:
            mpl.colormaps.register(colours)
    plt.rcParams.update(RC)
    alt.theme.register("course", enable=True)(chart_theme)
    # Plain data that JupyterLab draws itself, and the book too; Altair's HTML output asks a CDN for scripts.
    alt.renderers.enable("mimetype")
    if get_ipython() is not None:
        set_matplotlib_formats("retina")


def chart_theme() -> alt.theme.ThemeConfig:
    """The same palette and the same grey for interactive charts; the book adapts the grey to its theme."""
    words = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12}
    lines = {"gridColor": INK, "gridOpacity": 0.22, "domainColor": INK, "tickColor": INK}
    return {
        "config": {
            "background": "transparent",
            "view": {"stroke": None, "continuousWidth": 300, "continuousHeight": 220},
            "axis": words | lines,
            "legend": words,
            "header": words,
            "title": {"color": INK, "fontSize": 13, "anchor": "start"},
            "range": {
                "category": list(PALETTE.values()),
                "ramp": HEAT_COLOURS,
                "heatmap": HEAT_COLOURS,
                "diverging": DIVERGING_COLOURS,
            },
        }
    }


def heat_map(
    ax,
    values,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    decimals: int | None = None,
    cmap=HEAT,
    vmin: float | None = None,
    vmax: float | None = None,
):
    """Draw a matrix (rows, columns) as labelled cells and return the image.

    `decimals` writes each value into its cell; the text is dark on light cells and light on dark ones.
    """
    values = np.asarray(values, dtype=float)
    for labels, axis, name in ((rows, 0, "row"), (columns, 1, "column")):
        if len(labels) not in (0, values.shape[axis]):
            raise ValueError(f"{len(labels)} {name} labels for {values.shape[axis]} {name}s; give one for each.")
    image = ax.imshow(values, cmap=cmap, vmin=vmin, vmax=vmax, aspect="equal")
    ax.set_xticks(range(len(columns)), columns, rotation=90 if max(map(len, columns), default=0) > 3 else 0)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    if decimals is not None:
        for (i, j), value in np.ndenumerate(values):
            colour = _text_on(image.cmap(image.norm(value)))
            ax.text(j, i, f"{value:.{decimals}f}", ha="center", va="center", fontsize=8, color=colour)
    return image


def _text_on(colour) -> str:
    return "#111111" if luminance(colour) > 0.18 else "#ffffff"


def luminance(colour) -> float:
    """Relative luminance of a colour, as WCAG 2 defines it: 0 for black, 1 for white."""
    channels = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other) -> float:
    """Contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
