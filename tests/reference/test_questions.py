"""The gated net against LLaMA's, the Pre-LN layer against torch's, with the same weights, in float64."""

import pytest
import torch
from torch import nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

from autograder.reference.convert import to_torch
from autograder.reference.questions import PreLNEncoderLayer, swiglu
from autograder.reference.transformer import EncoderLayer

SEEDS = range(3)


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*s, generator=generator, dtype=torch.float64, requires_grad=True) for s in shapes]


def assert_same(ours, theirs, leaves, their_leaves=None):
    """Outputs and gradients to 1e-9."""
    torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)
    direction = torch.randn(ours.shape, dtype=ours.dtype, generator=torch.Generator().manual_seed(5))
    mine = torch.autograd.grad((ours * direction).sum(), leaves, retain_graph=True)
    right = torch.autograd.grad((theirs * direction).sum(), their_leaves or leaves, retain_graph=True)
    torch.testing.assert_close(mine, right, atol=1e-9, rtol=0)


@pytest.mark.parametrize("leading", [(), (4,), (2, 5)])
@pytest.mark.parametrize("seed", SEEDS)
def test_swiglu_is_the_net_of_llama(seed, leading):
    x, *weights = draw(seed, (*leading, 12), (19, 12), (19, 12), (12, 19))
    theirs = LlamaMLP(LlamaConfig(hidden_size=12, intermediate_size=19, num_attention_heads=3)).double()
    linears = (theirs.gate_proj, theirs.up_proj, theirs.down_proj)
    for linear, weight in zip(linears, weights, strict=True):
        linear.weight.data.copy_(weight)
    assert_same(swiglu(x, *weights), theirs(x), (x, *weights), (x, *(linear.weight for linear in linears)))


def made(seed, training=True, dropout=0.0):
    torch.manual_seed(seed)
    module = PreLNEncoderLayer(12, 3, 19, dropout).double().train(training)
    for parameter in module.parameters():
        nn.init.normal_(parameter, 0.1, 0.3)
    return module


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_layer_is_torchs_with_the_norm_first(seed, training):
    ours = made(seed, training)
    theirs = nn.TransformerEncoderLayer(12, 3, 19, dropout=0.0, batch_first=True, norm_first=True).double()
    copy_weights(ours, theirs.train(training))
    (x,), real = draw(seed, (2, 7, 12)), torch.ones(2, 7, dtype=torch.bool)
    real[0, -2:] = False
    assert_same(ours(x), theirs(x), (x,))
    assert_same(ours(x, real[:, None, None]), theirs(x, src_key_padding_mask=~real), (x,))
    mine, right = ([parameter for part in column for parameter in part.parameters()]
                   for column in zip(*pairs(ours, theirs), strict=True))
    assert_same(ours(x), theirs(x), mine, right)


def pairs(ours, theirs):
    """The parts that correspond one to one: all but the three projections of attention."""
    return ((ours.self_attn.W_o, theirs.self_attn.out_proj), (ours.ffn.linear1, theirs.linear1),
            (ours.ffn.linear2, theirs.linear2), (ours.norm1, theirs.norm1), (ours.norm2, theirs.norm2))


@torch.no_grad()
def copy_weights(ours, theirs):
    projections = (ours.self_attn.W_q, ours.self_attn.W_k, ours.self_attn.W_v)
    theirs.self_attn.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
    theirs.self_attn.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
    for mine, other in pairs(ours, theirs):
        other.load_state_dict(mine.state_dict())


def test_it_converts_as_any_layer_and_shares_the_names_of_the_post_ln_one():
    ours, (x,) = made(0), draw(0, (2, 7, 12))
    assert to_torch(ours).norm_first
    assert_same(ours(x), to_torch(ours)(x), (x,))
    post = EncoderLayer(12, 3, 19, 0.0).double()
    post.load_state_dict(ours.state_dict())
    assert (post(x) - ours(x)).abs().max() > 0.1
    with pytest.raises(ValueError, match=r"14.* 4 heads"):
        PreLNEncoderLayer(14, 4, 19)


def test_silent_sublayers_leave_the_straight_way():
    """Where both sublayers say nothing, x comes out as it went in: nothing normalises it on its way."""
    ours, (x,) = made(0), draw(0, (2, 7, 12))
    for linear in (ours.self_attn.W_o, ours.ffn.linear2):
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
    assert torch.equal(ours(x), x)


def test_dropout_acts_in_training_alone():
    ours, (x,) = made(0, dropout=0.5), draw(0, (2, 7, 12))
    assert not torch.equal(ours(x), ours(x))
    ours.eval()
    assert torch.equal(ours(x), ours(x))
    assert {name for name, part in ours.named_modules() if isinstance(part, nn.Dropout) and part.p == 0.5} == {
        "dropout", "self_attn.dropout", "ffn.dropout"}
