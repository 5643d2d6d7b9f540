"""The figure of chapter 10 with three sliders cuts as the reference does, at any temperature, k and p."""

import pytest
import torch
import vl_convert

from autograder.book.families import EXACT, sampling_figure
from autograder.reference.families import top_p_filter

VOCAB = 300
LOGITS = 3 * torch.randn(VOCAB, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
NAMES = [f"word {i}" for i in range(VOCAB)]


def drawn(temperature: float, log_k: int, p: float) -> str:
    """The figure as SVG, with its sliders at these places."""
    spec = sampling_figure({"a": LOGITS, "b": -LOGITS}, NAMES).to_dict()
    values = {"temperature": temperature, "log_k": log_k, "p": p}
    spec["params"] = [param | {"value": values.get(param["name"], param["value"])} for param in spec["params"]]
    return vl_convert.vegalite_to_svg(spec, vl_version="5.20")


def reference(temperature: float, log_k: int, p: float) -> torch.Tensor:
    logits = (LOGITS / temperature).unsqueeze(0)
    kept = top_p_filter(logits, p)
    least = logits.topk(min(2**log_k, VOCAB)).values[:, -1:]
    return kept.masked_fill(logits < least, -torch.inf)[0]


@pytest.mark.parametrize("temperature, log_k, p", [(1.0, 9, 1.0), (1.0, 9, 0.9), (0.5, 9, 0.8), (2.0, 9, 0.5),
                                                   (1.0, 2, 1.0), (0.7, 3, 0.3)])
def test_as_many_tokens_remain_as_in_the_reference(temperature, log_k, p):
    kept = int(reference(temperature, log_k, p).isfinite().sum())
    assert kept <= EXACT or p == 1
    assert f"{kept:,} of {VOCAB:,} tokens remain" in drawn(temperature, log_k, p)


def test_the_likeliest_token_has_the_chance_of_the_reference():
    chance = torch.softmax(reference(0.7, 3, 0.9), dim=-1).max().item()
    assert f"{chance:.1%}" in drawn(0.7, 3, 0.9)
