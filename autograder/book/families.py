"""The figures of chapter 10: who sees whom, which sentences are alike, how a decoder learns, what it may draw from."""

from collections.abc import Sequence

import altair as alt
import matplotlib.pyplot as plt
import torch
from torch import Tensor

from autograder.book.style import INK, PALETTE, heat_map

SHOWN, EXACT, BINS = 14, 60, 24
"""Tokens that have a bar, tokens whose logit is kept, and groups into which all others are put."""


def seen_picture(seen: dict[str, Tensor], source: int) -> None:
    """Which outputs move when a token changes: bool (outputs, tokens) each; the last one begins with the source."""
    widths = [matrix.size(1) for matrix in seen.values()]
    _, axes = plt.subplots(1, len(seen), figsize=(4.5, 2.1), width_ratios=widths)
    for ax, (name, matrix) in zip(axes, seen.items(), strict=True):
        heat_map(ax, matrix.float(), vmin=0, vmax=1.3)
        ax.set(xticks=[], yticks=[], xlabel="token changed")
        ax.set_title(name, fontsize=9.5)
        for edge in range(matrix.size(1) + 1):
            ax.axvline(edge - 0.5, color=INK, linewidth=0.4)
        for edge in range(matrix.size(0) + 1):
            ax.axhline(edge - 0.5, color=INK, linewidth=0.4)
    axes[-1].axvline(source - 0.5, color=PALETTE["orange"], linewidth=2.5)
    axes[-1].set_xlabel("source  |  target")
    axes[0].set_ylabel("output that moves")
    plt.show()


def similarity_picture(sentences: Sequence[str], cosine: Tensor) -> None:
    """The cosine of each pair of sentences, (n, n)."""
    _, ax = plt.subplots(figsize=(4.5, 3.1))
    heat_map(ax, cosine, [f"{text}  {i}" for i, text in enumerate(sentences, 1)],
             [str(i) for i in range(1, len(sentences) + 1)], decimals=2, vmin=0, vmax=1)
    plt.show()


def learning_picture(steps: Sequence[int], train: Sequence[float], fresh: Sequence[float], guess: float) -> None:
    """Loss on the text that is learned, and on text that is not; a level line for guessing by frequency alone."""
    _, ax = plt.subplots(figsize=(4.5, 2.7))
    for name, losses, colour, style in (("last tenth, never seen", fresh, "orange", "--"),
                                        ("the rest, learned", train, "blue", "-")):
        ax.plot(steps, losses, style, color=PALETTE[colour], label=name, marker="o", markersize=4)
    ax.axhline(guess, color=PALETTE["grey"], linestyle=":", label="frequencies alone, last tenth")
    ax.set(xlabel="step", ylabel="loss")
    ax.legend()
    plt.show()


def sampling_figure(prompts: dict[str, Tensor], names: Sequence[str]) -> alt.VConcatChart:
    """What temperature, top-k and top-p leave of the next-token distributions: prompt -> logits (vocab,).

    The reader chooses a prompt and moves three sliders. The likeliest tokens are treated one by one; all others in
    groups of like logits, so that the sums are nearly exact at every temperature.
    """
    rows = [row for prompt, logits in prompts.items() for row in _rows(prompt, logits, names)]
    vocab = len(names)
    log_vocab = max(1, (vocab - 1).bit_length())
    sliders = {"temperature": (1.0, 0.1, 2.0, 0.1, "temperature "),
               "log_k": (log_vocab, 0, log_vocab, 1, "top-k: log₂ k "), "p": (1.0, 0.05, 1.0, 0.05, "top-p ")}
    params = [alt.param(name=name, value=value, bind=alt.binding_range(min=low, max=high, step=step, name=words))
              for name, (value, low, high, step, words) in sliders.items()]
    choice = alt.param(name="prompt", value=next(iter(prompts)),
                       bind=alt.binding_select(options=list(prompts), name="after "))
    cut = _cut(alt.Chart(alt.Data(values=rows)))
    return (alt.vconcat(_counts(cut, vocab), _bars(cut), spacing=2).add_params(choice, *params).properties(
        description="Bars show how likely each of the likeliest next tokens is to be drawn after a chosen beginning; "
        "small lines mark what the model itself says, at temperature 1. Sliders set temperature, top-k and top-p; "
        "above the bars stands how many tokens can still be drawn."))


def _rows(prompt: str, logits: Tensor, names: Sequence[str]) -> list[dict]:
    """One record for each of the likeliest tokens, then one for each group of the others."""
    values, order = logits.double().sort(descending=True)
    values = values - values[0]
    rows = [{"prompt": prompt, "rank": i, "token": names[token], "logit": round(value, 3), "count": 1}
            for i, (value, token) in enumerate(zip(values[:EXACT].tolist(), order[:EXACT].tolist(), strict=True))]
    start = EXACT
    for group in values[EXACT:].chunk(BINS):
        rows.append({"prompt": prompt, "rank": start, "token": "", "count": len(group),
                     "logit": round((torch.logsumexp(group, 0) - torch.tensor(float(len(group))).log()).item(), 3)})
        start += len(group)
    return rows


def _cut(chart: alt.Chart) -> alt.Chart:
    """For each row its share at the temperature, how many of its tokens stay, and what is drawn after the cut."""
    by_p = "p >= 1 ? datum.count : ceil(datum.count * (p - datum.upto + datum.share) / datum.share)"
    return (chart.transform_filter("datum.prompt == prompt")
            .transform_calculate(own="datum.count * exp(datum.logit)",
                                 weight="datum.count * exp(datum.logit / temperature)")
            .transform_joinaggregate(own_sum="sum(own)", weight_sum="sum(weight)")
            .transform_calculate(own_share="datum.own / datum.own_sum", share="datum.weight / datum.weight_sum")
            .transform_window(upto="sum(share)", sort=[alt.SortField("rank")], frame=[None, 0])
            # a token stays if those before it do not reach p, and if fewer than k are before it
            .transform_calculate(by_p=by_p, by_k="pow(2, log_k) - datum.rank")
            .transform_calculate(kept="max(0, min(datum.count, datum.by_p, datum.by_k))")
            .transform_calculate(left="datum.share * datum.kept / datum.count")
            .transform_joinaggregate(left_sum="sum(left)", kept_sum="sum(kept)")
            .transform_calculate(drawn="datum.left / datum.left_sum"))


def _counts(cut: alt.Chart, vocab: int) -> alt.Chart:
    words = f"format(datum.kept_sum, ',d') + ' of {vocab:,} tokens remain: ' + format(datum.left_sum, '.0%')"
    return (cut.transform_filter("datum.rank == 0").transform_calculate(words=words)
            .mark_text(align="left", fontSize=12.5, color=INK).encode(x=alt.value(-60), text="words:N")
            .properties(width=215, height=16))


def _bars(cut: alt.Chart) -> alt.LayerChart:
    some = cut.transform_filter(f"datum.rank < {SHOWN}")
    order = alt.EncodingSortField(field="rank", op="min")  # layers share an order only if it is a minimum
    y = alt.Y("token:N", sort=order, title=None, axis=alt.Axis(labelFontSize=13, labelLimit=110))
    scale, percent = alt.Scale(domain=[0, 1]), alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    bars = some.mark_bar(color=PALETTE["blue"]).encode(
        x=alt.X("drawn:Q", scale=scale, title="chance of being drawn", axis=percent), y=y)
    own = some.mark_tick(color=PALETTE["orange"], thickness=3, size=14).encode(x=alt.X("own_share:Q", scale=scale), y=y)
    numbers = some.mark_text(align="left", dx=5, fontSize=12, color=INK).encode(
        x=alt.X("drawn:Q", scale=scale), y=y, text=alt.Text("label:N")).transform_calculate(
        label="datum.kept == 0 ? '—' : format(datum.drawn, '.1%')")
    return (bars + own + numbers).properties(width=215, height=22 * SHOWN)
