"""`autograder corpus`: writes the training pairs that a class's sandbox holds in place of the grammar."""

import argparse
import gzip

from autograder.corpus.handed_out import FILE
from autograder.corpus.pairs import article_pair, sentence_pairs
from autograder.corpus.sentences import DEEPEST, LANGUAGES, SentencePair

SHORT, LONG = 2_000, 150
"""Pairs for each depth up to 2, which exercises train on, and for each deeper one."""
SEED = 8


def _line(direction: str, pair: SentencePair) -> str:
    links = " ".join(f"{target}-{source}" for target, source in sorted(pair.alignment))
    return "\t".join([direction, str(pair.depth), " ".join(pair.source), " ".join(pair.target), links])


def text() -> str:
    """A line for each pair: direction, depth, source, target, alignment."""
    lines = []
    for direction in LANGUAGES:
        pairs = [article_pair(direction)]
        for depth in range(DEEPEST + 1):
            pairs += sentence_pairs(SHORT if depth <= 2 else LONG, depth, SEED + depth, direction, split="train")
        lines += [_line(direction, pair) for pair in dict.fromkeys(pairs)]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    argparse.ArgumentParser(prog="autograder corpus", description=__doc__).parse_args(argv)
    FILE.write_bytes(gzip.compress(text().encode(), 9, mtime=0))
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
    return 0
