"""Tables, rotations and slopes against the formulas, written out number by number."""

import math

import pytest
import torch

from autograder.reference import positional_encoding as positional


@pytest.mark.parametrize("d_model", [1, 2, 5, 12])
def test_the_table_is_the_formula(d_model):
    table = positional.sinusoidal_encoding(40, d_model)
    assert table.shape == (40, d_model) and table.dtype == torch.float32
    for pos in range(40):
        for column in range(d_model):
            angle = pos / 10_000 ** (column // 2 * 2 / d_model)
            assert table[pos, column].item() == pytest.approx((math.sin, math.cos)[column % 2](angle), abs=1e-6)


@pytest.mark.parametrize("offset", [-7, 0, 1, 30])
def test_the_shift_is_a_rotation_that_moves_every_position(offset):
    table, matrix = positional.sinusoidal_encoding(100, 8), positional.shift_matrix(offset, 8)
    torch.testing.assert_close(table[10:60] @ matrix.T, table[10 + offset : 60 + offset], atol=1e-5, rtol=0)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(8), atol=1e-6, rtol=0)


def test_rotary_is_a_complex_product_and_only_distances_count():
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, 2, 6, 8, generator=generator, dtype=torch.float64) for _ in range(2))
    positions = torch.tensor([0, 3, 1, 9, 4, 20])
    turn = torch.polar(torch.ones(6, 4, dtype=torch.float64), positions.unsqueeze(1) * positional.frequencies(8))
    right = torch.view_as_real(torch.view_as_complex(q.unflatten(-1, (4, 2))) * turn).flatten(-2)
    torch.testing.assert_close(positional.rotary(q, positions), right, atol=1e-12, rtol=0)
    here, there = (positional.rotary(q, p) @ positional.rotary(k, p).mT for p in (positions, positions + 50))
    torch.testing.assert_close(here, there, atol=1e-9, rtol=0)


@pytest.mark.parametrize("heads", [1, 3, 8])
def test_alibi_is_the_formula(heads):
    bias = positional.alibi_bias(heads, 5)
    for head in range(heads):
        for query in range(5):
            for key in range(5):
                right = -(2 ** (-8 * (head + 1) / heads)) * (query - key) if key <= query else -math.inf
                assert bias[head, query, key].item() == pytest.approx(right, rel=1e-6)


def test_the_modules_add_rows_and_refuse_what_is_too_long():
    x = torch.zeros(2, 6, 7)
    fixed, learned = positional.PositionalEncoding(7, max_len=6), positional.LearnedPositionalEmbedding(6, 7)
    assert torch.equal(fixed(x)[1], positional.sinusoidal_encoding(6, 7)) and not list(fixed.parameters())
    assert torch.equal(learned(x[:, :4])[0], learned.table[:4])
    for module in (fixed, learned):
        with pytest.raises(ValueError, match=r"length 9 .* max_len 6"):
            module(torch.zeros(2, 9, 7))


def test_an_odd_width_has_no_shift_matrix():
    with pytest.raises(ValueError, match=r"d_model 5 is odd"):
        positional.shift_matrix(3, 5)
