"""What a sandbox has in place of the grammar: stored training pairs, behind the same names."""

import gzip
import inspect
from collections import Counter

import pytest

from autograder.corpus import Vocabulary, handed_out, pairs, storing
from autograder.corpus.sentences import LANGUAGES

ARGUMENTS = (12_000, (0, 2), 1, "en-fr")
"""What the project of chapter 8 trains on."""


def test_the_file_is_what_the_grammar_gives():
    stored = gzip.decompress(handed_out.FILE.read_bytes()).decode()
    assert stored == storing.text(), "run `autograder corpus` and commit the file"
    assert handed_out.FILE.stat().st_size < 500_000


def test_it_has_the_same_names_and_arguments():
    for name in ("sentence_pairs", "article_pair", "SentencePair"):
        assert inspect.signature(getattr(handed_out, name)) == inspect.signature(getattr(pairs, name))
    for direction in LANGUAGES:
        assert handed_out.article_pair(direction) == pairs.article_pair(direction)


@pytest.mark.parametrize("direction", LANGUAGES)
def test_no_stored_meaning_is_in_the_test_split(direction):
    said = {pair.source if direction == "en-fr" else pair.target
            for pair in handed_out.sentence_pairs(20_000, (0, 7), 0, direction, split="train")}
    tested = {pair.source for pair in pairs.sentence_pairs(400, (0, 2), 5, "en-fr", split="test")}
    assert len(said) > 5_000 and len(tested) > 300 and not said & tested


def test_depths_counts_and_seeds():
    for depth in range(8):
        assert {p.depth for p in handed_out.sentence_pairs(50, depth, 0, "zh-en", split="train")} == {depth}
    counts = Counter(p.depth for p in handed_out.sentence_pairs(*ARGUMENTS, split="train"))
    assert sorted(counts) == [0, 1, 2] and min(counts.values()) > 1_500 and counts.total() == 12_000
    first, again, other = (handed_out.sentence_pairs(30, (0, 7), seed, "en-fr", split="train") for seed in (3, 3, 4))
    assert first == again != other
    assert handed_out.sentence_pairs(0, 0, 0, "en-fr", split="train") == []


def test_the_vocabularies_are_those_of_home():
    """So an answer that makes them again has the numbers with which it was trained."""
    for side in ("source", "target"):
        home, inside = (Vocabulary(getattr(pair, side) for pair in drawn(*ARGUMENTS, split="train"))
                        for drawn in (pairs.sentence_pairs, handed_out.sentence_pairs))
        assert home.words == inside.words


@pytest.mark.parametrize("split", ["test", None])
def test_the_test_split_stays_with_the_grader(split):
    with pytest.raises(ValueError, match="The grader keeps the test sentences") as told:
        handed_out.sentence_pairs(1, 0, 0, "en-fr", split=split)
    assert str(told.value).count(".") == 1


@pytest.mark.parametrize("arguments", [(1, 8, 0, "en-fr", "train"), (1, 0, 0, "en-de", "train"),
                                       (1, 0, 0, "en-fr", "dev")])
def test_errors_are_those_of_home(arguments):
    said = []
    for module in (handed_out, pairs):
        with pytest.raises(ValueError) as told:
            module.sentence_pairs(*arguments)
        said.append(str(told.value))
    assert said[0] == said[1]
