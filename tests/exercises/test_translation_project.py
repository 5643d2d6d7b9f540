"""The project of chapter 8: which sentences are asked, and what is said of a file that is missing or does not fit."""

import random
import shutil

import pytest
import torch
from notebook_cells import definitions

from autograder.corpus import sentence_pairs
from autograder.corpus.pairs import side
from autograder.exercises.translation import DEPTH, FILE, PARTS, hidden
from autograder.judging.judge import PUBLIC_SEED, judge
from autograder.reference.translation import _Reader, french_of
from autograder.reference.translation import translate as right
from autograder.right_answers import right_answers

SEEDS = (PUBLIC_SEED, 0, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_hidden_sentences_are_of_the_test_split_and_of_the_trained_lengths(seed):
    pairs = hidden(seed)
    assert len({pair.source for pair in pairs}) == len(pairs) == sum(PARTS.values())
    assert {side(_Reader(pair.source).meaning()) for pair in pairs} == {"test"}
    counts = [sum(pair.depth == depth for pair in pairs) for depth in range(DEPTH[1] + 1)]
    assert sum(counts) == len(pairs) and min(counts) > len(pairs) / 10


def test_another_seed_asks_others_and_the_public_seeds_are_in_no_other():
    public, one, other = ({pair.source for pair in hidden(seed)} for seed in SEEDS)
    assert not public & one and not public & other and one != other
    assert hidden(0) == hidden(0)


def test_an_english_sentence_has_one_translation():
    for split in ("train", "test"):
        for pair in sentence_pairs(500, (0, 7), 11, "en-fr", split=split):
            assert french_of(pair.source) == pair.target


@pytest.mark.parametrize("text", ["", "the", "the cat", "the cat was", "the cat was very", "cat was very tired",
                                  "the cat were very tired", "the cats was very tired", "the cat was very quiet",
                                  "the cat that was very tired", "the cat that saw was very tired",
                                  "the red cat was very tired", "the cat was very tired tired",
                                  "the cat that she mouse was very tired", "the zebra was very tired"])
def test_what_the_grammar_does_not_make_comes_back(text):
    words = text.split()
    assert french_of(tuple(words)) is None and right([words]) == [words]


def nearly(share, change, seed=3):
    """`change` of each translation by a model that gets this share right, and something else wrong each time."""
    draw = random.Random(seed)

    def model(words):
        return words if draw.random() < share else draw.sample(words, len(words))

    return lambda sentences: [change(model(words)) for words in right(sentences)]


@pytest.mark.parametrize("share", [0.6, 0.8, 1.0])
@pytest.mark.parametrize("change, name", [(lambda words: [*words, "<eos>"], "end_left_in"),
                                          (lambda words: words[1:], "first_word_lost"),
                                          (lambda words: words[::-1], "backwards"),
                                          (lambda words: " ".join(words), "one_text_a_sentence")])
def test_a_mistake_is_named_though_the_model_makes_others(share, change, name):
    report = judge(nearly(share, change), seed=1, exercise="translate")
    assert report.score == 0 and report.diagnoses == (name,)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.85])
def test_a_model_that_is_not_good_enough_has_no_name(share):
    report = judge(nearly(share, list), seed=1, exercise="translate")
    assert report.diagnoses == () and report.score < 9
    assert any("right" in outcome.message for outcome in report.outcomes)


@pytest.mark.parametrize("share, points", [(0.42, 0), (0.65, 3), (0.88, 6)])
def test_each_step_earns_its_points(share, points):
    """The three steps alone; a random share is far from the next one."""
    report = judge(nearly(share, list), seed=2, exercise="translate")
    assert sum(outcome.earned for outcome in report.outcomes[:3]) == points


def lost(answer, seed=5):
    """What a secret seed says of each criterion."""
    report = judge(answer, seed=seed, exercise="translate")
    assert report.score == 0 and not report.needs_a_person
    return {outcome.message for outcome in report.outcomes}


ANSWERS = [pytest.param(right_answers("translate")[0], id="right_answer"),
           pytest.param(definitions("solutions", "08_transformer")["translate"], id="solution")]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_missing_file_is_said_to_be_missing(answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert lost(answer) == {"Your code raised FileNotFoundError: is `translator.pt` handed in beside the notebook? "
                            "A file of more than 16 MiB is left out."}


@pytest.mark.parametrize("content", [b"", b"PK", b"no model at all", None])
def test_a_file_that_is_none_is_said_to_be_unreadable(content, tmp_path, monkeypatch, request):
    whole = (request.config.rootpath / "tests" / "translator" / FILE).read_bytes()
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE).write_bytes(whole[:100_000] if content is None else content)
    assert lost(right_answers("translate")[0]) == {
        "Your code could not read `translator.pt`: is it whole, and from torch.save?"}


def test_weights_of_another_model_do_not_fit(tmp_path, monkeypatch, request):
    saved = torch.load(request.config.rootpath / "tests" / "translator" / FILE)
    monkeypatch.chdir(tmp_path)
    saved["weights"]["proj.bias"] = torch.zeros(3)
    torch.save(saved, FILE)
    assert lost(right_answers("translate")[0]) == {
        "Your code raised RuntimeError: what `translator.pt` holds does not fit the model that it is for."}


def test_the_solution_trains_and_saves_what_it_loads(tmp_path, monkeypatch):
    """A few steps, which is not yet a translator; that the whole training is enough is in the solution's outputs."""
    monkeypatch.chdir(tmp_path)
    names = definitions("solutions", "08_transformer")
    torch.save(names["train_translator"](steps=3), FILE)
    (said,) = names["translate"]([["the", "cat", "was", "very", "tired"]])
    assert all(isinstance(word, str) for word in said)
    shutil.copy(FILE, "kept.pt")
    assert torch.load("kept.pt").keys() == {"english", "french", "weights"}
