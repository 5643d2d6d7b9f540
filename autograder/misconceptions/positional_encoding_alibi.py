"""Chapter 07: the mistakes that are named in alibi_bias, each a wrong implementation that stands alone."""

import math

import torch

from autograder.exercises.positional_encoding import CHAPTER, alibi_bias


def slopes_of(num_heads):
    """The right slopes: (heads, 1, 1)."""
    return (2.0 ** (-8.0 * torch.arange(1, num_heads + 1) / num_heads))[:, None, None]


def distances(length):
    """Query minus key: (length, length)."""
    return torch.arange(length).unsqueeze(1) - torch.arange(length)


def closed(bias, value=-math.inf):
    """Minus infinity above the diagonal."""
    return bias.masked_fill(distances(bias.size(-1)) < 0, value)


# --- the slopes ------------------------------------------------------------------------------------------------


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-slopes")
def heads_counted_from_zero(num_heads, length):
    """You count heads from 0, so the first has the slope 1; i runs from 1 to h."""
    return closed(-slopes_of(num_heads) * 2 ** (8 / num_heads) * distances(length))


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-slopes")
def slopes_halved_from_head_to_head(num_heads, length):
    """Your slopes are 2^(-i), which is right for eight heads alone; the exponent is -8i / h."""
    return closed(-(2.0 ** -torch.arange(1, num_heads + 1))[:, None, None] * distances(length))


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-slopes")
def one_slope_for_all(num_heads, length):
    """All of your heads have the same slope; each has its own, so that some look near and some far."""
    return closed(-slopes_of(num_heads)[:1] * distances(length)).repeat(num_heads, 1, 1)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-slopes")
def no_slope(num_heads, length):
    """You take away the distance itself; each head multiplies it by its slope first."""
    return closed(-distances(length).float()).repeat(num_heads, 1, 1)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-slopes")
def slopes_of_the_published_code(num_heads, length):
    """Where h is no power of two you mix the slopes of two powers, as the paper's code does; here 2^(-8i/h) holds."""
    power = 2 ** math.floor(math.log2(num_heads))
    slopes = torch.cat([slopes_of(power), slopes_of(2 * power)[0::2][: num_heads - power]])
    return closed(-slopes * distances(length))


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-slopes")
def slopes_in_reverse_order(num_heads, length):
    """Your slopes are the right ones in reverse order; head 1 should have the steepest, head h the flattest."""
    return closed(-slopes_of(num_heads).flip(0) * distances(length))


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-slopes")
def slopes_in_equal_steps(num_heads, length):
    """Your first and last slope are right, with equal steps between; each is to be the one before times 2^(-8/h)."""
    slopes = torch.linspace(2 ** (-8 / num_heads), 2**-8, num_heads)
    return closed(-slopes[:, None, None] * distances(length))


# --- the distance ----------------------------------------------------------------------------------------------


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def far_keys_preferred(num_heads, length):
    """Your bias grows with the distance, so the farthest word is preferred; the slope has a minus."""
    return closed(slopes_of(num_heads) * distances(length))


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def only_the_key_counts(num_heads, length):
    """You use the key's position alone: the weights come out right, but the bias asked for is that of the distance."""
    return closed(slopes_of(num_heads) * torch.arange(length).expand(length, length))


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def own_position_one_away(num_heads, length):
    """You take away one slope on the diagonal; a word is at distance 0 from itself."""
    return closed(-slopes_of(num_heads) * (distances(length) + 1))


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def squared_distance(num_heads, length):
    """You square the distance; the bias of ALiBi falls on a straight line."""
    return closed(-slopes_of(num_heads) * distances(length) ** 2)


# --- the future ------------------------------------------------------------------------------------------------


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def both_directions_open(num_heads, length):
    """You punish the future as you do the past, but leave it open: above the diagonal belongs minus infinity."""
    return -slopes_of(num_heads) * distances(length).abs()


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def future_rewarded(num_heads, length):
    """Your distance is negative for keys ahead, so they gain; above the diagonal belongs minus infinity."""
    return -slopes_of(num_heads) * distances(length)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def future_without_a_bias(num_heads, length):
    """You have zeros above the diagonal, which is no mask: a bias of 0 takes nothing away."""
    return closed(-slopes_of(num_heads) * distances(length), 0.0)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def future_far_but_finite(num_heads, length):
    """You close the future with a large number; asked for is minus infinity itself."""
    return closed(-slopes_of(num_heads) * distances(length), -1e9)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def past_closed(num_heads, length):
    """Your table is the wrong way round: queries are rows and keys columns, so the closed half is above."""
    return closed(-slopes_of(num_heads) * distances(length)).mT.contiguous()


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def past_closed_in_place_of_the_future(num_heads, length):
    """You close the past: query minus key is negative for keys ahead, and those are the ones to close."""
    return (-slopes_of(num_heads) * distances(length)).masked_fill(distances(length) > 0, -math.inf)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def own_position_closed(num_heads, length):
    """Your diagonal is closed, so the first word may look at nothing; a word may see itself."""
    bias = -slopes_of(num_heads) * distances(length)
    return bias.masked_fill(distances(length) <= 0, -math.inf)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-alibi-distance")
def zero_times_infinity(num_heads, length):
    """You multiply a mask by minus infinity: where the mask is 0, the product is NaN."""
    return -slopes_of(num_heads) * distances(length) + (distances(length) < 0) * -math.inf


# --- the form --------------------------------------------------------------------------------------------------


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-table-form")
def heads_on_the_last_axis(num_heads, length):
    """You put the heads on the last axis; they come first, so that the bias fits onto (batch, heads, seq, seq)."""
    return closed(-slopes_of(num_heads) * distances(length)).permute(1, 2, 0)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-table-form")
def bias_with_an_axis_for_the_batch(num_heads, length):
    """You put an axis of size 1 in front for the batch; asked for is (heads, length, length)."""
    return closed(-slopes_of(num_heads) * distances(length)).unsqueeze(0)


@alibi_bias.misconception(see=f"{CHAPTER}#mistake-table-form")
def bias_of_float64(num_heads, length):
    """Your bias is float64, which the scores are not: it should be float32."""
    slopes = 2.0 ** (-8.0 * torch.arange(1, num_heads + 1, dtype=torch.float64) / num_heads)
    return closed(-slopes[:, None, None] * distances(length))
