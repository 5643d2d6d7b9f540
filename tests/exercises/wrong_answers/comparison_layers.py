"""Chapter 09: the causal convolution, the local mask and tiled attention."""

import math

import torch
import torch.nn.functional as F

from autograder.reference.attention import scaled_dot_product_attention
from autograder.reference.comparison import causal_conv1d, sliding_window_mask, tiled_attention


def convolved(x, weight, bias=None, before=0, after=0, **options):
    """F.conv1d for x (batch, seq, d_in), with so many zeros before and after the sequence."""
    return F.conv1d(F.pad(x.mT, (before, after)), weight, bias, **options).mT


def on_weights(change):
    return lambda x, weight, bias=None: causal_conv1d(x, change(weight), bias)


def on_result(change):
    return lambda x, weight, bias=None: change(causal_conv1d(x, weight, bias))


def short_sequences_refused(x, weight, bias=None):
    if x.size(1) < weight.size(-1):
        raise ValueError("too short")
    return causal_conv1d(x, weight, bias)


def kernel_cut_to_the_sequence(x, weight, bias=None):
    """Where the sequence is shorter, the last places of the kernel are cut off in place of the first."""
    return causal_conv1d(x, weight[..., : x.size(1)], bias)


def bias_needed(x, weight, bias):
    return causal_conv1d(x, weight, bias)


def bias_where_there_is_one(x, weight, bias=None):
    if bias:
        return causal_conv1d(x, weight, bias)
    return causal_conv1d(x, weight)


def bias_changed(x, weight, bias=None):
    y = causal_conv1d(x, weight)
    return y if bias is None else bias.data.zero_().add(y)


def fixed_kernel(x, weight, bias=None):
    return convolved(x, weight, bias, before=2)[:, : x.size(1)]


def moving_state(x, weight, bias=None):
    """The batch axis is taken for time."""
    return causal_conv1d(x.transpose(0, 1), weight, bias).transpose(0, 1)


CAUSAL_CONV1D = {
    "same padding": lambda x, w, b=None: convolved(x, w, b, padding="same"),
    "no padding": convolved,
    "padding on both sides": lambda x, w, b=None: convolved(x, w, b, w.size(-1) - 1, w.size(-1) - 1),
    "cut at the wrong end": lambda x, w, b=None: convolved(x, w, b, padding=w.size(-1) - 1)[:, -x.size(1):],
    "one zero too many": lambda x, w, b=None: convolved(x, w, b, w.size(-1)),
    "one zero too many and cut": lambda x, w, b=None: convolved(x, w, b, w.size(-1))[:, :-1],
    "a kernel of 3 expected": fixed_kernel,
    "short sequences refused": short_sequences_refused,
    "kernel cut to the sequence": kernel_cut_to_the_sequence,
    "kernel turned round": on_weights(lambda w: w.flip(-1)),
    "widths exchanged": on_weights(lambda w: w.transpose(0, 1)),
    "last place alone": on_weights(lambda w: w[..., -1:]),
    "first place alone": on_weights(lambda w: w[..., :1]),
    "first place left out": on_weights(lambda w: w[..., 1:]),
    "kernel averaged": on_weights(lambda w: w.mean(-1, keepdim=True).expand_as(w)),
    "kernel normalised": on_weights(lambda w: w.softmax(-1)),
    "dilated": lambda x, w, b=None: convolved(x, w, b, 2 * (w.size(-1) - 1), dilation=2),
    "bias needed": bias_needed,
    "bias asked for its truth": bias_where_there_is_one,
    "bias changed": bias_changed,
    "bias subtracted": lambda x, w, b=None: causal_conv1d(x, w, None if b is None else -b),
    "bias at real positions alone": lambda x, w, b=None: torch.cat(
        [causal_conv1d(x, w)[:, :1], causal_conv1d(x, w, b)[:, 1:]], dim=1),
    "time and batch exchanged": moving_state,
    "relu": on_result(torch.relu),
    "divided by the kernel": lambda x, w, b=None: causal_conv1d(x / w.size(-1), w, b),
    "residual of the first features": lambda x, w, b=None: causal_conv1d(x, w, b) + x[..., :1],
    "reversed in time": on_result(lambda y: y.flip(1)),
    "one step late": on_result(lambda y: y.roll(1, 1)),
    "last output alone": on_result(lambda y: y[:, -1]),
    "flattened": on_result(lambda y: y.flatten(1)),
    "transposed": on_result(lambda y: y.mT),
    "float32": on_result(torch.Tensor.float),
    "detached": on_result(torch.Tensor.detach),
    "view of the weights": lambda x, w, b=None: convolved(x, w.view(w.size(0), -1).view(w.shape), b, w.size(-1) - 1),
    "lists": on_result(lambda y: y.tolist()),
    "argument padded in place": lambda x, w, b=None: causal_conv1d(x.data.add_(1).sub(1), w, b),
}


def chunks_with_the_one_before(length, window):
    block = torch.arange(length) // window
    behind = block.unsqueeze(1) - block
    return ((behind == 0) | (behind == 1)) & (torch.arange(length).unsqueeze(1) >= torch.arange(length))


def growing_window(length, window):
    return torch.ones(length, length, dtype=torch.bool).tril() & (torch.arange(length) < window)


def one_row_for_all(length, window):
    return sliding_window_mask(length, window)[-1:].expand(length, length)


SLIDING_WINDOW_MASK = {
    "all open": lambda n, w: torch.ones(n, n, dtype=torch.bool),
    "causal": lambda n, w: torch.ones(n, n, dtype=torch.bool).tril(),
    "anticausal": lambda n, w: sliding_window_mask(n, w).mT,
    "both sides": lambda n, w: sliding_window_mask(n, w) | sliding_window_mask(n, w).mT,
    "half on each side": lambda n, w: sliding_window_mask(n, w // 2 + 1) | sliding_window_mask(n, w // 2 + 1).mT,
    "twice the window": lambda n, w: sliding_window_mask(n, 2 * w),
    "far keys open": lambda n, w: torch.ones(n, n, dtype=torch.bool).tril(-w),
    "one diagonal": lambda n, w: torch.eye(n).roll(w - 1, 0).tril().bool(),
    "diagonal closed": lambda n, w: sliding_window_mask(n, w).fill_diagonal_(False),
    "first keys open too": lambda n, w: sliding_window_mask(n, w) | (torch.arange(n) == 0),
    "first keys alone": growing_window,
    "blocks and the one before": chunks_with_the_one_before,
    "one row for all": one_row_for_all,
    "window cut to the length minus one": lambda n, w: sliding_window_mask(n, min(w, n - 1)),
    "large windows closed": lambda n, w: sliding_window_mask(n, w) & (w <= n),
    "window 1 closed": lambda n, w: sliding_window_mask(n, w) & (w > 1),
    "inverted": lambda n, w: ~sliding_window_mask(n, w),
    "int": lambda n, w: sliding_window_mask(n, w).int(),
    "int64": lambda n, w: sliding_window_mask(n, w).long(),
    "uint8": lambda n, w: sliding_window_mask(n, w).byte(),
    "minus a billion": lambda n, w: torch.zeros(n, n).masked_fill(~sliding_window_mask(n, w), -1e9),
    "distances": lambda n, w: torch.arange(n).unsqueeze(1) - torch.arange(n),
    "lists": lambda n, w: sliding_window_mask(n, w).tolist(),
    "with a batch axis": lambda n, w: sliding_window_mask(n, w).unsqueeze(0),
    "window columns": lambda n, w: sliding_window_mask(n, w)[:, :w],
    "arguments exchanged": lambda n, w: sliding_window_mask(w, n),
    "reversed": lambda n, w: sliding_window_mask(n, w).flip(0, 1),
}


def parts(query, key, value, block_size):
    """The scaled scores and the values of each block."""
    for k, v in zip(key.split(block_size, -2), value.split(block_size, -2), strict=True):
        yield query @ k.mT / math.sqrt(query.size(-1)), v


def plain(query, key, value):
    return scaled_dot_product_attention(query, key, value)[0]


def with_fixed_blocks(size):
    return lambda q, k, v, block_size: tiled_attention(q, k, v, size)


def on_arguments(change):
    return lambda q, k, v, block_size: tiled_attention(*change(q, k, v), block_size)


def on_output(change):
    return lambda q, k, v, block_size: change(tiled_attention(q, k, v, block_size))


def blocks_stacked(q, k, v, block_size):
    """All the partial results in one tensor, before they are joined: no smaller than the matrix for small blocks."""
    outputs = torch.stack([scores.softmax(-1) @ values for scores, values in parts(q, k, v, block_size)])
    totals = torch.stack([scores.logsumexp(-1, keepdim=True) for scores, _ in parts(q, k, v, block_size)])
    return (outputs * totals.softmax(0)).sum(0)


def scores_joined(q, k, v, block_size):
    return torch.cat([scores for scores, _ in parts(q, k, v, block_size)], -1).softmax(-1) @ v


def buffer_filled(q, k, v, block_size):
    weights = torch.empty(*q.shape[:-1], k.size(-2), dtype=q.dtype)
    for start in range(0, k.size(-2), block_size):
        block = slice(start, start + block_size)
        weights[..., block] = q @ k[..., block, :].mT / math.sqrt(q.size(-1))
    return weights.softmax(-1) @ v


def maximum_from(start, detach=True):
    """The online softmax whose maximum begins at `start`."""
    def answer(q, k, v, block_size):
        m = torch.full_like(q[..., :1], start)
        z, o = 0.0, 0.0
        for scores, values in parts(q, k, v, block_size):
            new = torch.maximum(m, scores.amax(-1, keepdim=True))
            z = z * (m - new).exp() + (scores - new).exp().sum(-1, keepdim=True)
            o = o * (m - new).exp() + (scores - new).exp() @ values
            m = new
        return o / z

    return answer


def clamped(q, k, v, block_size):
    z = o = 0.0
    for scores, values in parts(q, k, v, block_size):
        weights = scores.clamp(-50, 50).exp()
        z, o = z + weights.sum(-1, keepdim=True), o + weights @ values
    return o / z


def shares_of_equal_blocks(q, k, v, block_size):
    """Blocks are weighted by the mean of exp, so that a smaller last block counts too much."""
    z = o = 0.0
    for scores, values in parts(q, k, v, block_size):
        z = z + scores.exp().mean(-1, keepdim=True)
        o = o + scores.exp() @ values / scores.size(-1)
    return o / z


def divided_each_time(q, k, v, block_size):
    """The output is divided by z after every block, as if it had not been before."""
    m, z, o = torch.full_like(q[..., :1], -math.inf), 0.0, 0.0
    for scores, values in parts(q, k, v, block_size):
        new = torch.maximum(m, scores.amax(-1, keepdim=True))
        shrink, weights = (m - new).exp(), (scores - new).exp()
        z = z * shrink + weights.sum(-1, keepdim=True)
        o = (o * shrink + weights @ values) / z
        m = new
    return o


def in_float32(q, k, v, block_size):
    return tiled_attention(q.float(), k.float(), v.float(), block_size).to(q.dtype)


def without_graph(q, k, v, block_size):
    with torch.no_grad():
        return tiled_attention(q, k, v, block_size)


def scaled_in_place(q, k, v, block_size):
    return tiled_attention(q.data.div_(math.sqrt(q.size(-1))) * math.sqrt(q.size(-1)), k, v, block_size)


def whole_blocks_refused(q, k, v, block_size):
    assert k.size(-2) % block_size == 0
    return tiled_attention(q, k, v, block_size)


def flattened_heads(q, k, v, block_size):
    return tiled_attention(*(t.flatten(0, 1) for t in (q, k, v)), block_size).unflatten(0, q.shape[:2])


TILED_ATTENTION = {
    "plain attention": lambda q, k, v, block_size: plain(q, k, v),
    "plain attention for large blocks": lambda q, k, v, block_size: (
        plain(q, k, v) if block_size > 2 else tiled_attention(q, k, v, block_size)),
    "scores of all blocks joined": scores_joined,
    "all scores in one buffer": buffer_filled,
    "partial results stacked": blocks_stacked,
    "one block of all keys": lambda q, k, v, block_size: tiled_attention(q, k, v, k.size(-2)),
    "half of the keys at least": lambda q, k, v, block_size: tiled_attention(q, k, v, max(block_size, 50)),
    "maximum from zero": maximum_from(0.0),
    "maximum from minus one hundred": maximum_from(-100.0),
    "scores clamped": clamped,
    "mean in place of the sum": shares_of_equal_blocks,
    "divided each time": divided_each_time,
    "scaled by d_v": lambda q, k, v, block_size: tiled_attention(
        q * math.sqrt(q.size(-1) / v.size(-1)), k, v, block_size),
    "scaled by d_k": on_arguments(lambda q, k, v: (q / math.sqrt(q.size(-1)), k, v)),
    "not scaled": on_arguments(lambda q, k, v: (q * math.sqrt(q.size(-1)), k, v)),
    "causal": lambda q, k, v, block_size: torch.cat(
        [tiled_attention(q[..., i:i + 1, :], k[..., : i + 1, :], v[..., : i + 1, :], block_size)
         for i in range(q.size(-2))], -2),
    "first block alone": lambda q, k, v, block_size: plain(q, k[..., :block_size, :], v[..., :block_size, :]),
    "blocks of three": lambda q, k, v, block_size: tiled_attention(q, k, v, 3).round(decimals=3),
    "first key left out": on_arguments(lambda q, k, v: (q, k[..., 1:, :], v[..., 1:, :])),
    "values reversed": on_arguments(lambda q, k, v: (q, k, v.flip(-2))),
    "keys of ones": on_arguments(lambda q, k, v: (q, torch.ones_like(k), v)),
    "whole blocks alone": whole_blocks_refused,
    "two leading axes expected": flattened_heads,
    "float32 inside": in_float32,
    "without a graph": without_graph,
    "query detached": on_arguments(lambda q, k, v: (q.detach(), k, v)),
    "query scaled in place": scaled_in_place,
    "with the weights": lambda q, k, v, block_size: scaled_dot_product_attention(q, k, v),
    "transposed": on_output(lambda y: y.mT),
    "half precision": on_output(torch.Tensor.half),
    "a list": on_output(lambda y: y.tolist()),
}

WRONG = {"causal_conv1d": CAUSAL_CONV1D, "sliding_window_mask": SLIDING_WINDOW_MASK,
         "tiled_attention": TILED_ATTENTION}

NAMED = {
    ("causal_conv1d", "one zero too many and cut"): "position_itself_not_seen",
    ("tiled_attention", "maximum from zero"): "maximum_from_a_number",
    ("tiled_attention", "maximum from minus one hundred"): "maximum_from_a_number",
    ("sliding_window_mask", "reversed"): "future_in_place_of_the_past",
    ("tiled_attention", "mean in place of the sum"): "without_a_maximum",
    ("causal_conv1d", "same padding"): "padded_on_both_sides",
    ("causal_conv1d", "no padding"): "full_windows_alone",
    ("causal_conv1d", "cut at the wrong end"): "padded_at_the_end",
    ("causal_conv1d", "kernel turned round"): "kernel_turned_round",
    ("causal_conv1d", "transposed"): "width_before_the_positions",
    ("sliding_window_mask", "causal"): "whole_past_open",
    ("sliding_window_mask", "anticausal"): "future_in_place_of_the_past",
    ("sliding_window_mask", "both sides"): "both_sides_open",
    ("sliding_window_mask", "diagonal closed"): "diagonal_left_out",
    ("sliding_window_mask", "inverted"): "true_for_hidden",
    ("tiled_attention", "plain attention"): "scores_made_whole",
    ("tiled_attention", "plain attention for large blocks"): "scores_made_whole",
    ("tiled_attention", "scores of all blocks joined"): "scores_made_whole",
    ("tiled_attention", "all scores in one buffer"): "scores_made_whole",
    ("tiled_attention", "one block of all keys"): "scores_made_whole",
    ("tiled_attention", "half of the keys at least"): "scores_made_whole",
    ("tiled_attention", "not scaled"): "scores_not_scaled",
}
