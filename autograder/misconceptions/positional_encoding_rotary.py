"""Chapter 07: the mistakes that are named in rotary, each a wrong implementation."""

import torch

from autograder.exercises.positional_encoding import CHAPTER, rotary
from autograder.misconceptions.positional_encoding import exponents, waves


def turned(x, angles):
    """The right rotation by these angles: (.., seq, d_k)."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def angles_at(positions, x):
    """The right angles: (seq, d_k / 2)."""
    return positions.unsqueeze(1) * 10_000 ** -exponents(x.size(-1))


@rotary.misconception(see=f"{CHAPTER}#mistake-rotary-pairs")
def pairs_of_the_two_halves(x, positions):
    """You pair feature i with i + d_k/2, as LLaMA's code does; here neighbours are a pair: (0, 1), (2, 3) and so on."""
    cos, sin = (f(angles_at(positions, x)).to(x.dtype) for f in (torch.cos, torch.sin))
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


@rotary.misconception(see=f"{CHAPTER}#mistake-rotary-pairs")
def angles_in_another_order(x, positions):
    """Your pairs are neighbours, but your angles lie in two halves, so the two features of a pair turn differently."""
    angles = torch.cat([angles_at(positions, x)] * 2, dim=-1)
    crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos().to(x.dtype) + crossed * angles.sin().to(x.dtype)


@rotary.misconception(see=f"{CHAPTER}#mistake-rotary-pairs")
def halves_turned_by_angles_of_neighbours(x, positions):
    """You pair feature i with i + d_k/2, but your angles are those of neighbours: one pair gets two angles."""
    angles = angles_at(positions, x).repeat_interleave(2, dim=-1)
    a, b = x.chunk(2, dim=-1)
    return x * angles.cos().to(x.dtype) + torch.cat([-b, a], dim=-1) * angles.sin().to(x.dtype)


@rotary.misconception(see=f"{CHAPTER}#mistake-rotary-pairs")
def pairs_not_put_back(x, positions):
    """You put all first features of the pairs in front and all second ones behind; each pair keeps its own places."""
    result = turned(x, angles_at(positions, x))
    return torch.cat([result[..., 0::2], result[..., 1::2]], dim=-1)


@rotary.misconception(see=f"{CHAPTER}#mistake-rotary-pairs")
def an_angle_for_each_feature(x, positions):
    """Each of your features has an angle of its own; the two of a pair share one."""
    rates = 10_000 ** (-torch.arange(x.size(-1), dtype=torch.float64) / x.size(-1))
    angles = positions.unsqueeze(1) * rates
    crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos().to(x.dtype) + crossed * angles.sin().to(x.dtype)


@rotary.misconception(see=f"{CHAPTER}#mistake-rotary-pairs")
def added_where_it_should_turn(x, positions):
    """You add a sinusoidal row to x; here nothing is added: each pair of features is turned."""
    return x + waves(angles_at(positions, x), x.size(-1)).to(x.dtype)


@rotary.misconception(see=f"{CHAPTER}#mistake-rotation")
def turned_the_other_way(x, positions):
    """You turn by the negative angle: the minus belongs to b sin in the first feature of the pair."""
    return turned(x, -angles_at(positions, x))


@rotary.misconception(see=f"{CHAPTER}#mistake-rotation")
def minus_forgotten(x, positions):
    """Both of your sums have a plus; a rotation has one minus, or the length of the pair changes."""
    cos, sin = (f(angles_at(positions, x)).to(x.dtype) for f in (torch.cos, torch.sin))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos + b * sin, a * sin + b * cos], dim=-1).flatten(-2)


@rotary.misconception(see=f"{CHAPTER}#mistake-rotation")
def first_feature_already_new(x, positions):
    """Your second feature is made of the new first one; both come from the pair as it was."""
    cos, sin = (f(angles_at(positions, x)).to(x.dtype) for f in (torch.cos, torch.sin))
    first = x[..., 0::2] * cos - x[..., 1::2] * sin
    return torch.stack([first, first * sin + x[..., 1::2] * cos], dim=-1).flatten(-2)


@rotary.misconception(see=f"{CHAPTER}#mistake-frequencies")
def every_pair_equally_fast(x, positions):
    """You turn every pair by the position itself; each pair has its own frequency."""
    return turned(x, positions.unsqueeze(1) * torch.ones_like(exponents(x.size(-1))))


@rotary.misconception(see=f"{CHAPTER}#mistake-frequencies")
def exponent_without_its_two(x, positions):
    """Your exponent is i / d_k; it should be 2i / d_k for the pair i."""
    return turned(x, positions.unsqueeze(1) * 10_000 ** (-exponents(x.size(-1)) / 2))


@rotary.misconception(see=f"{CHAPTER}#mistake-frequencies")
def width_of_all_heads_in_the_exponent(x, positions):
    """Your exponent divides by heads times d_k; each head has pairs of its own, so it divides by d_k."""
    return turned(x, positions.unsqueeze(1) * 10_000 ** (-exponents(x.size(-1)) / x.size(1)))


@rotary.misconception(see=f"{CHAPTER}#mistake-frequencies")
def minus_of_the_exponent_forgotten(x, positions):
    """Your frequencies grow from pair to pair; the exponent -2i / d_k has a minus, which makes them fall."""
    return turned(x, positions.unsqueeze(1) * 10_000 ** (torch.arange(0, x.size(-1), 2) / x.size(-1)))


@rotary.misconception(see=f"{CHAPTER}#mistake-position-count")
def positions_not_read(x, positions):
    """You count positions from 0 yourself; `positions` says where they stand, as when a model writes word by word."""
    return turned(x, angles_at(torch.arange(len(positions)), x))


@rotary.misconception(see=f"{CHAPTER}#mistake-position-count")
def turned_by_the_head(x, positions):
    """You turn by the number of the head, so all words of a head turn alike; the angle is that of the position."""
    return turned(x, angles_at(torch.arange(x.size(1)), x).unsqueeze(1))


@rotary.misconception(see=f"{CHAPTER}#mistake-table-form")
def always_float64(x, positions):
    """Your angles are float64 and make the result float64; it should have the dtype of x."""
    return turned(x.double(), angles_at(positions, x))


@rotary.misconception(see=f"{CHAPTER}#mistake-rotation")
def overwritten_before_it_is_read(x, positions):
    """You write into x itself: the caller's tensor changes, and the second feature is made of the new first one."""
    cos, sin = (f(angles_at(positions, x)).to(x.dtype) for f in (torch.cos, torch.sin))
    a, b = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = a * cos - b * sin
    x[..., 1::2] = a * sin + b * cos
    return x


@rotary.misconception(see=f"{CHAPTER}#mistake-position-added")
def turned_in_place(x, positions):
    """You write the turned pairs into x itself, so the caller's tensor is changed."""
    result = turned(x, angles_at(positions, x))
    x[..., 0::2], x[..., 1::2] = result[..., 0::2], result[..., 1::2]
    return x
