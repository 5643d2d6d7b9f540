"""Right answers to the functions of chapter 07, each written in another way."""

import math

import torch
import torch.nn.functional as F

from autograder.right_answers import right_answer

# --- sinusoidal_encoding ---------------------------------------------------------------------------------------


@right_answer("sinusoidal_encoding")
def exponential_of_a_logarithm(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)[:, : d_model // 2]
    return pe


@right_answer("sinusoidal_encoding")
def number_by_number(max_len, d_model):
    table = torch.empty(max_len, d_model)
    for pos in range(max_len):
        for column in range(d_model):
            angle = pos / 10_000 ** ((column - column % 2) / d_model)
            table[pos, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


@right_answer("sinusoidal_encoding")
def as_nested_lists(max_len, d_model):
    def entry(pos, j):
        return (math.sin, math.cos)[j % 2](pos * 10_000.0 ** (-2 * (j // 2) / d_model))

    return torch.tensor([[entry(pos, j) for j in range(d_model)] for pos in range(max_len)])


@right_answer("sinusoidal_encoding")
def chosen_by_the_column(max_len, d_model):
    column = torch.arange(d_model)
    angles = torch.arange(max_len)[:, None] / torch.pow(10000, (column // 2 * 2) / d_model)
    return torch.where(column % 2 == 0, torch.sin(angles), torch.cos(angles))


@right_answer("sinusoidal_encoding")
def cosine_as_a_shifted_sine(max_len, d_model):
    column = torch.arange(d_model, dtype=torch.float64)
    phase = (column % 2) * math.pi / 2
    rate = torch.exp(-(column - column % 2) / d_model * math.log(10_000))
    return torch.sin(torch.outer(torch.arange(max_len, dtype=torch.float64), rate) + phase).to(torch.float32)


@right_answer("sinusoidal_encoding")
def stacked_and_cut(max_len, d_model):
    half = (d_model + 1) // 2
    rates = 1.0 / 10_000 ** (2 * torch.arange(half) / d_model)
    angles = torch.einsum("p,f->pf", torch.arange(max_len).float(), rates)
    return torch.stack((angles.sin(), angles.cos()), dim=2).reshape(max_len, 2 * half)[:, :d_model].contiguous()


@right_answer("sinusoidal_encoding")
def real_and_imaginary_part(max_len, d_model):
    """e^(i angle) is cos + i sin: a conjugate and a factor i put the sine first."""
    angles = torch.arange(max_len)[:, None] * 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    waves = 1j * torch.polar(torch.ones_like(angles), angles).conj()
    return torch.view_as_real(waves.resolve_conj()).flatten(1)[:, :d_model]


@right_answer("sinusoidal_encoding")
def column_by_column(max_len, d_model):
    positions, columns = torch.arange(max_len, dtype=torch.double), []
    for i in range((d_model + 1) // 2):
        angle = positions / 10_000 ** (2 * i / d_model)
        columns += [angle.sin(), angle.cos()]
    return torch.stack(columns[:d_model], dim=1).float()


@right_answer("sinusoidal_encoding")
def by_the_angle_sum(max_len, d_model):
    """Each row is the row before it, turned by one position."""
    rate = 10_000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sine, cosine, rows = torch.zeros_like(rate), torch.ones_like(rate), []
    for _ in range(max_len):
        rows.append(torch.stack([sine, cosine], dim=1).flatten()[:d_model])
        sine, cosine = (sine * rate.cos() + cosine * rate.sin(), cosine * rate.cos() - sine * rate.sin())
    return torch.stack(rows).float()


# --- shift_matrix ----------------------------------------------------------------------------------------------


@right_answer("shift_matrix")
def block_for_block(offset, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / 10_000 ** (i / d_model)
        M[i, i] = M[i + 1, i + 1] = math.cos(angle)
        M[i, i + 1] = math.sin(angle)
        M[i + 1, i] = -math.sin(angle)
    return M


@right_answer("shift_matrix")
def blocks_on_the_diagonal(offset, d_model):
    blocks = []
    for i in range(d_model // 2):
        w = math.exp(-2 * i / d_model * math.log(10_000))
        c, s = math.cos(offset * w), math.sin(offset * w)
        blocks.append(torch.tensor([[c, s], [-s, c]]))
    return torch.block_diag(*blocks)


@right_answer("shift_matrix")
def three_diagonals(offset, d_model):
    angles = offset * 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    beside = F.pad(angles.sin().unsqueeze(1), (0, 1)).flatten()[:-1]  # no sine between two pairs
    return (torch.diag(angles.cos().repeat_interleave(2)) + torch.diag(beside, diagonal=1)
            - torch.diag(beside, diagonal=-1))


@right_answer("shift_matrix")
def one_step_to_a_power(offset, d_model):
    rates = 10_000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    step = torch.zeros(d_model, d_model, dtype=torch.float64)
    even, odd = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)
    step[even, even], step[odd, odd] = rates.cos(), rates.cos()
    step[even, odd], step[odd, even] = rates.sin(), -rates.sin()
    return torch.linalg.matrix_power(step, offset).to(torch.float32)


@right_answer("shift_matrix")
def exponential_of_a_generator(offset, d_model):
    """A rotation is the exponential of a matrix that is its own negative transpose."""
    rates = 10_000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(offset * torch.kron(torch.diag(rates), turn)).float()


@right_answer("shift_matrix")
def sum_of_two_products(offset, d_model):
    theta = offset * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000.0) / d_model))
    same, crossed = torch.eye(2), torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    return torch.kron(torch.diag(theta.cos()), same) + torch.kron(torch.diag(theta.sin()), crossed)


@right_answer("shift_matrix")
def columns_of_a_moved_identity(offset, d_model):
    """Moves each unit vector: column j of M is what becomes of it."""
    rates = 10_000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sine, cosine = torch.eye(d_model, dtype=torch.float64).unflatten(1, (-1, 2)).unbind(-1)  # of each unit vector
    c, s = (offset * rates).cos(), (offset * rates).sin()
    return torch.stack([sine * c + cosine * s, cosine * c - sine * s], dim=-1).flatten(1).T.float()


@right_answer("shift_matrix")
def seen_in_five_hundred_rows(offset, d_model):
    """Finds each block from the table alone, by least squares."""
    rows = torch.arange(500, dtype=torch.float64)
    blocks = []
    for i in range(0, d_model, 2):
        before, after = rows / 10_000 ** (i / d_model), (rows + offset) / 10_000 ** (i / d_model)
        here, there = (torch.stack([a.sin(), a.cos()], dim=1) for a in (before, after))
        blocks.append(torch.linalg.lstsq(here, there).solution.T)
    return torch.block_diag(*blocks).float()


# --- rotary ----------------------------------------------------------------------------------------------------


@right_answer("rotary")
def stacked_pairs(x, positions):
    d_k = x.shape[-1]
    inv_freq = 1.0 / (10000 ** (torch.arange(0, d_k, 2).float() / d_k))
    angles = positions[:, None].float() * inv_freq[None, :]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    x_even, x_odd = x[..., ::2], x[..., 1::2]
    return torch.stack((x_even * cos - x_odd * sin, x_even * sin + x_odd * cos), dim=-1).reshape(x.shape)


@right_answer("rotary")
def complex_numbers(x, positions):
    rates = 10_000 ** (-torch.arange(0, x.size(-1), 2, dtype=x.dtype) / x.size(-1))
    turn = torch.polar(torch.ones(len(positions), len(rates), dtype=x.dtype), torch.outer(positions.to(x.dtype), rates))
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)


@right_answer("rotary")
def written_into_a_new_tensor(x, positions):
    exponent = torch.arange(0, x.size(-1), 2, device=x.device) / x.size(-1)
    theta = positions.unsqueeze(-1) * torch.exp(-exponent * math.log(10_000.0))
    cos, sin = torch.cos(theta).type_as(x), torch.sin(theta).type_as(x)
    result = torch.empty_like(x)
    result[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    result[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return result


@right_answer("rotary")
def crossed_copy(x, positions):
    """x cos + crossed(x) sin, where crossed makes (-b, a) of a pair (a, b)."""
    rates = torch.pow(10_000.0, -torch.arange(0, x.size(-1), 2, dtype=torch.float64) / x.size(-1))
    angles = (positions[:, None] * rates).repeat_interleave(2, dim=-1)
    crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(start_dim=-2)
    return x * angles.cos().to(x.dtype) + crossed * angles.sin().to(x.dtype)


@right_answer("rotary")
def a_matrix_for_each_position(x, positions):
    d_k, turned = x.size(-1), []
    for row, pos in enumerate(positions.tolist()):
        blocks = []
        for i in range(0, d_k, 2):
            angle = pos / 10_000 ** (i / d_k)
            c, s = math.cos(angle), math.sin(angle)
            blocks.append(torch.tensor([[c, -s], [s, c]], dtype=x.dtype))
        turned.append(torch.einsum("ij,bhj->bhi", torch.block_diag(*blocks), x[:, :, row]))
    return torch.stack(turned, dim=2)


@right_answer("rotary")
def feature_by_feature(x, positions):
    features = []
    for j in range(x.size(-1)):
        angle = positions.to(x.dtype) / 10_000 ** (2 * (j // 2) / x.size(-1))
        if j % 2 == 0:
            features.append(x[..., j] * angle.cos() - x[..., j + 1] * angle.sin())
        else:
            features.append(x[..., j - 1] * angle.sin() + x[..., j] * angle.cos())
    return torch.stack(features, dim=-1)


@right_answer("rotary")
def two_by_two_einsum(x, positions):
    rates = 10_000 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = torch.einsum("s,f->sf", positions.float(), rates)
    c, s = angles.cos(), angles.sin()
    turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2).to(x.dtype)  # (seq, pairs, 2, 2)
    return torch.einsum("sfij,bhsfj->bhsfi", turn, x.unflatten(-1, (-1, 2))).flatten(-2)


@right_answer("rotary")
def looked_up_in_a_table(x, positions):
    """Rows of one table up to the farthest position, as code with a cache has them."""
    length, width = int(positions.max()) + 1, x.size(-1)
    rates = 10_000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    table = torch.arange(length, dtype=torch.float64).unsqueeze(-1) * rates
    cos, sin = (F.embedding(positions, part).to(x.dtype) for part in (table.cos(), table.sin()))
    a, b = x.unflatten(-1, (width // 2, 2)).unbind(dim=-1)
    return torch.cat([(a * cos - b * sin)[..., None], (b * cos + a * sin)[..., None]], dim=-1).flatten(-2)


# --- alibi_bias ------------------------------------------------------------------------------------------------


@right_answer("alibi_bias")
def filled_above_the_diagonal(num_heads, length):
    i = torch.arange(1, num_heads + 1, dtype=torch.float32)
    slopes = torch.pow(2.0, -8.0 * i / num_heads).view(-1, 1, 1)
    pos = torch.arange(length)
    distance = pos[:, None] - pos[None, :]
    return (-slopes * distance).masked_fill(distance < 0, float("-inf"))


@right_answer("alibi_bias")
def entry_by_entry(num_heads, length):
    bias = torch.full((num_heads, length, length), -math.inf)
    for head in range(num_heads):
        slope = 2 ** (-8 * (head + 1) / num_heads)
        for query in range(length):
            for key in range(query + 1):
                bias[head, query, key] = -slope * (query - key)
    return bias


@right_answer("alibi_bias")
def power_after_power(num_heads, length):
    """The slopes are the powers of the first one."""
    first, slope, heads = 2.0 ** (-8.0 / num_heads), 1.0, []
    distance = torch.arange(length).reshape(-1, 1) - torch.arange(length).reshape(1, -1)
    for _ in range(num_heads):
        slope *= first
        heads.append(torch.where(distance >= 0, -slope * distance, -math.inf))
    return torch.stack(heads)


@right_answer("alibi_bias")
def a_mask_added(num_heads, length):
    slopes = torch.exp2(torch.linspace(-8 / num_heads, -8, num_heads))
    positions = torch.arange(length, dtype=torch.float32)
    past = torch.relu(positions.unsqueeze(1) - positions)
    mask = torch.full((length, length), float("-inf")).triu(diagonal=1)
    return mask - torch.einsum("h,qk->hqk", slopes, past)


@right_answer("alibi_bias")
def distances_counted_up(num_heads, length):
    """How many keys lie between: a sum along the row of the open ones."""
    open_keys = torch.ones(length, length).tril()
    distance = open_keys.flip(1).cumsum(dim=1).flip(1) - 1
    slopes = torch.tensor([2.0 ** (-8.0 * (h + 1) / num_heads) for h in range(num_heads)])
    return torch.where(open_keys.bool(), -slopes[:, None, None] * distance, torch.tensor(-math.inf))


@right_answer("alibi_bias")
def key_minus_query(num_heads, length):
    relative = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    m = 1 / 256 ** (torch.arange(1, num_heads + 1) / num_heads)
    bias = m[:, None, None] * relative
    bias[:, relative > 0] = -float("inf")
    return bias


@right_answer("alibi_bias")
def one_head_times_all_slopes(num_heads, length):
    """Minus infinity times a positive slope is minus infinity, and there is no 0 beside it."""
    head = torch.full((length, length), -torch.inf)
    for query in range(length):
        head[query, : query + 1] = torch.arange(-query, 1)
    return head * torch.exp(torch.arange(1, num_heads + 1) * (-8 * math.log(2) / num_heads)).reshape(-1, 1, 1)
