"""How fast our Transformer is beside `nn.Transformer` with the same weights: ratios, for chapter 08 and the benchmark.

Both compute the same, one after the other in one process, so the ratio says more than the seconds do.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

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
    """Forward without gradients in eval mode, then forward and backward in train mode without dropout; both without
    padding. Last the forward with a source of which about a third is padding: sentences of seq / 4 to seq tokens.

    Both take embedded sequences (batch, seq, d_model) and give hidden states; the target's mask is causal.
    """
    torch.manual_seed(0)
    ours = Transformer(10, 10, d_model, 8, num_layers, 4 * d_model, dropout=0.0)
    theirs = to_torch(ours)
    src, tgt = torch.randn(2, batch, seq, d_model)
    real = torch.arange(seq) < torch.linspace(seq // 4, seq, batch).long().unsqueeze(1)  # (batch, seq)
    whole = partial(our_layers, ours, src, tgt), partial(their_layers, theirs, src, tgt)
    padded = [partial(layers, real) for layers in whole]

    both = compare("forward and backward", *(partial(trained, layers) for layers in whole), rounds)
    ours.eval(), theirs.eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The PyTorch API of nested tensors")  # how torch leaves pads out
        found = []
        for name, pair in (("forward", whole), ("forward, with padding", padded)):
            torch.testing.assert_close(*(layers() for layers in pair), atol=1e-4, rtol=0)
            found.append(compare(name, *pair, rounds))
    return [found[0], both, found[1]]


def our_layers(model: Transformer, src: torch.Tensor, tgt: torch.Tensor, real: torch.Tensor | None = None
               ) -> torch.Tensor:
    """Hidden states of the decoder; real (batch, src): True where the source is no padding."""
    allowed = None if real is None else real[:, None, None]
    for layer in model.encoder:
        src = layer(src, allowed)
    for layer in model.decoder:
        tgt = layer(tgt, src, allowed, causal_mask(tgt.size(1)))
    return tgt


def their_layers(model: nn.Transformer, src: torch.Tensor, tgt: torch.Tensor, real: torch.Tensor | None = None
                 ) -> torch.Tensor:
    """The same of torch's model, whose masks say what is forbidden."""
    pads = None if real is None else ~real
    return model(src, tgt, tgt_mask=~causal_mask(tgt.size(1)), src_key_padding_mask=pads, memory_key_padding_mask=pads)


def trained(layers: Callable[[], torch.Tensor]) -> None:
    layers().sum().backward()


def table() -> str:
    """The default sizes as a Markdown table."""
    rows = [f"| {c.name} | {1000 * c.ours:.0f} ms | {1000 * c.theirs:.0f} ms | {c.ratio:.2f} |"
            for c in transformer_speed()]
    return "\n".join([HEAD, "|---|---|---|---|", *rows])
