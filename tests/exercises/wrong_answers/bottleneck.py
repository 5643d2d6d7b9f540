"""Chapter 01, the batch, the loss and the encoder. For Encoder a function takes x, states, lengths (all unmasked)."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from autograder.reference.bottleneck import masked_cross_entropy, teacher_forcing_batch


def rows(make, fill=None, width=None):
    """A batch of `make(tokens, bos, eos, pad)` for input and target, filled up to `width(longest)` columns."""
    def answer(targets, bos, eos, pad):
        columns = (width or (lambda longest: longest + 1))(max(map(len, targets)))
        filler = pad if fill is None else fill
        made = [make(list(tokens), bos, eos, pad) for tokens in targets]
        return tuple(torch.tensor([row + [filler] * (columns - len(row)) for row in part])
                     for part in zip(*made, strict=True))

    return answer


def changed(change):
    """The right batch, changed afterwards."""
    return lambda targets, bos, eos, pad: change(*teacher_forcing_batch(targets, bos, eos, pad))


def in_place(targets, bos, eos, pad):
    width = max(map(len, targets)) + 1
    fed = torch.tensor([[bos, *tokens] + [pad] * (width - len(tokens) - 1) for tokens in targets])
    for tokens in targets:
        tokens.append(eos)
        tokens.extend([pad] * (width - len(tokens)))
    return fed, torch.tensor(targets)


def eos_over_the_first_pad_or_the_last_word(targets, bos, eos, pad):
    longest = max(map(len, targets))
    words = torch.tensor([[*tokens, *[pad] * (longest - len(tokens))] for tokens in targets])
    ends = torch.tensor([min(len(tokens), longest - 1) for tokens in targets])
    bos_column = torch.full((len(targets), 1), bos)
    target = F.pad(words.scatter(1, ends.unsqueeze(1), eos), (0, 1), value=pad)
    return torch.cat([bos_column, words], dim=1), target


TEACHER_FORCING_BATCH = {
    "target two ahead": rows(lambda t, bos, eos, pad: ([bos, *t], [*t[1:], eos])),
    "bos in the target": rows(lambda t, bos, eos, pad: ([bos, *t], [bos, *t[1:], eos])),
    "eos in front": rows(lambda t, bos, eos, pad: ([eos, *t], [*t, eos])),
    "bos and eos swapped": rows(lambda t, bos, eos, pad: ([eos, *t], [*t, bos])),
    "padded with 0": rows(lambda t, bos, eos, pad: ([bos, *t], [*t, eos]), fill=0),
    "padded with -100": rows(lambda t, bos, eos, pad: ([bos, *t], [*t, eos]), fill=-100),
    "one column too many": rows(lambda t, bos, eos, pad: ([bos, *t], [*t, eos]), width=lambda longest: longest + 2),
    "always ten columns": rows(lambda t, bos, eos, pad: ([bos, *t], [*t, eos]), width=lambda longest: 10),
    "reversed words": rows(lambda t, bos, eos, pad: ([bos, *t[::-1]], [*t[::-1], eos])),
    "target reversed": rows(lambda t, bos, eos, pad: ([bos, *t], [*t[::-1], eos])),
    "last word not fed": rows(lambda t, bos, eos, pad: ([bos, *t[:-1]], [*t, eos])),
    "without repeated words": rows(lambda t, bos, eos, pad: (
        [bos, *dict.fromkeys(t[:1])], [*dict.fromkeys(t[:1]), eos])),
    "numbers fixed": rows(lambda t, bos, eos, pad: ([1, *t], [*t, 2])),
    "sorted by length": lambda targets, bos, eos, pad: teacher_forcing_batch(
        sorted(targets, key=len, reverse=True), bos, eos, pad),
    "target left, input right": rows(lambda t, bos, eos, pad: ([bos, *t], [pad, *t, eos]),
                                     width=lambda longest: longest + 2),
    "time first": lambda targets, bos, eos, pad: tuple(
        pad_sequence(list(map(torch.tensor, part)), padding_value=pad)
        for part in ([[bos, *t] for t in targets], [[*t, eos] for t in targets])),
    "pad_sequence without a pad": lambda targets, bos, eos, pad: tuple(
        pad_sequence(list(map(torch.tensor, part)), batch_first=True)
        for part in ([[bos, *t] for t in targets], [[*t, eos] for t in targets])),
    "ragged": lambda targets, bos, eos, pad: (torch.tensor([[bos, *t] for t in targets]),
                                              torch.tensor([[*t, eos] for t in targets])),
    "floats": changed(lambda fed, said: (fed.float(), said.float())),
    "int32": changed(lambda fed, said: (fed.int(), said.int())),
    "lists": changed(lambda fed, said: (fed.tolist(), said.tolist())),
    "only the input": changed(lambda fed, said: fed),
    "stacked": changed(lambda fed, said: torch.stack([fed, said])),
    "with a mask": changed(lambda fed, said: (fed, said, said != 0)),
    "in place on the sentences": in_place,
    "eos over the first pad or the last word": eos_over_the_first_pad_or_the_last_word,
}


def losses(logits, target):
    return -torch.log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)


def mean_over(select):
    """The mean loss over the positions that `select(real)` leaves of the mask of real tokens."""
    return lambda logits, target, pad: losses(logits, target)[select(target != pad)].mean()


def own_softmax(logits, target, pad):
    exponentials = logits.exp()
    chosen = (exponentials / exponentials.sum(-1, keepdim=True)).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -chosen.log()[target != pad].mean()


def losses_squeezed(logits, target, pad):
    chosen = logits.gather(-1, target.unsqueeze(-1)).squeeze()
    return (logits.logsumexp(-1) - chosen)[target != pad].mean()


def target_overwritten(logits, target, pad):
    target[target == pad] = -100
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


MASKED_CROSS_ENTROPY = {
    "sign forgotten": lambda logits, target, pad: -masked_cross_entropy(logits, target, pad),
    "every axis squeezed": losses_squeezed,
    "only pads": mean_over(lambda real: ~real),
    "one loss a token": lambda logits, target, pad: losses(logits, target) * (target != pad),
    "one loss a sentence": lambda logits, target, pad: (losses(logits, target) * (target != pad)).sum(1),
    "plain float": lambda logits, target, pad: masked_cross_entropy(logits, target, pad).item(),
    "shape (1,)": lambda logits, target, pad: masked_cross_entropy(logits, target, pad).unsqueeze(0),
    "perplexity": lambda logits, target, pad: masked_cross_entropy(logits, target, pad).exp(),
    "bits": lambda logits, target, pad: masked_cross_entropy(logits, target, pad) / math.log(2),
    "label smoothing": lambda logits, target, pad: F.cross_entropy(
        logits.mT, target, ignore_index=pad, label_smoothing=0.1),
    "shifted once more": lambda logits, target, pad: F.cross_entropy(
        logits[:, :-1].mT, target[:, 1:], ignore_index=pad),
    "first column left out": mean_over(lambda real: real & (torch.arange(real.size(1)) > 0)),
    "last real token left out": mean_over(lambda real: real & (real.flip(1).cumsum(1).flip(1) > 1)),
    "everything behind the first pad": mean_over(lambda real: real.int().cumprod(1).bool()),
    "pads only at the end": mean_over(lambda real: torch.arange(real.size(1)) < real.sum(1, keepdim=True)),
    "pad's logit forbidden": lambda logits, target, pad: masked_cross_entropy(
        logits.index_fill(-1, torch.tensor(pad), -1e9), target, pad),
    "ignores -100": lambda logits, target, pad: F.cross_entropy(logits.mT, target, ignore_index=-100),
    "median": lambda logits, target, pad: losses(logits, target)[target != pad].median(),
    "largest word": lambda logits, target, pad: -torch.log_softmax(logits, -1).amax(-1)[target != pad].mean(),
    "logits averaged": lambda logits, target, pad: -logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)[
        target != pad].mean(),
    "probability, no logarithm": lambda logits, target, pad: 1 - torch.softmax(logits, -1).gather(
        -1, target.unsqueeze(-1)).squeeze(-1)[target != pad].mean(),
    "squared error": lambda logits, target, pad: ((torch.softmax(logits, -1) - F.one_hot(
        target, logits.size(-1)))**2).sum(-1)[target != pad].mean(),
    "a tiny number in the logarithm": lambda logits, target, pad: -(torch.softmax(logits, -1).gather(
        -1, target.unsqueeze(-1)).squeeze(-1) + 1e-9)[target != pad].log().mean(),
    "a tiny number in the denominator": lambda logits, target, pad: (losses(logits, target) * (target != pad)).sum() / (
        (target != pad).sum() + 1e-2),
    "own softmax": own_softmax,
    "normalised by hand": lambda logits, target, pad: (logits.exp().sum(-1).log() - logits.gather(
        -1, target.unsqueeze(-1)).squeeze(-1))[target != pad].mean(),
    "logits clipped": lambda logits, target, pad: masked_cross_entropy(logits.clamp(-50, 50), target, pad),
    "detached": lambda logits, target, pad: masked_cross_entropy(logits.detach(), target, pad),
    "float32 inside": lambda logits, target, pad: masked_cross_entropy(logits.float(), target, pad).to(logits.dtype),
    "always float32": lambda logits, target, pad: masked_cross_entropy(logits.float(), target, pad),
    "view": lambda logits, target, pad: F.cross_entropy(
        logits.view(-1, logits.size(-1)), target.view(-1), ignore_index=pad),
    "target overwritten": target_overwritten,
    "batch axis": lambda logits, target, pad: -torch.log_softmax(logits, 0).gather(
        -1, target.unsqueeze(-1)).squeeze(-1)[target != pad].mean(),
}


class Parts(nn.Module):
    """Encoder around a slip: `finish(vectors, states, lengths)` gets what the GRU says, nothing cleared."""

    finish = None

    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)

    def forward(self, source, lengths):
        vectors = self.embedding(source)
        return type(self).finish(vectors, self.rnn(vectors)[0], lengths)


def module(finish):
    return type("Encoder", (Parts,), {"finish": staticmethod(finish)})


def cleared(states, lengths):
    return states * (torch.arange(states.size(1)) < lengths.unsqueeze(1)).unsqueeze(-1)


def last(states, lengths):
    return states[torch.arange(len(states)), lengths - 1]


def right(vectors, states, lengths):
    return cleared(states, lengths), last(states, lengths)


class Other(Parts):
    """Encoder with other parts, otherwise right."""

    finish = staticmethod(right)
    parts = None

    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim)
        for name, part in type(self).parts(vocab_size, embed_dim, hidden_dim).items():
            setattr(self, name, part)


def other(**parts):
    return type("Encoder", (Other,), {"parts": staticmethod(
        lambda vocab, embed, hidden: {name: make(vocab, embed, hidden) for name, make in parts.items()})})


class OtherNames(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, embed_dim)
        self.gru = nn.GRU(embed_dim, hidden_dim, batch_first=True)

    def forward(self, source, lengths):
        vectors = self.embed(source)
        return right(vectors, self.gru(vectors)[0], lengths)


class DropoutInTraining(Parts):
    def forward(self, source, lengths):
        vectors = F.dropout(self.embedding(source), 0.1, self.training)
        return right(vectors, self.rnn(vectors)[0], lengths)


class ClearedInTrainingOnly(Parts):
    def forward(self, source, lengths):
        vectors = self.embedding(source)
        states, final = right(vectors, self.rnn(vectors)[0], lengths)
        return (states if self.training else self.rnn(vectors)[0]), final


class Backwards(Parts):
    def forward(self, source, lengths):
        vectors = self.embedding(source.flip(1))
        return right(vectors, self.rnn(vectors)[0].flip(1), lengths)


class RandomStart(Parts):
    def forward(self, source, lengths):
        vectors = self.embedding(source)
        start = 0.1 * torch.randn(1, len(source), self.rnn.hidden_size, dtype=vectors.dtype)
        return right(vectors, self.rnn(vectors, start)[0], lengths)


class PaddingIsZero(Parts):
    """Takes the words that are 0 for padding, whatever the lengths say."""

    def forward(self, source, lengths):
        vectors = self.embedding(source)
        lengths = (source != 0).sum(1).clamp(min=1)
        return right(vectors, self.rnn(vectors)[0], lengths)


class StateCarriedOver(Parts):
    def forward(self, source, lengths):
        vectors = self.embedding(source)
        states, state = [], None
        for row in vectors:
            read, state = self.rnn(row.unsqueeze(0), state)
            states.append(read)
        return right(vectors, torch.cat(states), lengths)


class PackedInGivenOrder(Parts):
    def forward(self, source, lengths):
        packed = pack_padded_sequence(self.embedding(source), lengths, batch_first=True)
        states, final = self.rnn(packed)
        return pad_packed_sequence(states, batch_first=True, total_length=source.size(1))[0], final[0]


class LengthsCountedDown(Parts):
    def forward(self, source, lengths):
        vectors = self.embedding(source)
        states = self.rnn(vectors)[0]
        lengths -= 1
        return cleared(states, lengths + 1), states[torch.arange(len(states)), lengths]


ENCODER = {
    "dropout in training": DropoutInTraining,
    "cleared in training only": ClearedInTrainingOnly,
    "other names": OtherNames,
    "read backwards": Backwards,
    "a random start": RandomStart,
    "words 0 taken for padding": PaddingIsZero,
    "state carried into the next sentence": StateCarriedOver,
    "packed in the given order": PackedInGivenOrder,
    "lengths counted down in place": LengthsCountedDown,
    "an LSTM": other(rnn=lambda v, e, h: nn.LSTM(e, h, batch_first=True)),
    "a plain RNN": other(rnn=lambda v, e, h: nn.RNN(e, h, batch_first=True)),
    "two layers": other(rnn=lambda v, e, h: nn.GRU(e, h, num_layers=2, batch_first=True)),
    "two directions": other(rnn=lambda v, e, h: nn.GRU(e, h, batch_first=True, bidirectional=True)),
    "no bias": other(rnn=lambda v, e, h: nn.GRU(e, h, batch_first=True, bias=False)),
    "last word frozen": other(embedding=lambda v, e, h: nn.Embedding(v, e, padding_idx=v - 1)),
    "a layer on top": other(out=lambda v, e, h: nn.Linear(h, h)),
    "one word more": other(embedding=lambda v, e, h: nn.Embedding(v + 1, e)),
    "returned the other way round": module(lambda x, s, n: right(x, s, n)[::-1]),
    "only the states": module(lambda x, s, n: cleared(s, n)),
    "only the final state": module(lambda x, s, n: last(s, n)),
    "the first state": module(lambda x, s, n: (cleared(s, n), s[:, 0])),
    "one position too early": module(lambda x, s, n: (cleared(s, n), s[torch.arange(len(s)), (n - 2).clamp(min=0)])),
    "the last token cleared too": module(lambda x, s, n: (cleared(s, n - 1), last(s, n))),
    "one position too many kept": module(lambda x, s, n: (cleared(s, n + 1), last(s, n))),
    "real positions cleared": module(lambda x, s, n: (s - cleared(s, n), last(s, n))),
    "the largest of each feature": module(lambda x, s, n: (cleared(s, n), s.masked_fill(
        (torch.arange(s.size(1)) >= n.unsqueeze(1)).unsqueeze(-1), -math.inf).amax(1))),
    "the mean over the width": module(lambda x, s, n: (cleared(s, n), cleared(s, n).mean(1))),
    "the sum": module(lambda x, s, n: (cleared(s, n), cleared(s, n).sum(1))),
    "nearly cleared": module(lambda x, s, n: (cleared(s, n) + 1e-4, last(s, n))),
    "final behind": module(lambda x, s, n: (torch.where(cleared(torch.ones_like(s), n) > 0, s, last(s, n).unsqueeze(1)),
                                            last(s, n))),
    "embeddings returned": module(lambda x, s, n: (cleared(x, n), last(s, n))),
    "tanh again": module(lambda x, s, n: right(x, torch.tanh(s), n)),
    "final detached": module(lambda x, s, n: (cleared(s, n), last(s, n).detach())),
    "states detached": module(lambda x, s, n: (cleared(s.detach(), n), last(s, n))),
    "float32 inside": module(lambda x, s, n: tuple(t.float().to(s.dtype) for t in right(x, s, n))),
    "cut at the longest sentence": module(lambda x, s, n: (cleared(s, n)[:, : int(n.max())], last(s, n))),
    "squeezed": module(lambda x, s, n: tuple(t.squeeze() for t in right(x, s, n))),
    "lengths sorted": module(lambda x, s, n: right(x, s, n.sort().values)),
}

WRONG = {
    "teacher_forcing_batch": TEACHER_FORCING_BATCH,
    "masked_cross_entropy": MASKED_CROSS_ENTROPY,
    "Encoder": ENCODER,
}

NAMED = {
    ("masked_cross_entropy", "normalised by hand"): "exponential_of_a_large_logit",
    ("masked_cross_entropy", "ignores -100"): "pads_counted",
    ("Encoder", "cleared in training only"): "states_not_cleared",
    ("Encoder", "cut at the longest sentence"): "width_shrunk",
}
