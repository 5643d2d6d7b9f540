"""The picker of heads holds the weights of every head, and refuses sentences that its slider cannot serve."""

import pytest
import torch

from autograder.book.heads import head_picker


def sentence(tokens, seed):
    scores = torch.randn(2, 3, tokens, tokens, generator=torch.Generator().manual_seed(seed))
    return [f"word{i}" for i in range(tokens)], torch.softmax(scores, dim=-1)


def test_each_pair_of_words_has_the_percentage_of_every_head():
    words, maps = sentence(4, seed=0)
    spec = head_picker({"one": (words, maps), "other": sentence(4, seed=1)}, layer=1, head=2, word=3).to_dict()
    rows = next(data for data in spec["datasets"].values()) if "datasets" in spec else spec["data"]["values"]
    assert len(rows) == 2 * 4 * 4
    row = next(row for row in rows if (row["sentence"], row["i"], row["j"]) == ("one", 3, 1))
    assert (row["from"], row["to"]) == ("word3", "word1")
    percent = torch.tensor([int(number) for number in row["heads"].split()]).view(2, 3)
    assert ((percent / 100 - maps[:, :, 3, 1]).abs() <= 0.005 + 1e-6).all()
    assert len(spec["description"]) > 40


def test_sentences_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"\[4, 5\] tokens.* one length"):
        head_picker({"one": sentence(4, seed=0), "other": sentence(5, seed=0)}, layer=0, head=0, word=0)
