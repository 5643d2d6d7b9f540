"""Every translator does what the reference modules say, learns ten sentences by heart, and keeps the interface."""

import math

import pytest
import torch

from autograder.corpus import Vocabulary, sentence_pairs
from autograder.experiments import run
from autograder.experiments.batches import batches, make_batch, vocabularies
from autograder.experiments.measuring import alignment_quality, evaluate
from autograder.experiments.training import train

PAIRS = sentence_pairs(10, (0, 3), 0, "en-fr")
MODELS = {name: made for name, made in run.MODELS.items() if name != "transformer"}  # which has tests of its own
ATTENTION = [name for name in MODELS if name != "plain"]
SUM_TO_ONE = [name for name in ATTENTION if name != "local-p"]


def model_of(name: str, pairs=PAIRS, **sizes):
    kind, arguments = MODELS[name]
    torch.manual_seed(0)
    return kind(*vocabularies(pairs), **{"embed_dim": 16, "hidden_dim": 32, **sizes}, **arguments)


@pytest.mark.parametrize("name", MODELS)
def test_loss_at_the_start_is_that_of_guessing(name):
    model = model_of(name, hidden_dim=64)
    loss = model.loss(model.batch(PAIRS)).item()
    assert abs(loss - math.log(len(model.target_words))) < 0.25


@pytest.mark.parametrize("name", MODELS)
def test_ten_sentences_are_learned_by_heart(name):
    model = model_of(name, embed_dim=32, hidden_dim=64)
    losses = train(model, PAIRS, epochs=120, batch_size=5, learning_rate=1e-2, progress=False)
    assert losses[-1] < 0.1 < losses[0] and not model.training
    scores = evaluate(model, PAIRS)
    assert scores["bleu"] > 95 and scores["exact"] >= 90


@pytest.mark.parametrize("name", MODELS)
def test_step_by_step_equals_teacher_forcing(name):
    model = model_of(name)
    batch = model.batch(PAIRS)
    logits, state = model(batch), model.encode(batch.source, batch.lengths)
    assert len(state) == len(PAIRS)
    for t, tokens in enumerate(batch.decoder_input.unbind(dim=1)):
        now, state = model.step(tokens, state)
        torch.testing.assert_close(now, logits[:, t])


@pytest.mark.parametrize("name", MODELS)
def test_company_and_padding_change_nothing(name):
    model = model_of(name)
    together = model(model.batch(PAIRS))
    for row, pair in enumerate(PAIRS):
        alone = model(model.batch([pair]))[0]
        torch.testing.assert_close(together[row, :len(alone)], alone)


@pytest.mark.parametrize("name", MODELS)
def test_translations_are_words_in_the_order_of_the_pairs(name):
    model = model_of(name)
    said = model.translate(PAIRS, batch_size=3)
    assert said == [model.translate([pair])[0] for pair in PAIRS]
    assert all(set(words) <= set(model.target_words.words) - {"<pad>", "<bos>", "<eos>"} for words in said)


def test_bahdanau_equals_the_steps_of_the_reference():
    model = model_of("bahdanau")
    batch = model.batch(PAIRS)
    encoder_states, state = model.encoder(batch.source, batch.lengths)
    mask = batch.source != Vocabulary.pad
    logits, weights = model(batch), model.alignments(PAIRS)
    for t, tokens in enumerate(batch.decoder_input.unbind(dim=1)):
        now, state, looked = model.decoder(tokens, state, encoder_states, mask)
        torch.testing.assert_close(now, logits[:, t])
        for row, pair in enumerate(PAIRS):
            if t < len(pair.target):
                torch.testing.assert_close(looked[row, :len(pair.source)], weights[row][t])


@pytest.mark.parametrize("name", ["dot", "general", "concat"])
def test_luong_equals_the_reference_at_every_step(name):
    model = model_of(name)
    batch = model.batch(PAIRS)
    encoder_states, final = model.encoder(batch.source, batch.lengths)
    mask = batch.source != Vocabulary.pad
    states = model.rnn(model.embedding(batch.decoder_input), final.unsqueeze(0))[0]
    logits = model(batch)
    for t, state in enumerate(states.unbind(dim=1)):
        attentional, weights = model.attention(state, encoder_states, mask)
        torch.testing.assert_close(model.out(attentional), logits[:, t])
        for row, pair in enumerate(PAIRS):
            if t < len(pair.target):
                torch.testing.assert_close(weights[row, :len(pair.source)], model.alignment(pair)[t])


@pytest.mark.parametrize("name", ATTENTION)
def test_alignments_are_target_by_source(name):
    model = model_of(name)
    for pair, weights in zip(PAIRS, model.alignments(PAIRS, batch_size=4), strict=True):
        assert weights.shape == (len(pair.target), len(pair.source)) and (weights >= 0).all()
        torch.testing.assert_close(weights, model.alignment(pair))
        if name in SUM_TO_ONE:
            torch.testing.assert_close(weights.sum(dim=-1), torch.ones(len(pair.target)))
        else:
            assert (weights.sum(dim=-1) <= 1 + 1e-6).all()


def test_the_local_window_stays_inside_the_sentence_and_moves():
    model = model_of("local-p")
    states, lengths = torch.randn(3, 4, 32), torch.tensor([[1], [5], [9]])
    center = model.center(states, lengths)
    assert (center >= 0).all() and (center <= lengths - 1).all() and center[2].std() > 0


def test_the_monotonic_window_moves_by_one_word_and_waits_at_the_last():
    model = model_of("local-m")
    pair = max(PAIRS, key=lambda pair: len(pair.target))
    for t, row in enumerate(model.alignment(pair)):
        center = min(t, len(pair.source) - 1)
        seen = {j for j, weight in enumerate(row) if weight > 0}
        assert seen == {j for j in range(len(pair.source)) if abs(j - center) <= model.half_width}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_reach_every_parameter(name):
    model = model_of(name)
    model.loss(model.batch(PAIRS)).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() and p.grad.any() for p in model.parameters())


def test_batches_hold_every_pair_once_and_little_padding():
    pairs = sentence_pairs(500, (0, 7), 0, "en-fr")
    words = vocabularies(pairs)
    groups = list(batches(pairs, *words, batch_size=32, seed=1))
    sources = sorted(" ".join(words[0].decode(row)) for batch in groups for row in batch.source)
    assert sources == sorted(" ".join(pair.source) for pair in pairs)
    padding = sum((batch.decoder_target == Vocabulary.pad).sum().item() for batch in groups)
    assert padding < 0.1 * sum(len(pair.target) + 1 for pair in pairs)
    orders = [[batch.source.tolist() for batch in batches(pairs, *words, 32, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_a_batch_is_padded_as_the_reference_pads():
    words = vocabularies(PAIRS)
    batch = make_batch(PAIRS, *words)
    for row, pair in enumerate(PAIRS):
        n, m = len(pair.source), len(pair.target)
        assert batch.lengths[row] == n
        assert batch.source[row].tolist()[:n] == words[0].encode(pair.source) and not batch.source[row, n:].any()
        assert batch.decoder_input[row].tolist()[:m + 1] == [Vocabulary.bos, *words[1].encode(pair.target)]
        assert batch.decoder_target[row].tolist()[:m + 1] == [*words[1].encode(pair.target), Vocabulary.eos]


def test_the_same_seed_trains_the_same_model():
    def losses(seed):
        return train(model_of("dot"), PAIRS, epochs=2, batch_size=4, seed=seed, progress=False)

    assert losses(0) == losses(0) != losses(1)


def test_training_on_word_order_beats_chance_in_alignment():
    """Forty sentences, a minute of nothing: only that the numbers are there and between 0 and 100."""
    quality = alignment_quality(model_of("dot"), PAIRS)
    assert 0 <= quality["accuracy"] <= 100 and 0 <= quality["aer"] <= 100
