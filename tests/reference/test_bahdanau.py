"""Additive attention against slow loops; softmax with minus infinity; torch's own GRU cell."""

import math

import pytest
import torch

from autograder.reference.bahdanau import (
    AdditiveAttention,
    BahdanauDecoderStep,
    additive_scores,
    context_vector,
    masked_weights,
)

SEEDS = range(3)
DTYPES = (torch.float32, torch.float64)
BATCH, SRC, D_S, D_H, D_A = 2, 5, 3, 7, 11


def draw(seed: int, dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
            for shape in shapes]


def score_inputs(seed: int, dtype: torch.dtype) -> list[torch.Tensor]:
    return draw(seed, dtype, (BATCH, D_S), (BATCH, SRC, D_H), (D_A, D_S), (D_A, D_H), (D_A,))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_equal_loops(seed, dtype):
    inputs = score_inputs(seed, dtype)
    state, encoder_states, W_s, W_h, v = (tensor.tolist() for tensor in inputs)
    scores = additive_scores(*inputs)
    assert scores.dtype == dtype and scores.shape == (BATCH, SRC)
    for b in range(BATCH):
        for j in range(SRC):
            total = 0.0
            for a in range(D_A):
                inside = sum(W_s[a][i] * state[b][i] for i in range(D_S))
                inside += sum(W_h[a][i] * encoder_states[b][j][i] for i in range(D_H))
                total += v[a] * math.tanh(inside)
            assert scores[b, j].item() == pytest.approx(total, abs=1e-5 if dtype == torch.float32 else 1e-12)


def test_scores_gradcheck():
    assert torch.autograd.gradcheck(additive_scores, score_inputs(0, torch.float64))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_equal_softmax_over_minus_infinity(seed, dtype):
    (scores,) = draw(seed, dtype, (4, SRC))
    mask = torch.rand(4, SRC, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[:, 2] = True
    ours, theirs = masked_weights(scores, mask), torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    torch.testing.assert_close(ours, theirs)
    assert (ours[~mask] == 0).all() and ours.dtype == dtype
    direction = torch.randn_like(ours)
    torch.testing.assert_close(*(torch.autograd.grad((w * direction).sum(), scores) for w in (ours, theirs)))


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_with_nothing_real_is_zero_and_gives_no_nan(dtype, scale):
    scores = (scale * torch.randn(3, SRC, dtype=dtype)).requires_grad_()
    mask = torch.tensor([[True] * SRC, [False] * SRC, [False, True, False, True, False]])
    weights = masked_weights(scores, mask)
    assert (weights[1] == 0).all()
    torch.testing.assert_close(weights[[0, 2]].sum(dim=-1), torch.ones(2, dtype=dtype))
    (gradient,) = torch.autograd.grad((weights * torch.randn_like(weights)).sum(), scores)
    assert gradient.isfinite().all() and (gradient[1] == 0).all()
    assert (gradient[2, ~mask[2]] == 0).all()


def test_weights_gradcheck():
    (scores,) = draw(0, torch.float64, (3, SRC))
    mask = torch.tensor([[True] * SRC, [False] * SRC, [False, True, False, True, False]])
    assert torch.autograd.gradcheck(lambda scores: masked_weights(scores, mask), scores)


@pytest.mark.parametrize("seed", SEEDS)
def test_context_equals_loops(seed):
    weights, encoder_states = draw(seed, torch.float64, (BATCH, SRC), (BATCH, SRC, D_H))
    context = context_vector(weights, encoder_states)
    for b in range(BATCH):
        right = sum(weights[b, j] * encoder_states[b, j] for j in range(SRC))
        torch.testing.assert_close(context[b], right)
    assert torch.autograd.gradcheck(context_vector, (weights, encoder_states))


@pytest.mark.parametrize("dtype", DTYPES)
def test_attention_is_its_three_parts(dtype):
    torch.manual_seed(0)
    attention = AdditiveAttention(D_S, D_H, D_A).to(dtype)
    assert all(layer.bias is None for layer in (attention.W_s, attention.W_h, attention.v))
    state, encoder_states = draw(1, dtype, (BATCH, D_S), (BATCH, SRC, D_H))
    mask = torch.tensor([[True, True, False, True, False], [False] * SRC])
    context, weights = attention(state, encoder_states, mask)
    hidden = torch.tanh(attention.W_s(state)[:, None] + attention.W_h(encoder_states))
    scores = attention.v(hidden)[..., 0]
    torch.testing.assert_close(weights, masked_weights(scores, mask))
    torch.testing.assert_close(context, torch.einsum("bj,bjh->bh", weights, encoder_states))
    assert (context[1] == 0).all()
    torch.testing.assert_close(attention(state, encoder_states)[1], torch.softmax(scores, dim=-1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_step_equals_the_equations_of_the_gru(dtype):
    """The gates written out, so that the order [context ; embedding] and the previous state are seen."""
    torch.manual_seed(0)
    step = BahdanauDecoderStep(13, 4, D_S, D_H, D_A).to(dtype)
    state, encoder_states = draw(1, dtype, (BATCH, D_S), (BATCH, SRC, D_H))
    token = torch.tensor([3, 12])
    logits, new_state, weights = step(token, state, encoder_states)
    context, expected = step.attention(state, encoder_states)
    x = torch.cat([context, step.embedding(token)], dim=-1)
    from_x = (x @ step.cell.weight_ih.T + step.cell.bias_ih).chunk(3, dim=-1)
    from_state = (state @ step.cell.weight_hh.T + step.cell.bias_hh).chunk(3, dim=-1)
    reset, update = (torch.sigmoid(from_x[i] + from_state[i]) for i in range(2))
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    torch.testing.assert_close(new_state, (1 - update) * candidate + update * state)
    torch.testing.assert_close(logits, step.out(new_state))
    torch.testing.assert_close(weights, expected)


def test_step_gradients_reach_every_parameter():
    torch.manual_seed(0)
    step = BahdanauDecoderStep(13, 4, D_S, D_H, D_A).double()
    state, encoder_states = draw(1, torch.float64, (BATCH, D_S), (BATCH, SRC, D_H))
    token, mask = torch.tensor([3, 12]), torch.tensor([[True] * SRC, [False] * SRC])
    assert torch.autograd.gradcheck(lambda s, h: step(token, s, h, mask), (state, encoder_states))
    step(token, state, encoder_states, mask)[0].sum().backward()
    assert all(p.grad.isfinite().all() and p.grad.any() for p in step.parameters())
