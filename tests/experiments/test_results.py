"""The committed results are complete, and the code of today would write the same for the same settings."""

import json
import math

import pytest
from full_disk import full_disk

from autograder.experiments import results, run, setting
from autograder.experiments.batches import vocabularies
from autograder.experiments.measuring import LENGTHS
from autograder.experiments.models import Seq2Seq


@pytest.mark.parametrize("name", run.EXPERIMENTS)
def test_the_file_has_every_run_of_the_plan_and_no_other(name):
    stored = results.load(name)
    assert stored["command"] == f"autograder experiments {name}"
    assert stored["settings"] == run.settings()
    wanted = run.plan(name)
    assert len(stored["runs"]) == len(wanted)
    assert all(any(plan.items() <= found.items() for found in stored["runs"]) for plan in wanted)


@pytest.mark.parametrize("name", run.EXPERIMENTS)
def test_every_run_has_every_number(name):
    sentences = {}
    for found in results.load(name)["runs"]:
        assert len(found["losses"]) == found.get("epochs", setting.TRAINING["epochs"])
        assert all(map(math.isfinite, found["losses"]))
        assert 0 <= found["exact"] <= 100 and 0 <= found["bleu"] <= 100 and found["cpu_seconds"] > 0
        rows = found["by_length"]
        assert [(row["low"], row["high"]) for row in rows] == list(LENGTHS)
        assert all(set(row) == {"low", "high", "words", "sentences", "bleu", "exact", "last_word"} for row in rows)
        assert ("alignment" in found) == ("article" in found) == (found["model"] != "plain")
        assert ("examples" in found) == (found["seed"] == 0)
        sentences.setdefault(found["direction"], []).append([row["sentences"] for row in rows])
    for counts in sentences.values():
        assert all(count == counts[0] for count in counts) and sum(counts[0]) <= setting.TEST


@pytest.fixture(scope="module")
def tests():
    return setting.test_pairs("en-fr")


@pytest.mark.parametrize("name", run.EXPERIMENTS)
def test_the_test_sentences_of_the_file_are_those_of_today(name, tests):
    counts = [sum(low <= len(pair.source) <= high for pair in tests) for low, high in LENGTHS]
    known = {" ".join(pair.source): " ".join(pair.target) for pair in tests}
    for found in results.load(name)["runs"]:
        if found["direction"] == "en-fr":
            assert [row["sentences"] for row in found["by_length"]] == counts
            assert all(known[example["source"]] == example["target"] for example in found.get("examples", []))


def test_the_models_of_the_file_are_those_of_today():
    words = {deepest: vocabularies(setting.training_pairs("en-fr", deepest)) for deepest in (5, 7)}
    for found in results.load("bottleneck")["runs"]:
        model = Seq2Seq(*words[found["deepest"]], hidden_dim=found["hidden_dim"])
        assert sum(p.numel() for p in model.parameters()) == found["parameters"]


def test_a_plan_is_trained_measured_and_stored_run_by_run(tmp_path, monkeypatch):
    """A tiny experiment: started, stopped after one run, and started again."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(run, "SEEDS", (0, 1))
    monkeypatch.setitem(run.EXPERIMENTS, "tiny", [{"model": "dot", "hidden_dim": 8, "epochs": 2}])
    monkeypatch.setattr(setting, "LONG", 60)
    monkeypatch.setattr(setting, "SHORT", 20)
    monkeypatch.setattr(setting, "TEST", 140)
    monkeypatch.setattr(run, "TRAINING", {"epochs": 1, "batch_size": 20, "learning_rate": 1e-2})
    assert [plan["seed"] for plan in run.plan("tiny")] == [0, 1]
    first = run.experiment("tiny", progress=False)
    assert [len(found["losses"]) for found in first["runs"]] == [2, 2]
    assert first == json.loads(results.path("tiny").read_text())
    assert first["runs"][0]["losses"] != first["runs"][1]["losses"]
    assert run.experiment("tiny", progress=False) == first
    results.save("tiny", {**first, "runs": first["runs"][:1]})
    again = run.experiment("tiny", progress=False)
    for ours, theirs in zip(first["runs"], again["runs"], strict=True):
        assert {k: v for k, v in ours.items() if k != "cpu_seconds"} == {
            k: v for k, v in theirs.items() if k != "cpu_seconds"}


def test_what_was_measured_with_other_settings_is_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(run, "SEEDS", (0,))
    monkeypatch.setitem(run.EXPERIMENTS, "tiny", [{"model": "plain"}])
    monkeypatch.setattr(run, "carry_out", lambda wanted, progress: {**wanted, "bleu": 1.0})
    results.save("tiny", {"command": "", "settings": {"epochs": 99}, "runs": [{**run.plan("tiny")[0], "bleu": 0.0}]})
    assert [found["bleu"] for found in run.experiment("tiny")["runs"]] == [1.0]


def test_a_disk_that_is_full_while_a_run_is_saved_costs_no_run_before(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    before = {"command": "", "settings": {}, "runs": [{"seed": 0}]}
    results.save("tiny", before)
    with full_disk(room=40), pytest.raises(OSError, match=r"tiny\.json"):
        results.save("tiny", {**before, "runs": [{"seed": 0}, {"seed": 1}]})
    assert results.load("tiny") == before


def test_a_name_that_has_no_results_says_how_to_make_them():
    with pytest.raises(FileNotFoundError, match="`autograder experiments nothing` makes them"):
        results.load("nothing")
