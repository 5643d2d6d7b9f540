"""The race between our Transformer and torch's: same results (it asserts that itself), and a ratio that means it."""

import time

from autograder import speed


def test_the_ratio_says_how_many_times_as_fast_ours_is():
    found = speed.compare("naps", lambda: time.sleep(0.01), lambda: time.sleep(0.03), rounds=5)
    assert found.name == "naps" and found.ours < found.theirs and 1.5 < found.ratio < 4


def test_all_is_measured_on_the_same_weights():
    found = speed.transformer_speed(d_model=16, seq=5, batch=2, num_layers=1, rounds=1)
    assert [result.name for result in found] == ["forward", "forward and backward", "forward, with padding"]
    assert min(min(result.ours, result.theirs) for result in found) > 0


def test_the_padded_race_is_run_with_padding(monkeypatch):
    seen = []

    def noted(model, src, tgt, real=None):
        seen.append(real)
        return tgt

    monkeypatch.setattr(speed, "our_layers", noted)
    monkeypatch.setattr(speed, "their_layers", noted)
    monkeypatch.setattr(speed, "trained", lambda layers: layers())
    speed.transformer_speed(d_model=16, seq=8, batch=3, num_layers=1, rounds=1)
    masks = [real for real in seen if real is not None]
    assert 0 < len(masks) < len(seen)
    assert all(real.sum(1).tolist() == [2, 5, 8] for real in masks)
