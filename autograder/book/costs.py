"""The figures of chapter 9: who is reached, what a layer costs in time, how far a gradient gets, and three costs."""

from collections.abc import Sequence

import altair as alt
import matplotlib.pyplot as plt
from torch import Tensor

from autograder.book.style import INK, PALETTE, heat_map

LINES = {"self-attention": ("blue", "-", "o"), "GRU": ("orange", "--", "s"), "convolution": ("green", "-.", "^")}
KINDS = ("self-attention", "RNN", "convolution")
SHAPES = ("circle", "square", "triangle-up")
DASHES = ([1, 0], [6, 3], [8, 3, 2, 3])
LARGEST = 16
"""The longest sequence of the interactive figure is 2^16."""


def reach_picture(plain: Tensor, dilated: Tensor) -> None:
    """Which positions know the first input after each layer: bool (layers, seq) each, the first row the input."""
    _, axes = plt.subplots(2, 1, figsize=(4.5, 2.9), sharex=True)
    for ax, reached, title in zip(axes, (plain, dilated), ("plain", "dilated"), strict=True):
        heat_map(ax, reached.float(), vmin=0, vmax=1.3)
        ax.set_aspect("auto")
        ax.set(title=title, ylabel="layer", yticks=range(len(reached)), yticklabels=["input", *range(1, len(reached))])
    last = plain.size(1) - 1
    axes[1].set(xlabel="position", xticks=[0, 20, 40, 60, last], xticklabels=[0, 20, 40, 60, last])
    axes[1].tick_params(axis="x", rotation=0)
    plt.show()


def tile_picture() -> None:
    """Five blocks of scores, of which only the third exists, and what is carried from one to the next."""
    _, ax = plt.subplots(figsize=(4.5, 1.9))
    for i in range(5):
        made, now = i < 2, i == 2
        ax.add_patch(plt.Rectangle((i * 1.15, 0), 1, 3, facecolor=PALETTE["blue"] if now else "none", linewidth=1.2,
                                   edgecolor=PALETTE["blue"] if now else INK, alpha=0.35 if made else 1,
                                   linestyle="-" if made or now else ":"))
        ax.text(i * 1.15 + 0.5, -0.15, "gone" if made else "now" if now else "later", ha="center", va="top")
    ax.annotate("", (6.9, 3.35), (2.8, 3.1), arrowprops={"arrowstyle": "->", "color": INK,
                                                         "connectionstyle": "arc3,rad=-0.15"})
    for left, width, name in ((6.6, 0.25, "$m$"), (7.1, 0.25, "$z$"), (7.6, 1.0, "$o$")):
        ax.add_patch(plt.Rectangle((left, 0), width, 3, facecolor=PALETTE["orange"], edgecolor="none"))
        ax.text(left + width / 2, -0.15, name, ha="center", va="top", fontsize=13)
    ax.text(0, 3.2, "scores: keys across", va="bottom", fontsize=9)
    ax.text(-0.15, 1.5, "queries", rotation=90, ha="right", va="center", fontsize=9)
    ax.set(xlim=(-0.6, 8.8), ylim=(-0.8, 4.1))
    ax.axis("off")
    plt.show()


def time_picture(by_length: dict[str, Sequence[float]], lengths: Sequence[int], by_width: dict[str, Sequence[float]],
                 widths: Sequence[int], crossings: dict[str, float | None]) -> None:
    """Time as a multiple of self-attention's own, against length and against width; the crossings ringed.
    """
    _, axes = plt.subplots(2, 1, figsize=(4.5, 5.2))
    for ax, times, sizes in ((axes[0], by_length, lengths), (axes[1], by_width, widths)):
        for name, (colour, style, marker) in LINES.items():
            ratios = [mine / base for mine, base in zip(times[name], times["self-attention"], strict=True)]
            ax.plot(sizes, ratios, color=PALETTE[colour], linestyle=style, marker=marker, label=name)
        ax.set(xscale="log", yscale="log", ylabel="time / self-attention's")
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.yaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
    # All lines fall: the label of the earliest crossing is free of them below, those of later ones above.
    free = {"xytext": (-5, -7), "ha": "right", "va": "top"}
    for n, name in sorted((n, name) for name, n in crossings.items() if n):
        colour = PALETTE[LINES[name][0]]
        axes[0].plot(n, 1, "o", markersize=13, fillstyle="none", color=colour)
        axes[0].annotate(f"n ≈ {n:.0f}", (n, 1), textcoords="offset points", fontsize=9, color=colour, **free)
        free = {"xytext": (6, 7)}
    axes[0].set(xlabel="length n (d = 64)")
    axes[1].set(xlabel="width d (n = 512)")
    axes[0].legend()
    plt.show()


def gradient_picture(reach: dict[str, Tensor]) -> None:
    """The gradient at each distance from the last output, divided by that at distance 1: (seeds, seq) for each kind."""
    _, ax = plt.subplots(figsize=(4.5, 3.0))
    for name, values in reach.items():
        colour, style, marker = LINES[name]
        ax.plot(values.mean(dim=0), color=PALETTE[colour], linestyle=style, marker=marker, markevery=8, label=name)
    ax.set(xlabel="distance from the output", ylabel="gradient", yscale="log", ylim=(1e-18, 1e2))
    ax.legend(loc="lower left")
    plt.show()


def three_costs() -> alt.VConcatChart:
    """Work against n for the three kinds, and a table of work, steps and path; sliders for n, d and the kernel k."""
    sliders = {"log_n": ("log₂ n ", 10, 4, LARGEST), "log_d": ("log₂ d ", 9, 4, 11), "k": ("k ", 3, 2, 15)}
    params = [alt.param(name=name, value=value, bind=alt.binding_range(min=low, max=high, step=1, name=words))
              for name, (words, value, low, high) in sliders.items()]
    return alt.vconcat(_curves().properties(width=250, height=210), _table().properties(width=290, height=145),
                       spacing=4).add_params(*params).properties(
        description="Above, the work of self-attention, an RNN and a convolution against the length n, on logarithmic "
        "axes: a steep line crosses two parallel ones, and diamonds mark the crossings at n = d and n = k d. Below, "
        "a table of work, sequential steps and path length of each. Sliders set n, d and the kernel k.")


def _work(n: str) -> dict[str, str]:
    """Vega expressions of the three counts."""
    d = "pow(2, log_d)"
    return {"self-attention": f"{n} * {n} * {d}", "RNN": f"{n} * {d} * {d}", "convolution": f"k * {n} * {d} * {d}"}


def _curves() -> alt.LayerChart:
    x = alt.X("n:Q", title="length n", scale=alt.Scale(type="log", base=2, domain=[2**4, 2**LARGEST], nice=False),
              axis=alt.Axis(values=[2**e for e in range(4, LARGEST + 1, 3)], format="d"))
    y = alt.Y("work:Q", title="multiplications", scale=alt.Scale(type="log", domain=[1e3, 1e13]),
              axis=alt.Axis(values=[10**e for e in range(3, 14, 2)], format=".0e"))
    legend = alt.Legend(title=None, orient="top", direction="horizontal", columnPadding=8)
    colour = alt.Color("kind:N", sort=KINDS, legend=legend,
                       scale=alt.Scale(domain=KINDS, range=[PALETTE[c] for c in ("blue", "orange", "green")]))
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=KINDS, range=DASHES), legend=None)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=KINDS, range=SHAPES), legend=None)
    lines = (_three(alt.Chart(alt.sequence(4, LARGEST + 0.1, 1, as_="e")), "pow(2, datum.e)")
             .mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour, strokeDash=dash))
    here = alt.Chart(alt.Data(values=[{}])).transform_calculate(n="pow(2, log_n)")
    rule = here.mark_rule(color=INK).encode(x=x)
    marks = (_three(alt.Chart(alt.Data(values=[{}])), "pow(2, log_n)")
             .mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y, color=colour, shape=shape))
    crossings = (alt.Chart(alt.Data(values=[{"end": 0}, {"end": 1}]))
                 .transform_calculate(n="pow(2, log_d) * (datum.end ? k : 1)")
                 .transform_calculate(work="datum.n * datum.n * pow(2, log_d)")
                 .mark_point(shape="diamond", size=170, color=INK, strokeWidth=2).encode(x=x, y=y))
    return rule + lines + marks + crossings


def _three(chart: alt.Chart, n: str) -> alt.Chart:
    """A row for each kind, with n and its work."""
    return (chart.transform_calculate(n=n).transform_calculate(**_work("datum.n"))
            .transform_fold(list(KINDS), as_=["kind", "work"]))


def _table() -> alt.LayerChart:
    n, words = "pow(2, log_n)", _work("pow(2, log_n)")
    steps = {"self-attention": "'1'", "RNN": f"format({n}, ',d')", "convolution": "'1'"}
    paths = {"self-attention": "'1'", "RNN": f"format({n} - 1, ',d')",
             "convolution": "format(ceil(log_n * log(2) / log(k) - 1e-9), 'd')"}
    rows = [{"row": i, "of": kind} for i, kind in enumerate(("sizes", "", *KINDS))]
    head = f"'n = ' + format({n}, ',d') + ', d = ' + format(pow(2, log_d), ',d')"
    columns = {"kind": (0, "left", {"sizes": head} | {kind: f"'{kind}'" for kind in KINDS}, "''"),
               "work": (160, "right", {kind: f"format({text}, '.2~e')" for kind, text in words.items()}, "'work'"),
               "steps": (220, "right", steps, "'steps'"), "path": (285, "right", paths, "'path'")}
    layers = []
    for name, (x, align, cells, title) in columns.items():
        cells = {"sizes": "''"} | cells
        text = "".join(f"datum.of == '{kind}' ? {cell} : " for kind, cell in cells.items()) + title
        layers.append(alt.Chart(alt.Data(values=rows)).transform_calculate(**{name: text})
                      .mark_text(align=align, fontSize=13, color=INK)
                      .encode(x=alt.value(x), y=alt.Y("row:O", axis=None), text=f"{name}:N"))
    return alt.layer(*layers)
