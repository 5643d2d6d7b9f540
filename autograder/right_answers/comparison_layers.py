"""Right answers to the causal convolution and the local mask of chapter 09, each written in another way."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer

# --- causal_conv1d ---------------------------------------------------------------------------------------------


@right_answer("causal_conv1d")
def padded_and_convolved(x, weight, bias=None):
    kernel = weight.shape[-1]
    x = F.pad(x.transpose(1, 2), (kernel - 1, 0))
    return F.conv1d(x, weight, bias).transpose(1, 2)


@right_answer("causal_conv1d")
def padded_on_both_sides_and_cut(x, weight, bias=None):
    kernel, seq = weight.size(2), x.size(1)
    y = F.conv1d(x.permute(0, 2, 1), weight, bias=bias, padding=kernel - 1)
    return y[:, :, :seq].permute(0, 2, 1)


@right_answer("causal_conv1d")
def shifted_and_added(x, weight, bias=None):
    kernel, seq = weight.size(-1), x.size(1)
    y = x @ weight[:, :, -1].T
    for back in range(1, min(kernel, seq)):
        y = y + F.pad(x[:, : seq - back] @ weight[:, :, -1 - back].T, (0, 0, back, 0))
    return y if bias is None else y + bias


@right_answer("causal_conv1d")
def position_by_position(x, weight, bias=None):
    batch, seq, _ = x.shape
    d_out, _, kernel = weight.shape
    outputs = []
    for t in range(seq):
        y = x.new_zeros(batch, d_out) if bias is None else bias.expand(batch, d_out)
        for j in range(kernel):
            source = t - kernel + 1 + j
            if source >= 0:
                y = y + torch.einsum("bi,oi->bo", x[:, source], weight[:, :, j])
        outputs.append(y)
    return torch.stack(outputs, dim=1)


@right_answer("causal_conv1d")
def one_large_matrix_product(x, weight, bias=None):
    kernel, d_in = weight.size(2), weight.size(1)
    zeros = torch.zeros(x.size(0), kernel - 1, d_in, dtype=x.dtype, device=x.device)
    windows = torch.cat([zeros, x], dim=1).unfold(1, kernel, 1).flatten(2)
    return F.linear(windows, weight.flatten(1), bias)


@right_answer("causal_conv1d")
def gathered_by_index(x, weight, bias=None):
    kernel, seq = weight.size(-1), x.size(1)
    places = torch.arange(seq)[:, None] + torch.arange(-kernel + 1, 1)
    windows = x[:, places.clamp(min=0)] * (places >= 0).unsqueeze(-1)
    y = torch.tensordot(windows, weight, dims=([3, 2], [1, 2]))
    return y + (0 if bias is None else bias)


@right_answer("causal_conv1d")
def by_the_module(x, weight, bias=None):
    d_out, d_in, kernel = weight.shape
    layer = nn.Conv1d(d_in, d_out, kernel, padding=kernel - 1, bias=bias is not None, dtype=x.dtype)
    given = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    return torch.func.functional_call(layer, given, x.mT)[..., : x.size(1)].mT


@right_answer("causal_conv1d")
def flipped_in_time(x, weight, bias=None):
    """Backwards in time the zeros stand at the end, and the kernel is turned round."""
    kernel = weight.size(-1)
    y = F.conv1d(F.pad(x.flip(1).transpose(1, 2), (0, kernel - 1)), weight.flip(-1), bias)
    return y.transpose(1, 2).flip(1)


@right_answer("causal_conv1d")
def banded_matrices(x, weight, bias=None):
    """For each place of the kernel a matrix (seq, seq) with ones on one diagonal moves the positions."""
    seq, kernel = x.size(1), weight.size(-1)
    y = 0 if bias is None else bias
    for j in range(kernel):
        move = torch.diag_embed(torch.ones(seq, dtype=x.dtype))
        move = F.pad(move, (0, 0, kernel - 1 - j, 0))[:seq]
        y = y + move @ x @ weight[..., j].T
    return y


# --- sliding_window_mask ---------------------------------------------------------------------------------------


@right_answer("sliding_window_mask")
def two_triangles(length, window):
    ones = torch.ones(length, length, dtype=torch.bool)
    return ones.tril() & ones.triu(-(window - 1))


@right_answer("sliding_window_mask")
def causal_without_what_is_too_far(length, window):
    causal = torch.ones(length, length).tril()
    return (causal - causal.tril(-window)).bool()


@right_answer("sliding_window_mask")
def entry_by_entry(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(length):
            if 0 <= i - j < window:
                mask[i, j] = True
    return mask


@right_answer("sliding_window_mask")
def row_by_row(length, window):
    mask = torch.full((length, length), False)
    for i in range(length):
        mask[i, max(0, i - window + 1) : i + 1] = True
    return mask


@right_answer("sliding_window_mask")
def as_nested_lists(length, window):
    return torch.tensor([[i - window < j <= i for j in range(length)] for i in range(length)])


@right_answer("sliding_window_mask")
def diagonal_by_diagonal(length, window):
    mask = torch.zeros(length, length).bool()
    for back in range(min(window, length)):
        mask |= torch.diag(torch.ones(length - back), diagonal=-back).bool()
    return mask


@right_answer("sliding_window_mask")
def meshgrid_of_positions(length, window):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return torch.logical_and(j <= i, i < j + window)


@right_answer("sliding_window_mask")
def sums_of_a_moving_window(length, window):
    """A causal convolution of the identity with ones: what is not 0 lies in the window."""
    moved = F.conv1d(torch.eye(length).unsqueeze(1), torch.ones(1, 1, window), padding=window - 1)
    return moved[:, 0, :length].T > 0.5
