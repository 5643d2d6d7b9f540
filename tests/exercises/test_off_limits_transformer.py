"""Chapters 08 and 11: an answer that lets the library do its work loses `values` and nothing else."""

import pytest
import torch
import torch.nn.functional as F
from off_limits import loses_exactly_the_values
from torch import nn

from autograder.judging.judge import judge
from autograder.reference import questions, transformer
from autograder.reference.multi_head import MultiHeadAttention, merge_heads, split_heads


def norm(forward):
    return type("LayerNorm", (transformer.LayerNorm,), {"forward": forward})


def by_group_norm(self, x):
    return F.group_norm(x.flatten(0, -2), 1, self.weight, self.bias, self.eps).view_as(x)


def by_batch_norm(self, x):
    """Each token as a feature of a batch."""
    tokens = F.batch_norm(x.flatten(0, -2).T, None, None, training=True, eps=self.eps).T
    return self.weight * tokens.view_as(x) + self.bias


def by_module(self, x):
    inside = nn.LayerNorm(x.shape[-1:], eps=self.eps, elementwise_affine=False)
    return self.weight * inside(x) + self.bias


NORMS = {
    "F.layer_norm": norm(lambda self, x: F.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)),
    "torch.layer_norm": norm(lambda self, x: torch.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)),
    "operator": norm(lambda self, x: torch.ops.aten.native_layer_norm(
        x, x.shape[-1:], self.weight, self.bias, self.eps)[0]),
    "F.group_norm": norm(by_group_norm),
    "F.instance_norm": norm(lambda self, x: self.weight * F.instance_norm(x, eps=self.eps) + self.bias),
    "F.batch_norm": norm(by_batch_norm),
    "nn.LayerNorm": norm(by_module),
}


class Fused(MultiHeadAttention):
    """Attention whose output comes from the library."""

    def forward(self, q, k, v, mask=None):
        query, key, value = (split_heads(layer(x), self.num_heads)
                             for layer, x in ((self.W_q, q), (self.W_k, k), (self.W_v, v)))
        out = F.scaled_dot_product_attention(query, key, value, None if mask is None else mask.bool())
        return self.W_o(self.dropout(merge_heads(out))), None


def with_fused(kind, *names):
    """The reference with the library's attention in the parts of these names, wherever they are."""
    class Changed(kind):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            for layer in list(self.modules()):
                for name in (name for name in names if isinstance(getattr(layer, name, None), MultiHeadAttention)):
                    setattr(layer, name, fused(getattr(layer, name)))

    return Changed


def fused(attention):
    made = Fused(attention.W_q.in_features, attention.num_heads, attention.dropout.p)
    made.load_state_dict(attention.state_dict())
    return made


def by_label_smoothing(logits, target, pad, smoothing):
    """The library shares among all tokens; what that gives the target and pad too much is taken away again."""
    real, vocab = target != pad, logits.size(-1)
    scores, words = logits[real], target[real]
    log_p = torch.log_softmax(scores, dim=-1)
    share = smoothing * vocab / (vocab - 2)
    loss = F.cross_entropy(scores, words, label_smoothing=share)
    given = smoothing / (vocab - 2)
    target_part = (1 - share + given - (1 - smoothing)) * log_p.gather(1, words.unsqueeze(1)).mean()
    return loss + target_part + given * log_p[:, pad].mean()


CASES = [pytest.param("LayerNorm", "layer_norm", answer, id=f"LayerNorm-{how}") for how, answer in NORMS.items()]
CASES += [
    pytest.param("EncoderLayer", "attention", with_fused(transformer.EncoderLayer, "self_attn"), id="EncoderLayer"),
    pytest.param("DecoderLayer", "attention", with_fused(transformer.DecoderLayer, "self_attn"),
                 id="DecoderLayer-self"),
    pytest.param("DecoderLayer", "attention", with_fused(transformer.DecoderLayer, "cross_attn"),
                 id="DecoderLayer-cross"),
    pytest.param("Transformer", "attention", with_fused(transformer.Transformer, "cross_attn"), id="Transformer"),
    pytest.param("PreLNEncoderLayer", "attention", with_fused(questions.PreLNEncoderLayer, "self_attn"),
                 id="PreLNEncoderLayer"),
    pytest.param("smoothed_cross_entropy", "label_smoothing", by_label_smoothing, id="smoothed_cross_entropy"),
]


@pytest.mark.parametrize("name, family, answer", CASES)
def test_it_loses_exactly_the_values(name, family, answer):
    loses_exactly_the_values(name, family, answer)


def test_the_librarys_layer_is_no_answer():
    """Its parameters have other names, and that is said."""
    class EncoderLayer(nn.Module):
        def __init__(self, *sizes):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(*sizes, batch_first=True)

        def forward(self, x, mask=None):
            return self.layer(x)

    report = judge(EncoderLayer)
    assert report.score == 0.0 and "missing: `self_attn.W_q.weight`" in report.outcomes[0].message


def test_norms_of_the_library_are_allowed_in_the_layers():
    class WithLibraryNorms(transformer.EncoderLayer):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.norm1, self.norm2 = nn.LayerNorm(sizes[0]), nn.LayerNorm(sizes[0])

    report = judge(WithLibraryNorms, exercise="EncoderLayer")
    assert report.score == report.points
