"""An answer that calls the library function it is meant to replace loses `values` and nothing else."""

import math
from collections import Counter

import pytest
import sacrebleu
import torch
import torch.nn.functional as F
from off_limits import loses_exactly_the_values
from torch import nn

from autograder.judging.catalogue import all_exercises
from autograder.reference import bahdanau, luong, multi_head

aten = torch.ops.aten


def by_cross_entropy(scores):
    n = scores.size(-1)
    targets = torch.arange(n).expand(*scores.shape[:-1], n).reshape(-1)
    repeated = scores.unsqueeze(-2).expand(*scores.shape, n).reshape(-1, n)
    return torch.exp(-F.cross_entropy(repeated, targets, reduction="none")).reshape(scores.shape)


def by_attention(scores):
    """softmax(S I) I: the fused function as a softmax."""
    n = scores.size(-1)
    identity = torch.eye(n, dtype=scores.dtype).expand(*scores.shape[:-2], n, n)
    rows = scores if scores.dim() > 1 else scores.unsqueeze(0)
    weights = F.scaled_dot_product_attention(rows, identity, identity, scale=1.0)
    return weights if scores.dim() > 1 else weights[0]


class Hidden:
    """A detour through an object and an alias does not help."""

    function = staticmethod(torch.softmax)

    def __call__(self, scores):
        return self.function(scores, dim=-1)


SOFTMAX = {
    "torch.softmax": lambda scores: torch.softmax(scores, dim=-1),
    "method": lambda scores: scores.softmax(-1),
    "F.softmax": lambda scores: F.softmax(scores, dim=-1),
    "nn.Softmax": lambda scores: nn.Softmax(dim=-1)(scores),
    "torch.special.softmax": lambda scores: torch.special.softmax(scores, dim=-1),
    "log_softmax": lambda scores: torch.log_softmax(scores, dim=-1).exp(),
    "method log_softmax": lambda scores: scores.log_softmax(-1).exp(),
    "F.log_softmax": lambda scores: F.log_softmax(scores, -1).exp(),
    "torch.special.log_softmax": lambda scores: torch.special.log_softmax(scores, -1).exp(),
    "nn.LogSoftmax": lambda scores: nn.LogSoftmax(dim=-1)(scores).exp(),
    "F.softmin": lambda scores: F.softmin(-scores, dim=-1),
    "nn.Softmin": lambda scores: nn.Softmin(dim=-1)(-scores),
    "operator _softmax": lambda scores: aten._softmax(scores, -1, False),
    "operator softmax.int": lambda scores: aten.softmax.int(scores, -1),
    "operator _log_softmax": lambda scores: aten._log_softmax.default(scores, -1, False).exp(),
    "operator _safe_softmax": lambda scores: aten._safe_softmax(scores, -1),
    "Categorical": lambda scores: torch.distributions.Categorical(logits=scores).probs,
    "alias": lambda scores: Hidden()(scores),
    "vmap": lambda scores: torch.func.vmap(lambda row: torch.softmax(row, 0))(
        scores.reshape(-1, scores.size(-1))).reshape(scores.shape),
    "cross entropy": by_cross_entropy,
    "fused attention": by_attention,
}


def parts(query, key):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return torch.softmax(scores, dim=-1)


def by_multihead_attention(query, key, value):
    """nn.MultiheadAttention with one head and identity matrices; its widths must agree, so all become the largest."""
    d_k, width, leading = query.size(-1), max(query.size(-1), value.size(-1)), query.shape[:-2]
    query = query * math.sqrt(width / d_k)
    q, k, v = (F.pad(t, (0, width - t.size(-1))).reshape(-1, t.size(-2), width) for t in (query, key, value))
    module = nn.MultiheadAttention(width, 1, bias=False, batch_first=True).to(q.dtype)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(width))
    out, weights = module(q, k, v)
    out = out[..., : value.size(-1)]
    return out.reshape(*leading, *out.shape[-2:]), weights.reshape(*leading, *weights.shape[-2:])


ATTENTION = {
    "F": lambda q, k, v: (F.scaled_dot_product_attention(q, k, v), parts(q, k)),
    "torch._C._nn": lambda q, k, v: (torch._C._nn.scaled_dot_product_attention(q, k, v), parts(q, k)),
    "operator": lambda q, k, v: (aten.scaled_dot_product_attention(q, k, v), parts(q, k)),
    "operator _math": lambda q, k, v: aten._scaled_dot_product_attention_math(q, k, v),
    "weights from an identity": lambda q, k, v: (parts(q, k) @ v, F.scaled_dot_product_attention(
        q, k, torch.eye(k.size(-2), dtype=q.dtype).expand(*k.shape[:-2], -1, -1))),
    "nn.MultiheadAttention": by_multihead_attention,
}


def as_module(attend):
    """The exercise SelfAttention, with `attend(q, k, v)` inside."""
    class SelfAttention(nn.Module):
        def __init__(self, d_model, d_k):
            super().__init__()
            self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

        def forward(self, x):
            return attend(self.W_q(x), self.W_k(x), self.W_v(x))

    return SelfAttention


def fused(query, key, value, mask):
    """Unscaled attention of one query a row by the fused function; a row with nothing real gives zeros."""
    some = mask.any(-1, keepdim=True)
    out = F.scaled_dot_product_attention(query.unsqueeze(1), key, value, (mask | ~some).unsqueeze(1), scale=1.0)
    return out.squeeze(1) * some


def multihead(query, key, value, mask):
    """The same by nn.MultiheadAttention with one head and identity matrices, which divides by the root of the width."""
    width, some = max(query.size(-1), value.size(-1)), mask.any(-1, keepdim=True)
    q, k, v = (F.pad(t, (0, width - t.size(-1))) for t in (query.unsqueeze(1) * math.sqrt(width), key, value))
    module = nn.MultiheadAttention(width, 1, bias=False, batch_first=True).to(q.dtype)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(width))
    out, _ = module(q, k, v, key_padding_mask=~mask & some)
    return out.squeeze(1)[:, : value.size(-1)] * some


def luong_module(attend):
    """The exercise LuongAttention, whose general score goes through `attend(query, key, value, mask)`."""
    class LuongAttention(luong.LuongAttention):
        def forward(self, state, encoder_states, mask=None):
            if self.method != "general":
                return super().forward(state, encoder_states, mask)
            mask = torch.ones(encoder_states.shape[:2], dtype=torch.bool) if mask is None else mask
            query = state @ self.W.weight
            places = torch.eye(mask.size(1), dtype=state.dtype).expand(len(state), -1, -1)
            context = attend(query, encoder_states, encoder_states, mask)
            return torch.tanh(self.W_c(torch.cat([context, state], -1))), attend(query, encoder_states, places, mask)

    return LuongAttention


def local_weights_by_attention(scores, center, half_width):
    """The softmax over the window is what the fused function makes of an identity matrix."""
    places = torch.eye(scores.size(1), dtype=scores.dtype).expand(len(scores), -1, -1)
    weights = fused(scores, places, places, luong.local_window(center, half_width, scores.size(1)))
    distance = torch.arange(scores.size(1)) - center.unsqueeze(-1)
    return weights * torch.exp(-distance**2 / (2 * (half_width / 2) ** 2))


def opened(mask, *shape):
    """The mask in full shape, with all allowed where nothing is; and where something was allowed."""
    allowed = torch.ones(shape, dtype=torch.bool) if mask is None else (mask != 0).expand(shape)
    some = allowed.any(-1, keepdim=True)
    return allowed | ~some, some


def masked_by_attention(query, key, value, mask=None):
    """Weights and output by the fused function, and zeros where nothing is allowed."""
    allowed, some = opened(mask, *query.shape[:-1], key.size(-2))
    places = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-2], -1, -1)
    return tuple(F.scaled_dot_product_attention(query, key, v, allowed) * some for v in (value, places))


class FusedHeads(multi_head.MultiHeadAttention):
    def forward(self, q, k, v, mask=None):
        query, key, value = (multi_head.split_heads(layer(x), self.num_heads)
                             for layer, x in ((self.W_q, q), (self.W_k, k), (self.W_v, v)))
        heads, weights = masked_by_attention(query, key, value, mask)
        return self.W_o(self.dropout(multi_head.merge_heads(heads))), weights


class TorchsHeads(multi_head.MultiHeadAttention):
    """All of torch's function but its last projection."""

    def forward(self, q, k, v, mask=None):
        width, layers = q.size(-1), (self.W_q, self.W_k, self.W_v)
        allowed, some = opened(mask, len(q), self.num_heads, q.size(1), k.size(1))
        merged, weights = F.multi_head_attention_forward(
            q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), width, self.num_heads,
            torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers]), None, None,
            False, 0.0, torch.eye(width, dtype=q.dtype), torch.zeros(width, dtype=q.dtype),
            attn_mask=~allowed.flatten(0, 1), average_attn_weights=False)
        heads = multi_head.split_heads(merged.transpose(0, 1), self.num_heads) * some
        return self.W_o(self.dropout(multi_head.merge_heads(heads))), weights * some


MIXERS = {
    "F": lambda rows, key, value: F.scaled_dot_product_attention(rows, key, value, scale=1.0),
    "torch._C._nn": lambda rows, key, value: torch._C._nn.scaled_dot_product_attention(rows, key, value, scale=1.0),
    "operator _math": lambda rows, key, value: aten._scaled_dot_product_attention_math(
        rows, key, value, scale=1.0)[0],
}


def looked(attention, mix, state, encoder_states, mask):
    """Additive attention whose softmax and mixture are the library's: softmax(e I) H, for scores e."""
    scores = attention.v(torch.tanh(attention.W_s(state).unsqueeze(1) + attention.W_h(encoder_states))).squeeze(-1)
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    identity = torch.eye(scores.size(1), dtype=scores.dtype).expand(len(scores), -1, -1)
    context = mix(scores.masked_fill(~mask, -1e9).unsqueeze(1), identity, encoder_states).squeeze(1)
    return context * mask.any(-1, keepdim=True), bahdanau.masked_weights(scores, mask)


def as_additive(mix):
    class AdditiveAttention(bahdanau.AdditiveAttention):
        def forward(self, state, encoder_states, mask=None):
            return looked(self, mix, state, encoder_states, mask)

    return AdditiveAttention


def as_step(mix):
    """The attention inside is right and not used: the step itself calls the library."""
    class BahdanauDecoderStep(bahdanau.BahdanauDecoderStep):
        def forward(self, token, state, encoder_states, mask=None):
            context, weights = looked(self.attention, mix, state, encoder_states, mask)
            state = self.cell(torch.cat([context, self.embedding(token)], dim=-1), state)
            return self.out(state), state, weights

    return BahdanauDecoderStep


def row_by_row(query, key, value, block_size):
    """Never makes the whole matrix, yet the library does the work."""
    return torch.cat([F.scaled_dot_product_attention(row, key, value) for row in query.split(1, dim=-2)], dim=-2)


ENTROPY = {
    "torch.special.entr": lambda weights: torch.special.entr(weights).sum(dim=-1),
    "operator": lambda weights: aten.special_entr(weights).sum(dim=-1),
    "alias": lambda weights: getattr(torch.special, "entr")(input=weights).sum(-1),  # noqa: B009
}

SETTINGS = {"tokenize": "none", "smooth_method": "none", "force": True}


def joined(sentences):
    return [" ".join(words) for words in sentences]


def by_compute_bleu(hypotheses, references, max_n=4):
    """Counts by itself and leaves the rest to sacrebleu."""
    def ngrams(words, n):
        return Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))

    pairs = list(zip(hypotheses, references, strict=True))
    correct = [sum((ngrams(h, n) & ngrams(r, n)).total() for h, r in pairs) for n in range(1, max_n + 1)]
    total = [sum(ngrams(h, n).total() for h in hypotheses) for n in range(1, max_n + 1)]
    return sacrebleu.BLEU.compute_bleu(correct, total, sum(map(len, hypotheses)), sum(map(len, references)),
                                       smooth_method="none", max_ngram_order=max_n).score


class Metric(sacrebleu.BLEU):
    """A subclass of the learner's own."""


BLEU = {
    "sacrebleu.BLEU": lambda h, r, max_n=4: sacrebleu.BLEU(max_ngram_order=max_n, **SETTINGS).corpus_score(
        joined(h), [joined(r)]).score,
    "sacrebleu.corpus_bleu": lambda h, r, max_n=4: (
        sacrebleu.corpus_bleu(joined(h), [joined(r)], **SETTINGS) if max_n == 4 else
        Metric(max_ngram_order=max_n, **SETTINGS).corpus_score(joined(h), [joined(r)])).score,
    "a subclass": lambda h, r, max_n=4: Metric(max_ngram_order=max_n, **SETTINGS).corpus_score(
        joined(h), [joined(r)]).score,
    "prepared references": lambda h, r, max_n=4: Metric(
        max_ngram_order=max_n, references=[joined(r)], **SETTINGS).corpus_score(joined(h), None).score,
    "compute_bleu": by_compute_bleu,
}

CASES = [pytest.param("attention_weights", "attention" if how == "fused attention" else "softmax", answer,
                      id=f"attention_weights-{how}") for how, answer in SOFTMAX.items()]
CASES += [pytest.param("scaled_dot_product_attention", "attention", answer, id=f"attention-{how}")
          for how, answer in ATTENTION.items()]
CASES += [pytest.param("SelfAttention", "attention", as_module(answer), id=f"SelfAttention-{how}")
          for how, answer in ATTENTION.items()]
CASES += [pytest.param("LuongAttention", "attention", luong_module(fused), id="LuongAttention-F"),
          pytest.param("LuongAttention", "attention", luong_module(multihead), id="LuongAttention-nn"),
          pytest.param("local_weights", "attention", local_weights_by_attention, id="local_weights-F"),
          pytest.param("masked_attention", "attention", masked_by_attention, id="masked_attention-F"),
          pytest.param("tiled_attention", "attention", row_by_row, id="tiled_attention-F"),
          pytest.param("MultiHeadAttention", "attention", FusedHeads, id="MultiHeadAttention-F"),
          pytest.param("MultiHeadAttention", "attention", TorchsHeads, id="MultiHeadAttention-nn")]
CASES += [pytest.param(name, "attention", make(mix), id=f"{name}-{how}") for how, mix in MIXERS.items()
          for name, make in (("AdditiveAttention", as_additive), ("BahdanauDecoderStep", as_step))]
CASES += [pytest.param("attention_entropy", "entr", answer, id=f"attention_entropy-{how}")
          for how, answer in ENTROPY.items()]
CASES += [pytest.param("corpus_bleu", "sacrebleu", answer, id=f"corpus_bleu-{how}") for how, answer in BLEU.items()]


@pytest.mark.parametrize("name, family, answer", CASES)
def test_it_loses_exactly_the_values(name, family, answer):
    loses_exactly_the_values(name, family, answer)


@pytest.mark.parametrize("name, exercise", all_exercises().items())
def test_what_is_off_limits_costs_at_least_half(name, exercise):
    if exercise.off_limits:
        values = next(criterion for criterion in exercise.criteria if criterion.name == "values")
        assert values.points >= exercise.points / 2
