"""The plain Seq2Seq's reference equals torch's own cross-entropy and packed GRU, sacrebleu, and slow loops."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from autograder.reference.bottleneck import (
    Encoder,
    corpus_bleu,
    greedy_decode,
    masked_cross_entropy,
    teacher_forcing_batch,
)

SEEDS = range(3)
DTYPES = (torch.float32, torch.float64)
PAD, BOS, EOS = 0, 1, 2

words = st.lists(st.integers(3, 9), min_size=1, max_size=6)


@given(st.lists(words, min_size=1, max_size=5))
def test_teacher_forcing_shifts_by_one(targets):
    fed, said = teacher_forcing_batch(targets, BOS, EOS, PAD)
    width = max(len(target) for target in targets) + 1
    assert fed.shape == said.shape == (len(targets), width) and fed.dtype == said.dtype == torch.int64
    for row, target in enumerate(targets):
        n = len(target)
        assert fed[row].tolist() == [BOS, *target] + [PAD] * (width - n - 1)
        assert said[row].tolist() == [*target, EOS] + [PAD] * (width - n - 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cross_entropy_equals_torch_with_ignore_index(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(4, 5, 7, generator=generator, dtype=dtype, requires_grad=True)
    target = torch.randint(0, 7, (4, 5), generator=generator)
    target[0, 0] = 3
    theirs = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
    ours = masked_cross_entropy(logits, target, PAD)
    assert ours.dtype == dtype and ours.shape == ()
    torch.testing.assert_close(ours, theirs)
    for a, b in zip(torch.autograd.grad(ours, logits), torch.autograd.grad(theirs, logits), strict=True):
        torch.testing.assert_close(a, b)


def test_cross_entropy_gradcheck():
    logits = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([[3, PAD, 4], [PAD, 1, PAD]])
    assert torch.autograd.gradcheck(lambda x: masked_cross_entropy(x, target, PAD), logits)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_encoder_equals_a_packed_gru(seed, dtype):
    torch.manual_seed(seed)
    encoder = Encoder(11, 5, 7).to(dtype)
    source, lengths = torch.randint(0, 11, (4, 6)), torch.tensor([6, 1, 4, 2])[torch.randperm(4)]
    packed = pack_padded_sequence(encoder.embedding(source), lengths, batch_first=True, enforce_sorted=False)
    output, last = encoder.rnn(packed)
    theirs = pad_packed_sequence(output, batch_first=True, total_length=6)[0], last.squeeze(0)
    ours = encoder(source, lengths)
    direction = [torch.randn_like(t) for t in theirs]
    gradients = []
    for (states, final) in (ours, theirs):
        total = (states * direction[0]).sum() + (final * direction[1]).sum()
        gradients.append(torch.autograd.grad(total, list(encoder.parameters())))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(*gradients)
    past = torch.arange(6) >= lengths.unsqueeze(1)
    assert past.any() and (ours[0][past] == 0).all()


def test_encoder_does_not_read_the_padding():
    torch.manual_seed(0)
    encoder, lengths = Encoder(11, 5, 7), torch.tensor([2, 5])
    source = torch.randint(0, 11, (2, 6))
    other = source.clone()
    other[0, 2:] = (other[0, 2:] + 1) % 11
    torch.testing.assert_close(encoder(source, lengths), encoder(other, lengths), atol=0, rtol=0)


class Table:
    """Logits that depend on the last word and on how many words were said; state (batch, 1) counts them."""

    def __init__(self, seed: int, vocab: int = 6, steps: int = 8):
        self.logits = torch.randn(steps, vocab, vocab, generator=torch.Generator().manual_seed(seed))

    def step(self, tokens, state):
        return self.logits[state[:, 0], tokens], state + 1


def slow_greedy(model, start: int, max_len: int) -> list[int]:
    """One sentence, up to and with its eos."""
    said, word, clock = [], BOS, start
    while len(said) < max_len and EOS not in said:
        row = model.logits[clock, word].tolist()
        word = row.index(max(row))
        said.append(word)
        clock += 1
    return said


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("max_len", [1, 2, 5])
def test_greedy_decode_equals_one_sentence_at_a_time(seed, max_len):
    model = Table(seed)
    alone = [slow_greedy(model, start, max_len) for start in (0, 1, 2, 3)]
    together = greedy_decode(model, torch.tensor([[0], [1], [2], [3]]), BOS, EOS, max_len)
    width = max(map(len, alone))
    assert together.dtype == torch.int64
    assert together.tolist() == [row + [EOS] * (width - len(row)) for row in alone]


def test_some_of_these_tables_stop_early_and_some_never():
    ends = [EOS in slow_greedy(Table(seed), start, 5) for seed in range(20) for start in range(4)]
    assert any(ends) and not all(ends)


sentences = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5), st.integers(1, 4))
def test_bleu_equals_sacrebleu(pairs, max_n):
    hypotheses, references = zip(*pairs, strict=True)
    theirs = BLEU(tokenize="none", smooth_method="none", max_ngram_order=max_n, force=True).corpus_score(
        [" ".join(words) for words in hypotheses], [[" ".join(words) for words in references]])
    ours = corpus_bleu(hypotheses, references, max_n)
    assert type(ours) is float and ours == pytest.approx(theirs.score, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_bleu_of_close_sentences_equals_sacrebleu(seed):
    """Random sentences share few four-grams; these share most."""
    generator = torch.Generator().manual_seed(seed)
    references = [[f"w{i}" for i in torch.randint(0, 9, (n,), generator=generator).tolist()] for n in (5, 12, 20, 31)]
    hypotheses = [[*row[:n // 2], "x", *row[n // 2 + seed:]] for row in references if (n := len(row))]
    ours = corpus_bleu(hypotheses, references)
    theirs = BLEU(tokenize="none", smooth_method="none", force=True).corpus_score(
        [" ".join(words) for words in hypotheses], [[" ".join(words) for words in references]])
    assert 40 < ours < 100 and ours == pytest.approx(theirs.score, abs=1e-9)


def test_bleu_at_its_ends():
    same = [["the", "cat", "was", "tired"]]
    assert corpus_bleu(same, same) == pytest.approx(100.0)
    assert corpus_bleu([["the", "cat"]], same) == 0.0  # no four-gram
    assert corpus_bleu([["a", "b", "c", "d"]], same) == 0.0
    assert corpus_bleu([[]], same) == 0.0
