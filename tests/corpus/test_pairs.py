"""Pairs, alignment, splits and vocabulary: what the models and their figures stand on."""

import hashlib
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.corpus import Vocabulary, article_pair, sentence_pairs
from autograder.corpus.chinese import sentence as chinese
from autograder.corpus.english import sentence as english
from autograder.corpus.french import sentence as french
from autograder.corpus.meaning import draw

DIRECTIONS = ("en-fr", "zh-en")
DEPTHS = range(8)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_target_word_is_aligned(direction):
    for pair in sentence_pairs(300, (0, 7), 1, direction):
        assert all(pair.aligned)
        assert all(0 <= i < len(pair.target) and 0 <= j < len(pair.source) for i, j in pair.alignment)


def test_every_english_word_is_translated_and_only_particles_of_chinese_are_not():
    for pair in sentence_pairs(300, (0, 7), 1, "en-fr"):
        assert {j for _, j in pair.alignment} == set(range(len(pair.source)))
    for pair in sentence_pairs(300, (0, 7), 1, "zh-en"):
        missing = set(range(len(pair.source))) - {j for _, j in pair.alignment}
        assert {pair.source[j] for j in missing} <= {"了", "的"}


def test_the_alignment_of_the_article():
    """The Chinese cat stands at place 10, and 累 says both "was" and "tired"."""
    assert [sorted(row) for row in article_pair("en-fr").aligned] == [
        [0], [1], [2], [3], [3], [4], [5], [6], [7], [7], [8], [9], [10], [11], [12]]
    assert [sorted(row) for row in article_pair("zh-en").aligned] == [
        [0], [10], [9], [1], [2], [8], [7], [3], [5], [6], [12], [11], [12]]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_depth_is_exact_or_spread_over_a_range(direction):
    for depth in DEPTHS:
        pairs = sentence_pairs(20, depth, 0, direction)
        assert {pair.depth for pair in pairs} == {depth}
        english = [pair.source if direction == "en-fr" else pair.target for pair in pairs]
        assert all(sum(word in ("that", "who") for word in words) == depth for words in english)
    counts = Counter(pair.depth for pair in sentence_pairs(2000, (2, 5), 0, direction))
    assert sorted(counts) == [2, 3, 4, 5] and min(counts.values()) > 400


def test_lengths_are_spread_from_5_to_40_words():
    lengths = Counter(len(pair.source) for pair in sentence_pairs(4000, (0, 7), 0, "en-fr"))
    assert min(lengths) == 5 and max(lengths) <= 40
    for low in range(6, 36, 5):
        assert sum(lengths[n] for n in range(low, low + 5)) > 250, low
    assert sum(lengths[n] for n in range(36, 41)) > 100


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_same_seed_gives_the_same_pairs_and_another_seed_others(direction):
    first = sentence_pairs(50, (0, 7), 3, direction)
    assert first == sentence_pairs(50, (0, 7), 3, direction)
    assert first[:20] == sentence_pairs(20, (0, 7), 3, direction)
    assert first != sentence_pairs(50, (0, 7), 4, direction)


def test_both_directions_have_the_same_meanings():
    for split in (None, "train", "test"):
        ours, theirs = (sentence_pairs(50, (0, 7), 3, direction, split=split) for direction in DIRECTIONS)
        assert [pair.source for pair in ours] == [pair.target for pair in theirs]


def digest() -> str:
    pairs = [sentence_pairs(100, (0, 7), 5, direction, split="test") for direction in DIRECTIONS]
    return hashlib.sha256("\n".join(map(str, [*pairs[0], *pairs[1]])).encode()).hexdigest()


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_another_process_gives_the_same_pairs(hash_seed):
    code = (f"import sys; sys.path.insert(0, {__file__.rsplit('/', 1)[0]!r}); import test_pairs; "
            "print(test_pairs.digest())")
    said = subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"},
                          capture_output=True, text=True, check=True)
    assert said.stdout.strip() == digest()


def test_no_sentence_is_in_both_splits():
    """Whatever the seed, depth or direction, in any of the three languages."""
    sides = {"train": set(), "test": set()}
    for split, found in sides.items():
        for seed in range(3):
            for depth in (0, 1, (0, 7)):
                for direction in DIRECTIONS:
                    for pair in sentence_pairs(150, depth, seed, direction, split=split):
                        found |= {pair.source, pair.target}
    assert min(map(len, sides.values())) > 1000 and not sides["train"] & sides["test"]


def test_both_splits_together_are_all_sentences():
    everything = {str(pair) for pair in sentence_pairs(200, 0, 0, "en-fr")}
    halves = {split: {str(pair) for pair in sentence_pairs(3000, 0, 0, "en-fr", split=split)}
              for split in ("train", "test")}
    assert everything <= halves["train"] | halves["test"]
    assert all(everything & half for half in halves.values())


@given(st.integers(0, 10**6), st.integers(0, 7))
@settings(max_examples=200)
def test_languages_say_the_same_parts(seed, depth):
    """So every word of one language has its partner in the others."""
    meaning = draw(Random(seed), depth)
    parts = [set().union(*(word.says for word in say(meaning))) for say in (english, french, chinese)]
    assert parts[0] == parts[1] == parts[2]


@pytest.mark.parametrize(("arguments", "message"), [
    ((1, 8, 0, "en-fr"), "depth is 8, but clauses are nested 0 to 7"),
    ((1, (3, 1), 0, "en-fr"), r"depth is \(3, 1\)"),
    ((1, 0, 0, "en-de"), "no direction 'en-de'; choose one of en-fr, zh-en"),
    ((1, 0, 0, "en-fr", "dev"), "no split 'dev'; choose one of train, test"),
])
def test_errors_name_the_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        sentence_pairs(*arguments)


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1), min_size=1))
def test_vocabulary_goes_there_and_back(sentences):
    words = Vocabulary(sentences)
    for sentence in sentences:
        numbers = words.encode(sentence)
        assert min(numbers) >= 4 and max(numbers) < len(words)
        assert words.decode([words.bos, *numbers, words.eos, words.eos, words.pad]) == sentence


def test_vocabulary_has_four_special_words_and_a_fixed_order():
    words = Vocabulary([["le", "chat"], ["chat", "a"]])
    assert (words.pad, words.bos, words.eos, words.unk) == (0, 1, 2, 3)
    assert words.words[4:] == ["a", "chat", "le"] and len(words) == 7
    assert words.encode(["le", "chien"]) == [6, words.unk]


def test_both_splits_have_the_same_words():
    """So that a test sentence has no unknown word."""
    for direction in DIRECTIONS:
        known = sentence_pairs(4000, (0, 7), 1, direction, split="train")
        unseen = sentence_pairs(500, (0, 7), 3, direction, split="test")
        for side in ("source", "target"):
            words = Vocabulary(getattr(pair, side) for pair in known)
            assert all(words.unk not in words.encode(getattr(pair, side)) for pair in unseen)
