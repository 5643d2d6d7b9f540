"""Learning rate, smoothed loss and beam search, each against another way to the same numbers."""

import itertools

import pytest
import torch
from torch.nn import functional as F

from autograder.learner.models import TableDecoder
from autograder.reference import training
from autograder.reference.bottleneck import greedy_decode

BOS, EOS = 0, 2


def test_the_rate_rises_to_the_warmup_and_falls_after_it():
    rates = [training.noam_learning_rate(step, 64, 40) for step in range(200)]
    assert rates[0] == 0.0 and max(rates) == rates[40] == pytest.approx((64 * 40) ** -0.5)
    assert rates[10] == pytest.approx(rates[20] / 2) and rates[160] == pytest.approx(rates[40] / 2)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_loss_is_the_mean_of_cross_entropies_by_hand(smoothing):
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(2, 4, 6, generator=generator, dtype=torch.float64)
    target = torch.tensor([[1, 5, 3, 3], [2, 3, 4, 3]])  # 3 is pad
    terms = []
    for row, column in itertools.product(range(2), range(4)):
        if target[row, column] != 3:
            log_p = F.log_softmax(logits[row, column], 0)
            others = [k for k in range(6) if k not in (3, target[row, column].item())]
            terms.append(-(1 - smoothing) * log_p[target[row, column]] - smoothing / 4 * sum(log_p[k] for k in others))
    loss = training.smoothed_cross_entropy(logits, target, 3, smoothing)
    torch.testing.assert_close(loss, torch.stack(terms).mean(), atol=1e-12, rtol=0)
    if smoothing == 0:
        right = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=3)
        torch.testing.assert_close(loss, right, atol=1e-12, rtol=0)


def model(seed, rows=3, steps=4, vocab=3):
    scores = torch.randn(rows, steps, vocab, vocab, generator=torch.Generator().manual_seed(seed)) * 1.5
    return TableDecoder(scores)


@pytest.mark.parametrize("seed", range(10))
def test_one_beam_is_greedy(seed):
    decoder = model(seed)
    beam = training.beam_search(decoder, decoder.start(), BOS, EOS, 1, 4, 1.0)
    assert torch.equal(beam, greedy_decode(decoder, decoder.start(), BOS, EOS, 4))


def best_by_trying_all(scores, steps, penalty):
    """Every sequence of a row: up to its first eos, or of full length."""
    best = None
    for words in itertools.product(range(scores.size(-1)), repeat=steps):
        words = words[: words.index(EOS) + 1] if EOS in words else words
        total = sum(F.log_softmax(scores[step, before], 0)[word].item()
                    for step, (before, word) in enumerate(zip((BOS, *words), words, strict=False)))
        best = max(best or (-float("inf"), ()), (total / len(words) ** penalty, words))
    return list(best[1])


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(5))
def test_enough_beams_find_the_best_of_all_sequences(seed, penalty):
    decoder = model(seed)
    found = training.beam_search(decoder, decoder.start(), BOS, EOS, 81, 4, penalty).tolist()
    for row, tokens in enumerate(found):
        right = best_by_trying_all(decoder.scores[row], 4, penalty)
        assert tokens == right + [EOS] * (len(tokens) - len(right))


@pytest.mark.parametrize("seed", range(5))
def test_many_beams_are_never_less_probable_than_one(seed):
    decoder = model(seed, steps=6, vocab=5)

    def total(tokens, row):
        words = [BOS, *tokens]
        words = words[: words.index(EOS, 1) + 1] if EOS in words[1:] else words
        return sum(F.log_softmax(decoder.scores[row, i, a], 0)[b].item()
                   for i, (a, b) in enumerate(itertools.pairwise(words)))

    narrow, wide = (training.beam_search(decoder, decoder.start(), BOS, EOS, size, 6, 0.0) for size in (1, 500))
    assert all(total(w, row) >= total(n, row) - 1e-6
               for row, (n, w) in enumerate(zip(narrow.tolist(), wide.tolist(), strict=True)))
