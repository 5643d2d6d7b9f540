"""What a class's sandbox has in place of `pairs`: the same names, on stored pairs of the training split.

The grammar could translate the hidden sentences by which a learner's translator is graded, so it stays outside.
`storing` writes the file; `sandbox.bubblewrap` lays this module inside under the name of `pairs`.
"""

import gzip
from functools import cache
from pathlib import Path
from random import Random

from autograder.corpus.sentences import SentencePair, depths

FILE = Path(__file__).with_name("handed_out.txt.gz")
KEPT = "The grader keeps the test sentences to itself; where a class is graded, draw with split=\"train\"."


def sentence_pairs(count: int, depth: int | tuple[int, int], seed: int, direction: str,
                   split: str | None = None) -> list[SentencePair]:
    """`count` stored pairs, in an order that the seed decides; the first again when there are no more.

    Arguments and errors as at home, and a ValueError for any split but "train". The pairs are others than at home.
    """
    low, high = depths(depth, direction, split)
    if split != "train":
        raise ValueError(KEPT)
    fitting = [pair for pair in _stored(direction)[1:] if low <= pair.depth <= high]
    shuffled = Random(seed).sample(fitting, len(fitting))
    return (shuffled * -(-count // len(shuffled)))[:count]


def article_pair(direction: str) -> SentencePair:
    """The article's sentence: the cat that chased the mouse that ate the cheese was very tired."""
    depths(0, direction, None)
    return _stored(direction)[0]


@cache
def _stored(direction: str) -> list[SentencePair]:
    """The article's pair, then all others."""
    lines = gzip.decompress(FILE.read_bytes()).decode().splitlines()
    return [_pair(*line.split("\t")[1:]) for line in lines if line.startswith(direction)]


def _pair(depth: str, source: str, target: str, links: str) -> SentencePair:
    alignment = frozenset(tuple(map(int, link.split("-"))) for link in links.split())
    return SentencePair(tuple(source.split()), tuple(target.split()), alignment, int(depth))
