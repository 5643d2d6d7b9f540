"""A word that knows which parts of the meaning it says; words of two languages that share one are translations."""

from collections.abc import Sequence
from typing import NamedTuple

Part = tuple[str, int]
"""A role ("noun", "verb", ...) and the nesting level at which it stands."""


class Word(NamedTuple):
    text: str
    says: frozenset[Part]


def word(text: str, level: int, *roles: str) -> Word:
    return Word(text, frozenset((role, level) for role in roles))


def verb_words(text: str, level: int) -> list[Word]:
    """"looked for": the first word says the verb, the others its particle; a single word says both."""
    first, *others = text.split()
    return [word(first, level, *(["verb"] if others else ["verb", "particle"])),
            *(word(other, level, "particle") for other in others)]


def alignment(source: Sequence[Word], target: Sequence[Word]) -> frozenset[tuple[int, int]]:
    """All (target index, source index) of words that say the same part of the meaning."""
    said = [(part, j) for j, word in enumerate(source) for part in word.says]
    places: dict[Part, list[int]] = {part: [] for part, _ in said}
    for part, j in said:
        places[part].append(j)
    return frozenset((i, j) for i, word in enumerate(target) for part in word.says for j in places.get(part, ()))
