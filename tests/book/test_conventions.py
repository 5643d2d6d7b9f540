"""What conventions.md says about torch is true of the torch that is installed."""

import torch
from torch import nn
from torch.nn import functional as F

from autograder.book.chapters import BOOK

N, D = 5, 8
ALLOWED = torch.ones(N, N, dtype=torch.bool).tril()


def looks_ahead(output_of, x) -> bool:
    """Whether the first output changes when the last token does."""
    changed = x.clone()
    changed[:, -1] += 1
    return not torch.allclose(output_of(x)[:, 0], output_of(changed)[:, 0])


def test_functional_attention_reads_true_as_allowed():
    x = torch.randn(2, N, D, generator=torch.Generator().manual_seed(0))
    assert not looks_ahead(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=ALLOWED), x)
    assert looks_ahead(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=~ALLOWED | ALLOWED.T), x)


def test_multihead_attention_reads_true_as_forbidden():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(D, 2, batch_first=True)
    x = torch.randn(2, N, D)
    assert not looks_ahead(lambda x: module(x, x, x, attn_mask=~ALLOWED)[0], x)
    padding = torch.zeros(2, N, dtype=torch.bool)
    padding[:, -1] = True
    assert not looks_ahead(lambda x: module(x, x, x, key_padding_mask=padding)[0], x)


def test_encoder_layer_reads_true_as_forbidden():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(D, 2, 16, dropout=0.0, batch_first=True)
    x = torch.randn(2, N, D)
    assert not looks_ahead(lambda x: layer(x, src_mask=~ALLOWED), x)


def test_floating_masks_are_added_in_both():
    torch.manual_seed(0)
    mask = torch.zeros(N, N).masked_fill(~ALLOWED, -torch.inf)
    module = nn.MultiheadAttention(D, 2, batch_first=True)
    x = torch.randn(2, N, D)
    assert not looks_ahead(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=mask), x)
    assert not looks_ahead(lambda x: module(x, x, x, attn_mask=mask)[0], x)


def test_softmax_of_a_row_with_nothing_allowed_is_nan():
    assert torch.full((3,), -torch.inf).softmax(dim=-1).isnan().all()


def test_linear_is_the_formula_of_the_page():
    layer = nn.Linear(D, 3, bias=False)
    x = torch.randn(2, N, D)
    assert layer.weight.shape == (3, D)
    torch.testing.assert_close(layer(x), x @ layer.weight.transpose(-2, -1))


def test_page_says_so():
    page = (BOOK / "conventions.md").read_text(encoding="utf-8")
    assert "| allowed | `F.scaled_dot_product_attention`: `attn_mask` |" in page
    assert "| **forbidden** | `nn.MultiheadAttention`: `attn_mask`, `key_padding_mask` |" in page
    assert "| **forbidden** | `nn.Transformer` and its layers: `mask`, `src_mask`, `tgt_mask`" in page
