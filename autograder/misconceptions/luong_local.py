"""Chapter 03: the mistakes that are named in local attention, each a wrong implementation that stands alone."""

import torch

from autograder.exercises.luong import CHAPTER, local_weights, local_window


def from_center(center, length):
    """How far each position is from the rounded centre, with its sign."""
    return torch.arange(length) - center.round().unsqueeze(-1)


# --- local_window ----------------------------------------------------------------------------------------------


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def last_position_left_out(center, half_width, length):
    """Your window has 2D positions: it ends one too early, as a slice that stops before its end does."""
    offset = from_center(center, length)
    return (offset >= -half_width) & (offset < half_width)


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def both_ends_left_out(center, half_width, length):
    """Your window has 2D - 1 positions: those at a distance of exactly D are inside too."""
    return from_center(center, length).abs() < half_width


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def centre_cut_down(center, half_width, length):
    """You cut the centre down to a whole number; 2.9 then becomes 2, and its nearest position is 3."""
    return from_center(center.long(), length).abs() <= half_width


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def centre_rounded_up(center, half_width, length):
    """You round the centre up; 2.1 then becomes 3, and its nearest position is 2."""
    return from_center(center.ceil(), length).abs() <= half_width


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def distance_from_the_exact_centre(center, half_width, length):
    """You measure from the centre as it came, so most windows have 2D positions; the window is around a whole one."""
    return (torch.arange(length) - center.unsqueeze(-1)).abs() <= half_width


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def moved_inside_at_the_ends(center, half_width, length):
    """You move the window inside so that it stays whole; at the ends of the source it is cut, not moved."""
    start = (center.round() - half_width).clamp(min=0).clamp(max=max(length - 2 * half_width - 1, 0)).unsqueeze(-1)
    positions = torch.arange(length)
    return (positions >= start) & (positions <= start + 2 * half_width)


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def comes_in_at_the_other_end(center, half_width, length):
    """What leaves your window on one side comes in again on the other, as a negative index does in Python."""
    around = center.round().long().unsqueeze(-1) + torch.arange(-half_width, half_width + 1)
    return torch.zeros(len(center), length, dtype=torch.bool).scatter(1, around % length, True)


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def half_width_taken_for_the_width(center, half_width, length):
    """Your window is about D positions wide; D counts the positions on each side of the centre."""
    return from_center(center, length).abs() <= half_width // 2


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def true_outside(center, half_width, length):
    """Your mask is the wrong way round: in this course True means that a position may be looked at."""
    return from_center(center, length).abs() > half_width


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def one_window_for_all_sentences(center, half_width, length):
    """You use the first centre for the whole batch; each sentence has its own."""
    return from_center(center[:1], length).abs().expand(len(center), -1) <= half_width


@local_window.misconception(see=f"{CHAPTER}#mistake-window")
def numbers_for_booleans(center, half_width, length):
    """You return ones and zeros; a mask is Boolean, or `~mask` and `masked_fill` do something else with it."""
    return (from_center(center, length).abs() <= half_width).float()


@local_window.misconception(see=f"{CHAPTER}#mistake-gaussian")
def centres_changed_in_place(center, half_width, length):
    """Your window is right, but you change the centres that you were given, and others need them as they came."""
    return (torch.arange(length) - center.round_().unsqueeze(-1)).abs() <= half_width


# --- local_weights ---------------------------------------------------------------------------------------------


def window_softmax(scores, center, half_width):
    outside = from_center(center, scores.size(-1)).abs() > half_width
    return torch.softmax(scores.masked_fill(outside, float("-inf")), dim=-1)


def bell_curve(center, sigma, length):
    return torch.exp(-((torch.arange(length) - center.unsqueeze(-1)) ** 2) / (2 * sigma**2))


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def bell_curve_left_out(scores, center, half_width):
    """You stop after the softmax over the window; the bell curve around the centre is missing."""
    return window_softmax(scores, center, half_width)


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def bell_curve_around_the_rounded_centre(scores, center, half_width):
    """Your bell curve is around the rounded centre, and rounding lets no gradient through to the predicted one."""
    return window_softmax(scores, center, half_width) * bell_curve(center.round(), half_width / 2, scores.size(-1))


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def bell_curve_around_the_middle(scores, center, half_width):
    """Your bell curve is around the middle of the source; it belongs around each sentence's own centre."""
    middle = 0 * center + (scores.size(-1) - 1) / 2
    return window_softmax(scores, center, half_width) * bell_curve(middle, half_width / 2, scores.size(-1))


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def sigma_is_d(scores, center, half_width):
    """Your bell curve is too wide: sigma is D where D/2 is asked for."""
    return window_softmax(scores, center, half_width) * bell_curve(center, half_width, scores.size(-1))


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def sigma_not_squared(scores, center, half_width):
    """You divide by 2 sigma; the bell curve divides by 2 sigma squared."""
    return window_softmax(scores, center, half_width) * bell_curve(center, (half_width / 2) ** 0.5, scores.size(-1))


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def two_of_the_divisor_left_out(scores, center, half_width):
    """Your bell curve falls too fast: the distance is divided by sigma squared, and the 2 before it is missing."""
    return window_softmax(scores, center, half_width) * bell_curve(center, half_width / 8**0.5, scores.size(-1))


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def distance_not_squared(scores, center, half_width):
    """You take the distance as it is; a bell curve squares it."""
    distance = (torch.arange(scores.size(-1)) - center.unsqueeze(-1)).abs()
    return window_softmax(scores, center, half_width) * torch.exp(-distance / (2 * (half_width / 2) ** 2))


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def bell_curve_as_a_density(scores, center, half_width):
    """You divide the bell curve by its area; here it is a factor that is 1 at the centre."""
    curve = bell_curve(center, half_width / 2, scores.size(-1)) / (half_width / 2 * (2 * torch.pi) ** 0.5)
    return window_softmax(scores, center, half_width) * curve


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def bell_curve_on_the_scores(scores, center, half_width):
    """You multiply the scores by the bell curve before the softmax; it is the weights that fall with the distance."""
    return window_softmax(scores * bell_curve(center, half_width / 2, scores.size(-1)), center, half_width)


@local_weights.misconception(see=f"{CHAPTER}#mistake-gaussian")
def centre_cut_off_from_the_gradient(scores, center, half_width):
    """Your weights are right, but the centre is detached, so it can never learn to move."""
    curve = bell_curve(center.detach(), half_width / 2, scores.size(-1))
    return window_softmax(scores, center, half_width) * curve


@local_weights.misconception(see=f"{CHAPTER}#mistake-renormalised")
def made_to_sum_to_one_again(scores, center, half_width):
    """Your weights sum to 1 again after the bell curve; how much is lost to it is part of the result."""
    weights = window_softmax(scores, center, half_width) * bell_curve(center, half_width / 2, scores.size(-1))
    return weights / weights.sum(dim=-1, keepdim=True)


@local_weights.misconception(see=f"{CHAPTER}#mistake-renormalised")
def softmax_over_everything_then_cut(scores, center, half_width):
    """Your softmax sees the whole source and is cut afterwards; words outside the window then take weight away."""
    inside = from_center(center, scores.size(-1)).abs() <= half_width
    return torch.softmax(scores, dim=-1) * inside * bell_curve(center, half_width / 2, scores.size(-1))


@local_weights.misconception(see=f"{CHAPTER}#mistake-window")
def no_window_at_all(scores, center, half_width):
    """Your weights have no window: the softmax sees the whole source and the bell curve never reaches 0."""
    return torch.softmax(scores, dim=-1) * bell_curve(center, half_width / 2, scores.size(-1))


@local_weights.misconception(see="02_bahdanau#mistake-mask")
def outside_scores_set_to_zero(scores, center, half_width):
    """You set the scores outside the window to 0, and exp(0) is 1: these words still take part in the softmax."""
    inside = from_center(center, scores.size(-1)).abs() <= half_width
    return torch.softmax(scores * inside, dim=-1) * bell_curve(center, half_width / 2, scores.size(-1))


@local_weights.misconception(see=f"{CHAPTER}#mistake-window")
def window_of_2d_positions(scores, center, half_width):
    """The window inside your weights has 2D positions: it ends one too early on the right."""
    offset = from_center(center, scores.size(-1))
    outside = (offset < -half_width) | (offset >= half_width)
    weights = torch.softmax(scores.masked_fill(outside, float("-inf")), dim=-1)
    return weights * bell_curve(center, half_width / 2, scores.size(-1))
