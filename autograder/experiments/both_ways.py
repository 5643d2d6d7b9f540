"""Bahdanau's translator with the encoder of the paper (2015, section 3.2): it reads the source in both directions."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from autograder.corpus import Vocabulary
from autograder.experiments.models import BahdanauTranslator


class BothWaysEncoder(nn.Module):
    """h_j = [forward_j ; backward_j], each of size hidden_dim / 2: the words up to j, and the words from j on.

    source (batch, src), lengths (batch,) -> states (batch, src, hidden), exactly zero past a sequence's end; final
    (batch, hidden): the last state of either reading. Raises ValueError for an odd hidden_dim.
    """

    def __init__(self, vocab_size: int, embed_dim: int, hidden_dim: int):
        super().__init__()
        if hidden_dim % 2:
            raise ValueError(f"hidden_dim is {hidden_dim}, but two readings share it; give an even number.")
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim // 2, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        # Packed, because the reading from the end must not begin in the padding.
        packed = pack_padded_sequence(self.embedding(source), lengths, batch_first=True, enforce_sorted=False)
        states, final = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.size(1))
        return states, torch.cat([final[0], final[1]], dim=-1)


class BothWaysTranslator(BahdanauTranslator):
    """`BahdanauTranslator` whose encoder reads in both directions; all sizes are the same."""

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, embed_dim: int = 64, hidden_dim: int = 128):
        super().__init__(source_words, target_words, embed_dim, hidden_dim)
        self.encoder = BothWaysEncoder(len(source_words), embed_dim, hidden_dim)
