"""Chapter 11's experiments ask what they say, differ only in what they say, and store what today's plan asks for."""

import json
from itertools import pairwise

import pytest
import torch
from torch import nn

from autograder.experiments import feed_forward, norm_place, results, run
from autograder.experiments.small_transformer import SmallTransformer, averages, train
from autograder.reference.transformer import LayerNorm

BOTH = pytest.mark.parametrize("experiment", (norm_place, feed_forward), ids=lambda module: module.NAME)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("causal", (True, False))
def test_a_causal_model_reads_no_later_token_and_another_reads_all(causal):
    torch.manual_seed(0)
    model = SmallTransformer(11, 32, list(norm_place.make_model("Pre-LN", 2, 0).layers), final_norm=True, causal=causal)
    tokens = torch.randint(10, (1, 9), generator=generator())
    changed = tokens.clone()
    changed[0, -1] = (changed[0, -1] + 1) % 10
    gap = (model(tokens) - model(changed)).abs().amax(dim=-1)[0]
    assert gap[-1] > 1e-3 and bool((gap[:-1] < 1e-6).all()) == causal


def test_the_copy_is_a_copy_and_only_its_second_half_counts():
    tokens = norm_place.draw(5, generator())
    assert tokens.shape == (5, 17) and (tokens[:, 0] == norm_place.DIGITS).all()
    assert torch.equal(tokens[:, 1:9], tokens[:, 9:])

    def knows_the_second_half(fed):
        logits = torch.zeros(*fed.shape, 11)
        logits[:, 8:] = 50.0 * nn.functional.one_hot(tokens[:, 9:], 11)
        return logits

    assert norm_place.copy_loss(knows_the_second_half, tokens) < 1e-6


def test_the_two_places_of_the_norm_differ_in_one_norm_at_the_end():
    post, pre = (norm_place.make_model(norm, 3, seed=1) for norm in ("Post-LN", "Pre-LN"))
    assert isinstance(pre.norm, LayerNorm) and isinstance(post.norm, nn.Identity)
    assert [layer.norm_first for layer in (*post.layers, *pre.layers)] == [False] * 3 + [True] * 3
    assert all(torch.equal(a, b) for a, b in zip(post.layers.parameters(), pre.layers.parameters(), strict=True))
    assert len(norm_place.gradients("Post-LN", 3, 1)) == 3


def test_words_are_spelled_between_edges_and_none_is_in_both_parts():
    training, tests = feed_forward.words()
    assert len(tests) == feed_forward.TESTS and training.size(1) == feed_forward.LONGEST + 2
    assert not {tuple(row) for row in training.tolist()} & {tuple(row) for row in tests.tolist()}
    for row in tests[:50].tolist():
        word = row[:row.index(feed_forward.PAD)] if feed_forward.PAD in row else row
        assert word[0] == word[-1] == feed_forward.EDGE and all(0 <= letter < 26 for letter in word[1:-1])
        assert feed_forward.SHORTEST <= len(word) - 2 <= feed_forward.LONGEST


def test_every_variant_spends_the_same_weights_in_a_layer():
    spent = [sum(p.numel() for p in feed_forward.make_model(name, 0).layers[0].parameters() if p.dim() > 1)
             for name in feed_forward.VARIANTS]
    assert max(spent) < 1.005 * min(spent)


def test_the_gated_net_is_that_of_the_formula():
    net = feed_forward.GatedFeedForward(6, 5).double()
    for weight in net.parameters():
        nn.init.normal_(weight, generator=generator())
    x = torch.randn(2, 3, 6, dtype=torch.float64, generator=generator())
    gate = x @ net.w_gate.T
    torch.testing.assert_close(net(x), (gate * torch.sigmoid(gate) * (x @ net.w_up.T)) @ net.w_down.T)


def test_the_rate_climbs_then_stays_or_falls():
    def rates(**options) -> list[float]:
        model, seen = SmallTransformer(3, 4, [], final_norm=False), []

        def loss_of(model):
            seen.append(model.proj.bias.detach().clone())
            return model.proj.bias.sum()                 # Adam's steps are then as long as the rate

        train(model, loss_of, 8, 0.1, progress=False, **options)
        return [round(float((a - b)[0]), 4) for a, b in pairwise(seen)]

    assert rates() == [0.1] * 7
    assert rates(warmup=3) == [0.025, 0.05, 0.075, 0.1, 0.1, 0.1, 0.1]
    assert rates(fall=True) == [0.1, 0.0875, 0.075, 0.0625, 0.05, 0.0375, 0.025]


def test_averages_make_a_curve():
    assert averages([1.0, 2.0, 3.0, 5.0], 2) == [1.5, 4.0]


@BOTH
def test_the_file_has_every_run_of_the_plan_and_no_other(experiment):
    stored = results.load(experiment.NAME)
    assert stored["settings"] == experiment.settings()
    assert len(stored["runs"]) == len(experiment.plan()) and len({one["seed"] for one in stored["runs"]}) >= 3
    for wanted in experiment.plan():
        assert sum(wanted.items() <= one.items() for one in stored["runs"]) == 1


def test_a_plan_is_trained_measured_and_stored_and_the_same_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(norm_place, "SEEDS", (0, 1))
    monkeypatch.setattr(norm_place, "VARIANTS", norm_place.VARIANTS[4:5])
    monkeypatch.setattr(norm_place, "TRAINING", {"steps": 20, "batch_size": 4})
    monkeypatch.setattr(feed_forward, "SEEDS", (0, 1))
    monkeypatch.setattr(feed_forward, "VARIANTS", {"swiglu": (8, 5, True)})
    monkeypatch.setattr(feed_forward, "TRAINING", {"steps": 3, "learning_rate": 1e-3, "warmup": 1})
    for experiment, loss in ((norm_place, "loss"), (feed_forward, "test_loss")):
        first = experiment.experiment(progress=False)
        assert first == json.loads(results.path(experiment.NAME).read_text())
        assert first["runs"][0][loss] != first["runs"][1][loss]
        results.save(experiment.NAME, {**first, "runs": first["runs"][:1]})
        again = experiment.experiment(progress=False)
        for ours, theirs in zip(first["runs"], again["runs"], strict=True):
            assert {**ours, "cpu_seconds": 0} == {**theirs, "cpu_seconds": 0}
        assert run.main([experiment.NAME, "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "norm_place: Post-LN depth 2 warmup 0" in said and "feed_forward: swiglu seed 1" in said
