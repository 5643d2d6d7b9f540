"""The mended parts of the clinic against torch's own, and its lists of names against each other."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autograder.reference import clinic, multi_head
from autograder.reference.positional_encoding import PositionalEncoding, sinusoidal_encoding
from autograder.reference.transformer import EncoderLayer, FeedForward

SEEDS = range(3)


def draw(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def same(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


def test_each_token_is_asked_for_where_the_one_before_it_is_fed():
    inputs, targets = clinic.clinic_1(torch.tensor([[11, 3, 1, 12], [11, 4, 4, 12]]))
    assert inputs.tolist() == [[11, 3, 1], [11, 4, 4]] and targets.tolist() == [[3, 1, 12], [4, 4, 12]]


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_is_torchs(seed):
    query, key, value = (draw(seed + i, 2, 3, 5, 8) for i in range(3))
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    same(clinic.clinic_2(query, key, value, mask),
         F.scaled_dot_product_attention(query, key, value, attn_mask=mask))


def test_the_mask_is_the_courses():
    tokens = torch.tensor([[4, 7, 0, 0], [7, 0, 4, 4]])
    for pad in (0, 4):
        assert torch.equal(clinic.clinic_3(tokens, pad), multi_head.padding_mask(tokens, pad))


def test_positions_are_the_courses():
    x = draw(0, 9, 4, 6).float()
    same(clinic.clinic_4(6, 7)(x), PositionalEncoding(6, 7)(x))


def test_merging_is_the_courses_and_undoes_splitting():
    x = draw(0, 2, 5, 12)
    heads = multi_head.split_heads(x, 3)
    assert torch.equal(clinic.clinic_5(heads), x) and torch.equal(multi_head.merge_heads(heads), x)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_norm_is_torchs(seed):
    ours, theirs = clinic.clinic_6(7, eps=0.1).double(), nn.LayerNorm(7, eps=0.1).double()
    for module in (ours, theirs):
        module.weight.data, module.bias.data = draw(seed, 7), draw(seed + 1, 7)
    same(ours(draw(seed + 2, 2, 5, 7)), theirs(draw(seed + 2, 2, 5, 7)))


def test_a_stack_is_its_layers_one_after_the_other():
    stack = clinic.clinic_7(3, 8, 2, 16).eval()
    one = EncoderLayer(8, 2, 16)
    assert sum(p.numel() for p in stack.parameters()) == 3 * sum(p.numel() for p in one.parameters())
    x, mask = draw(0, 2, 5, 8).float(), torch.tensor([[True] * 4 + [False]] * 2)[:, None, None]
    expected = x
    for layer in stack.layers:
        expected = layer(expected, mask)
    assert torch.equal(stack(x, mask), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_loss_is_that_of_the_real_tokens_alone(seed):
    logits, target = draw(seed, 3, 6, 9), torch.randint(0, 9, (3, 6), generator=torch.Generator().manual_seed(seed))
    target[0, 4:] = 5
    real = target != 5
    same(clinic.clinic_8(logits, target, 5), F.cross_entropy(logits[real], target[real]))


def test_the_net_is_chapter_8s_and_drops_in_training_alone():
    ours, theirs, x = clinic.clinic_9(6, 12, 0.5).eval(), FeedForward(6, 12).eval(), draw(0, 2, 4, 6).float()
    theirs.load_state_dict(ours.state_dict())
    assert torch.equal(ours(x), theirs(x)) and torch.equal(ours(x), ours(x))
    ours.train()
    torch.manual_seed(0)
    assert not torch.equal(ours(x), ours(x))


def test_token_by_token_the_positions_are_those_of_the_whole():
    x, table = draw(0, 2, 5, 6), sinusoidal_encoding(9, 6).double()
    whole = clinic.clinic_10(x, 0, table)
    same(torch.cat([clinic.clinic_10(x[:, t:t + 1], t, table) for t in range(5)], dim=1), whole)
    same(whole, x + table[:5])


def test_there_are_twenty_names_and_ten_are_patients():
    assert len(set(clinic.TWENTY)) == len(clinic.TWENTY) == 20 and sorted(clinic.TWENTY) == clinic.TWENTY
    assert list(clinic.NAMES) == [f"clinic_{number}" for number in range(1, 11)]
    assert not set(clinic.NAMES.values()) & set(clinic.OTHERS)
