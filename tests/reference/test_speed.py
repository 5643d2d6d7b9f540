"""The race between our Transformer and torch's: same results (it asserts that itself), and a ratio that means it."""

from types import SimpleNamespace

from autograder import speed


def test_the_ratio_says_how_many_times_as_fast_ours_is(monkeypatch):
    """The slowest round counts no more than any other."""
    clock, slow = [0.0], [1, 1, 5, 1, 1, 1]  # the first call is not counted

    def takes(seconds):
        turns = iter(slow)

        def pass_time():
            clock[0] += seconds * next(turns)

        return pass_time

    monkeypatch.setattr(speed, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    found = speed.compare("naps", takes(2), takes(6), rounds=5)
    assert found == speed.Comparison("naps", ours=2, theirs=6, ratio=3)


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
