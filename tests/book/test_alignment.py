"""The figure of an alignment holds what it was given: words, maps to choose from, gold links."""

import torch

from autograder.book.alignment import LEAST, explorer
from autograder.corpus import article_pair


def made():
    pair = article_pair("en-fr")
    maps = {name: torch.zeros(len(pair.target), len(pair.source)) for name in ("one head", "another")}
    maps["one head"][4, 3], maps["another"][4, 5], maps["another"][4, 6] = 0.75, 0.5, LEAST / 2
    return pair, explorer(pair, maps, "Title", "What is to be seen", first_word=4).to_dict()


def rows(spec, key):
    """The data of the layers whose rows have this key."""
    sets = [layer["data"].get("values") or spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]]
    return [values for values in sets if key in values[0]]


def test_lines_are_the_weights_that_can_be_seen():
    _, spec = made()
    found = {(row["head"], row["i"], row["j"], row["weight"]) for row in rows(spec, "head")[0]}
    assert found == {("one head", 4, 3, 0.75), ("another", 4, 5, 0.5)}


def test_gold_links_and_words_are_those_of_the_pair():
    pair, spec = made()
    words = [row["target"] for row in rows(spec, "top")[0]]
    assert tuple(words) == pair.target
    gold = next(values for values in rows(spec, "j") if set(values[0]) == {"choice", "j"})
    assert {(int(row["choice"].split()[0]) - 1, row["j"]) for row in gold} == pair.alignment


def test_word_and_head_are_chosen_from_lists():
    pair, spec = made()
    params = {param["name"]: param for param in spec["params"]}
    assert params["head"]["value"] == "one head" and params["head"]["bind"]["options"] == ["one head", "another"]
    assert params["word"]["value"] == [{"choice": f"5 {pair.target[4]}"}]
    assert len(params["word"]["bind"]["choice"]["options"]) == len(pair.target)
    assert spec["description"] == "What is to be seen"
