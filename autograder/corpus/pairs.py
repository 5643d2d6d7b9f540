"""Sentence pairs with their gold alignment: as many as you like, the same for the same seed on every machine."""

import hashlib
from collections.abc import Callable
from random import Random

from autograder.corpus import chinese, english, french
from autograder.corpus.lexicon import NOUNS, PREDICATES, VERBS
from autograder.corpus.meaning import Meaning, NounPhrase, Relative, draw
from autograder.corpus.sentences import LANGUAGES, SentencePair, depths
from autograder.corpus.words import Word, alignment

SAY: dict[str, Callable[[Meaning], list[Word]]] = {
    "english": english.sentence, "french": french.sentence, "chinese": chinese.sentence}
TEST_SHARE = 0.2
LONGEST = 40
"""The longest English sentence, in words."""


def sentence_pairs(count: int, depth: int | tuple[int, int], seed: int, direction: str,
                   split: str | None = None) -> list[SentencePair]:
    """`count` pairs drawn with replacement. The same seed gives the same meanings in both directions.

    depth: so many nested relative clauses, 0 to 7, or (lowest, highest), each equally often.
    direction: "en-fr" (English to French) or "zh-en" (Chinese to English).
    split: "train" or "test": no meaning is in both, whatever the seed or direction; None draws from both.
    Raises ValueError for any other depth, direction or split.
    """
    low, high = depths(depth, direction, split)
    random, pairs = Random(seed), []
    while len(pairs) < count:
        nested = random.randint(low, high)
        meaning = _short_enough(random, nested)
        if split is None or side(meaning) == split:
            pairs.append(pair(meaning, nested, direction))
    return pairs


def _short_enough(random: Random, depth: int) -> Meaning:
    while True:
        meaning = draw(random, depth)
        if len(english.sentence(meaning)) <= LONGEST:
            return meaning


def side(meaning: Meaning) -> str:
    """The split that a meaning belongs to, decided by a hash of its English sentence alone."""
    text = " ".join(word.text for word in english.sentence(meaning))
    share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32
    return "test" if share < TEST_SHARE else "train"


def pair(meaning: Meaning, depth: int, direction: str) -> SentencePair:
    """A meaning in the two languages of a direction."""
    source, target = (SAY[language](meaning) for language in LANGUAGES[direction])
    return SentencePair(tuple(word.text for word in source), tuple(word.text for word in target),
                        alignment(source, target), depth)


def article_pair(direction: str) -> SentencePair:
    """The article's sentence: the cat that chased the mouse that ate the cheese was very tired."""
    verbs = {verb.english: verb for verb in VERBS}

    def the(noun: str, relative: Relative | None = None) -> NounPhrase:
        return NounPhrase(NOUNS[noun], False, False, None, relative)

    mouse = the("mouse", Relative(verbs["ate"], the("cheese"), True))
    tired = next(adjective for adjective in PREDICATES["cat"] if adjective.english == "tired")
    return pair(Meaning(the("cat", Relative(verbs["chased"], mouse, True)), "very", tired), 2, direction)
