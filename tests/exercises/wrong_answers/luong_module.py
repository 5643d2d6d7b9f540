"""Chapter 03: LuongAttention. Most slips are the reference with one part replaced."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import luong
from autograder.reference.bahdanau import masked_weights


def weighed(scores, mask):
    return torch.softmax(scores, -1) if mask is None else masked_weights(scores, mask)


def joined(self, context, state, weights):
    return torch.tanh(self.W_c(torch.cat([context, state], -1))), weights


def module(weigh=weighed, finish=joined, score=luong.LuongAttention.score):
    """LuongAttention around a slip in the weights, in the attentional state, or in the score."""
    class LuongAttention(luong.LuongAttention):
        def forward(self, state, encoder_states, mask=None):
            weights = weigh(score(self, state, encoder_states), mask)
            return finish(self, (weights.unsqueeze(1) @ encoder_states).squeeze(1), state, weights)

    return LuongAttention


def around(forward):
    """The reference, called through `forward(self, state, encoder_states, mask)`."""
    class LuongAttention(luong.LuongAttention):
        def forward(self, state, encoder_states, mask=None):
            return forward(super().forward, state, encoder_states, mask)

    return LuongAttention


def prepared(prepare):
    """The reference, after `prepare(self, hidden_dim, encoder_dim, method)` in its constructor."""
    class LuongAttention(luong.LuongAttention):
        def __init__(self, hidden_dim, encoder_dim, method):
            super().__init__(hidden_dim, encoder_dim, method)
            prepare(self, hidden_dim, encoder_dim, method)

    return LuongAttention


class NothingRefused(luong.LuongAttention):
    """The constructor takes everything; a method that it does not know gets no score."""

    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__(hidden_dim, hidden_dim if method == "dot" else encoder_dim,
                         method if method in luong.METHODS else "general")
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)


def refusing(refuse):
    """The right module whose constructor refuses only what `refuse(hidden_dim, encoder_dim, method)` raises for."""
    class LuongAttention(NothingRefused):
        def __init__(self, hidden_dim, encoder_dim, method):
            refuse(hidden_dim, encoder_dim, method)
            super().__init__(hidden_dim, encoder_dim, method)

    return LuongAttention


def sizes(h, e, method):
    if method == "dot" and h != e:
        raise ValueError(f"{h} and {e} are not equal")


def names(h, e, method):
    if method not in luong.METHODS:
        raise ValueError("Only dot, general and concat.")


def all_sizes(h, e, method):
    names(h, e, method)
    sizes(h, e, "dot")


def another_exception(h, e, method):
    if method not in luong.METHODS:
        raise KeyError("dot, general, concat")
    sizes(h, e, method)


def without_numbers(h, e, method):
    names(h, e, method)
    if method == "dot" and h != e:
        raise ValueError("dot needs equal sizes")


def without_names(h, e, method):
    sizes(h, e, method)
    if method not in luong.METHODS:
        raise ValueError(f"unknown method {method}")


def dot_never(h, e, method):
    names(h, e, method)
    if method == "dot":
        raise ValueError(f"{h} and {e}")


class RefusedOnlyWhenCalled(NothingRefused):
    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__(hidden_dim, encoder_dim, method)
        self.asked = hidden_dim, encoder_dim, method

    def forward(self, state, encoder_states, mask=None):
        names(*self.asked)
        sizes(*self.asked)
        return super().forward(state, encoder_states, mask)


class MaskRequired(luong.LuongAttention):
    def forward(self, state, encoder_states, mask):
        return super().forward(state, encoder_states, mask)


class DropoutInTraining(luong.LuongAttention):
    def forward(self, state, encoder_states, mask=None):
        attentional, weights = super().forward(state, encoder_states, mask)
        return F.dropout(attentional, 0.1, self.training), weights


class OwnWordsStateFirst(luong.LuongAttention):
    """[s ; c], with other words in its errors than the misconception of that name."""

    def forward(self, state, encoder_states, mask=None):
        weights = weighed(self.score(state, encoder_states), mask)
        context = torch.einsum("bj,bjd->bd", weights, encoder_states)
        return torch.tanh(self.W_c(torch.cat([state, context], -1))), weights


class NotRegistered(luong.LuongAttention):
    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__(hidden_dim, encoder_dim, method)
        layer = self.W_c
        del self.W_c
        self.layers = [layer]

    def forward(self, state, encoder_states, mask=None):
        weights = weighed(self.score(state, encoder_states), mask)
        context = (weights.unsqueeze(1) @ encoder_states).squeeze(1)
        return torch.tanh(self.layers[0](torch.cat([context, state], -1))), weights


def renamed(self, h, e, method):
    layer = self.W_c
    self.W_a = layer
    type(self).W_c = layer  # found by the reference's forward, and no parameter of the module any more
    del self._modules["W_c"]


def always_general(self, state, encoder_states):
    weight = self.W.weight if self.method == "general" else torch.eye(*encoder_states.shape[-1:], dtype=state.dtype)
    return luong.general_score(state, encoder_states, weight[: state.size(-1)])


def plain_general(self, state, encoder_states):
    """The matrix is reshaped where it fits already."""
    if self.method != "general":
        return luong.LuongAttention.score(self, state, encoder_states)
    W = self.W.weight
    return luong.general_score(state, encoder_states, W.reshape(W.size(1), W.size(0)).T)


def nan_in_the_gradient(scores, mask):
    """Minus infinity is added, and NaN painted over: the values are right, the gradients of an empty row are not."""
    if mask is None:
        return torch.softmax(scores, -1)
    lowered = scores + torch.zeros_like(scores).masked_fill(~mask, -math.inf)
    return torch.nan_to_num(torch.softmax(lowered * 1, -1))


def exactly_one_word(scores, mask):
    hidden = scores if mask is None else scores.masked_fill(~mask, -1e9)
    return F.one_hot(hidden.argmax(-1), scores.size(-1)).to(scores.dtype) + 0 * scores


def zeros_where_nothing_is_real(forward, s, h, mask):
    attentional, weights = forward(s, h, mask)
    return (attentional if mask is None else attentional * mask.any(-1, keepdim=True)), weights


def first_word_where_nothing_is_real(scores, mask):
    weights = weighed(scores, mask)
    if mask is None:
        return weights
    start = F.one_hot(torch.zeros(len(scores), dtype=torch.int64), scores.size(-1))
    return weights + start * ~mask.any(-1, keepdim=True)


LUONG_ATTENTION = {
    "relu at the end": module(finish=lambda self, c, s, w: (torch.relu(self.W_c(torch.cat([c, s], -1))), w)),
    "sigmoid at the end": module(finish=lambda self, c, s, w: (torch.sigmoid(self.W_c(torch.cat([c, s], -1))), w)),
    "tanh before W_c": module(finish=lambda self, c, s, w: (self.W_c(torch.tanh(torch.cat([c, s], -1))), w)),
    "state added": module(finish=lambda self, c, s, w: (joined(self, c, s, w)[0] + s, w)),
    "context forgotten": module(finish=lambda self, c, s, w: joined(self, 0 * c, s, w)),
    "old state returned": module(finish=lambda self, c, s, w: (s + 0 * c.sum(), w)),
    "context detached": module(finish=lambda self, c, s, w: joined(self, c.detach(), s, w)),
    "state detached": around(lambda forward, s, h, mask: forward(s.detach(), h, mask)),
    "weights detached": module(finish=lambda self, c, s, w: (joined(self, c, s, w)[0], w.detach())),
    "scores returned for weights": module(finish=lambda self, c, s, w: joined(self, c, s, w.clamp(min=1e-9).log())),
    "context returned for weights": module(finish=lambda self, c, s, w: (joined(self, c, s, w)[0], c)),
    "own words, state first": OwnWordsStateFirst,
    "mean of the words as context": around(lambda forward, s, h, mask: forward(
        s, h.mean(1, keepdim=True).expand_as(h), mask)),
    "always the general score": module(score=always_general),
    "general with a reshaped matrix": module(score=plain_general),
    "scores doubled": module(score=lambda self, s, h: 2 * self.score(s, h)),
    "scores divided by the number of words": module(score=lambda self, s, h: self.score(s, h) / h.size(1)),
    "mask added to the scores": module(weigh=lambda x, m: torch.softmax(x if m is None else x + m, -1)),
    "mask multiplied into the scores": module(weigh=lambda x, m: torch.softmax(x if m is None else x * m, -1)),
    "hidden scores at -5": module(weigh=lambda x, m: torch.softmax(x if m is None else x.masked_fill(~m, -5), -1)
                                  * (1 if m is None else m)),
    "mask of the first sentence": module(weigh=lambda x, m: weighed(x, m if m is None else m[:1].expand_as(m))),
    "mask shifted": module(weigh=lambda x, m: weighed(x, m if m is None else m.roll(1, -1))),
    "everything hidden without a mask": module(weigh=lambda x, m: weighed(
        x, torch.zeros_like(x, dtype=torch.bool) if m is None else m)),
    "one word chosen": module(weigh=exactly_one_word),
    "NaN only in the gradient": module(weigh=nan_in_the_gradient),
    "zero state where nothing is real": around(zeros_where_nothing_is_real),
    "first word where nothing is real": module(weigh=first_word_where_nothing_is_real),
    "mask required": MaskRequired,
    "dropout in training": DropoutInTraining,
    "squeezed": around(lambda forward, s, h, mask: tuple(t.squeeze() for t in forward(s, h, mask))),
    "view of the words": around(lambda forward, s, h, mask: forward(s, h.view(-1, h.size(-1)).view(h.shape), mask)),
    "float32 inside": around(lambda forward, s, h, mask: tuple(
        t.float().to(s.dtype) for t in forward(s, h, mask))),
    "always float32": around(lambda forward, s, h, mask: tuple(t.float() for t in forward(s, h, mask))),
    "in place on the state": around(lambda forward, s, h, mask: (*forward(s, h, mask), s.data.mul_(2))[:2]),
    "in place on the mask": around(
        lambda forward, s, h, mask: (*forward(s, h, mask), mask if mask is None else mask.fill_(True))[:2]),
    "v for every method": prepared(lambda self, h, e, method: setattr(self, "v", nn.Linear(h, 1, bias=False))),
    "W for every method": prepared(lambda self, h, e, method: method == "dot" and setattr(
        self, "W", nn.Linear(e, h, bias=False))),
    "bias in W_c only": prepared(lambda self, h, e, method: setattr(self, "W_c", nn.Linear(h + e, h))),
    "other name for W_c": prepared(renamed),
    "not registered": NotRegistered,
    "a learned temperature": prepared(lambda self, h, e, method: setattr(self, "scale", nn.Parameter(torch.ones(1)))),
    "v is a parameter, no layer": prepared(lambda self, h, e, method: method == "concat" and setattr(
        self, "v", nn.ParameterDict({"bias": nn.Parameter(torch.ones(h))}))),
    "nothing refused": NothingRefused,
    "unknown method taken for general": refusing(sizes),
    "another exception": refusing(another_exception),
    "equal sizes asked for every method": refusing(all_sizes),
    "numbers not in the text": refusing(without_numbers),
    "methods not in the text": refusing(without_names),
    "dot refused always": refusing(dot_never),
    "refused only when called": RefusedOnlyWhenCalled,
}

WRONG = {"LuongAttention": LUONG_ATTENTION}

NAMED = {
    ("LuongAttention", "bias in W_c only"): "layers_with_bias",
    ("LuongAttention", "own words, state first"): "state_before_the_context",
    ("LuongAttention", "nothing refused"): "unequal_sizes_accepted",
    ("LuongAttention", "refused only when called"): "unequal_sizes_accepted",
}
