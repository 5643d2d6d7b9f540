"""Sentence pairs as padded tensors."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from autograder.corpus import SentencePair, Vocabulary
from autograder.reference.bottleneck import teacher_forcing_batch

POOL = 20
"""Sentences of so many batches are sorted by length together, so that a batch has little padding."""


class Batch(NamedTuple):
    """source (batch, src) int64; lengths (batch,) int64; decoder_input and decoder_target (batch, seq) int64."""

    source: Tensor
    lengths: Tensor
    decoder_input: Tensor
    decoder_target: Tensor


def vocabularies(pairs: Sequence[SentencePair]) -> tuple[Vocabulary, Vocabulary]:
    """The words of the sources and of the targets."""
    return Vocabulary(pair.source for pair in pairs), Vocabulary(pair.target for pair in pairs)


def make_batch(pairs: Sequence[SentencePair], source_words: Vocabulary, target_words: Vocabulary) -> Batch:
    """All pairs in one batch, in their order."""
    source = [torch.tensor(source_words.encode(pair.source)) for pair in pairs]
    padded = torch.nn.utils.rnn.pad_sequence(source, batch_first=True, padding_value=Vocabulary.pad)
    targets = [target_words.encode(pair.target) for pair in pairs]
    return Batch(padded, torch.tensor([len(tokens) for tokens in source]),
                 *teacher_forcing_batch(targets, Vocabulary.bos, Vocabulary.eos, Vocabulary.pad))


def batches(pairs: Sequence[SentencePair], source_words: Vocabulary, target_words: Vocabulary, batch_size: int,
            seed: int) -> Iterator[Batch]:
    """One epoch: every pair once, in an order that the seed decides, similar lengths together."""
    random = Random(seed)
    shuffled = random.sample(pairs, len(pairs))
    groups = []
    for start in range(0, len(shuffled), POOL * batch_size):
        pool = sorted(shuffled[start:start + POOL * batch_size], key=lambda pair: len(pair.target))
        groups += [pool[i:i + batch_size] for i in range(0, len(pool), batch_size)]
    random.shuffle(groups)
    for group in groups:
        yield make_batch(group, source_words, target_words)
