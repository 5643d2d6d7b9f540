"""Where a token stands: five ways to say it (Vaswani et al. 2017, section 3.5; Su et al. 2021; Press et al. 2022).

Shape letters as in book/conventions.md: batch, heads, seq, d_model, d_k.
"""

import torch
from torch import Tensor, nn

BASE = 10_000.0


def frequencies(width: int) -> Tensor:
    """w_i = 10000^(-2i / width) for i = 0, 1, ..: float64 (ceil(width / 2),), in radians a position."""
    return BASE ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos w_i), PE(pos, 2i + 1) = cos(pos w_i): (max_len, d_model) in the default dtype.

    Where d_model is odd the last sine has no cosine beside it.
    """
    angles = torch.arange(max_len, dtype=torch.float64).unsqueeze(1) * frequencies(d_model)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model]
    return table.to(torch.get_default_dtype())


class PositionalEncoding(nn.Module):
    """x + the first seq rows of the sinusoidal table, which is a buffer: nothing here is learned.

    x (batch, seq, d_model) -> the same shape. Raises ValueError where seq exceeds max_len.
    """

    def __init__(self, d_model: int, max_len: int = 5000):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x: Tensor) -> Tensor:
        return x + first_rows(self.pe, x.size(1))


def first_rows(table: Tensor, length: int) -> Tensor:
    """The rows of positions 0 to length - 1. Raises ValueError where the table has fewer."""
    if length > len(table):
        raise ValueError(f"A sequence of length {length} is longer than max_len {len(table)}; "
                         "shorten it, or make the table longer.")
    return table[:length]


def shift_matrix(offset: int, d_model: int) -> Tensor:
    """M with PE(pos + offset) = M PE(pos) for every pos: (d_model, d_model), d_model even, a rotation in each pair.

    sin(a + b) = sin a cos b + cos a sin b and cos(a + b) = cos a cos b - sin a sin b, with b = offset w_i. Raises
    ValueError for an odd d_model: its last sine has no cosine to be turned with.
    """
    if d_model % 2:
        raise ValueError(f"d_model {d_model} is odd, so the last sine has no cosine to be turned with; make it even.")
    cos, sin = (offset * frequencies(d_model)).cos(), (offset * frequencies(d_model)).sin()
    pairs = [torch.stack([torch.stack([c, s]), torch.stack([-s, c])]) for c, s in zip(cos, sin, strict=True)]
    return torch.block_diag(*pairs).to(torch.get_default_dtype())


class LearnedPositionalEmbedding(nn.Module):
    """x + table[:seq], a row for each position that training has to fill, as in BERT and GPT-2.

    x (batch, seq, d_model) -> the same shape. Raises ValueError where seq exceeds max_len.
    """

    def __init__(self, max_len: int, d_model: int):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x: Tensor) -> Tensor:
        return x + first_rows(self.table, x.size(1))


def rotary(x: Tensor, positions: Tensor) -> Tensor:
    """Turns each pair (a, b) of features by the angle pos w_i: (a cos - b sin, a sin + b cos) (Su et al. 2021, 3.2.2).

    x (batch, heads, seq, d_k), d_k even; positions int64 (seq,) -> the shape of x. The product of a turned query and
    a turned key depends on the difference of their positions alone.
    """
    angles = positions.unsqueeze(1) * frequencies(x.size(-1)).to(positions.device)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def alibi_bias(num_heads: int, length: int) -> Tensor:
    """-s_i (query - key) where key <= query, minus infinity elsewhere (Press et al. 2022, section 3).

    s_i = 2^(-8i / h) for head i = 1 .. h -> (heads, length, length), to be added to the scaled scores.
    """
    slopes = 2.0 ** (-8.0 * torch.arange(1, num_heads + 1) / num_heads)
    positions = torch.arange(length)
    distance = positions.unsqueeze(1) - positions
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, float("-inf"))
