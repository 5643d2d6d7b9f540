"""The figures of chapter 11: where the norm stands, how the parameters are spent, a symptom, and a bill of memory."""

import math
from collections.abc import Sequence

import altair as alt
import matplotlib.pyplot as plt
from torch import Tensor

from autograder.book.style import INK, PALETTE, heat_map

CASES = {("Post-LN", False): ("orange", ":"), ("Post-LN", True): ("orange", "-"),
         ("Pre-LN", False): ("blue", ":"), ("Pre-LN", True): ("blue", "-")}
GUESS = math.log(10)
"""The loss of whoever guesses one of ten digits."""

PARTS = {"weights": "4 * P", "gradients": "4 * P", "Adam's averages": "8 * P",
         "layers' states": "4 * layers * batch * 14 * n * d", "attention weights": "4 * layers * batch * heads * n * n"}
"""Bytes in float32, as Vega expressions: P parameters; 14 numbers kept for every feature of every position."""


def norm_picture(runs: Sequence[dict], depths: Sequence[int], rate: float, every: int) -> None:
    """The loss against the step for each depth: the mean of the seeds, and a band from the lowest to the highest."""
    fig, axes = plt.subplots(len(depths), 1, figsize=(4.5, 2.1 * len(depths) + 0.5), sharex=True)
    for ax, depth in zip(axes, depths, strict=True):
        for (norm, warm), (colour, style) in CASES.items():
            curves = [run["curve"] for run in runs if (run["norm"], run["depth"], run["learning_rate"],
                                                       run["warmup"] > 0) == (norm, depth, rate, warm)]
            points = list(zip(*curves, strict=True))
            steps = [every * (i + 0.5) for i in range(len(points))]
            ax.plot(steps, [sum(p) / len(p) for p in points], color=PALETTE[colour], linestyle=style,
                    label=f"{norm}, {'' if warm else 'no '}warm-up")
            ax.fill_between(steps, [min(p) for p in points], [max(p) for p in points], color=PALETTE[colour],
                            alpha=0.18, linewidth=0)
        ax.axhline(GUESS, color=INK, linewidth=1)
        ax.set(title=f"{depth} layers", ylabel="loss", ylim=(0, 2.8))
    axes[-1].set(xlabel="step")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()


def width_picture(losses: dict[str, Sequence[float]]) -> None:
    """The loss on new words for each way to spend the parameters: a mark for every seed, a line at the mean."""
    _, ax = plt.subplots(figsize=(4.5, 2.6))
    for row, (name, values) in enumerate(losses.items()):
        colour = PALETTE["green" if "GLU" in name else "blue"]
        ax.plot(values, [row] * len(values), "s" if "GLU" in name else "o", color=colour, alpha=0.8)
        ax.plot([sum(values) / len(values)] * 2, [row - 0.3, row + 0.3], "-", color=colour)
    ax.set_yticks(range(len(losses)), list(losses))
    ax.set(xlabel="loss a letter on new words", ylim=(len(losses) - 0.5, -0.5))
    plt.show()


def symptom_picture(curves: dict[str, Sequence[float]], every: int, floors: dict[str, float], weights: Tensor) -> None:
    """Above the curves of the loss, with floors that can be computed; below one map, (queries, keys)."""
    _, (above, below) = plt.subplots(2, 1, figsize=(4.5, 5.4), height_ratios=(2, 3))
    steps = [every * (i + 0.5) for i in range(len(next(iter(curves.values()))))]
    for (name, curve), colour, style in zip(curves.items(), ("blue", "orange"), ("-", "--"), strict=True):
        above.plot(steps, curve, color=PALETTE[colour], linestyle=style, label=name)
    for name, floor in floors.items():
        above.axhline(floor, color=INK, linewidth=1)
        above.text(steps[-1], floor - 0.05, name, ha="right", va="top", fontsize=8)
    above.set(xlabel="step", ylabel="loss", ylim=(-0.1, 2.8))
    above.legend(loc="lower left", bbox_to_anchor=(0, 0.12))
    heat_map(below, weights, vmin=0, vmax=1)
    places = range(0, weights.size(-1), 4)
    below.set(xlabel="key", ylabel="query", xticks=places, yticks=places, xticklabels=places, yticklabels=places)
    plt.show()


def memory_bill() -> alt.LayerChart:
    """What one training step holds in memory, in five bars; sliders for batch, length, width, layers and heads."""
    sliders = {"log_b": ("log₂ batch ", 3, 0, 8), "log_n": ("log₂ length ", 10, 5, 15),
               "log_d": ("log₂ d_model ", 9, 6, 13), "layers": ("layers ", 12, 1, 96),
               "log_h": ("log₂ heads ", 3, 0, 6)}
    params = [alt.param(name=name, value=value, bind=alt.binding_range(min=low, max=high, step=1, name=words))
              for name, (words, value, low, high) in sliders.items()]
    sizes = {"batch": "pow(2, log_b)", "n": "pow(2, log_n)", "d": "pow(2, log_d)", "heads": "pow(2, log_h)",
             "P": "layers * (12 * pow(2, 2 * log_d) + 13 * pow(2, log_d))"}
    amount = "".join(f"datum.part == \"{part}\" ? {_with(sizes, words)} : " for part, words in PARTS.items()) + "0"
    order = list(PARTS)
    rows = alt.Chart(alt.Data(values=[{"part": part} for part in PARTS])).transform_calculate(bytes=amount)
    rows = rows.transform_joinaggregate(total="sum(bytes)").transform_calculate(
        share="datum.bytes / datum.total", words="format(datum.bytes / 1e9, '.3~r') + ' GB'",
        sizes="'batch ' + pow(2, log_b) + ', length ' + format(pow(2, log_n), ',d') + ', width ' + pow(2, log_d) + '"
        ", ' + layers + ' layers, ' + pow(2, log_h) + ' heads'",
        sum="'together ' + format(datum.total / 1e9, '.3~r') + ' GB'")
    y = alt.Y("part:N", sort=order, title=None)
    bars = rows.mark_bar(height=16).encode(
        x=alt.X("share:Q", title="share of the memory", scale=alt.Scale(domain=[0, 1.25], nice=False),
                axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])), y=y,
        color=alt.Color("part:N", sort=order, legend=None, scale=alt.Scale(
            domain=order, range=[PALETTE[c] for c in ("grey", "grey", "grey", "blue", "orange")])))
    labels = rows.mark_text(align="left", dx=4, fontSize=12, color=INK).encode(x="share:Q", y=y, text="words:N")
    heads = [rows.transform_filter(f"datum.part == \"{order[0]}\"").mark_text(align="left", fontSize=size, color=INK)
             .encode(x=alt.value(-120), y=alt.value(height), text=f"{name}:N")
             for name, size, height in (("sizes", 12, -34), ("sum", 13, -14))]
    return alt.layer(bars, labels, *heads).add_params(*params).properties(
        width=190, height=150, description="Five bars: the shares of weights, gradients, Adam's averages, the layers' "
        "states and the attention weights in the memory of one training step, each with its gigabytes. Sliders set "
        "batch, length, width, layers and heads; at great length the attention weights take nearly everything.")


def _with(sizes: dict[str, str], expression: str) -> str:
    """The expression with every size in place of its name."""
    return " ".join(f"({sizes[word]})" if word in sizes else word for word in expression.split())
