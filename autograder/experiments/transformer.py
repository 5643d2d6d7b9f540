"""A small Transformer as one more translator: the reference's classes, trained as in its paper (2017, section 5).

What differs from the recurrent ones: the model; the loss has label smoothing, the learning rate a warm-up. The
sentences, their number, their order and the clipping are the same.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from autograder.corpus import SentencePair, Vocabulary
from autograder.experiments.batches import Batch
from autograder.experiments.models import MAX_LEN, AttentionTranslator
from autograder.reference.kv_cache import CachedDecoder, DecoderState
from autograder.reference.training import smoothed_cross_entropy
from autograder.reference.transformer import Transformer

SMOOTHING = 0.1


class TransformerTranslator(AttentionTranslator):
    """Its alignment is the mean over the heads of the last layer's cross-attention.

    The state of a decoder is a `DecoderState`; hidden_dim is d_model, and d_ff four times that.
    """

    def __init__(self, source_words: Vocabulary, target_words: Vocabulary, hidden_dim: int = 128, num_heads: int = 4,
                 num_layers: int = 2, dropout: float = 0.1, norm_first: bool = False):
        nn.Module.__init__(self)  # a recurrent encoder, which the others share, has no place here
        self.source_words, self.target_words = source_words, target_words
        self.transformer = Transformer(len(source_words), len(target_words), hidden_dim, num_heads, num_layers,
                                       4 * hidden_dim, MAX_LEN, dropout, norm_first=norm_first)

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy with label smoothing, a target word: 0-dim."""
        return smoothed_cross_entropy(self(batch), batch.decoder_target, Vocabulary.pad, SMOOTHING)

    def forward(self, batch: Batch) -> Tensor:
        """Logits (batch, seq, vocab), teacher forcing."""
        return self.transformer(batch.source, batch.decoder_input, *self.masks(batch))

    def masks(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The source: what is real. The target: what is real and not in the future."""
        make_pad_mask, seq = self.transformer.make_pad_mask, batch.decoder_input
        return (make_pad_mask(batch.source, Vocabulary.pad),
                make_pad_mask(seq, Vocabulary.pad) & self.transformer.make_causal_mask(seq.size(1)))

    def encode(self, source: Tensor, lengths: Tensor) -> DecoderState:
        return CachedDecoder(self.transformer).start(source, self.transformer.make_pad_mask(source, Vocabulary.pad))

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        return CachedDecoder(self.transformer).step(tokens, state)

    @torch.no_grad()
    def alignments(self, pairs: Sequence[SentencePair], batch_size: int = 100) -> list[Tensor]:
        """As for the others, (target words, source words), from the weights of `cross_attention`."""
        return [weights[-1].mean(dim=0) for weights in self.cross_attention(pairs, batch_size)]

    @torch.no_grad()
    def cross_attention(self, pairs: Sequence[SentencePair], batch_size: int = 100) -> list[Tensor]:
        """For every pair the weights (layers, heads, target words, source words), fed the right translation."""
        seen, found = [], []
        hooks = [layer.cross_attn.register_forward_hook(lambda module, inputs, output: seen.append(output[1]))
                 for layer in self.transformer.decoder]
        for start in range(0, len(pairs), batch_size):
            group = pairs[start:start + batch_size]
            seen.clear()
            self(self.batch(group))
            weights = torch.stack(seen, dim=1)  # (batch, layers, heads, seq, src)
            found += [row[..., :len(pair.target), :len(pair.source)] for row, pair in zip(weights, group, strict=True)]
        for hook in hooks:
            hook.remove()
        return found


def alignment_by_head(model: TransformerTranslator, pairs: Sequence[SentencePair]) -> list[list[float]]:
    """In percent, for every layer and head: how often the largest weight of a target word is on a gold link."""
    attention, right = model.cross_attention(pairs), 0
    for weights, pair in zip(attention, pairs, strict=True):
        gold = torch.zeros(weights.shape[2:], dtype=torch.bool)
        gold[tuple(zip(*pair.alignment, strict=True))] = True
        right = right + gold.expand_as(weights).gather(-1, weights.argmax(dim=-1, keepdim=True)).sum(dim=(2, 3))
    total = sum(len(pair.target) for pair in pairs)
    return [[round(100 * count / total, 2) for count in layer] for layer in right.tolist()]
