"""Chapter 09: the mistakes that are named in tiled attention."""

import math

import torch

from autograder.exercises.comparison import CHAPTER, tiled_attention


def blocks(query, key, value, block_size):
    """The scaled scores and the values of each block."""
    scaled = query / math.sqrt(query.size(-1))
    for keys, values in zip(key.split(block_size, -2), value.split(block_size, -2), strict=True):
        yield scaled @ keys.transpose(-2, -1), values


def online(parts, *, shrink_z=True, shrink_o=True, factor=lambda m, new: (m - new).exp(), maximum=None, divide=True):
    """The online softmax over (scores, values), with one thing done otherwise."""
    m, z, o = torch.tensor(-math.inf), torch.tensor(0.0), torch.tensor(0.0)
    maximum = maximum or (lambda m, scores: torch.maximum(m, scores.amax(-1, keepdim=True)))
    for scores, values in parts:
        new = maximum(m.to(scores.dtype), scores).detach()
        shrink, weights = factor(m, new), (scores - new).exp()
        z = z * (shrink if shrink_z else 1) + weights.sum(-1, keepdim=True)
        o = o * (shrink if shrink_o else 1) + weights @ values
        m = new
    return o / z if divide else o


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-whole-matrix")
def scores_made_whole(query, key, value, block_size):
    """Your output is right, but all scores exist at once: make those of one block of keys at a time."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return online(zip(scores.split(block_size, -1), value.split(block_size, -2), strict=True))


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-softmax-per-block")
def last_block_left_out(query, key, value, block_size):
    """You leave out the last keys where block_size does not divide their number; the last block may be smaller."""
    whole = max(key.size(-2) // block_size, 1) * block_size
    return online(blocks(query, key[..., :whole, :], value[..., :whole, :], block_size))


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def sums_of_different_maxima_added(query, key, value, block_size):
    """You add up sums that belong to different maxima; when the maximum grows, both old sums shrink by exp(m - new)."""
    return online(blocks(query, key, value, block_size), shrink_z=False, shrink_o=False)


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def output_not_brought_to_the_new_maximum(query, key, value, block_size):
    """You rescale the sum of the weights, but not the sum of the weighted values; both belong to the old maximum."""
    return online(blocks(query, key, value, block_size), shrink_o=False)


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def total_not_brought_to_the_new_maximum(query, key, value, block_size):
    """You rescale the sum of the weighted values, but not the sum of the weights; both belong to the old maximum."""
    return online(blocks(query, key, value, block_size), shrink_z=False)


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def without_a_maximum(query, key, value, block_size):
    """You take exp of the scores as they are: for large ones it is infinite, for very low ones everything is 0."""
    return online(blocks(query, key, value, block_size), maximum=lambda m, scores: torch.zeros_like(scores[..., :1]),
                  factor=lambda m, new: 1)


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def maximum_of_the_last_block(query, key, value, block_size):
    """Your maximum is that of the newest block alone; where it falls, exp(old - new) overflows. It may only grow."""
    return online(blocks(query, key, value, block_size), maximum=lambda m, scores: scores.amax(-1, keepdim=True))


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def maximum_of_the_first_block(query, key, value, block_size):
    """You keep the maximum of the first block; a later score far above it overflows."""
    def first(m, scores):
        return torch.where(m > -math.inf, m, scores.amax(-1, keepdim=True))

    return online(blocks(query, key, value, block_size), maximum=first)


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def maximum_from_a_number(query, key, value, block_size):
    """Your maximum begins at a number; if all scores lie far below, each weight is 0. Minus infinity is below all."""
    def at_least_zero(m, scores):
        return torch.maximum(m, scores.amax(-1, keepdim=True)).clamp(min=0)

    return online(blocks(query, key, value, block_size), maximum=at_least_zero)


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def one_maximum_for_all_rows(query, key, value, block_size):
    """You take one maximum for all queries; in a row far below it every weight is 0. Each row has its own."""
    return online(blocks(query, key, value, block_size), maximum=lambda m, scores: torch.maximum(m, scores.max()))


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-running-softmax")
def factor_upside_down(query, key, value, block_size):
    """Your factor is exp(new - m); sums that belong to a smaller maximum shrink, by exp(m - new)."""
    return online(blocks(query, key, value, block_size),
                  factor=lambda m, new: (new - m).exp().nan_to_num(posinf=0.0))


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-softmax-per-block")
def softmax_in_each_block_averaged(query, key, value, block_size):
    """You average the attention of each block, so each has the same say; its share is its part of the sum of exp."""
    outputs = [scores.softmax(-1) @ values for scores, values in blocks(query, key, value, block_size)]
    return sum(outputs) / len(outputs)


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-softmax-per-block")
def softmax_in_each_block_added(query, key, value, block_size):
    """You add up the attention of each block; then the weights of a row sum to the number of blocks, not to 1."""
    return sum(scores.softmax(-1) @ values for scores, values in blocks(query, key, value, block_size))


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-softmax-per-block")
def last_block_alone(query, key, value, block_size):
    """Your output is the attention of the last block of keys; each block has to be added to those before it."""
    *_, (scores, values) = blocks(query, key, value, block_size)
    return scores.softmax(-1) @ values


@tiled_attention.misconception(see=f"{CHAPTER}#mistake-softmax-per-block")
def not_divided_at_the_end(query, key, value, block_size):
    """You return the sum of the weighted values; it still has to be divided by the sum of the weights."""
    return online(blocks(query, key, value, block_size), divide=False)


@tiled_attention.misconception(see="05_scaling#mistake-no-scaling")
def scores_not_scaled(query, key, value, block_size):
    """Your scores are not divided by the square root of d_k."""
    return online(blocks(query * math.sqrt(query.size(-1)), key, value, block_size))
