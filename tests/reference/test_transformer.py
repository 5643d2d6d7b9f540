"""The equality ladder: each of our modules equals torch's with the same weights, outputs and gradients, in float64."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autograder.reference import transformer
from autograder.reference.convert import from_torch, to_torch

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


def masks(src=7, tgt=5):
    """Padding of the source (batch, src), True = real, and the causal mask of the target."""
    real = torch.ones(2, src, dtype=torch.bool)
    real[0, -2:] = False
    return real, transformer.causal_mask(tgt)


@pytest.mark.parametrize("seed", SEEDS)
def test_layer_norm_equals_torchs(seed):
    (x,) = draw(seed, (2, 5, 11))
    ours = transformer.LayerNorm(11, eps=1e-3).double()
    for parameter in ours.parameters():
        nn.init.normal_(parameter)
    assert_same(ours(x), to_torch(ours)(x), (x,))
    assert torch.equal(from_torch(to_torch(ours))(x), ours(x))
    assert_same(ours(x), F.layer_norm(x, (11,), ours.weight, ours.bias, 1e-3), (x,))


@FIRST
@MODES
@pytest.mark.parametrize("activation", [F.relu, F.gelu])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_encoder_layer_equals_torchs(seed, activation, training, norm_first):
    ours = made(seed, transformer.EncoderLayer, 12, 3, 19, training=training, activation=activation,
                norm_first=norm_first)
    theirs, (x,), (real, _) = to_torch(ours), draw(seed, (2, 7, 12)), masks()
    assert_same(ours(x), theirs(x), (x,))
    hidden = ours(x, real[:, None, None])
    rows = real.unsqueeze(-1)  # torch's fast path leaves what is padded at zero
    assert_same(hidden * rows, theirs(x, src_key_padding_mask=~real) * rows, (x,))
    assert torch.equal(from_torch(theirs)(x, real[:, None, None]), hidden)


@FIRST
@MODES
@pytest.mark.parametrize("seed", SEEDS)
def test_a_decoder_layer_equals_torchs(seed, training, norm_first):
    ours = made(seed, transformer.DecoderLayer, 12, 3, 19, training=training, norm_first=norm_first)
    theirs, (x, enc_out), (real, causal) = to_torch(ours), draw(seed, (2, 5, 12), (2, 7, 12)), masks()
    result = ours(x, enc_out, real[:, None, None], causal)
    assert_same(result, theirs(x, enc_out, tgt_mask=~causal, memory_key_padding_mask=~real), (x, enc_out))
    assert torch.equal(from_torch(theirs)(x, enc_out, real[:, None, None], causal), result)


@FIRST
@MODES
@pytest.mark.parametrize("seed", SEEDS)
def test_the_whole_equals_torchs(seed, training, norm_first):
    ours = made(seed, transformer.Transformer, 9, 10, 12, 3, 2, 19, training=training, norm_first=norm_first)
    theirs, (real, causal) = to_torch(ours), masks()
    src, tgt = torch.randint(1, 9, (2, 7)), torch.randint(1, 10, (2, 5))
    embedded = [ours.embed(ours.src_emb, src), ours.embed(ours.tgt_emb, tgt)]
    logits = ours(src, tgt, real[:, None, None], causal)
    hidden = theirs(*embedded, tgt_mask=~causal, src_key_padding_mask=~real, memory_key_padding_mask=~real)
    assert_same(logits, ours.proj(hidden), (ours.src_emb.weight, ours.tgt_emb.weight))
    encoder, decoder = from_torch(theirs)
    x, y = embedded
    for layer in encoder:
        x = layer(x, real[:, None, None])
    for layer in decoder:
        y = layer(y, x, real[:, None, None], causal)
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
