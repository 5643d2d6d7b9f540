"""Chapter 09: the mistakes that are named in the causal convolution and in the local mask."""

import torch
import torch.nn.functional as F

from autograder.exercises.comparison import CHAPTER, causal_conv1d, sliding_window_mask
from autograder.reference import comparison as right

# --- causal_conv1d ---------------------------------------------------------------------------------------------


def convolved(x, weight, bias=None):
    """The convolution without any padding, for x (batch, seq, d_in)."""
    return F.conv1d(x.transpose(1, 2), weight, bias).transpose(1, 2)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-future-in-window")
def padded_on_both_sides(x, weight, bias=None):
    """Your window is centred at position t, so it holds the future; all zeros belong before the start."""
    kernel = weight.size(-1)
    return convolved(F.pad(x, (0, 0, (kernel - 1) // 2, kernel // 2)), weight, bias)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-future-in-window")
def padded_at_the_end(x, weight, bias=None):
    """Your zeros stand behind the sequence, so position t sees t to t + kernel - 1; they belong before the start."""
    return convolved(F.pad(x, (0, 0, 0, weight.size(-1) - 1)), weight, bias)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-window-edge")
def position_itself_not_seen(x, weight, bias=None):
    """Your window ends at position t - 1; the last weight of the kernel meets position t itself."""
    return convolved(F.pad(x, (0, 0, weight.size(-1), 0))[:, :-1], weight, bias)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-before-the-start")
def first_position_repeated(x, weight, bias=None):
    """You repeat the first position before the start; there are zeros."""
    before = x[:, :1].expand(-1, weight.size(-1) - 1, -1)
    return convolved(torch.cat([before, x], dim=1), weight, bias)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-before-the-start")
def end_before_the_start(x, weight, bias=None):
    """Before the start stands the end of your sequence, as in a ring; there are zeros."""
    kernel = weight.size(-1)
    shifted = [x.roll(kernel - 1 - j, dims=1) @ weight[..., j].T for j in range(kernel)]
    return sum(shifted) if bias is None else sum(shifted) + bias


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-before-the-start")
def full_windows_alone(x, weight, bias=None):
    """You have no output for the first positions, whose window is not full; zeros before the start fill it."""
    if x.size(1) < weight.size(-1):
        raise RuntimeError("The kernel is longer than the sequence.")
    return convolved(x, weight, bias)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-kernel-and-bias")
def kernel_turned_round(x, weight, bias=None):
    """You meet position t with the first weight of the kernel; it is the last one, weight[..., -1]."""
    return right.causal_conv1d(x, weight.flip(-1), bias)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-result-form")
def width_before_the_positions(x, weight, bias=None):
    """Your result is (batch, d_out, seq), as `F.conv1d` gives it; the exercise asks for (batch, seq, d_out)."""
    return right.causal_conv1d(x, weight, bias).transpose(1, 2)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-kernel-and-bias")
def bias_left_out(x, weight, bias=None):
    """You do not add the bias."""
    return right.causal_conv1d(x, weight)


@causal_conv1d.misconception(see=f"{CHAPTER}#mistake-kernel-and-bias")
def bias_for_each_place(x, weight, bias=None):
    """You add the bias once for each place of the kernel; it is added once."""
    return right.causal_conv1d(x, weight, None if bias is None else weight.size(-1) * bias)


# --- sliding_window_mask ---------------------------------------------------------------------------------------


def backwards(length):
    """i - j for every pair."""
    positions = torch.arange(length)
    return positions.unsqueeze(1) - positions


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-future-in-window")
def both_sides_open(length, window):
    """Your window reaches into the future as well; key j is seen where it does not lie behind query i."""
    return backwards(length).abs() < window


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-future-in-window")
def future_in_place_of_the_past(length, window):
    """You open the keys after the query; rows are queries, so it is i - j that lies between 0 and window."""
    return right.sliding_window_mask(length, window).T


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-window-edge")
def one_key_too_many(length, window):
    """Each query sees one key too many: itself counts, so with window 1 it sees itself alone."""
    return right.sliding_window_mask(length, window + 1)


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-window-edge")
def one_key_too_few(length, window):
    """Each query sees one key too few: the window is counted with the query's own position in it."""
    return right.sliding_window_mask(length, window - 1)


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-window-edge")
def query_itself_closed(length, window):
    """Your diagonal is False: the window begins one position before the query; it begins at the query itself."""
    back = backwards(length)
    return (back > 0) & (back <= window)


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-window-edge")
def diagonal_left_out(length, window):
    """Your window is right but for the diagonal: a query sees itself too."""
    back = backwards(length)
    return (back > 0) & (back < window)


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-result-form")
def true_for_hidden(length, window):
    """Your True means hidden; in this course True means that the query may attend to the key."""
    return ~right.sliding_window_mask(length, window)


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-result-form")
def minus_infinity_for_hidden(length, window):
    """You return what is added to the scores, 0 and minus infinity; asked for is a bool tensor."""
    hidden = ~right.sliding_window_mask(length, window)
    return torch.zeros(length, length).masked_fill(hidden, float("-inf"))


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-result-form")
def ones_and_zeros(length, window):
    """Your mask holds floating numbers 1 and 0; asked for is a bool tensor."""
    return right.sliding_window_mask(length, window).float()


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-window-edge")
def whole_past_open(length, window):
    """Your mask is the causal one: it ignores the window, so each query sees all of its past."""
    return backwards(length) >= 0


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-window-edge")
def cut_into_blocks(length, window):
    """You cut the sequence into blocks, and a query sees its block alone; the window moves along with the query."""
    block = torch.arange(length) // window
    return (block.unsqueeze(1) == block) & (backwards(length) >= 0)


@sliding_window_mask.misconception(see=f"{CHAPTER}#mistake-before-the-start")
def window_round_the_start(length, window):
    """The first queries see the end of the sequence, as in a ring; before the start there is nothing to see."""
    return backwards(length) % length < window
