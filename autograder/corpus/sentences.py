"""What a sentence pair is, and what may be asked for: the part of the corpus that needs no grammar."""

from dataclasses import dataclass
from functools import cached_property

LANGUAGES = {"en-fr": ("english", "french"), "zh-en": ("chinese", "english")}
"""For every direction its source language and its target language."""
SPLITS = ("train", "test")
DEEPEST = 7
"""The deepest nesting."""


@dataclass(frozen=True)
class SentencePair:
    """A sentence and its translation, as words.

    alignment: all (target index, source index) of words that mean the same; every target word has at least one.
    depth: how many relative clauses are nested.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    depth: int

    @cached_property
    def aligned(self) -> tuple[frozenset[int], ...]:
        """For every target word the source words that it translates."""
        return tuple(frozenset(j for target, j in self.alignment if target == i) for i in range(len(self.target)))

    def __str__(self) -> str:
        return f"{' '.join(self.source)}\n{' '.join(self.target)}"


def depths(depth: int | tuple[int, int], direction: str, split: str | None) -> tuple[int, int]:
    """The lowest and the highest depth. Raises ValueError for a depth, direction or split that there is not."""
    low, high = (depth, depth) if isinstance(depth, int) else depth
    if not 0 <= low <= high <= DEEPEST:
        raise ValueError(f"depth is {depth}, but clauses are nested 0 to {DEEPEST} deep; give a number or (low, high).")
    if direction not in LANGUAGES:
        raise ValueError(f"There is no direction {direction!r}; choose one of {', '.join(LANGUAGES)}.")
    if split not in (None, *SPLITS):
        raise ValueError(f"There is no split {split!r}; choose one of {', '.join(SPLITS)}, or None for both.")
    return low, high
