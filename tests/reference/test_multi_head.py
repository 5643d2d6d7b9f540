"""Heads and masks equal torch's, and a query that may attend to nothing gets zeros."""

import pytest
import torch
import torch.nn.functional as F

from autograder.reference import multi_head
from autograder.reference.convert import from_torch, to_torch

SEEDS = range(3)


def draw(seed, *shapes, grad=True):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*s, generator=generator, dtype=torch.float64, requires_grad=grad) for s in shapes]


def assert_same(ours, theirs, leaves=(), atol=1e-10):
    torch.testing.assert_close(ours, theirs, atol=atol, rtol=0)
    direction = torch.randn(ours.shape, dtype=ours.dtype, generator=torch.Generator().manual_seed(5))
    grads = [torch.autograd.grad((y * direction).sum(), leaves, retain_graph=True) for y in (ours, theirs)]
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, atol=atol, rtol=0)


def test_split_and_merge_undo_each_other_and_keep_neighbours_together():
    (x,) = draw(0, (2, 5, 12), grad=False)
    heads = multi_head.split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4) and torch.equal(multi_head.merge_heads(heads), x)
    for head in range(3):
        assert torch.equal(heads[:, head], x[..., 4 * head : 4 * head + 4])


def test_masks_say_what_is_allowed():
    assert multi_head.causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    mask = multi_head.padding_mask(torch.tensor([[4, 0, 7], [0, 0, 0]]), 0)
    assert mask.shape == (2, 1, 1, 3) and mask[:, 0, 0].tolist() == [[True, False, True], [False] * 3]


@pytest.mark.parametrize("seed", SEEDS)
def test_masked_attention_equals_torch(seed):
    q, k, v = draw(seed, (2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 13))
    mask = torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(seed)) > 0.4
    mask[..., 0] = True
    output, weights = multi_head.masked_attention(q, k, v, mask)
    assert_same(output, F.scaled_dot_product_attention(q, k, v, mask), (q, k, v))
    assert bool((weights[~mask] == 0).all())
    assert torch.equal(output, multi_head.masked_attention(q, k, v, mask.int())[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_finite_gradients(dtype):
    q, k, v = (t.detach().to(dtype).requires_grad_() for t in draw(0, (2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5)))
    mask = torch.ones(2, 1, 4, 6, dtype=torch.bool)
    mask[0, :, 2] = False
    mask[1] = False
    output, weights = multi_head.masked_attention(q, k, v, mask)
    assert bool((output[0, :, 2] == 0).all()) and bool((weights[1] == 0).all())
    output.square().sum().backward()
    assert all(bool(t.grad.isfinite().all()) for t in (q, k, v))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_module_equals_torchs_and_goes_there_and_back(seed, training):
    torch.manual_seed(seed)
    ours = multi_head.MultiHeadAttention(12, 3, dropout=0.0).double().train(training)
    theirs = to_torch(ours)
    q, k, v = draw(seed, (2, 5, 12), (2, 7, 12), (2, 7, 12))
    mask = torch.rand(2, 5, 7, generator=torch.Generator().manual_seed(seed)) > 0.4
    mask[..., 0] = True
    output, weights = ours(q, k, v, mask.unsqueeze(1))
    forbidden = ~mask.repeat_interleave(3, dim=0)  # torch's own says what is forbidden
    right, right_weights = theirs(q, k, v, attn_mask=forbidden, average_attn_weights=False)
    assert_same(output, right, (q, k, v), atol=1e-9)
    torch.testing.assert_close(weights, right_weights, atol=1e-9, rtol=0)
    back = from_torch(theirs)
    assert torch.equal(back(q, k, v, mask.unsqueeze(1))[0], output) and back.training == training


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match=r"14.* 4 heads"):
        multi_head.MultiHeadAttention(14, 4)


def test_dropout_acts_on_the_merged_heads():
    torch.manual_seed(0)
    module = multi_head.MultiHeadAttention(12, 3, dropout=0.5)
    x = torch.randn(2, 5, 12)
    (one, weights), (other, _) = module(x, x, x), module(x, x, x)
    assert not torch.equal(one, other)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))
