"""Random inputs for criteria: sizes that no wrong axis survives, values that saturate nothing."""

import hashlib
from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Sizes:
    """One size for each shape letter, pairwise distinct, so that mixing up two axes cannot go unnoticed."""

    batch: int = 2
    heads: int = 3
    queries: int = 5
    keys: int = 7
    d_k: int = 11
    d_v: int = 13
    d_model: int = 17
    vocab: int = 19
    embed: int = 23


FULL = Sizes()
SMALL = Sizes(batch=1, heads=1, queries=2, keys=3, d_k=2, d_v=2, d_model=3, vocab=4, embed=2)
"""Small enough to be shown as a counter-example."""
EXACT_ROOT = Sizes(d_k=16)
"""sqrt(d_k) is exact in float32 too: a divisor that is made in float32, then used in float64, is as right."""
ONES = Sizes(batch=1, heads=1, queries=1, keys=1, d_k=1, d_v=1, d_model=1, vocab=1, embed=1)
ONE_ROW = Sizes(batch=1, heads=1)
ONE_POSITION = Sizes(queries=1, keys=1)
EVEN = Sizes(batch=4, heads=4, queries=4, keys=4, d_k=4, d_v=4, d_model=4, vocab=4, embed=4)
"""All the same and above 1: mistakes that end in one exception, because shapes do not fit, differ in values here."""
EDGES = {"ones": ONES, "one row": ONE_ROW, "one position": ONE_POSITION}
"""With every size 1, broadcasting may hide a `squeeze()` too many; where one axis alone has size 1 it shows."""


@dataclass
class Inputs:
    """Draws for one case. The same seed and label give the same values, whatever other criteria draw.

    strided: tensors are dense but not contiguous, as after a transpose; `view` fails on them.
    """

    seed: int
    label: str
    dtype: torch.dtype = torch.float32
    size: Sizes = FULL
    strided: bool = False
    generator: torch.Generator = field(init=False, repr=False)

    def __post_init__(self):
        digest = hashlib.sha256(f"{self.seed}/{self.label}".encode()).digest()
        self.generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))

    def normal(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Standard normal values times `scale`; with one decimal in a small case, so that they print exactly."""
        return self.arranged(torch.randn(shape, generator=self.generator, dtype=torch.float64) * scale)

    def probabilities(self, *shape: int) -> torch.Tensor:
        """Positive values that sum to 1 along the last axis, far from 0 and from 1."""
        return self.arranged(torch.softmax(torch.randn(shape, generator=self.generator, dtype=torch.float64), -1))

    def whole_number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(torch.randint(low, high + 1, (), generator=self.generator))

    def whole_numbers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """An int64 tensor of whole numbers from `low` to `high`, both included."""
        return torch.randint(low, high + 1, shape, generator=self.generator)

    def mask(self, rows: int, length: int) -> torch.Tensor:
        """True = real, in no order: each row has a real position, and a hidden one where there is room."""
        mask = self.whole_numbers(0, 1, rows, length).bool()
        places = torch.rand(rows, length, generator=self.generator).argsort(dim=1)
        mask.scatter_(1, places[:, 1:2], False)
        return mask.scatter_(1, places[:, :1], True)

    def words(self, *lengths: int) -> list[list[str]]:
        """Sentences of these lengths over an alphabet of five words, so that words return."""
        return [["abcde"[i] for i in self.whole_numbers(0, 4, length)] for length in lengths]

    def arranged(self, values: torch.Tensor) -> torch.Tensor:
        """`values` in the asked dtype, precision and memory layout."""
        if self.size is SMALL:
            values = (values * 10).round() / 10
        return self.laid_out(values.to(self.dtype))

    def laid_out(self, values: torch.Tensor) -> torch.Tensor:
        """The same values, in the asked memory layout."""
        if self.strided and values.dim() > 1:
            axes = tuple(reversed(range(values.dim())))
            return values.permute(axes).contiguous().permute(axes)
        return values
