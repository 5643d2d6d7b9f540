"""The race between our Transformer and torch's: same results (it asserts that itself), and a ratio that means it."""

import time

from autograder import speed


def test_the_ratio_says_how_many_times_as_fast_ours_is():
    found = speed.compare("naps", lambda: time.sleep(0.01), lambda: time.sleep(0.03), rounds=5)
    assert found.name == "naps" and found.ours < found.theirs and 1.5 < found.ratio < 4


def test_both_ways_are_measured_on_the_same_weights():
    forward, both = speed.transformer_speed(d_model=16, seq=5, batch=2, num_layers=1, rounds=1)
    assert (forward.name, both.name) == ("forward", "forward and backward")
    assert min(forward.ours, forward.theirs, both.ours, both.theirs) > 0
