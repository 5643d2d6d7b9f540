"""Chapter 07: the functions. The two modules that add a table are in positional_encoding_modules.py."""

import math

import torch

from autograder.reference.positional_encoding import alibi_bias, rotary, shift_matrix, sinusoidal_encoding


def angles(max_len, d_model, base=10_000.0, dtype=torch.float64):
    """Position times frequency, (max_len, pairs), in the dtype in which a slip computes."""
    rates = base ** (-torch.arange(0, d_model, 2, dtype=dtype) / d_model)
    return torch.arange(max_len, dtype=dtype).unsqueeze(1) * rates


def waves(angle, d_model, even=torch.sin, odd=torch.cos):
    return torch.stack([even(angle), odd(angle)], dim=-1).flatten(-2)[..., :d_model].float()


def cut_to_even(max_len, d_model):
    """An odd width loses its last column."""
    return sinusoidal_encoding(max_len, d_model)[:, : d_model - d_model % 2]


def grown_to_even(max_len, d_model):
    return sinusoidal_encoding(max_len, d_model + d_model % 2)


def cosine_cut_at_the_wrong_end(max_len, d_model):
    """For an odd width the first cosine is left out in place of the one that is too many."""
    table, angle = torch.zeros(max_len, d_model), angles(max_len, d_model)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle[:, d_model % 2 :].cos()
    return table


def one_frequency_left_out(max_len, d_model):
    """Frequencies are counted with d_model // 2, and an odd width gets a zero column."""
    table = torch.zeros(max_len, d_model)
    even = d_model - d_model % 2
    table[:, :even] = waves(angles(max_len, d_model), d_model)[:, :even]
    return table


def not_for_one_column(max_len, d_model):
    return sinusoidal_encoding(max_len, d_model) / (d_model > 1)


def squeezed(max_len, d_model):
    return sinusoidal_encoding(max_len, d_model).squeeze()


SINUSOIDAL_ENCODING = {
    "base 1000": lambda n, d: waves(angles(n, d, 1000.0), d),
    "base 100000": lambda n, d: waves(angles(n, d, 100_000.0), d),
    "base e": lambda n, d: waves(angles(n, d, math.e), d),
    "degrees": lambda n, d: waves(angles(n, d).rad2deg(), d),
    "turns in place of radians": lambda n, d: waves(angles(n, d) * 2 * math.pi, d),
    "whole numbers of the angle": lambda n, d: waves(angles(n, d).floor(), d),
    "angles negative": lambda n, d: waves(-angles(n, d), d),
    "cosines alone": lambda n, d: waves(angles(n, d), d, torch.cos),
    "minus cosine": lambda n, d: waves(angles(n, d), d, odd=lambda a: -a.cos()),
    "tangent for the cosine": lambda n, d: waves(angles(n, d), d, odd=torch.tan),
    "angles themselves": lambda n, d: waves(angles(n, d), d, torch.clone, torch.clone),
    "frequencies reversed": lambda n, d: waves(angles(n, d).flip(1), d),
    "positions reversed": lambda n, d: sinusoidal_encoding(n, d).flip(0),
    "columns reversed": lambda n, d: sinusoidal_encoding(n, d).flip(1),
    "positions from minus one": lambda n, d: waves(angles(n, d) - angles(2, d)[1], d),
    "centred positions": lambda n, d: waves(angles(n, d) - angles(n, d).mean(0), d),
    "normalised rows": lambda n, d: torch.nn.functional.normalize(sinusoidal_encoding(n, d), dim=1),
    "between 0 and 1": lambda n, d: (sinusoidal_encoding(n, d) + 1) / 2,
    "rounded": lambda n, d: sinusoidal_encoding(n, d).round(decimals=2),
    "float16 inside": lambda n, d: waves(angles(n, d, dtype=torch.float16), d),
    "bfloat16 inside": lambda n, d: waves(angles(n, d, dtype=torch.bfloat16), d),
    "float16": lambda n, d: sinusoidal_encoding(n, d).half(),
    "whole numbers": lambda n, d: sinusoidal_encoding(n, d).round().long(),
    "lists": lambda n, d: sinusoidal_encoding(n, d).tolist(),
    "angles in place of waves": lambda n, d: angles(n, d).float(),
    "flattened": lambda n, d: sinusoidal_encoding(n, d).flatten(),
    "squeezed": squeezed,
    "one row too many": lambda n, d: sinusoidal_encoding(n + 1, d),
    "arguments swapped": lambda n, d: sinusoidal_encoding(d, n),
    "last row left zero": lambda n, d: sinusoidal_encoding(n, d) * (torch.arange(n) < n - 1).unsqueeze(1),
    "not more than 512 rows": lambda n, d: sinusoidal_encoding(min(n, 512), d),
    "rows repeat after 512": lambda n, d: sinusoidal_encoding(n, d)[torch.arange(n) % 512],
    "odd width cut": cut_to_even,
    "odd width grown": grown_to_even,
    "first cosine left out": cosine_cut_at_the_wrong_end,
    "one frequency left out": one_frequency_left_out,
    "not for one column": not_for_one_column,
}


def pairs_of(offset, d_model, rates=None):
    rates = 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model) if rates is None else rates
    return offset * rates


def blocks(theta, first=(torch.cos, torch.sin), second=(lambda a: -a.sin(), torch.cos)):
    made = [torch.stack([torch.stack([f(a) for f in first]), torch.stack([g(a) for g in second])]) for a in theta]
    return torch.block_diag(*made)


def few_rows_inverted(offset, d_model):
    """Solves for M in float32 from as many rows as there are columns: far too few for the slow waves."""
    table = sinusoidal_encoding(d_model + abs(offset), d_model)
    here, there = table[:d_model], table[abs(offset) :][:d_model]
    return torch.linalg.pinv(here, rtol=1e-3) @ there


SHIFT_MATRIX = {
    "identity": lambda k, d: torch.eye(d),
    "rolled identity": lambda k, d: torch.eye(d).roll(k, 0),
    "rolled by pairs": lambda k, d: torch.eye(d).roll(2 * k, 0),
    "sines alone": lambda k, d: blocks(pairs_of(k, d), (torch.sin, torch.sin), (lambda a: -a.sin(), torch.sin)),
    "sine and cosine swapped": lambda k, d: blocks(pairs_of(k, d), (torch.sin, torch.cos),
                                                   (torch.cos, lambda a: -a.sin())),
    "minus before the cosine": lambda k, d: blocks(pairs_of(k, d), (torch.cos, torch.sin),
                                                   (torch.sin, lambda a: -a.cos())),
    "both signs minus": lambda k, d: blocks(pairs_of(k, d), (torch.cos, lambda a: -a.sin())),
    "first row twice": lambda k, d: blocks(pairs_of(k, d), second=(torch.cos, torch.sin)),
    "frequencies reversed": lambda k, d: blocks(pairs_of(k, d).flip(0)),
    "frequencies that grow": lambda k, d: blocks(pairs_of(k, d, 10_000.0 ** (torch.arange(0, d, 2) / d))),
    "exponent counted twice": lambda k, d: blocks(pairs_of(k, d, 10_000.0 ** (-2 * torch.arange(0, d, 2) / d))),
    "base 1000": lambda k, d: blocks(pairs_of(k, d, 1000.0 ** (-torch.arange(0, d, 2) / d))),
    "degrees": lambda k, d: blocks(pairs_of(k, d).rad2deg()),
    "one position too few": lambda k, d: shift_matrix(k - 1, d),
    "one position always": lambda k, d: shift_matrix(1, d),
    "offset without end": lambda k, d: shift_matrix(k % 64, d),
    "step times offset": lambda k, d: shift_matrix(1, d) * k,
    "one step to the power of each entry": lambda k, d: shift_matrix(1, d) ** k,
    "powers of one step, forwards only": lambda k, d: torch.linalg.multi_dot([torch.eye(d)] * 2 + [shift_matrix(1, d)]
                                                                             * k),
    "row and column swapped in the last block": lambda k, d: torch.block_diag(
        shift_matrix(k, d)[:-2, :-2], shift_matrix(k, d)[-2:, -2:].T),
    "last block left out": lambda k, d: torch.block_diag(shift_matrix(k, d)[:-2, :-2], torch.eye(2)),
    "few rows inverted": few_rows_inverted,
    "rounded": lambda k, d: shift_matrix(k, d).round(decimals=2),
    "bfloat16 inside": lambda k, d: shift_matrix(k, d).bfloat16().float(),
    "an axis in front": lambda k, d: shift_matrix(k, d).unsqueeze(0),
    "lists": lambda k, d: shift_matrix(k, d).tolist(),
    "the moved table": lambda k, d: sinusoidal_encoding(d + abs(k), d)[abs(k) :],
    "not for one pair": lambda k, d: shift_matrix(k, d) / (d > 2),
    "not for negative offsets": lambda k, d: shift_matrix(range(100_000)[k], d),
}


def turned(x, angle):
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def angle_at(positions, x, base=10_000.0):
    return positions.unsqueeze(-1) * base ** (-torch.arange(0, x.size(-1), 2, dtype=torch.float64) / x.size(-1))


def through_a_view(x, positions):
    """Fails on what is not contiguous."""
    return rotary(x.view(-1).view(x.shape), positions)


def along_the_heads(x, positions):
    """Each head gets an angle, and the words of a head all the same."""
    places = positions.repeat(x.size(1))[: x.size(1)]
    return turned(x, angle_at(places, x)[:, None])


def swapped_in_place(x, positions):
    """The first feature is written before the second reads it, through a view of the same memory."""
    result, angle = x.clone(), angle_at(positions, x)
    a, b = result[..., 0::2], result[..., 1::2]
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    result[..., 0::2] = a * cos - b * sin
    result[..., 1::2] = a * sin + b * cos
    return result


def written_into_x(x, positions):
    """The right values, in the caller's own tensor."""
    angle = angle_at(positions, x)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    x[..., 0::2], x[..., 1::2] = a * cos - b * sin, a * sin + b * cos
    return x


def width_of_all_heads(x, positions):
    rates = 10_000.0 ** (-torch.arange(0, x.size(-1), 2, dtype=torch.float64) / (x.size(1) * x.size(-1)))
    return turned(x, positions.unsqueeze(1) * rates)


def half_of_the_features(x, positions):
    """Turns the first half and passes the rest, as partial rotation does."""
    half = x.size(-1) // 4 * 2
    return torch.cat([turned(x[..., :half], angle_at(positions, x[..., :half])), x[..., half:]], dim=-1)


ROTARY = {
    "a table of 48 rows": lambda x, p: rotary(x, torch.arange(48)[p]),
    "a table of 512 rows": lambda x, p: rotary(x, torch.arange(512)[p]),
    "unchanged": lambda x, p: x.clone(),
    "base 1000": lambda x, p: turned(x, angle_at(p, x, 1000.0)),
    "base 500000": lambda x, p: turned(x, angle_at(p, x, 500_000.0)),
    "degrees": lambda x, p: turned(x, angle_at(p, x).rad2deg()),
    "frequencies reversed": lambda x, p: turned(x, angle_at(p, x).flip(-1)),
    "exponent counted twice": lambda x, p: turned(x, angle_at(p, x) * angle_at(torch.tensor(1), x)),
    "positions from one": lambda x, p: rotary(x, p + 1),
    "positions sorted": lambda x, p: rotary(x, p.sort().values),
    "positions reversed": lambda x, p: rotary(x, p.flip(0)),
    "positions less the first": lambda x, p: rotary(x, p - p[0]),
    "positions as fractions": lambda x, p: turned(x, angle_at(p / p.max().clamp(min=1), x)),
    "positions beyond 16 cut": lambda x, p: rotary(x, p.clamp(max=16)),
    "one position for all": lambda x, p: rotary(x, p[:1].expand_as(p)),
    "along the heads": along_the_heads,
    "sine and cosine swapped": lambda x, p: turned(x, math.pi / 2 - angle_at(p, x)),
    "minus in the second": lambda x, p: turned(x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2), angle_at(p, x))
    .unflatten(-1, (-1, 2)).flip(-1).flatten(-2) * 1.001,
    "cosines alone": lambda x, p: x * angle_at(p, x).cos().to(x.dtype).repeat_interleave(2, -1),
    "pair swapped": lambda x, p: rotary(x, p).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
    "last pair not turned": lambda x, p: torch.cat([rotary(x, p)[..., :-2], x[..., -2:]], dim=-1),
    "half of the features": half_of_the_features,
    "turned twice": lambda x, p: rotary(rotary(x, p), p),
    "scaled": lambda x, p: rotary(x, p) / x.size(-1) ** 0.5,
    "x added": lambda x, p: x + rotary(x, p),
    "view into itself": swapped_in_place,
    "pairs written into x": written_into_x,
    "width of all heads": width_of_all_heads,
    "heads and positions exchanged": lambda x, p: rotary(x, p).transpose(1, 2),
    "heads merged": lambda x, p: rotary(x, p).transpose(1, 2).flatten(2),
    "squeezed": lambda x, p: rotary(x, p).squeeze(),
    "through a view": through_a_view,
    "float32": lambda x, p: rotary(x.float(), p),
    "bfloat16 inside": lambda x, p: rotary(x.bfloat16(), p).to(x.dtype),
    "rounded": lambda x, p: rotary(x, p).round(decimals=2),
    "detached": lambda x, p: rotary(x.detach(), p),
    "no gradients": torch.no_grad()(rotary),
    "positions changed": lambda x, p: rotary(x, p.add_(1) - 1),
}


def slopes(num_heads):
    return (2.0 ** (-8.0 * torch.arange(1, num_heads + 1) / num_heads))[:, None, None]


def distance(length):
    return torch.arange(length).unsqueeze(1) - torch.arange(length)


def closed(bias):
    return bias.masked_fill(distance(bias.size(-1)) < 0, -math.inf)


def power_of_two_alone(num_heads, length):
    assert num_heads & (num_heads - 1) == 0
    return alibi_bias(num_heads, length)


ALIBI_BIAS = {
    "no mask and no bias": lambda h, n: torch.zeros(h, n, n),
    "mask alone": lambda h, n: closed(torch.zeros(h, n, n)),
    "slopes of four heads": lambda h, n: closed(-slopes(4)[torch.arange(h) % 4] * distance(n)),
    "slopes of eight heads": lambda h, n: closed(-slopes(8)[torch.arange(h) % 8] * distance(n)),
    "slopes reversed": lambda h, n: alibi_bias(h, n).flip(0),
    "slopes evenly spaced": lambda h, n: closed(-(torch.arange(1, h + 1) / h)[:, None, None] * distance(n)),
    "slopes 1/i": lambda h, n: closed(-(1 / torch.arange(1, h + 1))[:, None, None] * distance(n)),
    "slopes of e": lambda h, n: closed(-torch.exp(-8.0 * torch.arange(1, h + 1) / h)[:, None, None] * distance(n)),
    "slopes normalised": lambda h, n: closed(-slopes(h) / slopes(h).sum() * distance(n)),
    "exponent 4": lambda h, n: closed(-slopes(h).sqrt() * distance(n)),
    "whole division": lambda h, n: closed(-2.0 ** -(8 * torch.arange(1, h + 1) // h)[:, None, None] * distance(n)),
    "division first": lambda h, n: closed(-(2.0 ** -(8 // h * torch.arange(1, h + 1)))[:, None, None] * distance(n)),
    "eight by the head": lambda h, n: closed(-(2.0 ** (-8 / torch.arange(1, h + 1)))[:, None, None] * distance(n)),
    "distance as a fraction": lambda h, n: closed(-slopes(h) * distance(n) / n),
    "logarithm of the distance": lambda h, n: closed(-slopes(h) * distance(n).clamp(min=0).add(1).log()),
    "distance cut at four": lambda h, n: closed(-slopes(h) * distance(n).clamp(max=4)),
    "distance from the end": lambda h, n: closed(-slopes(h) * torch.arange(n - 1, -1, -1).expand(n, n)),
    "query alone": lambda h, n: closed(-slopes(h) * torch.arange(n).unsqueeze(1).expand(n, n)),
    "one neighbour ahead open": lambda h, n: (-slopes(h) * distance(n).abs()).masked_fill(distance(n) < -1, -math.inf),
    "finfo minimum": lambda h, n: alibi_bias(h, n).nan_to_num(neginf=torch.finfo(torch.float32).min),
    "plus infinity": lambda h, n: -closed(slopes(h) * distance(n)),
    "exponential already": lambda h, n: alibi_bias(h, n).exp(),
    "softmax already": lambda h, n: torch.softmax(alibi_bias(h, n), -1),
    "heads left out": lambda h, n: alibi_bias(h, n)[0],
    "one head too many": lambda h, n: alibi_bias(h + 1, n),
    "heads merged": lambda h, n: alibi_bias(h, n).flatten(0, 1),
    "squeezed": lambda h, n: alibi_bias(h, n).squeeze(),
    "mask beside the bias": lambda h, n: (alibi_bias(h, n), distance(n) < 0),
    "one row for the last query": lambda h, n: alibi_bias(h, n)[:, -1:],
    "float16": lambda h, n: alibi_bias(h, n).half(),
    "float16 inside": lambda h, n: (alibi_bias(h, n) * 1.0003).half().float(),
    "rounded": lambda h, n: alibi_bias(h, n).round(decimals=2),
    "whole numbers": lambda h, n: alibi_bias(h, n).nan_to_num().long(),
    "lists": lambda h, n: alibi_bias(h, n).tolist(),
    "a power of two alone": power_of_two_alone,
    "not for one position": lambda h, n: alibi_bias(h, n) / (n > 1),
}

WRONG = {
    "sinusoidal_encoding": SINUSOIDAL_ENCODING,
    "shift_matrix": SHIFT_MATRIX,
    "rotary": ROTARY,
    "alibi_bias": ALIBI_BIAS,
}

NAMED = {
    ("sinusoidal_encoding", "one frequency left out"): "last_column_left_empty",
    ("shift_matrix", "exponent counted twice"): "exponent_doubled_twice",
    ("rotary", "view into itself"): "first_feature_already_new",
    ("alibi_bias", "slopes reversed"): "slopes_in_reverse_order",
    ("alibi_bias", "slopes of eight heads"): "slopes_halved_from_head_to_head",
    ("rotary", "pairs written into x"): "turned_in_place",
    ("rotary", "width of all heads"): "width_of_all_heads_in_the_exponent",
}
