"""How fast our Transformer is beside `nn.Transformer` with the same weights: ratios, for chapter 08 and the benchmark.

Both compute the same, one after the other in one process, so the ratio says more than the seconds do.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from autograder.reference.convert import to_torch
from autograder.reference.multi_head import causal_mask
from autograder.reference.transformer import Transformer

HEAD = "| d_model 512, sequence 128, batch 8 | ours | nn.Transformer | ours, times as fast |"


@dataclass(frozen=True)
class Comparison:
    """Medians in seconds; `ratio` is theirs / ours: above 1 where ours is the faster one."""

    name: str
    ours: float
    theirs: float
    ratio: float


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7) -> Comparison:
    """Run both in turn, so that whatever else the machine does slows both; the ratio is the median of the rounds'."""
    ours(), theirs()  # what the first call sets up is not counted
    times = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    return Comparison(name, mine, other, statistics.median(b / a for a, b in times))


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def transformer_speed(d_model: int = 512, seq: int = 128, batch: int = 8, num_layers: int = 2,
                      rounds: int = 7) -> list[Comparison]:
    """Forward without gradients in eval mode, then forward and backward in train mode without dropout.

    Both take embedded sequences (batch, seq, d_model) and give hidden states; the target's mask is causal.
    """
    torch.manual_seed(0)
    ours = Transformer(10, 10, d_model, 8, num_layers, 4 * d_model, dropout=0.0)
    theirs = to_torch(ours)
    src, tgt = torch.randn(2, batch, seq, d_model)
    mask = causal_mask(seq)

    def our_layers() -> torch.Tensor:
        x, y = src, tgt
        for layer in ours.encoder:
            x = layer(x)
        for layer in ours.decoder:
            y = layer(y, x, None, mask)
        return y

    def their_layers() -> torch.Tensor:
        return theirs(src, tgt, tgt_mask=~mask)

    def trained(layers: Callable[[], torch.Tensor]) -> Callable[[], None]:
        return lambda: layers().sum().backward()

    both = compare("forward and backward", trained(our_layers), trained(their_layers), rounds)
    ours.eval(), theirs.eval()
    with torch.no_grad():
        torch.testing.assert_close(our_layers(), their_layers(), atol=1e-4, rtol=0)
        forward = compare("forward", our_layers, their_layers, rounds)
    return [forward, both]


def table() -> str:
    """The default sizes as a Markdown table."""
    rows = [f"| {c.name} | {1000 * c.ours:.0f} ms | {1000 * c.theirs:.0f} ms | {c.ratio:.2f} |"
            for c in transformer_speed()]
    return "\n".join([HEAD, "|---|---|---|---|", *rows])
