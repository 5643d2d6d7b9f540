"""What a layer costs, how far it reaches, and attention without the matrix (Vaswani et al. 2017, section 4).

Shape letters as in book/conventions.md: batch, seq (n_q queries, n_k keys), d_k, d_v; d_in and d_out are the widths
of a convolution; `...` stands for any leading axes, or none.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

KINDS = ("attention", "rnn", "cnn")


def operations(kind: str, n: int, d: int, kernel: int = 3) -> int:
    """Work of one layer, leading term (table 1 of the paper): n^2 d for "attention", n d^2 for "rnn", kernel n d^2
    for "cnn", with n positions of width d. Raises ValueError for another kind.
    """
    _check_kind(kind)
    return {"attention": n * n * d, "rnn": n * d * d, "cnn": kernel * n * d * d}[kind]


def path_length(kind: str, n: int, kernel: int = 3, dilated: bool = False) -> int:
    """Steps or layers until the first of n positions can influence the last (n and kernel at least 2).

    "attention" 1; "rnn" n - 1; "cnn" ceil((n - 1) / (kernel - 1)), since a layer looks kernel - 1 positions back. With
    dilation kernel^layer, L layers see kernel^L positions: the smallest L with kernel^L >= n. Raises ValueError for
    another kind.
    """
    _check_kind(kind)
    if kind != "cnn":
        return 1 if kind == "attention" else n - 1
    layers, seen = 0, 1
    while seen < n:  # whole numbers alone: a logarithm would be off where n is a power of kernel
        seen = seen * kernel if dilated else seen + kernel - 1
        layers += 1
    return layers


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"There is no kind {kind!r}; the kinds are {', '.join(KINDS)}.")


def causal_conv1d(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y_t = bias + sum_j weight[..., j] x_(t - kernel + 1 + j): position t sees itself and the kernel - 1 before it.

    x (batch, seq, d_in), weight (d_out, d_in, kernel), bias (d_out,) or None -> (batch, seq, d_out). Before the start
    there are zeros.
    """
    kernel = weight.size(-1)
    windows = F.pad(x, (0, 0, kernel - 1, 0)).unfold(1, kernel, 1)  # (batch, seq, d_in, kernel)
    y = torch.einsum("bsik,oik->bso", windows, weight)
    return y if bias is None else y + bias


def sliding_window_mask(length: int, window: int) -> Tensor:
    """True where 0 <= i - j < window: query i sees itself and the window - 1 keys before it; bool (length, length)."""
    positions = torch.arange(length)
    back = positions.unsqueeze(1) - positions
    return (back >= 0) & (back < window)


def tiled_attention(query: Tensor, key: Tensor, value: Tensor, block_size: int) -> Tensor:
    """softmax(Q K^T / sqrt(d_k)) V, block by block of keys, with the online softmax (Milakov and Gimelshein 2018).

    Of the keys seen so far three things are kept for each query: the largest score m, the sum z of exp(s - m), and the
    sum o of exp(s - m) v. When m grows to m', both sums are multiplied by exp(m - m'). At the end, o / z.

    query (..., n_q, d_k), key (..., n_k, d_k), value (..., n_k, d_v) -> (..., n_q, d_v). No tensor here has n_q n_k
    elements, only n_q block_size (Rabe and Staats 2021; Dao et al. 2022).
    """
    query = query / math.sqrt(query.size(-1))
    m = query.new_full((*query.shape[:-1], 1), -math.inf)
    z, o = torch.zeros_like(m), query.new_zeros(*query.shape[:-1], value.size(-1))
    for keys, values in zip(key.split(block_size, dim=-2), value.split(block_size, dim=-2), strict=True):
        scores = query @ keys.transpose(-2, -1)
        larger = torch.maximum(m, scores.amax(dim=-1, keepdim=True)).detach()  # it cancels: no gradient is lost
        shrink, weights = (m - larger).exp(), (scores - larger).exp()
        z = z * shrink + weights.sum(dim=-1, keepdim=True)
        o = o * shrink + weights @ values
        m = larger
    return o / z
