"""The tasks ask what they say, the models see what they may, and the stored results are those of today's plan."""

import json

import pytest
import torch

from autograder.experiments import extrapolation, results, run
from autograder.experiments.extrapolation import LENGTHS, SEEDS, TRAINED
from autograder.experiments.order_tasks import NO_ANSWER, OFFSET, SIZES, VALUES, draw
from autograder.experiments.position_models import SCHEMES, PositionModel, with_untrained_rows


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_back_asks_for_the_letter_five_places_ago():
    tokens, answers = draw("back", 3, 20, generator())
    assert (answers[:, :OFFSET] == NO_ANSWER).all() and torch.equal(answers[:, OFFSET:], tokens[:, :-OFFSET])


def test_latest_asks_for_the_value_last_written_under_the_name():
    tokens, answers = draw("latest", 20, 30, generator())
    for sequence, wanted in zip(tokens.tolist(), answers.tolist(), strict=True):
        known: dict[int, int] = {}
        for token, answer in zip(sequence, wanted, strict=True):
            name, value = divmod(token, VALUES)
            assert answer == known.get(name, NO_ANSWER)
            known[name] = value


@pytest.mark.parametrize("task", SIZES)
def test_tokens_and_answers_are_in_their_ranges(task):
    tokens, answers = draw(task, 50, 40, generator())
    assert (int(tokens.max()) + 1, int(answers.max()) + 1) == SIZES[task]
    assert tokens.dtype == answers.dtype == torch.int64


def small(scheme: str, **sizes) -> PositionModel:
    torch.manual_seed(0)
    return PositionModel(11, 7, scheme, **{"d_model": 16, "num_heads": 2, "max_len": 12, **sizes}).double()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_scheme_lets_a_model_see_what_comes_later(scheme):
    tokens = torch.randint(11, (2, 9), generator=generator())
    changed = tokens.clone()
    changed[:, 6:] = (changed[:, 6:] + 1) % 11
    before, after = (small(scheme)(t) for t in (tokens, changed))
    assert before.shape == (2, 9, 7)
    torch.testing.assert_close(before[:, :6], after[:, :6])
    assert not torch.allclose(before[:, 6:], after[:, 6:])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_with_one_layer_only_none_is_blind_to_the_order_of_what_came_before(scheme):
    tokens = torch.tensor([[1, 2, 3, 4, 5], [3, 1, 4, 2, 5]])
    first, second = small(scheme, num_layers=1)(tokens)[:, -1]
    assert torch.allclose(first, second) == (scheme == "none")


def test_two_layers_tell_orders_apart_even_without_positions():
    """The causal mask shows each place another past."""
    first, second = small("none")(torch.tensor([[1, 2, 3, 4, 5], [3, 1, 4, 2, 5]]))[:, -1]
    assert not torch.allclose(first, second)


def test_with_rope_and_alibi_a_token_does_not_know_how_many_are_in_front_if_it_cannot_see_them():
    """With one layer, only distances count: repeating a sequence of one token changes nothing."""
    for scheme in ("rope", "alibi"):
        logits = small(scheme, num_layers=1)(torch.full((1, 10), 4))[0]
        torch.testing.assert_close(logits, logits[:1].expand(10, -1))


def test_a_learned_table_refuses_what_is_longer_and_its_new_rows_are_small():
    model = small("learned")
    with pytest.raises(ValueError, match="length 13 is longer than max_len 12"):
        model(torch.zeros(1, 13, dtype=torch.int64))
    longer = with_untrained_rows(model.float(), 40)
    assert longer.position.table.shape == (40, 16) and len(model.position.table) == 12
    assert torch.equal(longer.position.table[:12], model.position.table)
    assert 0.01 < longer.position.table[12:].std() < 0.03


def test_an_unknown_scheme_is_refused():
    with pytest.raises(ValueError, match="no scheme 'rotary'; choose one of none, sinusoidal"):
        small("rotary")


def test_the_file_has_every_run_of_the_plan_and_no_other():
    stored = results.load("extrapolation")
    assert stored["settings"] == extrapolation.settings() and len(SEEDS) >= 3
    assert len(stored["runs"]) == len(extrapolation.plan())
    for wanted in extrapolation.plan():
        found = [one for one in stored["runs"] if wanted.items() <= one.items()]
        assert len(found) == 1
        check_numbers(found[0])


def check_numbers(found: dict) -> None:
    assert found["loss"] > 0 and found["cpu_seconds"] > 0
    model = extrapolation.make_model(found["task"], found["scheme"], found["d_model"])
    assert found["parameters"] == sum(p.numel() for p in model.parameters())
    known = [length for length, right in zip(LENGTHS, found["accuracy"], strict=True) if right is not None]
    assert known == [length for length in LENGTHS if found["scheme"] != "learned" or length <= TRAINED]
    assert all(0 <= right <= 100 for right in found["accuracy"] if right is not None)
    assert ("untrained_rows" in found) == (found["scheme"] == "learned")


def test_a_plan_is_trained_measured_and_stored_and_the_same_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(extrapolation, "VARIANTS", [{"task": "latest", "scheme": "learned", "d_model": 8}])
    monkeypatch.setattr(extrapolation, "SEEDS", (0, 1))
    monkeypatch.setattr(extrapolation, "TESTS", 20)
    monkeypatch.setattr(extrapolation, "TRAINING", {"steps": 3, "batch_size": 4, "learning_rate": 1e-3})
    first = extrapolation.experiment(progress=False)
    assert first == json.loads(results.path("extrapolation").read_text())
    assert first["runs"][0]["loss"] != first["runs"][1]["loss"]
    results.save("extrapolation", {**first, "runs": first["runs"][:1]})
    again = extrapolation.experiment(progress=False)
    for ours, theirs in zip(first["runs"], again["runs"], strict=True):
        assert {**ours, "cpu_seconds": 0} == {**theirs, "cpu_seconds": 0}
    assert run.main(["extrapolation", "--quiet"]) == 0
    assert "latest learned d_model 8 seed 1" in capsys.readouterr().out
