"""The Transformer as a translator: what the other translators promise, with label smoothing and a warm-up."""

import math

import pytest
import torch

from autograder.corpus import Vocabulary, sentence_pairs
from autograder.experiments.batches import vocabularies
from autograder.experiments.measuring import alignment_quality, evaluate
from autograder.experiments.training import train
from autograder.experiments.transformer import TransformerTranslator, alignment_by_head

PAIRS = sentence_pairs(10, (0, 3), 0, "en-fr")


def translator(**options):
    torch.manual_seed(0)
    return TransformerTranslator(*vocabularies(PAIRS), hidden_dim=32, **options)


@pytest.fixture(scope="module")
def model():
    return translator().eval()


def test_step_by_step_equals_teacher_forcing(model):
    batch = model.batch(PAIRS)
    with torch.no_grad():
        logits, state = model(batch), model.encode(batch.source, batch.lengths)
        for t, tokens in enumerate(batch.decoder_input.unbind(dim=1)):
            now, state = model.step(tokens, state)
            real = tokens != Vocabulary.pad  # what stands in padding is no translation
            torch.testing.assert_close(now[real], logits[real, t], atol=1e-4, rtol=1e-4)


def test_company_and_padding_change_nothing(model):
    together = model(model.batch(PAIRS))
    for row, pair in enumerate(PAIRS):
        alone = model(model.batch([pair]))[0]
        torch.testing.assert_close(together[row, :len(alone)], alone, atol=1e-4, rtol=1e-4)
    assert model.translate(PAIRS, batch_size=3) == [model.translate([pair])[0] for pair in PAIRS]


def test_cross_attention_is_layers_heads_target_source(model):
    for pair, weights in zip(PAIRS, model.cross_attention(PAIRS, batch_size=4), strict=True):
        assert weights.shape == (2, 4, len(pair.target), len(pair.source))
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 4, len(pair.target)))
        torch.testing.assert_close(weights[1].mean(dim=0), model.alignment(pair))


def test_the_accuracy_of_a_head_is_counted_as_that_of_the_alignment(model, monkeypatch):
    by_head = alignment_by_head(model, PAIRS)
    assert len(by_head) == 2 and all(len(heads) == 4 for heads in by_head)
    attention = model.cross_attention(PAIRS)
    for layer, head in ((0, 3), (1, 1)):
        monkeypatch.setattr(model, "alignments", lambda pairs, i=layer, j=head: [w[i, j] for w in attention])
        assert by_head[layer][head] == alignment_quality(model, PAIRS)["accuracy"]


def test_ten_sentences_are_learned_by_heart():
    model = translator(dropout=0.0)
    floor = -0.9 * math.log(0.9) - 0.1 * math.log(0.1 / (len(model.target_words) - 2))
    losses = train(model, PAIRS, epochs=80, batch_size=5, learning_rate=5e-3, warmup=20, progress=False)
    assert floor < losses[-1] < floor + 0.1 < losses[0] and not model.training
    assert evaluate(model, PAIRS)["exact"] >= 90


@pytest.mark.parametrize("warmup", [0, 9])
def test_the_first_step_of_a_warm_up_is_a_small_one(warmup):
    """Adam's first step moves a parameter by the learning rate, whatever its gradient."""
    model = translator(dropout=0.0)
    before = model.transformer.proj.bias.detach().clone()
    train(model, PAIRS, epochs=1, batch_size=10, learning_rate=1e-2, warmup=warmup, progress=False)
    moved = (model.transformer.proj.bias - before).abs().max().item()
    assert moved == pytest.approx(1e-2 / (warmup + 1), rel=1e-3)
