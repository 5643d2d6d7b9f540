"""The interactive figure of an alignment: choose a target word, and lines lead to the source words it looks at."""

import altair as alt

from autograder.book.style import INK, PALETTE
from autograder.corpus import SentencePair

LEAST = 0.02
"""Smaller weights get no line."""
ROW = 24
"""Pixels from word to word."""


def explorer(pair: SentencePair, maps: dict, title: str, description: str, first_word: int = 0) -> alt.LayerChart:
    """maps: by name (a head, say) the weights (target words, source words) of a list to choose from.

    A word is chosen with the pointer, a finger or a list. Orange diamonds mark the gold alignment.
    """
    words = [f"{i + 1} {word}" for i, word in enumerate(pair.target)]
    word = alt.selection_point(
        name="word", fields=["choice"], value=[{"choice": words[first_word]}], empty=False, toggle=False, clear=False,
        on="rect:pointerover, rect:click", bind={"choice": alt.binding_select(options=words, name="Word ")})
    head = alt.param(name="head", value=next(iter(maps)), bind=alt.binding_select(options=list(maps), name="Head "))
    height = max(len(pair.target), len(pair.source)) - 0.4
    place = Places(height)
    layers = [*links(pair, words, maps, word, place), *columns(pair, words, word, place)]
    return alt.layer(*layers).add_params(head).properties(
        width=290, height=ROW * (height + 0.6), title=title, description=description)


class Places:
    """Columns from 0 (left) to 1, and rows counted from the top."""

    def __init__(self, height: float):
        self.rows = {"scale": alt.Scale(domain=[-0.6, height], reverse=True), "axis": None}

    def x(self, place: float) -> alt.X:
        return alt.X(datum=place, type="quantitative", scale=alt.Scale(domain=[0, 1]), axis=None)

    def y(self, field: str) -> alt.Y:
        return alt.Y(field, **self.rows)


def links(pair: SentencePair, words: list[str], maps: dict, word, place: Places) -> list[alt.Chart]:
    """Lines with their weights, of the chosen word in the chosen map, and the diamonds of its gold links."""
    seen = [{"head": name, "choice": words[i], "i": i, "j": j, "target": pair.target[i], "source": pair.source[j],
             "weight": round(float(weights[i][j]), 3)}
            for name, weights in maps.items() for i in range(len(pair.target)) for j in range(len(pair.source))
            if weights[i][j] >= LEAST]
    gold = [{"choice": words[i], "j": j} for i, j in sorted(pair.alignment)]
    chosen = alt.Chart(alt.Data(values=seen)).transform_filter(word).transform_filter("datum.head == head")
    tips = [alt.Tooltip("target:N"), alt.Tooltip("source:N"), alt.Tooltip("weight:Q", format=".2f")]
    width = alt.StrokeWidth("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.8, 9]), legend=None)
    return [
        chosen.mark_rule(color=PALETTE["blue"], strokeCap="round", opacity=0.85).encode(
            x=place.x(0.47), x2=alt.X2Datum(0.67), y=place.y("j:Q"), y2="i:Q", strokeWidth=width, tooltip=tips),
        chosen.mark_text(align="left", fontSize=12, color=PALETTE["blue"]).encode(
            x=place.x(0), y=place.y("j:Q"), text=alt.Text("weight:Q", format=".2f")),
        alt.Chart(alt.Data(values=gold)).transform_filter(word).mark_point(
            shape="diamond", size=60, filled=True, color=PALETTE["orange"], opacity=1).encode(
            x=place.x(0.435), y=place.y("j:Q"))]


def columns(pair: SentencePair, words: list[str], word, place: Places) -> list[alt.Chart]:
    """The source words on the left; on the right the target words, each with a field that feels the pointer."""
    source = alt.Chart(alt.Data(values=[{"j": j, "source": text} for j, text in enumerate(pair.source)]))
    target = alt.Chart(alt.Data(values=[{"i": i, "choice": choice, "target": text, "top": i - 0.5, "bottom": i + 0.5}
                                        for i, (choice, text) in enumerate(zip(words, pair.target, strict=True))]))
    return [
        source.mark_text(align="right", fontSize=13, color=INK).encode(
            x=place.x(0.41), y=place.y("j:Q"), text="source:N"),
        target.mark_text(align="left", fontSize=13).encode(
            x=place.x(0.7), y=place.y("i:Q"), text="target:N",
            color=alt.condition(word, alt.value(PALETTE["orange"]), alt.value(INK))),
        target.mark_rect(opacity=0.001).encode(
            x=place.x(0.6), x2=alt.X2Datum(1), y=place.y("top:Q"), y2="bottom:Q").add_params(word)]
