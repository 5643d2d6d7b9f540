"""Chapter 07: the mistakes that are named in the table of sines and in the matrix that moves its rows."""

import torch

from autograder.exercises.positional_encoding import CHAPTER, shift_matrix, sinusoidal_encoding


def exponents(width):
    """The right exponents of the base, 2i / width: float64 (ceil(width / 2),)."""
    return torch.arange(0, width, 2, dtype=torch.float64) / width


def angles_of(max_len, rates):
    """Position times frequency: (max_len, pairs)."""
    return torch.arange(max_len, dtype=torch.float64).unsqueeze(1) * rates


def interleaved(even, odd, width):
    """Columns by turns from the one and from the other, float32."""
    return torch.stack([even, odd], dim=-1).flatten(-2)[..., :width].float()


def waves(angles, d_model):
    """The right table of these angles."""
    return interleaved(angles.sin(), angles.cos(), d_model)


# --- sinusoidal_encoding ---------------------------------------------------------------------------------------


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-table-layout")
def sines_then_cosines(max_len, d_model):
    """You put all sines first and all cosines after them; sine and cosine of one frequency are neighbours."""
    angles = angles_of(max_len, 10_000 ** -exponents(d_model))
    return torch.cat([angles.sin(), angles[:, : d_model // 2].cos()], dim=1).float()


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-table-layout")
def cosine_before_sine(max_len, d_model):
    """Your even columns are cosines; in each pair the sine comes first."""
    angles = angles_of(max_len, 10_000 ** -exponents(d_model))
    return interleaved(angles.cos(), angles.sin(), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-table-layout")
def sines_alone(max_len, d_model):
    """All of your columns are sines; every second one should be a cosine."""
    angles = angles_of(max_len, 10_000 ** -exponents(d_model))
    return interleaved(angles.sin(), angles.sin(), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-frequencies")
def two_of_the_exponent_left_out(max_len, d_model):
    """Your exponent is i / d_model; it should be 2i / d_model, so your slowest wave is still fast."""
    return waves(angles_of(max_len, 10_000 ** (-exponents(d_model) / 2)), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-frequencies")
def two_of_the_exponent_counted_twice(max_len, d_model):
    """Your exponent is 4i / d_model: the column number 2i is already even, and needs no second factor 2."""
    return waves(angles_of(max_len, 10_000 ** (-2 * exponents(d_model))), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-frequencies")
def a_frequency_for_each_column(max_len, d_model):
    """Each of your columns has a frequency of its own; sine and cosine of a pair share one."""
    rates = 10_000 ** (-torch.arange(d_model, dtype=torch.float64) / d_model)
    angles = angles_of(max_len, rates)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos()).float()


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-frequencies")
def column_number_taken_for_the_pair(max_len, d_model):
    """Your exponent is twice the column number over d_model; i counts pairs of columns, and a pair shares one."""
    rates = 10_000 ** (-2 * torch.arange(d_model, dtype=torch.float64) / d_model)
    angles = angles_of(max_len, rates)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos()).float()


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-frequencies")
def frequencies_that_grow(max_len, d_model):
    """You multiply by the power of 10000; dividing by it makes the waves slower from pair to pair."""
    return waves(angles_of(max_len, 10_000 ** exponents(d_model)), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-frequencies")
def last_frequency_exactly_one_in_ten_thousand(max_len, d_model):
    """Your frequencies reach 1/10000 in the last pair, as in tensor2tensor's code; the formula stops just before."""
    pairs = len(exponents(d_model))
    return waves(angles_of(max_len, 10_000 ** (-torch.arange(pairs, dtype=torch.float64) / max(pairs - 1, 1))), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-frequencies")
def one_frequency_for_all(max_len, d_model):
    """All of your pairs turn equally fast: the exponent does not depend on the column."""
    return waves(angles_of(max_len, torch.ones_like(exponents(d_model))), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-position-count")
def positions_counted_from_one(max_len, d_model):
    """Your first row is that of position 1; positions are counted from 0."""
    return waves(angles_of(max_len + 1, 10_000 ** -exponents(d_model))[1:], d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-position-count")
def positions_as_fractions(max_len, d_model):
    """You divide positions by max_len, so that one and the same place gets other rows in a longer table."""
    return waves(angles_of(max_len, 10_000 ** -exponents(d_model)) / max_len, d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-odd-width")
def odd_width_does_not_fit(max_len, d_model):
    """Your cosines do not fit into an odd table: it has one odd column fewer than there are frequencies."""
    table = torch.zeros(max_len, d_model)
    angles = angles_of(max_len, 10_000 ** -exponents(d_model)).float()
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-odd-width")
def last_column_left_empty(max_len, d_model):
    """With an odd d_model your last column is all zeros; it is the sine of one more frequency."""
    even = d_model - d_model % 2
    table = waves(angles_of(max_len, 10_000 ** -exponents(d_model)), d_model)
    return torch.cat([table[:, :even], torch.zeros(max_len, d_model - even)], dim=1)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-odd-width")
def frequencies_of_the_next_even_width(max_len, d_model):
    """For an odd d_model you make the table of d_model + 1 and cut it; the exponents divide by d_model itself."""
    return waves(angles_of(max_len, 10_000 ** -exponents(d_model + d_model % 2)), d_model)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-table-form")
def positions_along_the_columns(max_len, d_model):
    """Your table is transposed: each position should be a row, each feature a column."""
    return waves(angles_of(max_len, 10_000 ** -exponents(d_model)), d_model).T


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-table-form")
def axis_for_the_batch(max_len, d_model):
    """You put an axis of size 1 in front for the batch; asked for is the table alone."""
    return waves(angles_of(max_len, 10_000 ** -exponents(d_model)), d_model).unsqueeze(0)


@sinusoidal_encoding.misconception(see=f"{CHAPTER}#mistake-table-form")
def table_of_float64(max_len, d_model):
    """Your table is float64, which the embeddings beside it are not: it should be float32."""
    angles = angles_of(max_len, 10_000 ** -exponents(d_model))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]


# --- shift_matrix ----------------------------------------------------------------------------------------------


def on_the_diagonal(angles, minus_below=True):
    """A 2 x 2 block for each angle: (2 pairs, 2 pairs)."""
    sign = 1 if minus_below else -1
    blocks = [torch.stack([torch.stack([angle.cos(), sign * angle.sin()]),
                           torch.stack([-sign * angle.sin(), angle.cos()])]) for angle in angles]
    return torch.block_diag(*blocks).float()


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-rotation")
def turned_backwards(offset, d_model):
    """Your matrix moves the other way, to pos - offset: in the pair (sin, cos) the minus stands in the second row."""
    return on_the_diagonal(offset * 10_000 ** -exponents(d_model), minus_below=False)


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-rotation")
def both_signs_plus(offset, d_model):
    """Both sines in your blocks have a plus; one minus makes a rotation of it."""
    matrix = on_the_diagonal(offset * 10_000 ** -exponents(d_model))
    return torch.where(torch.ones_like(matrix).tril(-1).bool(), -matrix, matrix)


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-rotation")
def cosines_alone(offset, d_model):
    """Your matrix has nothing beside the diagonal; moving on mixes the sine and the cosine of a pair."""
    return torch.diag((offset * 10_000 ** -exponents(d_model)).cos().repeat_interleave(2)).float()


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-frequencies")
def all_pairs_turn_alike(offset, d_model):
    """You turn every pair by the same angle; each pair has its own frequency."""
    return on_the_diagonal(offset * torch.ones_like(exponents(d_model)))


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-frequencies")
def half_of_the_exponent(offset, d_model):
    """Your exponent is i / d_model; it should be 2i / d_model, as in the table."""
    return on_the_diagonal(offset * 10_000 ** (-exponents(d_model) / 2))


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-frequencies")
def exponent_doubled_twice(offset, d_model):
    """Your exponent is 4i / d_model: the column number 2i is already even, and needs no second factor 2."""
    return on_the_diagonal(offset * 10_000 ** (-2 * exponents(d_model)))


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-table-layout")
def blocks_of_halves(offset, d_model):
    """Your matrix fits a table with all sines first; here sine and cosine of a pair are neighbours."""
    angles = offset * 10_000 ** -exponents(d_model)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([cos, sin], dim=1), torch.cat([-sin, cos], dim=1)]).float()


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-table-form")
def one_block_alone(offset, d_model):
    """You return the block of the first pair alone; the matrix has one block for each pair."""
    return on_the_diagonal(offset * 10_000 ** -exponents(d_model)[:1])


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-table-form")
def blocks_not_put_together(offset, d_model):
    """You return the blocks one after another; asked for is one matrix with the blocks on its diagonal."""
    angles = offset * 10_000 ** -exponents(d_model)
    rows = [torch.stack([angles.cos(), angles.sin()], dim=-1), torch.stack([-angles.sin(), angles.cos()], dim=-1)]
    return torch.stack(rows, dim=1).float()


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-table-form")
def matrix_of_float64(offset, d_model):
    """Your matrix is float64 and cannot be multiplied with the table, which is float32."""
    angles = offset * 10_000 ** -exponents(d_model)
    blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]], dtype=torch.float64) for a in angles]
    return torch.block_diag(*blocks)


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-position-count")
def only_forwards(offset, d_model):
    """A negative offset should go back; your matrix goes forwards whatever its sign."""
    return on_the_diagonal(abs(offset) * 10_000 ** -exponents(d_model))


@shift_matrix.misconception(see=f"{CHAPTER}#mistake-position-count")
def one_position_too_far(offset, d_model):
    """Your matrix moves by offset + 1: with offset 0 it should change nothing."""
    return on_the_diagonal((offset + 1) * 10_000 ** -exponents(d_model))
