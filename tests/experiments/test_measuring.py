"""BLEU, exact match, alignment accuracy and AER on cases that can be counted by hand."""

import pytest
import torch

from autograder.corpus import article_pair, sentence_pairs
from autograder.experiments.measuring import LENGTHS, alignment_quality, evaluate, quality
from autograder.reference.bottleneck import corpus_bleu

PAIRS = sentence_pairs(60, (0, 7), 4, "en-fr")


class Parrot:
    """Knows the right translation of all sentences up to some length, and says nothing to the others."""

    def __init__(self, longest: int):
        self.longest = longest

    def translate(self, pairs):
        return [list(pair.target) if len(pair.source) <= self.longest else [] for pair in pairs]


def test_evaluate_sorts_by_length():
    scores = evaluate(Parrot(20), PAIRS)
    assert [(row["low"], row["high"]) for row in scores["by_length"]] == list(LENGTHS)
    assert sum(row["sentences"] for row in scores["by_length"]) == len(PAIRS)
    for row in scores["by_length"]:
        right = 100.0 if row["high"] <= 20 else 0.0
        assert row["bleu"] == pytest.approx(right) and row["exact"] == row["last_word"] == right
        assert row["low"] <= row["words"] <= row["high"]
    share = sum(len(pair.source) <= 20 for pair in PAIRS) / len(PAIRS)
    assert scores["exact"] == pytest.approx(100 * share, abs=0.01) and 0 < scores["bleu"] < 100


def test_quality_equals_the_reference_bleu():
    spoiled = [[*pair.target[:-1], "quoi"] for pair in PAIRS]
    scores = quality(spoiled, PAIRS)
    assert scores["exact"] == scores["last_word"] == 0
    assert scores["bleu"] == pytest.approx(corpus_bleu(spoiled, [list(p.target) for p in PAIRS]), abs=0.005)


class Looks:
    def __init__(self, chosen):
        self.chosen = chosen

    def alignments(self, pairs):
        return [torch.nn.functional.one_hot(torch.tensor([self.chosen(pair, i) for i in range(len(pair.target))]),
                                            len(pair.source)).float() for pair in pairs]


def test_a_perfect_aligner_misses_only_second_links():
    scores = alignment_quality(Looks(lambda pair, i: min(pair.aligned[i])), PAIRS)
    words, links = sum(len(pair.target) for pair in PAIRS), sum(len(pair.alignment) for pair in PAIRS)
    assert scores["accuracy"] == 100 and links > words
    assert scores["aer"] == pytest.approx(100 * (1 - 2 * words / (words + links)), abs=0.01)


def test_one_wrong_word_of_the_article():
    pair = article_pair("en-fr")
    assert len(pair.target) == 15 and len(pair.alignment) == 15
    scores = alignment_quality(Looks(lambda pair, i: 0 if i == 14 else min(pair.aligned[i])), [pair])
    assert scores == {"accuracy": round(100 * 14 / 15, 2), "aer": round(100 / 15, 2)}


def test_always_the_first_word():
    pair = article_pair("zh-en")
    assert len(pair.target) == len(pair.alignment) == 13
    assert alignment_quality(Looks(lambda pair, i: 0), [pair]) == {"accuracy": 7.69, "aer": 92.31}
