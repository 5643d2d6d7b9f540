"""Luong's scores and local attention against slow loops; concat is additive attention with its matrix split."""

import math

import pytest
import torch

from autograder.reference.bahdanau import additive_scores
from autograder.reference.luong import (
    LuongAttention,
    concat_score,
    dot_score,
    general_score,
    local_weights,
    local_window,
)

SEEDS = range(3)
DTYPES = (torch.float32, torch.float64)
BATCH, SRC, D_S, D_H, D_A = 2, 9, 3, 5, 7


def draw(seed: int, dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
            for shape in shapes]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_equal_loops(seed, dtype):
    state, small, encoder_states, general, W, v = draw(
        seed, dtype, (BATCH, D_S), (BATCH, D_H), (BATCH, SRC, D_H), (D_S, D_H), (D_A, D_S + D_H), (D_A,))
    ours = (dot_score(small, encoder_states), general_score(state, encoder_states, general),
            concat_score(state, encoder_states, W, v))
    assert all(scores.dtype == dtype and scores.shape == (BATCH, SRC) for scores in ours)
    for b in range(BATCH):
        for j in range(SRC):
            h = encoder_states[b, j]
            right = (sum(small[b, i] * h[i] for i in range(D_H)),
                     sum(state[b, i] * general[i, k] * h[k] for i in range(D_S) for k in range(D_H)),
                     sum(v[a] * torch.tanh(W[a] @ torch.cat([state[b], h])) for a in range(D_A)))
            torch.testing.assert_close([scores[b, j] for scores in ours], list(right))


def test_scores_gradcheck():
    state, small, encoder_states, general, W, v = draw(
        0, torch.float64, (BATCH, D_S), (BATCH, D_H), (BATCH, SRC, D_H), (D_S, D_H), (D_A, D_S + D_H), (D_A,))
    assert torch.autograd.gradcheck(dot_score, (small, encoder_states))
    assert torch.autograd.gradcheck(general_score, (state, encoder_states, general))
    assert torch.autograd.gradcheck(concat_score, (state, encoder_states, W, v))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_concat_is_additive_with_the_matrix_split(seed, dtype):
    state, encoder_states, W, v = draw(seed, dtype, (BATCH, D_S), (BATCH, SRC, D_H), (D_A, D_S + D_H), (D_A,))
    W_s, W_h = W.split([D_S, D_H], dim=1)
    torch.testing.assert_close(concat_score(state, encoder_states, W, v),
                               additive_scores(state, encoder_states, W_s, W_h, v))


def test_general_with_the_identity_is_dot():
    state, encoder_states = draw(0, torch.float64, (BATCH, D_H), (BATCH, SRC, D_H))
    torch.testing.assert_close(general_score(state, encoder_states, torch.eye(D_H, dtype=torch.float64)),
                               dot_score(state, encoder_states))


@pytest.mark.parametrize("half_width", [1, 2, 10])
def test_window_equals_a_loop(half_width):
    centers = [-3.0, -0.4, 0.0, 2.4, 2.6, 7.0, 8.3, 12.0]
    window = local_window(torch.tensor(centers), half_width, SRC)
    assert window.dtype == torch.bool
    assert window.tolist() == [[abs(j - round(c)) <= half_width for j in range(SRC)] for c in centers]
    whole = torch.tensor([0, 4, 8])
    assert torch.equal(local_window(whole, half_width, SRC), local_window(whole.double(), half_width, SRC))


def slow_local_weights(scores, center: float, half_width: int) -> list[float]:
    inside = [abs(j - round(center)) <= half_width for j in range(len(scores))]
    top = max((s for s, i in zip(scores, inside, strict=True) if i), default=0.0)
    powers = [math.exp(s - top) if i else 0.0 for s, i in zip(scores, inside, strict=True)]
    sigma = half_width / 2
    return [p / (sum(powers) or 1.0) * math.exp(-((j - center) ** 2) / (2 * sigma**2)) for j, p in enumerate(powers)]


@pytest.mark.parametrize("half_width", [1, 2, 10])
@pytest.mark.parametrize("dtype", DTYPES)
def test_local_weights_equal_a_loop(dtype, half_width):
    center = torch.tensor([-9.0, -0.3, 2.4, 2.6, 7.0, 8.4], dtype=dtype)
    (scores,) = draw(1, dtype, (len(center), SRC))
    weights = local_weights(scores, center, half_width)
    right = [slow_local_weights(row.tolist(), c.item(), half_width) for row, c in zip(scores, center, strict=True)]
    torch.testing.assert_close(weights, torch.tensor(right, dtype=dtype))
    assert weights.dtype == dtype


def test_local_weights_gradients_reach_scores_and_center_and_an_empty_window_gives_zeros():
    center = torch.tensor([-9.0, 0.3, 2.4, 7.8], dtype=torch.float64, requires_grad=True)
    (scores,) = draw(1, torch.float64, (4, SRC))
    assert torch.autograd.gradcheck(lambda s, p: local_weights(s, p, 2), (scores, center))
    weights = local_weights(scores, center, 2)
    gradients = torch.autograd.grad((weights * torch.randn_like(weights)).sum(), (scores, center))
    assert (weights[0] == 0).all() and all((g[0] == 0).all() and g[1:].any() for g in gradients)


@pytest.mark.parametrize("method", ["dot", "general", "concat"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_attention_is_score_softmax_context_and_tanh(method, dtype):
    torch.manual_seed(0)
    d_s = D_H if method == "dot" else D_S
    attention = LuongAttention(d_s, D_H, method).to(dtype)
    state, encoder_states = draw(1, dtype, (BATCH, d_s), (BATCH, SRC, D_H))
    weight = {"dot": (), "general": ("W",), "concat": ("W", "v")}[method]
    matrices = [getattr(attention, name).weight.squeeze(0) for name in weight]
    score = {"dot": dot_score, "general": general_score, "concat": concat_score}[method]
    scores = score(state, encoder_states, *matrices)
    mask = torch.tensor([[True] * 4 + [False] * 5, [False] * SRC])
    attentional, weights = attention(state, encoder_states, mask)
    torch.testing.assert_close(weights[0, :4], torch.softmax(scores[0, :4], dim=-1))
    assert (weights[0, 4:] == 0).all() and (weights[1] == 0).all()
    context = torch.einsum("bj,bjh->bh", weights, encoder_states)
    torch.testing.assert_close(attentional, torch.tanh(attention.W_c(torch.cat([context, state], dim=-1))))
    torch.testing.assert_close(attention(state, encoder_states)[1], torch.softmax(scores, dim=-1))
    attentional.sum().backward()
    assert all(p.grad.isfinite().all() for p in attention.parameters()) and state.grad.isfinite().all()
    assert all(layer.bias is None for layer in attention.children())


@pytest.mark.parametrize("method", ["dot", "general", "concat"])
def test_attention_gradcheck(method):
    torch.manual_seed(0)
    attention = LuongAttention(D_H, D_H, method).double()
    state, encoder_states = draw(1, torch.float64, (BATCH, D_H), (BATCH, SRC, D_H))
    mask = torch.tensor([[True] * 4 + [False] * 5, [False] * SRC])
    assert torch.autograd.gradcheck(lambda s, h: attention(s, h, mask), (state, encoder_states))


def test_errors_name_the_remedy():
    with pytest.raises(ValueError, match=r"'cosine'.*dot, general, concat"):
        LuongAttention(4, 4, "cosine")
    with pytest.raises(ValueError, match=r"3.*5.*general"):
        LuongAttention(3, 5, "dot")
