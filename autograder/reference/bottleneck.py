"""A plain Seq2Seq: one vector between two recurrent networks (Sutskever et al. 2014; Cho et al. 2014).

Shape letters as in book/conventions.md: batch, seq (src for the source), hidden, vocab.
"""

import math
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def teacher_forcing_batch(targets: Sequence[Sequence[int]], bos: int, eos: int, pad: int) -> tuple[Tensor, Tensor]:
    """What the decoder is fed, [bos, t1 .. tn, pad ..], and what it should say, [t1 .. tn, eos, pad ..].

    targets: non-empty lists of token ids -> two int64 tensors (batch, longest + 1).
    """
    width = max(map(len, targets)) + 1

    def padded(tokens: Sequence[int]) -> list[int]:
        return [*tokens, *[pad] * (width - len(tokens))]

    decoder_input = [padded([bos, *tokens]) for tokens in targets]
    decoder_target = [padded([*tokens, eos]) for tokens in targets]
    return torch.tensor(decoder_input), torch.tensor(decoder_target)


def masked_cross_entropy(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """-(1/N) sum log softmax(logits)_target over the N tokens of the batch that are not `pad`.

    logits (batch, seq, vocab), target (batch, seq), at least one token real -> loss, 0-dim.
    """
    real = target != pad
    return F.cross_entropy(logits[real], target[real])


class Encoder(nn.Module):
    """Reads the source with a GRU: a state for every token, and the state at each sequence's own last token.

    source (batch, seq), lengths (batch,) int64, each at least 1
    -> states (batch, seq, hidden), exactly zero past a sequence's end; final (batch, hidden).
    """

    def __init__(self, vocab_size: int, embed_dim: int, hidden_dim: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        states, _ = self.rnn(self.embedding(source))  # a state never depends on what comes after it
        batch = torch.arange(len(source), device=source.device)
        final = states[batch, lengths - 1]
        real = torch.arange(source.size(1), device=source.device) < lengths.unsqueeze(1)
        return states.masked_fill(~real.unsqueeze(-1), 0), final


@torch.no_grad()
def greedy_decode(model, state: Tensor, bos: int, eos: int, max_len: int) -> Tensor:
    """Feeds the most probable token back, step by step, until every row has said `eos` or `max_len` steps are done.

    `model.step(tokens (batch,) int64, state) -> (logits (batch, vocab), state)`; state: batch first.
    -> tokens (batch, width <= max_len) int64, without bos; after its first eos a row holds eos only.
    """
    tokens = torch.full((len(state),), bos, dtype=torch.int64, device=state.device)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    said = []
    while len(said) < max_len and not finished.all():
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1).masked_fill(finished, eos)
        finished = finished | (tokens == eos)
        said.append(tokens)
    return torch.stack(said, dim=1)


def corpus_bleu(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]], max_n: int = 4) -> float:
    """100 * min(1, exp(1 - r/c)) * (p_1 ... p_N)^(1/N), from 0 to 100 (Papineni et al. 2002, section 2.3).

    p_n: n-grams of the hypotheses found in their references, each at most as often as it stands there, over all
    n-grams of the hypotheses, pooled over the corpus; c, r: lengths of all hypotheses, of all references; N: max_n.
    0.0 where any order has no match.
    """
    log_precision = 0.0
    for n in range(1, max_n + 1):
        matches = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            found = _ngrams(hypothesis, n)
            matches += (found & _ngrams(reference, n)).total()  # `&` keeps the smaller count: clipping
            total += found.total()
        if matches == 0:
            return 0.0
        log_precision += math.log(matches / total) / max_n
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    return 100.0 * math.exp(log_precision + min(0.0, 1 - r / c))


def _ngrams(tokens: Sequence[str], n: int) -> Counter:
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))
