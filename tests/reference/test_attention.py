"""The reference equals torch's own functions, in outputs and gradients, to 1e-10 in float64."""

import math

import pytest
import torch
import torch.nn.functional as F

from autograder.reference import attention, scaling

SEEDS = range(3)


def draw(seed: int, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*s, generator=generator, dtype=torch.float64, requires_grad=True) for s in shapes]


def assert_same(ours, theirs, inputs) -> None:
    """Equal outputs, and equal gradients of a random combination of them."""
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)
    direction = torch.randn(ours.shape, dtype=ours.dtype, generator=torch.Generator().manual_seed(5))
    gradients = [torch.autograd.grad((y * direction).sum(), inputs, retain_graph=True) for y in (ours, theirs)]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, atol=1e-10, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_equals_torch(seed):
    q, k, v = draw(seed, (2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 13))
    output, weights = attention.scaled_dot_product_attention(q, k, v)
    assert_same(output, F.scaled_dot_product_attention(q, k, v), (q, k, v))
    assert_same(weights, torch.softmax(q @ k.mT / math.sqrt(11), -1), (q, k))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("factor", [1.0, 1e4])
def test_weights_equal_softmax(seed, factor):
    (scores,) = draw(seed, (2, 5, 7))
    assert_same(attention.attention_weights(scores * factor), torch.softmax(scores * factor, -1), (scores,))


@pytest.mark.parametrize("seed", SEEDS)
def test_projections_equal_linear(seed):
    x, w_q, w_k, w_v = draw(seed, (2, 5, 17), (11, 17), (11, 17), (13, 17))
    for ours, weight in zip(attention.project_qkv(x, w_q, w_k, w_v), (w_q, w_k, w_v), strict=True):
        assert_same(ours, F.linear(x, weight), (x, weight))


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_and_sum_equal_loops(seed):
    q, k, v = (t.detach() for t in draw(seed, (2, 3, 4), (2, 5, 4), (2, 5, 6)))
    scores = attention.attention_scores(q, k)
    out = attention.weighted_sum(scores, v)
    for b in range(2):
        for i in range(3):
            for j in range(5):
                assert math.isclose(scores[b, i, j], sum(q[b, i, f] * k[b, j, f] for f in range(4)), abs_tol=1e-10)
            torch.testing.assert_close(out[b, i], sum(scores[b, i, j] * v[b, j] for j in range(5)))


@pytest.mark.parametrize("seed", SEEDS)
def test_module_equals_torch_with_its_own_weights(seed):
    torch.manual_seed(seed)
    module = attention.SelfAttention(17, 11).double()
    x = torch.randn(2, 5, 17, dtype=torch.float64)
    out, _ = module(x)
    assert_same(out, F.scaled_dot_product_attention(module.W_q(x), module.W_k(x), module.W_v(x)),
                list(module.parameters()))


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_equals_autograd(seed):
    scores = draw(seed, (7,))[0].detach()
    right = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
    torch.testing.assert_close(scaling.softmax_jacobian(torch.softmax(scores, -1)), right, atol=1e-10, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_entropy_equals_torch(seed):
    weights = torch.softmax(draw(seed, (2, 5, 7))[0], -1)
    ours = scaling.attention_entropy(weights)
    torch.testing.assert_close(ours, torch.special.entr(weights).sum(-1), atol=1e-10, rtol=0)
    assert scaling.attention_entropy(torch.eye(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("d_k", [1, 16, 256])
def test_std_follows_the_square_root(d_k):
    measured = scaling.dot_product_std(d_k, 50_000, torch.Generator().manual_seed(1))
    assert abs(measured / math.sqrt(d_k) - 1) < 0.05  # seven standard errors at d_k = 1
