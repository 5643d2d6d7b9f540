"""Inputs: distinct sizes, independent labels, the asked dtype and layout."""

from dataclasses import astuple

import torch

from autograder.judging.inputs import FULL, SMALL, Inputs


def test_sizes_are_pairwise_distinct():
    assert len(set(astuple(FULL))) == len(astuple(FULL))


def test_a_label_draws_its_own_values():
    draw = [Inputs(seed, label).normal(3, 4) for seed, label in [(1, "a"), (1, "a"), (1, "b"), (2, "a")]]
    assert torch.equal(draw[0], draw[1])
    assert not torch.equal(draw[0], draw[2]) and not torch.equal(draw[0], draw[3])


def test_dtypes_see_the_same_values():
    single, double = (Inputs(1, "a", dtype=d).normal(3, 4) for d in (torch.float32, torch.float64))
    assert torch.equal(single, double.float())


def test_strided_inputs_are_not_contiguous_but_equal():
    plain, strided = (Inputs(1, "a", strided=s).normal(2, 3, 4) for s in (False, True))
    assert torch.equal(plain, strided) and not strided.is_contiguous()


def test_small_values_print_exactly():
    values = Inputs(1, "a", size=SMALL, dtype=torch.float64).normal(2, 3)
    assert torch.equal(values, (values * 10).round() / 10)
