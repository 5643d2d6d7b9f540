"""The guard sees a library function in every spelling, and nothing else."""

import pytest
import sacrebleu
import torch
import torch.nn.functional as F
from sacrebleu import corpus_bleu
from torch import nn, softmax

from autograder.learner.calls import Call
from autograder.learner.guard import FAMILIES, SPELLINGS, Watch
from autograder.learner.runner import run

X = torch.rand(2, 5, 4)

SOFTMAXES = [
    lambda x: torch.softmax(x, -1), lambda x: softmax(x, -1), lambda x: x.softmax(-1), lambda x: F.softmax(x, -1),
    lambda x: nn.Softmax(-1)(x), lambda x: torch.special.softmax(x, -1), lambda x: F.log_softmax(x, -1).exp(),
    lambda x: x.log_softmax(-1).exp(), lambda x: F.softmin(-x, -1), lambda x: torch.ops.aten._softmax(x, -1, False),
    lambda x: nn.LogSoftmax(-1)(x).exp(), lambda x: F.gumbel_softmax(x), lambda x: torch.special.log_softmax(x, -1),
]
ATTENTIONS = [
    lambda x: F.scaled_dot_product_attention(x, x, x),
    lambda x: torch._C._nn.scaled_dot_product_attention(x, x, x),
    lambda x: nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x)[0],
    lambda x: nn.MultiheadAttention(4, 2, batch_first=True).eval()(x, x, x)[0],
    lambda x: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()(x),
]
BLEUS = [
    lambda x: corpus_bleu(["a b c d"], [["a b c e"]]).score, lambda x: sacrebleu.sentence_bleu("a b", ["a b"]).score,
    lambda x: sacrebleu.metrics.BLEU(tokenize="none").corpus_score(["a b c"], [["a b c"]]).score,
    lambda x: sacrebleu.metrics.BLEU.compute_bleu([1, 1, 1, 1], [1, 1, 1, 1], 4, 4).score,
]
T = torch.zeros(2, 4, dtype=torch.int64)
SMOOTHED = [
    lambda x: F.cross_entropy(x, T, label_smoothing=0.1), lambda x: nn.CrossEntropyLoss(label_smoothing=0.1)(x, T),
    lambda x: torch._C._nn.cross_entropy_loss(x, T, None, 1, -100, 0.1),
]
NORMS = [
    lambda x: F.layer_norm(x, (4,)), lambda x: nn.LayerNorm(4)(x), lambda x: torch.layer_norm(x, (4,)),
    lambda x: torch.ops.aten.native_layer_norm(x, (4,), None, None, 1e-5)[0], lambda x: F.rms_norm(x, (4,)),
    lambda x: nn.GroupNorm(1, 5)(x), lambda x: F.instance_norm(x), lambda x: nn.InstanceNorm1d(5)(x),
    lambda x: F.batch_norm(x.flatten(0, 1).T, None, None, training=True).T, lambda x: nn.BatchNorm1d(5)(x),
    lambda x: torch.ops.aten._native_batch_norm_legit(x.flatten(0, 1).T, None, None, True, 0.1, 1e-5)[0].T,
]
ENTROPIES = [lambda x: torch.special.entr(x), lambda x: torch.ops.aten.special_entr(x)]
ALLOWED = [lambda x: x.exp() / x.exp().sum(-1, keepdim=True), lambda x: (x - x.logsumexp(-1, keepdim=True)).exp(),
           lambda x: torch.sigmoid(x), lambda x: -(x * x.log()), lambda x: nn.Linear(4, 4)(x) @ x.mT]


@pytest.mark.parametrize("family, answers", [("softmax", SOFTMAXES), ("attention", ATTENTIONS), ("entr", ENTROPIES),
                                             ("sacrebleu", BLEUS), ("layer_norm", NORMS),
                                             ("label_smoothing", SMOOTHED)])
def test_every_spelling_is_seen(family, answers):
    seen = [run(answer, Call((X,), watch=(family,))) for answer in answers]
    assert [reply.status for reply in seen] == ["returned"] * len(answers)
    assert [reply.used for reply in seen] == [(family,)] * len(answers)


@pytest.mark.parametrize("answer", ALLOWED)
def test_own_arithmetic_is_not_mistaken_for_the_library(answer):
    assert run(answer, Call((X,), watch=tuple(FAMILIES))).used == ()


def test_cross_entropy_without_smoothing_is_no_label_smoothing():
    for answer in (lambda x: F.cross_entropy(x, T), lambda x: nn.CrossEntropyLoss(ignore_index=0)(x, T)):
        assert run(answer, Call((X,), watch=("label_smoothing",))).used == ()


def test_softmax_is_allowed_where_only_attention_is_watched():
    assert run(SOFTMAXES[0], Call((X,), watch=("attention",))).used == ()


def test_every_family_can_be_named_to_the_learner():
    assert SPELLINGS.keys() == FAMILIES.keys()
    with pytest.raises(KeyError):
        Watch(["no such family"])
