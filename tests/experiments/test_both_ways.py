"""The encoder of the paper reads in both directions, and padding changes nothing in either."""

import pytest
import torch

from autograder.experiments.both_ways import BothWaysEncoder

SOURCE, LENGTHS = torch.tensor([[5, 6, 7, 8], [9, 4, 0, 0]]), torch.tensor([4, 2])


def encoder() -> BothWaysEncoder:
    torch.manual_seed(0)
    return BothWaysEncoder(12, 5, 8)


def test_states_are_zero_past_the_end_and_keep_the_width():
    states, final = encoder()(torch.nn.functional.pad(SOURCE, (0, 2)), LENGTHS)
    assert states.shape == (2, 6, 8) and final.shape == (2, 8)
    assert not states[0, 4:].any() and not states[1, 2:].any() and states[0, :4].all() and states[1, :2].all()


def test_padding_changes_nothing():
    model = encoder()
    states, final = model(SOURCE, LENGTHS)
    alone, last = model(SOURCE[1:, :2], LENGTHS[1:])
    torch.testing.assert_close(states[1:, :2], alone)
    torch.testing.assert_close(final[1:], last)


def test_one_half_reads_forwards_and_the_other_backwards():
    model = encoder()
    states, final = model(SOURCE, LENGTHS)
    changed, _ = model(SOURCE.where(SOURCE != 7, 10), LENGTHS)  # the third word of the first sentence
    differs = (states != changed)[0]
    assert not differs[:2, :4].any() and differs[2:, :4].all(), "forwards: from the third word on"
    assert differs[:3, 4:].all() and not differs[3:, 4:].any(), "backwards: up to the third word"
    torch.testing.assert_close(final, torch.stack([torch.cat([states[0, 3, :4], states[0, 0, 4:]]),
                                                   torch.cat([states[1, 1, :4], states[1, 0, 4:]])]))


def test_an_odd_size_is_refused():
    with pytest.raises(ValueError, match="hidden_dim is 7, but two readings share it; give an even number"):
        BothWaysEncoder(12, 5, 7)
