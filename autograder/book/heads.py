"""The heads of a pretrained encoder in pictures: all maps of a sentence at once, and one under the reader's finger."""

from collections.abc import Sequence

import altair as alt
import matplotlib.pyplot as plt
from torch import Tensor

from autograder.book.style import INK, PALETTE, heat_map

ROW = 25
"""Pixels from one word to the next, enough for a finger."""


def all_maps(maps: Tensor, marked: dict[tuple[int, int], str]):
    """Every head's map as a stamp: maps (layer, head, query, key); a row of stamps for each layer.

    `marked` frames the stamps at (layer, head) in the named colour of the palette.
    """
    layers, heads = maps.shape[:2]
    fig, axes = plt.subplots(layers, heads, figsize=(4.5, 4.5 * (layers + 0.7) / heads), squeeze=False)
    fig.get_layout_engine().set(w_pad=0.01, h_pad=0.01, wspace=0.02, hspace=0.02)
    for (layer, head), ax in ((place, axes[place]) for place in _places(layers, heads)):
        heat_map(ax, maps[layer, head], vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        if layer == 0:
            ax.set_title(str(head), loc="center", fontsize=9, fontweight="normal", pad=2)
        if head == 0:
            ax.set_ylabel(str(layer), rotation=0, ha="right", va="center", fontsize=9)
        if (layer, head) in marked:
            colour = PALETTE[marked[layer, head]]  # outside of the map, whose first column may be what matters
            ax.spines[:].set(visible=True, color=colour, linewidth=1.5, position=("outward", 1.5))
    return fig


def _places(layers: int, heads: int):
    return ((layer, head) for layer in range(layers) for head in range(heads))


def head_picker(sentences: dict[str, tuple[Sequence[str], Tensor]], layer: int, head: int, word: int):
    """Words on both sides, lines from the chosen word on the left to the words that it looks at.

    sentences: name -> (n tokens, maps (layers, heads, n, n)), n the same for all. The reader chooses sentence, layer
    and head in lists, and a word with the pointer, a finger or the slider.
    """
    tokens, maps = next(iter(sentences.values()))
    lengths = {len(some) for some, _ in sentences.values()}
    if len(lengths) != 1:
        raise ValueError(f"sentences of {sorted(lengths)} tokens; the slider of words needs sentences of one length.")
    layers, heads = maps.shape[:2]
    pick = alt.selection_point(
        name="pick", fields=["i"], value=[{"i": word}], empty=False, toggle=False, clear=False,
        on="rect:pointerover, rect:click",
        bind={"i": alt.binding_range(min=0, max=len(tokens) - 1, step=1, name="Word ")})
    lists = [_choice("sentence", next(iter(sentences)), sentences, "Sentence "),
             _choice("layer", layer, range(layers), "Layer "), _choice("head", head, range(heads), "Head ")]
    chart = (alt.Chart(alt.Data(values=[row for name in sentences for row in _rows(name, *sentences[name])]))
             .transform_filter("datum.sentence == sentence")
             .transform_calculate(weight=f"toNumber(split(datum.heads, ' ')[layer * {heads} + head]) / 100"))
    return (_layers(chart, pick, len(tokens)).add_params(*lists)
            .properties(width=290, height=ROW * len(tokens), description=(
                "The words of a sentence twice, side by side. Lines lead from the chosen word on the left to the words "
                "that it looks at in the chosen layer and head, as thick as the weights, which stand on the right; "
                "faint lines belong to the other words.")))


def _choice(name: str, value, options, label: str):
    return alt.param(name=name, value=value, bind=alt.binding_select(options=list(options), name=label))


def _rows(name: str, tokens: Sequence[str], maps: Tensor) -> list[dict]:
    """One record for each pair of words, with the percentages of all heads in one string."""
    percent = (100 * maps).round().int().flatten(0, 1)  # (layers * heads, query, key)
    return [{"sentence": name, "i": i, "j": j, "from": tokens[i], "to": tokens[j],
             "heads": " ".join(map(str, percent[:, i, j].tolist()))}
            for i in range(len(tokens)) for j in range(len(tokens))]


def _layers(chart, pick, length: int):
    """The marks: faint lines of all words, strong ones of the chosen word, words, weights, and what a finger meets."""
    y = {"scale": alt.Scale(domain=[-0.6, length - 0.4], reverse=True), "axis": None}
    tips = [alt.Tooltip("from:N", title="looking"), alt.Tooltip("to:N", title="looked at"),
            alt.Tooltip("weight:Q", format=".2f")]

    def at(place):
        return alt.X(datum=place, type="quantitative", scale=alt.Scale(domain=[0, 1]), axis=None)

    def lines(source, colour, opacity, width):
        return source.transform_filter("datum.weight >= 0.02").mark_rule(
            color=colour, strokeCap="round", opacity=opacity).encode(
            x=at(0.32), x2=alt.X2Datum(0.62), y=alt.Y("i:Q", **y), y2="j:Q", tooltip=tips,
            strokeWidth=alt.StrokeWidth("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.4, width]), legend=None))

    chosen, first = chart.transform_filter(pick), chart.transform_filter("datum.j == 0")
    left = first.mark_text(align="right", fontSize=13).encode(
        x=at(0.3), y=alt.Y("i:Q", **y), text="from:N",
        color=alt.condition(pick, alt.value(PALETTE["orange"]), alt.value(INK)))
    right = chosen.mark_text(align="left", fontSize=13, color=INK).encode(x=at(0.64), y=alt.Y("j:Q", **y), text="to:N")
    numbers = chosen.transform_filter("datum.weight >= 0.02").mark_text(
        align="right", fontSize=12, color=PALETTE["blue"]).encode(
        x=at(1), y=alt.Y("j:Q", **y), text=alt.Text("weight:Q", format=".2f"))
    touch = first.transform_calculate(top="datum.i - 0.5", bottom="datum.i + 0.5").mark_rect(opacity=0.001).encode(
        x=at(0), x2=alt.X2Datum(0.31), y=alt.Y("top:Q", **y), y2="bottom:Q").add_params(pick)
    return (lines(chart, INK, 0.25, 3) + lines(chosen, PALETTE["blue"], 0.85, 9) + left + right + numbers
            + touch).resolve_scale(strokeWidth="independent")
