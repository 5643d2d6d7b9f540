"""Chapter 02, the two modules."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference.bahdanau import AdditiveAttention, context_vector, masked_weights


def right_weights(scores, mask):
    return torch.softmax(scores, -1) if mask is None else masked_weights(scores, mask)


class Parts(nn.Module):
    """AdditiveAttention around a slip: `attend(module, state, states, mask)`."""

    attend = None

    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def scores(self, s, h, squash=torch.tanh):
        return self.v(squash(self.W_s(s).unsqueeze(1) + self.W_h(h))).squeeze(-1)

    def forward(self, state, encoder_states, mask=None):
        return type(self).attend(self, state, encoder_states, mask)


def module(attend):
    return type("AdditiveAttention", (Parts,), {"attend": staticmethod(attend)})


def weighing(weigh):
    """A slip in the weights: `weigh(scores, mask)`."""
    def attend(self, s, h, mask):
        weights = weigh(self.scores(s, h), mask)
        return context_vector(weights, h), weights

    return module(attend)


def scoring(score):
    """A slip in the scores: `score(module, s, h)`."""
    def attend(self, s, h, mask):
        weights = right_weights(score(self, s, h), mask)
        return context_vector(weights, h), weights

    return module(attend)


def returning(change):
    """A slip in what is returned: `change(context, weights, states)`."""
    def attend(self, s, h, mask):
        weights = right_weights(self.scores(s, h), mask)
        return change(context_vector(weights, h), weights, h)

    return module(attend)


class OneBias(Parts):
    attend = staticmethod(lambda self, s, h, m: returning(lambda c, w, _: (c, w)).attend(self, s, h, m))

    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__(decoder_dim, encoder_dim, attention_dim)
        self.W_s = nn.Linear(decoder_dim, attention_dim)


class OneMatrix(OneBias):
    """Both vectors side by side through one matrix."""

    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        nn.Module.__init__(self)
        self.W = nn.Linear(decoder_dim + encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def scores(self, s, h, squash=torch.tanh):
        both = torch.cat([s.unsqueeze(1).expand(-1, h.size(1), -1), h], -1)
        return self.v(squash(self.W(both))).squeeze(-1)


class BareParameter(OneBias):
    """v as a vector where a layer is asked for."""

    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__(decoder_dim, encoder_dim, attention_dim)
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        del self.v
        self.v = nn.Parameter(torch.rand(attention_dim))

    def scores(self, s, h, squash=torch.tanh):
        return squash(self.W_s(s).unsqueeze(1) + self.W_h(h)) @ self.v


class SizesSwapped(AdditiveAttention):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__(encoder_dim, decoder_dim, attention_dim)

    def forward(self, state, encoder_states, mask=None):
        weights = right_weights(self.v(torch.tanh(self.W_h(state).unsqueeze(1) + self.W_s(encoder_states)))[..., 0],
                                mask)
        return context_vector(weights, encoder_states), weights


class SetAnew(AdditiveAttention):
    def forward(self, state, encoder_states, mask=None):
        nn.init.eye_(self.W_h.weight)
        return super().forward(state, encoder_states, mask)


def fused(self, s, h, mask):
    """The sum is right, but the weights come from the library's attention."""
    weights = right_weights(self.scores(s, h), mask)
    rows = F.scaled_dot_product_attention(weights.unsqueeze(1), torch.zeros_like(h[..., :1]).expand(
        -1, -1, h.size(1)), h)
    return context_vector(weights, h) + 0 * rows.squeeze(1), weights


ADDITIVE_ATTENTION = {
    "one bias": OneBias,
    "one matrix": OneMatrix,
    "v as a bare parameter": BareParameter,
    "sizes swapped": SizesSwapped,
    "W_h set anew": SetAnew,
    "the library's attention": module(fused),
    "relu": scoring(lambda self, s, h: self.scores(s, h, torch.relu)),
    "sigmoid": scoring(lambda self, s, h: self.scores(s, h, torch.sigmoid)),
    "scaled": scoring(lambda self, s, h: self.scores(s, h) / self.v.in_features**0.5),
    "tanh of both parts": scoring(lambda self, s, h: self.v(
        torch.tanh(self.W_s(s)).unsqueeze(1) + torch.tanh(self.W_h(h))).squeeze(-1)),
    "every axis squeezed": scoring(lambda self, s, h: self.scores(s, h).unsqueeze(-1).squeeze()),
    "encoder states ignored": scoring(lambda self, s, h: self.scores(s, 0 * h)),
    "first sentence's state": scoring(lambda self, s, h: self.scores(s[:1], h)),
    "positions reversed": scoring(lambda self, s, h: self.scores(s, h.flip(1))),
    "state detached": scoring(lambda self, s, h: self.scores(s.detach(), h)),
    "encoder states detached": scoring(lambda self, s, h: self.scores(s, h.detach())),
    "dropout in training": scoring(lambda self, s, h: F.dropout(self.scores(s, h), 0.1, self.training)),
    "tanh in training only": scoring(lambda self, s, h: self.scores(s, h, torch.tanh if self.training else torch.sin)),
    "mask of the first row": weighing(lambda w, m: right_weights(w, None if m is None else m[:1].expand_as(m))),
    "a fill within reach": weighing(lambda w, m: torch.softmax(w if m is None else w.masked_fill(~m, -2), -1)),
    "scores times mask": weighing(lambda w, m: torch.softmax(w if m is None else w * m, -1)),
    "without a mask nothing is real": weighing(lambda w, m: 0 * w if m is None else masked_weights(w, m)),
    "softmax twice": weighing(lambda w, m: right_weights(right_weights(w, m), m)),
    "softmax over everything": weighing(lambda w, m: right_weights(
        w.reshape(1, -1), None if m is None else m.reshape(1, -1)).view(w.shape)),
    "a row with nothing real looks at its first": weighing(lambda w, m: right_weights(
        w, m if m is None else m | (~m.any(-1, keepdim=True) & (torch.arange(w.size(1)) == 0)))),
    "gradient of NaN": weighing(lambda w, m: torch.softmax(w, -1) if m is None else torch.softmax(
        w + torch.zeros_like(w).masked_fill(~m, float("-inf")), -1).nan_to_num()),
    "scores returned": module(lambda self, s, h, m: (
        context_vector(right_weights(self.scores(s, h), m), h), self.scores(s, h))),
    "weights with a last axis": returning(lambda c, w, h: (c, w.unsqueeze(-1))),
    "context with a source axis": returning(lambda c, w, h: (c.unsqueeze(1), w)),
    "squeezed": returning(lambda c, w, h: (c.squeeze(), w.squeeze())),
    "mean context": returning(lambda c, w, h: (c / w.size(1), w)),
    "context of the best state": returning(lambda c, w, h: (h[torch.arange(len(h)), w.argmax(-1)] + 0 * c, w)),
    "weights detached": returning(lambda c, w, h: (c, w.detach())),
    "context through detached weights": returning(lambda c, w, h: (context_vector(w.detach(), h), w)),
    "rounded": returning(lambda c, w, h: (c.round(decimals=3), w)),
    "float32 inside": returning(lambda c, w, h: (c.float().to(h.dtype), w)),
    "in place on the encoder states": returning(lambda c, w, h: (c + 0 * h.data.add_(1).sum(), w)),
    "three values": returning(lambda c, w, h: (c, w, h)),
}


class Step(nn.Module):
    """BahdanauDecoderStep around a slip: `step(module, token, state, states, mask)`."""

    step = None

    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = AdditiveAttention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def read(self, context, token, state):
        return self.cell(torch.cat([context, self.embedding(token)], -1), state)

    def forward(self, token, state, encoder_states, mask=None):
        return type(self).step(self, token, state, encoder_states, mask)


def step(function):
    return type("BahdanauDecoderStep", (Step,), {"step": staticmethod(function)})


def changed(before=lambda self, t, s, h, m: (t, s, h, m), inside=lambda self, c: c, after=lambda *result: result):
    """A right step with a slip in what goes in, in the context, or in what comes out (logits, state, weights)."""
    def function(self, t, s, h, m):
        t, s, h, m = before(self, t, s, h, m)
        context, weights = self.attention(s, h, m)
        new = self.read(inside(self, context), t, s)
        return after(self.out(new), new, weights)

    return step(function)


def attends_after(self, t, s, h, m):
    """Luong's order: read without a context, look with the new state, speak from it."""
    new = self.read(h.mean(1), t, s)
    _, weights = self.attention(new, h, m)
    return self.out(new), new, weights


def reads_twice(self, t, s, h, m):
    context, weights = self.attention(s, h, m)
    new = self.read(context, t, self.read(context, t, s))
    return self.out(new), new, weights


def looks_twice(self, t, s, h, m):
    context, _ = self.attention(s, h, m)
    context, weights = self.attention(self.read(context, t, s), h, m)
    new = self.read(context, t, s)
    return self.out(new), new, weights


class ContextInTheOutput(Step):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim)
        self.out = nn.Linear(hidden_dim + encoder_dim, vocab_size)

    def forward(self, token, state, encoder_states, mask=None):
        context, weights = self.attention(state, encoder_states, mask)
        new = self.read(context, token, state)
        return self.out(torch.cat([new, context], -1)), new, weights


class OutputWithoutBias(changed()):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim)
        self.out = nn.Linear(hidden_dim, vocab_size, bias=False)


class WholeGRU(Step):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRU(encoder_dim + embed_dim, hidden_dim, batch_first=True)

    def forward(self, token, state, encoder_states, mask=None):
        context, weights = self.attention(state, encoder_states, mask)
        read = torch.cat([context, self.embedding(token)], -1).unsqueeze(1)
        _, new = self.cell(read, state.unsqueeze(0))
        return self.out(new[0]), new[0], weights


class PaddingIndex(changed()):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim)
        self.keys = nn.Linear(encoder_dim, attention_dim, bias=False)


class EmbeddingSetAnew(Step):
    def forward(self, token, state, encoder_states, mask=None):
        nn.init.ones_(self.embedding.weight)
        return changed().step(self, token, state, encoder_states, mask)


BAHDANAU_DECODER_STEP = {
    "context in the output layer": ContextInTheOutput,
    "output without a bias": OutputWithoutBias,
    "a GRU for a cell": WholeGRU,
    "an unused layer": PaddingIndex,
    "embedding set anew": EmbeddingSetAnew,
    "attends after reading": step(attends_after),
    "reads twice": step(reads_twice),
    "looks twice": step(looks_twice),
    "looks with zeros": step(lambda self, t, s, h, m: (lambda look: (lambda new: (self.out(new), new, look[1]))(
        self.read(look[0], t, s)))(self.attention(torch.zeros_like(s), h, m))),
    "mask inverted": changed(before=lambda self, t, s, h, m: (t, s, h, None if m is None else ~m)),
    "mask of the first row": changed(before=lambda self, t, s, h, m: (t, s, h, m if m is None else m[:1].expand_as(m))),
    "mask needed": changed(before=lambda self, t, s, h, m: (t, s, h, m & True)),
    "next token": changed(before=lambda self, t, s, h, m: ((t + 1) % self.out.out_features, s, h, m)),
    "first token for all": changed(before=lambda self, t, s, h, m: (t[:1].expand_as(t), s, h, m)),
    "first state for all": changed(before=lambda self, t, s, h, m: (t, s[:1].expand_as(s), h, m)),
    "positions reversed": changed(before=lambda self, t, s, h, m: (t, s, h.flip(1), m)),
    "state detached": changed(before=lambda self, t, s, h, m: (t, s.detach(), h, m)),
    "encoder states detached": changed(before=lambda self, t, s, h, m: (t, s, h.detach(), m)),
    "state squashed": changed(before=lambda self, t, s, h, m: (t, torch.tanh(s), h, m)),
    "context squashed": changed(inside=lambda self, c: torch.tanh(c)),
    "context detached": changed(inside=lambda self, c: c.detach()),
    "context doubled": changed(inside=lambda self, c: 2 * c),
    "context dropped in training": changed(inside=lambda self, c: F.dropout(c, 0.1, self.training)),
    "log-probabilities": changed(after=lambda o, s, w: (torch.log_softmax(o, -1), s, w)),
    "the word itself": changed(after=lambda o, s, w: (o.argmax(-1), s, w)),
    "state of tanh": changed(after=lambda o, s, w: (o, torch.tanh(s), w)),
    "weights second": changed(after=lambda o, s, w: (o, w, s)),
    "logits alone": changed(after=lambda o, s, w: o),
    "no weights": changed(after=lambda o, s, w: (o, s)),
    "weights detached": changed(after=lambda o, s, w: (o, s, w.detach())),
    "new state detached": changed(after=lambda o, s, w: (o, s.detach(), w)),
    "logits with a time axis": changed(after=lambda o, s, w: (o.unsqueeze(1), s, w)),
    "squeezed": changed(after=lambda o, s, w: (o.squeeze(), s.squeeze(), w.squeeze())),
    "weights of the next row": changed(after=lambda o, s, w: (o, s, w.roll(1, 0))),
    "state added to the old one": step(lambda self, t, s, h, m: (lambda o, new, w: (self.out(s + new), s + new, w))(
        *changed().step(self, t, s, h, m))),
    "rounded": changed(after=lambda o, s, w: (o.round(decimals=3), s, w)),
    "float32 inside": changed(after=lambda o, s, w: (o.float().to(o.dtype), s, w)),
    "in place on the state": step(lambda self, t, s, h, m: (lambda result: (s.data.copy_(result[1]), result)[1])(
        changed().step(self, t, s, h, m))),
}

WRONG = {"AdditiveAttention": ADDITIVE_ATTENTION, "BahdanauDecoderStep": BAHDANAU_DECODER_STEP}

NAMED = {("AdditiveAttention", "tanh of both parts"): "state_ignored_inside"}
