"""Translators made of the reference modules, all with one interface, so that only the attention differs.

`loss(batch)` to train; `translate(pairs)` to use; `encode` and `step` as `greedy_decode` asks for them; with attention
also `alignment(pair)`. The encoder is a GRU in one direction, the decoder a GRU that starts from the encoder's last
state. Shape letters as in book/conventions.md: batch, src, seq (target), hidden, vocab.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from autograder.corpus import SentencePair, Vocabulary
from autograder.experiments.batches import Batch, make_batch
from autograder.reference.bahdanau import BahdanauDecoderStep, context_vector, masked_weights
from autograder.reference.bottleneck import Encoder, greedy_decode, masked_cross_entropy
from autograder.reference.luong import LuongAttention

MAX_LEN = 60
"""Words after which a translation is cut off; the longest of the corpus has under fifty."""


class Translator(nn.Module):
    """What all translators share. A subclass gives `forward(batch)`, `encode` and `step`."""

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, embed_dim: int, hidden_dim: int):
        super().__init__()
        self.source_words, self.target_words = source_words, target_words
        self.encoder = Encoder(len(source_words), embed_dim, hidden_dim)

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy a target word, teacher forcing: 0-dim."""
        return masked_cross_entropy(self(batch), batch.decoder_target, Vocabulary.pad)

    def batch(self, pairs: Sequence[SentencePair]) -> Batch:
        return make_batch(pairs, self.source_words, self.target_words)

    @torch.no_grad()
    def translate(self, pairs: Sequence[SentencePair], batch_size: int = 100) -> list[list[str]]:
        """The greedy translation of every source."""
        said = []
        for start in range(0, len(pairs), batch_size):
            batch = self.batch(pairs[start:start + batch_size])
            state = self.encode(batch.source, batch.lengths)
            tokens = greedy_decode(self, state, Vocabulary.bos, Vocabulary.eos, MAX_LEN)
            said += [self.target_words.decode(row) for row in tokens]
        return said


class Seq2Seq(Translator):
    """No attention: the decoder starts from the encoder's last state and sees nothing else of the source.

    The state is that one vector: (batch, hidden).
    """

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, embed_dim: int = 64, hidden_dim: int = 128):
        super().__init__(source_words, target_words, embed_dim, hidden_dim)
        self.embedding = nn.Embedding(len(target_words), embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)
        self.out = nn.Linear(hidden_dim, len(target_words))

    def forward(self, batch: Batch) -> Tensor:
        """Logits (batch, seq, vocab), teacher forcing."""
        return self._decode(batch.decoder_input, self.encode(batch.source, batch.lengths))[0]

    def encode(self, source: Tensor, lengths: Tensor) -> Tensor:
        return self.encoder(source, lengths)[1]

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        logits, state = self._decode(tokens.unsqueeze(1), state)
        return logits.squeeze(1), state

    def _decode(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        states, last = self.rnn(self.embedding(tokens), state.unsqueeze(0))
        return self.out(states), last.squeeze(0)


class AttentionTranslator(Translator):
    """The decoder may look back. A subclass gives `decode`.

    The state is one tensor (batch, 1 + src, hidden): the decoder's state, then the states of the encoder, of which
    those past the sentence's end are exactly zero.
    """

    def decode(self, tokens: Tensor, state: Tensor, encoder_states: Tensor,
               mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Feed tokens (batch, seq), whatever the model says: logits (batch, seq, vocab), the last state
        (batch, hidden), weights (batch, seq, src)."""
        raise NotImplementedError

    def forward(self, batch: Batch) -> Tensor:
        """Logits (batch, seq, vocab), teacher forcing."""
        return self._decode(batch.decoder_input, self.encode(batch.source, batch.lengths))[0]

    def encode(self, source: Tensor, lengths: Tensor) -> Tensor:
        states, final = self.encoder(source, lengths)
        return torch.cat([final.unsqueeze(1), states], dim=1)

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        logits, new, _ = self._decode(tokens.unsqueeze(1), state)
        return logits.squeeze(1), torch.cat([new.unsqueeze(1), state[:, 1:]], dim=1)

    @torch.no_grad()
    def alignments(self, pairs: Sequence[SentencePair], batch_size: int = 100) -> list[Tensor]:
        """For every pair the weights (target words, source words) while the model is fed the right translation."""
        found = []
        for start in range(0, len(pairs), batch_size):
            group = pairs[start:start + batch_size]
            batch = self.batch(group)
            weights = self._decode(batch.decoder_input, self.encode(batch.source, batch.lengths))[2]
            found += [row[:len(pair.target), :len(pair.source)] for row, pair in zip(weights, group, strict=True)]
        return found

    def alignment(self, pair: SentencePair) -> Tensor:
        """The weights (target words, source words) of one pair; every row sums to 1."""
        return self.alignments([pair])[0]

    def _decode(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        encoder_states = state[:, 1:]
        return self.decode(tokens, state[:, 0], encoder_states, (encoder_states != 0).any(dim=-1))


class BahdanauTranslator(AttentionTranslator):
    """Looks with the previous state, before it updates its state: step by step, even in training."""

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, embed_dim: int = 64, hidden_dim: int = 128):
        super().__init__(source_words, target_words, embed_dim, hidden_dim)
        self.decoder = BahdanauDecoderStep(len(target_words), embed_dim, hidden_dim, hidden_dim, hidden_dim)

    def decode(self, tokens: Tensor, state: Tensor, encoder_states: Tensor,
               mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """As `BahdanauDecoderStep` does, but W_h h_j, which no step changes, is computed once."""
        attention, cell = self.decoder.attention, self.decoder.cell
        keys = attention.W_h(encoder_states)
        states, all_weights = [], []
        for embedded in self.decoder.embedding(tokens).unbind(dim=1):
            scores = attention.v(torch.tanh(attention.W_s(state).unsqueeze(1) + keys)).squeeze(-1)
            weights = masked_weights(scores, mask)
            context = context_vector(weights, encoder_states)
            state = cell(torch.cat([context, embedded], dim=-1), state)
            states.append(state)
            all_weights.append(weights)
        return self.decoder.out(torch.stack(states, dim=1)), state, torch.stack(all_weights, dim=1)


class LuongTranslator(AttentionTranslator):
    """Looks with the current state, after the update; without input feeding, so training computes all steps at once.

    method: "dot", "general" or "concat", as for `LuongAttention`.
    """

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, embed_dim: int = 64, hidden_dim: int = 128,
                 method: str = "dot"):
        super().__init__(source_words, target_words, embed_dim, hidden_dim)
        self.embedding = nn.Embedding(len(target_words), embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)
        self.attention = LuongAttention(hidden_dim, hidden_dim, method)
        self.out = nn.Linear(hidden_dim, len(target_words))

    def decode(self, tokens: Tensor, state: Tensor, encoder_states: Tensor,
               mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """As `LuongAttention` does, but for the states of all steps at once."""
        states, last = self.rnn(self.embedding(tokens), state.unsqueeze(0))
        weights = self.weigh(self.scores(states, encoder_states), states, mask)
        looked = torch.cat([weights @ encoder_states, states], dim=-1)
        return self.out(torch.tanh(self.attention.W_c(looked))), last.squeeze(0), weights

    def scores(self, states: Tensor, encoder_states: Tensor) -> Tensor:
        """states (batch, seq, hidden), encoder_states (batch, src, hidden) -> (batch, seq, src)."""
        attention = self.attention
        if attention.method == "dot":
            return states @ encoder_states.mT
        if attention.method == "general":
            return states @ attention.W.weight @ encoder_states.mT
        W_s, W_h = attention.W.weight.split(states.size(-1), dim=1)  # W [s ; h] = W_s s + W_h h
        hidden = (states @ W_s.T).unsqueeze(2) + (encoder_states @ W_h.T).unsqueeze(1)
        return attention.v(torch.tanh(hidden)).squeeze(-1)

    def weigh(self, scores: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """scores (batch, seq, src), mask (batch, src) -> weights (batch, seq, src)."""
        return masked_weights(scores, mask.unsqueeze(1))
