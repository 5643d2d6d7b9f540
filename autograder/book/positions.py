"""The figures of chapter 7: the sinusoidal table, one of its pairs as a hand that turns, and accuracy by length."""

from collections.abc import Sequence

import altair as alt
import matplotlib.pyplot as plt
from torch import Tensor

from autograder.book.style import DIVERGING, HEAT, INK, PALETTE

START, END = PALETTE["blue"], PALETTE["orange"]
LAST = 64
"""The last position that the interactive figure draws."""
HANDS = ["position", "position + offset"]
BELOW = {"title": None, "orient": "bottom", "direction": "horizontal"}

LINES = {"none": ("grey", ":", "x"), "sinusoidal": ("orange", "--", "s"), "learned": ("pink", "-.", "^"),
         "rope": ("blue", "-", "o"), "alibi": ("green", (0, (5, 1, 1, 1, 1, 1)), "D")}
LABELS = {"none": "none", "sinusoidal": "sinusoidal", "learned": "learned", "rope": "RoPE", "alibi": "ALiBi"}
OPEN = {"fillstyle": "none", "markersize": 10}
"""The marks of the learned table, which lie on others: one sees through them."""


def table_picture(table: Tensor) -> None:
    """A table (max_len, d_model) as a heat map: a row for each position, a column for each dimension."""
    fig, ax = plt.subplots(figsize=(4.5, 3.6))
    image = ax.imshow(table, cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    ax.set(xlabel="dimension", ylabel="position")
    ax.grid(False)
    fig.colorbar(image, ax=ax, ticks=[-1, 0, 1], shrink=0.8)
    plt.show()


def wave_picture(table: Tensor, columns: Sequence[int]) -> None:
    """Some columns of a table (max_len, d_model), each as a curve over the positions."""
    _, axes = plt.subplots(len(columns), 1, figsize=(4.5, 3.8), sharex=True)
    for ax, column, colour in zip(axes, columns, PALETTE.values(), strict=False):
        ax.plot(table[:, column], color=colour, marker=".", markersize=3, linewidth=1.4)
        ax.set(ylim=(-1.2, 1.2), yticks=[-1, 0, 1])
        ax.set_title(f"dimension {column}", fontsize=10)
    axes[-1].set(xlabel="position")
    plt.show()


def bias_picture(bias: Tensor, heads: Sequence[int]) -> None:
    """The price in ALiBi's bias (heads, length, length) for some heads, counted from 1; what is closed is hatched."""
    fig, axes = plt.subplots(1, len(heads), figsize=(4.5, 2.3), sharey=True)
    for ax, head in zip(axes, heads, strict=True):
        price = (-bias[head - 1]).masked_fill(bias[head - 1].isinf(), float("nan"))
        ax.patch.set(hatch="/////", edgecolor=INK, linewidth=0)  # seen where the price is NaN
        image = ax.imshow(price, cmap=HEAT, vmin=0, vmax=6)
        ax.set(xlabel="key", xticks=[0, 10, 20], yticks=[0, 10, 20])
        ax.set_title(f"head {head}", fontsize=10)
        ax.grid(False)
    axes[0].set_ylabel("query")
    fig.colorbar(image, ax=axes, shrink=0.8, label="price")
    plt.show()


def length_picture(accuracy: dict[str, dict[str, Tensor]], lengths: Sequence[int], trained: int) -> None:
    """For every task and scheme the mean over the seeds, with a band from the lowest to the highest.

    accuracy: {task: {scheme: (seeds, lengths), NaN where there is none}}.
    """
    fig, axes = plt.subplots(2, 1, figsize=(4.5, 5.6), sharex=True)
    for ax, (task, schemes) in zip(axes, accuracy.items(), strict=True):
        for scheme, values in schemes.items():
            colour, style, marker = LINES[scheme]
            ax.plot(lengths, values.mean(dim=0), color=PALETTE[colour], linestyle=style, marker=marker,
                    label=LABELS[scheme], **(OPEN if scheme == "learned" else {}))
            ax.fill_between(lengths, values.amin(dim=0), values.amax(dim=0), color=PALETTE[colour], alpha=0.18,
                            linewidth=0)
        ax.axvline(trained, color=INK, linewidth=1)
        ax.set(ylabel="right answers (%)", ylim=(0, 104), title=task)
    axes[1].set(xlabel="length", xticks=[8, 32, 64, 96, 128])
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    plt.show()


def turning_pair(d_model: int = 32) -> alt.VConcatChart:
    """Two dimensions of the table as a hand on a dial, at a position and at an offset from it; three sliders."""
    sliders = {"pair": (2, 0, d_model // 2 - 1), "position": (5, 0, LAST // 2), "offset": (3, -8, LAST // 2)}
    params = [alt.param(name=name, value=value, bind=alt.binding_range(min=low, max=high, step=1, name=f"{name} "))
              for name, (value, low, high) in sliders.items()]
    dial = _dial(f"pow(10000, -2 * pair / {d_model})").properties(width=210, height=210)
    waves = _waves(f"pow(10000, -2 * pair / {d_model})").properties(width=256, height=110)
    both = alt.vconcat(dial, waves).resolve_scale(strokeDash="independent").resolve_legend(strokeDash="independent")
    return both.add_params(*params).properties(
        description="Above, a dial with two hands: the pair of dimensions at a position, and at that position plus an "
        "offset. Below, the sine and the cosine of the pair over the positions, with both places marked. Sliders set "
        "pair, position and offset. Moving the position turns both hands together; the angle between them stays.")


def _hands(speed: str) -> alt.Chart:
    """Two rows: the start and the end, with their angles, and the point of each on the circle."""
    rows = [{"hand": hand, "end": end} for end, hand in enumerate(HANDS)]
    return (alt.Chart(alt.Data(values=rows))
            .transform_calculate(place="position + datum.end * offset")
            .transform_calculate(angle=f"datum.place * {speed}")
            .transform_calculate(x="cos(datum.angle)", y="sin(datum.angle)", zero="0"))


def _marks() -> tuple[alt.Color, alt.Shape]:
    """Colour and shape of the two hands, in both parts the same, so that they share one legend."""
    legend = alt.Legend(**BELOW)
    return (alt.Color("hand:N", scale=alt.Scale(domain=HANDS, range=[START, END]), legend=legend),
            alt.Shape("hand:N", scale=alt.Scale(domain=HANDS, range=["circle", "diamond"]), legend=legend))


def _dial(speed: str) -> alt.LayerChart:
    colour, shape = _marks()
    scale = alt.Scale(domain=[-1.15, 1.15])
    x = alt.X("x:Q", scale=scale, title="cosine", axis=alt.Axis(values=[-1, 0, 1]))
    y = alt.Y("y:Q", scale=scale, title="sine", axis=alt.Axis(values=[-1, 0, 1]))
    ring = (alt.Chart(alt.sequence(0, 6.35, 0.05, as_="a")).transform_calculate(x="cos(datum.a)", y="sin(datum.a)")
            .mark_line(color=INK, strokeWidth=1).encode(x=x, y=y, order="a:Q"))
    hands = _hands(speed)
    dash = alt.StrokeDash("hand:N", scale=alt.Scale(range=[[1, 0], [6, 3]]), legend=None)
    lines = hands.mark_rule(strokeWidth=3).encode(
        x=alt.X("zero:Q", scale=scale, title="cosine"), y=alt.Y("zero:Q", scale=scale, title="sine"), x2="x:Q",
        y2="y:Q", color=colour, strokeDash=dash)
    tips = hands.mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y, color=colour, shape=shape)
    words = (hands.transform_filter("datum.end == 0")
             .transform_calculate(words=f"'turned by ' + format(offset * {speed}, '.3f') + ' rad'")
             .mark_text(align="center", fontSize=13, color=INK)
             .encode(x=alt.value(105), y=alt.value(-10), text="words:N"))
    return ring + lines + tips + words


def _waves(speed: str) -> alt.LayerChart:
    scale = alt.Scale(domain=[-8, LAST], nice=False)
    x = alt.X("p:Q", scale=scale, title="position", axis=alt.Axis(values=[0, 16, 32, 48, 64]))
    y = alt.Y("value:Q", scale=alt.Scale(domain=[-1.1, 1.1]), title="value", axis=alt.Axis(values=[-1, 0, 1]))
    curves = (alt.Chart(alt.sequence(-8, LAST + 0.1, 0.25, as_="p"))
              .transform_calculate(sine=f"sin(datum.p * {speed})", cosine=f"cos(datum.p * {speed})")
              .transform_fold(["sine", "cosine"], as_=["wave", "value"])
              .mark_line(color=INK, strokeWidth=1.5)
              .encode(x=x, y=y, strokeDash=alt.StrokeDash(
                  "wave:N", scale=alt.Scale(domain=["sine", "cosine"], range=[[1, 0], [4, 3]]),
                  legend=alt.Legend(**BELOW, symbolStrokeColor=INK))))
    colour, shape = _marks()
    marks = (_hands(speed).transform_fold(["x", "y"], as_=["wave", "value"])
             .mark_point(filled=True, size=70, opacity=1)
             .encode(x=alt.X("place:Q", scale=scale), y=y, color=colour, shape=shape))
    return curves + marks
