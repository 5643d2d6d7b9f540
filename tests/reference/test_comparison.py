"""Costs and paths counted out, the convolution and the tiled attention against torch's own."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from autograder.reference import comparison
from autograder.reference.attention import scaled_dot_product_attention


def counted(compute):
    """Multiplications that torch counts: it counts an addition with each."""
    with FlopCounterMode(display=False) as counter:
        compute()
    return counter.get_total_flops() // 2


def test_operations_are_what_torch_counts_up_to_a_constant():
    n, d, kernel = 24, 10, 5
    x, w = torch.randn(n, d), torch.randn(d, d)
    assert counted(lambda: (x @ x.T) @ x) == 2 * comparison.operations("attention", n, d)
    assert counted(lambda: [row @ w for row in x.split(1)]) == comparison.operations("rnn", n, d)
    convolution = counted(lambda: F.conv1d(x.T[None], torch.randn(d, d, kernel), padding="same"))
    assert convolution == comparison.operations("cnn", n, d, kernel)


@pytest.mark.parametrize("kernel", [2, 3, 5])
@pytest.mark.parametrize("dilated", [False, True])
def test_the_path_of_a_convolution_is_as_many_layers_as_a_gradient_needs(kernel, dilated):
    for n in [*range(2, 29), 125, 126]:
        layers = comparison.path_length("cnn", n, kernel, dilated)
        assert _reaches(n, kernel, dilated, layers) and not _reaches(n, kernel, dilated, layers - 1)


def _reaches(n, kernel, dilated, layers):
    """Whether a change of the first of n positions is seen at the last, after so many layers."""
    x = torch.zeros(1, 1, n)
    x[0, 0, 0] = 1
    for layer in range(layers):
        dilation = kernel**layer if dilated else 1
        x = F.conv1d(F.pad(x, ((kernel - 1) * dilation, 0)), torch.ones(1, 1, kernel), dilation=dilation).clamp(max=1)
    return bool(x[0, 0, -1] > 0)


def test_the_other_two_paths_and_a_kind_that_is_none():
    assert comparison.path_length("attention", 1000) == 1 and comparison.path_length("rnn", 1000) == 999
    for ask in (lambda: comparison.operations("lstm", 4, 5), lambda: comparison.path_length("lstm", 4)):
        with pytest.raises(ValueError, match=r"'lstm'.*attention, rnn, cnn"):
            ask()


@pytest.mark.parametrize("seq, kernel", [(9, 3), (2, 5), (1, 1), (4, 4)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_the_convolution_is_torchs_with_zeros_in_front(seq, kernel, with_bias):
    x, weight = torch.randn(2, seq, 3), torch.randn(4, 3, kernel)
    bias = torch.randn(4) if with_bias else None
    right = F.conv1d(F.pad(x.mT, (kernel - 1, 0)), weight, bias).mT
    torch.testing.assert_close(comparison.causal_conv1d(x, weight, bias), right)


@pytest.mark.parametrize("length, window", [(6, 1), (6, 3), (6, 6), (4, 9), (1, 1)])
def test_the_window_entry_by_entry(length, window):
    mask = comparison.sliding_window_mask(length, window)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[0 <= i - j < window for j in range(length)] for i in range(length)]


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
@pytest.mark.parametrize("block_size", [1, 3, 7, 10])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_tiled_attention_is_attention_with_its_gradients(leading, block_size, scale):
    sizes = ((5, 4), (7, 4), (7, 3))
    tensors = [torch.randn(*leading, *size, dtype=torch.float64, requires_grad=True) for size in sizes]
    query, key, value = tensors
    mine = comparison.tiled_attention(query * scale, key, value, block_size)
    right, _ = scaled_dot_product_attention(query * scale, key, value)
    torch.testing.assert_close(mine, right)
    cotangent = torch.randn_like(right)
    torch.testing.assert_close(*(torch.autograd.grad((out * cotangent).sum(), tensors) for out in (mine, right)))
