"""The equality ladder: each of our modules equals torch's with the same weights, in float64: outputs, and gradients of
inputs and weights, under padding and causal masks at once.
"""

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autograder.reference import transformer
from autograder.reference.convert import from_torch, to_torch
from autograder.reference.multi_head import MultiHeadAttention

SEEDS = range(3)
MODES = pytest.mark.parametrize("training", [True, False])
FIRST = pytest.mark.parametrize("norm_first", [True, False])


def made(seed, kind, *sizes, training, **options):
    """A module in float64 whose every parameter is random, norms and biases too."""
    torch.manual_seed(seed)
    module = kind(*sizes, dropout=0.0, **options).double().train(training)
    for parameter in module.parameters():
        nn.init.normal_(parameter, 0.1, 0.3)
    return module


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*s, generator=generator, dtype=torch.float64, requires_grad=True) for s in shapes]


def assert_same(ours, theirs, leaves):
    """Outputs and gradients to 1e-9."""
    torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)
    direction = torch.randn(ours.shape, dtype=ours.dtype, generator=torch.Generator().manual_seed(5))
    grads = [torch.autograd.grad((y * direction).sum(), leaves, retain_graph=True) for y in (ours, theirs)]
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, atol=1e-9, rtol=0)


def assert_same_weights_gradients(ours, theirs, ours_out, theirs_out):
    """Of all weights, to 1e-9: gradients stand where weights were, so `to_torch` moves them to torch's layout."""
    direction = torch.randn(ours_out.shape, dtype=ours_out.dtype, generator=torch.Generator().manual_seed(6))
    mine, torchs = (slopes(module, (out * direction).sum()) for module, out in ((ours, ours_out), (theirs, theirs_out)))
    torch.testing.assert_close(dict(to_torch(mine).named_parameters()), dict(torchs.named_parameters()),
                               atol=1e-9, rtol=0)


def slopes(module, loss):
    """A copy of the module that holds the gradients of the loss in place of its weights."""
    copy, weights = deepcopy(module), list(module.parameters())
    gradients = torch.autograd.grad(loss, weights, retain_graph=True)
    for weight, gradient in zip(copy.parameters(), gradients, strict=True):
        weight.data = gradient
    return copy


def masks(src=7, tgt=5):
    """What is real of the source (batch, src) and the target (batch, tgt), and the causal mask of the target.

    A pad in the middle: behind the last real token the causal mask alone would hide it. No row is padding alone.
    """
    real, words = torch.ones(2, src, dtype=torch.bool), torch.ones(2, tgt, dtype=torch.bool)
    real[0, [2, -2, -1]] = False
    words[1, [1, -1]] = False
    return real, words, transformer.causal_mask(tgt)


@MODES
@pytest.mark.parametrize("seed", SEEDS)
def test_attention_equals_torchs_under_both_masks(seed, training):
    ours = made(seed, MultiHeadAttention, 12, 3, training=training)
    theirs, (y,), (_, words, causal) = to_torch(ours), draw(seed, (2, 5, 12)), masks()
    result = ours(y, y, y, words[:, None, None] & causal)[0]
    expected = theirs(y, y, y, key_padding_mask=~words, attn_mask=~causal)[0]
    assert_same(result, expected, (y,))
    assert_same_weights_gradients(ours, theirs, result, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_layer_norm_equals_torchs(seed):
    (x,) = draw(seed, (2, 5, 11))
    ours = transformer.LayerNorm(11, eps=1e-3).double()
    for parameter in ours.parameters():
        nn.init.normal_(parameter)
    theirs = to_torch(ours)
    assert_same(ours(x), theirs(x), (x,))
    assert_same_weights_gradients(ours, theirs, ours(x), theirs(x))
    assert torch.equal(from_torch(to_torch(ours))(x), ours(x))
    assert_same(ours(x), F.layer_norm(x, (11,), ours.weight, ours.bias, 1e-3), (x,))


@FIRST
@MODES
@pytest.mark.parametrize("activation", [F.relu, F.gelu])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_encoder_layer_equals_torchs(seed, activation, training, norm_first):
    ours = made(seed, transformer.EncoderLayer, 12, 3, 19, training=training, activation=activation,
                norm_first=norm_first)
    theirs, (x,), (real, _, causal) = to_torch(ours), draw(seed, (2, 7, 12)), masks(tgt=7)
    assert_same(ours(x), theirs(x), (x,))
    padding = real[:, None, None]
    for mask, its in ((padding, {}), (padding & causal, {"src_mask": ~causal})):
        hidden, expected = ours(x, mask), theirs(x, src_key_padding_mask=~real, **its)
        assert_same(hidden, expected, (x,))
        assert_same_weights_gradients(ours, theirs, hidden, expected)
        assert torch.equal(from_torch(theirs)(x, mask), hidden)


@FIRST
@MODES
@pytest.mark.parametrize("seed", SEEDS)
def test_a_decoder_layer_equals_torchs(seed, training, norm_first):
    ours = made(seed, transformer.DecoderLayer, 12, 3, 19, training=training, norm_first=norm_first)
    theirs, (x, enc_out), (real, words, causal) = to_torch(ours), draw(seed, (2, 5, 12), (2, 7, 12)), masks()
    both = real[:, None, None], words[:, None, None] & causal
    result = ours(x, enc_out, *both)
    expected = theirs(x, enc_out, tgt_mask=~causal, tgt_key_padding_mask=~words, memory_key_padding_mask=~real)
    assert_same(result, expected, (x, enc_out))
    assert_same_weights_gradients(ours, theirs, result, expected)
    assert torch.equal(from_torch(theirs)(x, enc_out, *both), result)


@FIRST
@MODES
@pytest.mark.parametrize("seed", SEEDS)
def test_the_whole_equals_torchs(seed, training, norm_first):
    ours = made(seed, transformer.Transformer, 9, 10, 12, 3, 2, 19, training=training, norm_first=norm_first)
    theirs, (real, words, causal) = to_torch(ours), masks()
    both = real[:, None, None], words[:, None, None] & causal
    src, tgt = torch.randint(1, 9, (2, 7)), torch.randint(1, 10, (2, 5))
    embedded = [ours.embed(ours.src_emb, src), ours.embed(ours.tgt_emb, tgt)]
    logits = ours(src, tgt, *both)
    hidden = theirs(*embedded, tgt_mask=~causal, tgt_key_padding_mask=~words, src_key_padding_mask=~real,
                    memory_key_padding_mask=~real)
    outside = (ours.src_emb.weight, ours.tgt_emb.weight, *ours.proj.parameters())
    assert_same(logits, ours.proj(hidden), outside)
    assert_same_weights_gradients(ours, theirs, logits, ours.proj(hidden))
    encoder, decoder = from_torch(theirs)
    x, y = embedded
    for layer in encoder:
        x = layer(x, both[0])
    for layer in decoder:
        y = layer(y, x, *both)
    assert torch.equal(ours.proj(y), logits)


def test_the_articles_run_and_its_parameters():
    torch.manual_seed(0)
    model = transformer.Transformer(src_vocab=10_000, tgt_vocab=10_000, num_layers=2)
    src, tgt = torch.randint(1, 10_000, (2, 20)), torch.randint(1, 10_000, (2, 25))
    logits = model(src, tgt[:, :-1], model.make_pad_mask(src), model.make_causal_mask(24))
    assert logits.shape == torch.Size([2, 24, 10_000])
    assert sum(p.numel() for p in model.parameters()) == 30_082_832


def test_matrices_start_xavier_uniform():
    torch.manual_seed(0)
    model = transformer.Transformer(50, 60, d_model=32, num_heads=4, num_layers=1, d_ff=64)
    for parameter in (p for p in model.parameters() if p.dim() > 1):
        bound = (6 / sum(parameter.shape)) ** 0.5
        assert 0.8 * bound < parameter.abs().max() <= bound


def test_a_source_longer_than_the_table_is_refused():
    model = transformer.Transformer(9, 9, 12, 3, 1, 19, max_len=6)
    with pytest.raises(ValueError, match=r"length 8 .* max_len 6"):
        model.encode(torch.ones(1, 8, dtype=torch.int64))
