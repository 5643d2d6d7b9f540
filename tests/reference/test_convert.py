"""`from_torch` refuses what the course's modules cannot compute, instead of converting a part of it."""

import re

import pytest
import torch
from torch import nn

from autograder.reference.convert import from_torch, to_torch
from autograder.reference.transformer import Transformer

BATCHED = {"batch_first": True}


@pytest.mark.parametrize("module, option", [
    (nn.Transformer(12, 3, 1, 1, 19, **BATCHED), "a norm after its last layers"),
    (nn.TransformerEncoderLayer(12, 3, 19), "batch_first=False"),
    (nn.TransformerDecoderLayer(12, 3, 19), "batch_first=False"),
    (nn.TransformerEncoderLayer(12, 3, 19, bias=False, **BATCHED), "bias=False"),
    (nn.MultiheadAttention(12, 3), "batch_first=False"),
    (nn.MultiheadAttention(12, 3, bias=False, **BATCHED), "bias=False"),
    (nn.MultiheadAttention(12, 3, kdim=8, **BATCHED), "kdim or vdim"),
    (nn.MultiheadAttention(12, 3, add_bias_kv=True, **BATCHED), "add_bias_kv=True"),
    (nn.MultiheadAttention(12, 3, add_zero_attn=True, **BATCHED), "add_zero_attn=True"),
    (nn.LayerNorm((3, 12)), "a normalized_shape (3, 12) of several axes"),
    (nn.LayerNorm(12, elementwise_affine=False), "elementwise_affine=False"),
    (nn.LayerNorm(12, bias=False), "bias=False"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_an_option_that_ours_does_not_have_is_refused(module, option):
    with pytest.raises(ValueError, match=re.escape(f"has {option}, and the course's has not; ")):
        from_torch(module)


def test_without_the_last_norms_a_transformer_is_converted():
    theirs = nn.Transformer(12, 3, 1, 1, 19, **BATCHED).eval()
    theirs.encoder.norm = theirs.decoder.norm = None
    (encoder,), _ = from_torch(theirs)
    x = torch.randn(2, 7, 12)
    torch.testing.assert_close(encoder(x), theirs.encoder(x))


def test_a_transformer_without_layers_is_refused():
    with pytest.raises(ValueError, match="num_layers 1 or more"):
        to_torch(Transformer(9, 9, 12, 3, 0, 19))


@pytest.mark.parametrize("convert", [to_torch, from_torch])
def test_what_has_no_pair_is_said(convert):
    with pytest.raises(TypeError, match="Bilinear"):
        convert(nn.Bilinear(2, 2, 2))
