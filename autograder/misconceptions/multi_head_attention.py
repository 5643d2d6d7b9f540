"""Chapter 06: the mistakes that are named in masked_attention, each a wrong implementation that stands alone."""

import torch

from autograder.exercises.multi_head import CHAPTER, masked_attention


def scaled_scores(query, key):
    return query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5


def masked_softmax(scores, mask, dim=-1):
    """Right along the last axis: finite scores where something is forbidden, and zeros after the softmax."""
    if mask is None:
        return torch.softmax(scores, dim=dim)
    forbidden = mask == 0
    return torch.softmax(scores.masked_fill(forbidden, -1e9), dim=dim).masked_fill(forbidden, 0.0)


# --- where the mask comes in -----------------------------------------------------------------------------------


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def mask_not_used(query, key, value, mask=None):
    """You do not use the mask: forbidden keys get weight like all the others."""
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def mask_after_the_softmax(query, key, value, mask=None):
    """You mask after the softmax: the weight that forbidden keys took is lost, and rows sum to less than 1."""
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    weights = weights if mask is None else weights * mask
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def normalised_a_second_time(query, key, value, mask=None):
    """You exponentiate all scores, take the forbidden ones out, then divide: where nothing is left, that is 0 / 0."""
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def zero_as_a_forbidden_score(query, key, value, mask=None):
    """Your forbidden scores are 0 (a product with the mask, a fill of 1e-9); exp makes 1 of it, which hides nothing."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores if mask is None else scores * mask, dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def mask_added_as_numbers(query, key, value, mask=None):
    """You add 0 and 1 to the scores; the additive form of a mask is 0 and minus infinity."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def zero_times_infinity(query, key, value, mask=None):
    """You multiply the mask by minus infinity: where nothing is forbidden that is 0 times infinity, which is NaN."""
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + (mask == 0) * float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def fill_too_small(query, key, value, mask=None):
    """Your fill for forbidden scores is not low enough: beside allowed scores that are low too, it keeps weight."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(mask == 0, -9.0), dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def low_scores_lost(query, key, value, mask=None):
    """Allowed scores may be very low: beside a finite fill, an epsilon or the maximum of all they lose all weight."""
    scores = scaled_scores(query, key)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = torch.softmax(scores.masked_fill(mask == 0, -50.0), dim=-1).masked_fill(mask == 0, 0.0)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
def forbidden_taken_out_too_late(query, key, value, mask=None):
    """Forbidden keys take part in your softmax and are taken out later: beside large scores the allowed are lost."""
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(1e-9)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-polarity")
def mask_turned_around(query, key, value, mask=None):
    """You forbid what is allowed and allow what is forbidden: True and 1 mean allowed."""
    weights = masked_softmax(scaled_scores(query, key), None if mask is None else mask == 0)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-polarity")
def bool_masks_only(query, key, value, mask=None):
    """Your code is right for a bool mask; `~` does something else to numbers, and a mask may be 0 and 1."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), dim=-1)
    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-padding")
def mask_used_as_an_index(query, key, value, mask=None):
    """You use the mask as an index, which does not broadcast: with fewer axes, or axes of size 1, it does not fit."""
    scores = scaled_scores(query, key)
    if mask is not None:
        scores[mask == 0] = -1e9
    weights = torch.softmax(scores, dim=-1)
    weights = weights if mask is None else weights.masked_fill(mask == 0, 0.0)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-padding")
def mask_with_an_axis_too_many(query, key, value, mask=None):
    """You give the mask one more axis, and with it the scores; it broadcasts to them as it comes."""
    weights = masked_softmax(scaled_scores(query, key), None if mask is None else mask.unsqueeze(1))
    return weights @ value, weights


# --- a query that may attend to nothing --------------------------------------------------------------------------


@masked_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
def empty_row_is_not_a_number(query, key, value, mask=None):
    """A query that may attend to nothing has only minus infinity in its row, and softmax makes 0 / 0 of it."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(mask == 0, float("-inf")), dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
def empty_row_of_added_infinities(query, key, value, mask=None):
    """A query that may attend to nothing has only minus infinity in its row: softmax gives NaN, and so do gradients."""
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
def empty_row_is_shared_out(query, key, value, mask=None):
    """Your forbidden scores are low but finite, so a query that may attend to nothing looks at what is forbidden."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(mask == 0, -1e9), dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
def empty_row_of_added_low_numbers(query, key, value, mask=None):
    """You add a low but finite number, so a query that may attend to nothing looks at all that is forbidden."""
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores if mask is None else scores + (mask == 0) * -1e9, dim=-1)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
def not_a_number_painted_over(query, key, value, mask=None):
    """You paint zeros over NaN: the values are right, but the gradients behind a row of NaN are NaN."""
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return weights @ value, weights


@masked_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
def empty_row_keeps_its_weights(query, key, value, mask=None):
    """Your output is zeros where nothing is allowed, but the weights that you return there are not."""
    scores = scaled_scores(query, key)
    if mask is None:
        return torch.softmax(scores, dim=-1) @ value, torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)
    nothing = (mask == 0).all(dim=-1, keepdim=True)
    return (weights @ value).masked_fill(nothing, 0.0), weights


# --- the attention around it ------------------------------------------------------------------------------------


@masked_attention.misconception(see="05_scaling#mistake-no-scaling")
def scores_not_scaled(query, key, value, mask=None):
    """Your scores are not divided by the square root of d_k before the softmax."""
    weights = masked_softmax(query @ key.transpose(-2, -1), mask)
    return weights @ value, weights


@masked_attention.misconception(see="05_scaling#mistake-wrong-divisor")
def divided_by_the_width_itself(query, key, value, mask=None):
    """You divide the scores by d_k (or by its square root twice); one square root is asked for."""
    weights = masked_softmax(query @ key.transpose(-2, -1) / query.shape[-1], mask)
    return weights @ value, weights


@masked_attention.misconception(see="05_scaling#mistake-wrong-divisor")
def divided_by_the_root_of_the_keys(query, key, value, mask=None):
    """You divide by the square root of the number of keys; the dot product adds up d_k features."""
    weights = masked_softmax(query @ key.transpose(-2, -1) / key.shape[-2] ** 0.5, mask)
    return weights @ value, weights


@masked_attention.misconception(see="05_scaling#mistake-after-softmax")
def weights_divided(query, key, value, mask=None):
    """You divide the weights, after the softmax; the scores are to be divided, before it."""
    weights = masked_softmax(query @ key.transpose(-2, -1), mask) / query.shape[-1] ** 0.5
    return weights @ value, weights


@masked_attention.misconception(see="04_self_attention#mistake-softmax-axis")
def softmax_over_the_queries(query, key, value, mask=None):
    """Your softmax runs down the columns: each key's weights sum to 1, where each query's should."""
    weights = masked_softmax(scaled_scores(query, key), mask, dim=-2)
    return weights @ value, weights


@masked_attention.misconception(see="04_self_attention#mistake-module")
def masked_weights_not_returned(query, key, value, mask=None):
    """You return the output alone; the attention weights are asked for too."""
    return masked_softmax(scaled_scores(query, key), mask) @ value


@masked_attention.misconception(see="04_self_attention#mistake-module")
def masked_weights_returned_first(query, key, value, mask=None):
    """You return the weights first and the output second; it is the other way round."""
    weights = masked_softmax(scaled_scores(query, key), mask)
    return weights, weights @ value


@masked_attention.misconception(see="04_self_attention#mistake-in-place")
def query_scaled_in_place(query, key, value, mask=None):
    """Your result is right, but you scale inside a tensor that you were given."""
    query /= query.shape[-1] ** 0.5
    weights = masked_softmax(query @ key.transpose(-2, -1), mask)
    return weights @ value, weights
