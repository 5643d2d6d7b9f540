"""Right answers to the exercise LuongAttention of chapter 03, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer


@right_answer("LuongAttention")
class OneBranchEach(nn.Module):
    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__()
        if method == "dot":
            if hidden_dim != encoder_dim:
                raise ValueError(f"dot: hidden_dim {hidden_dim} != encoder_dim {encoder_dim}")
        elif method == "general":
            self.W = nn.Linear(encoder_dim, hidden_dim, bias=False)
        elif method == "concat":
            self.W = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
            self.v = nn.Linear(hidden_dim, 1, bias=False)
        else:
            raise ValueError("method must be 'dot', 'general' or 'concat'")
        self.method = method
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)

    def forward(self, state, encoder_states, mask=None):
        if self.method == "dot":
            scores = torch.bmm(encoder_states, state.unsqueeze(2)).squeeze(2)
        elif self.method == "general":
            scores = torch.bmm(self.W(encoder_states), state.unsqueeze(2)).squeeze(2)
        else:
            states = state.unsqueeze(1).repeat(1, encoder_states.size(1), 1)
            scores = self.v(torch.tanh(self.W(torch.cat((states, encoder_states), 2)))).squeeze(2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = F.softmax(scores, dim=1)
        if mask is not None:
            weights = weights * mask
        context = torch.bmm(weights.unsqueeze(1), encoder_states).squeeze(1)
        return torch.tanh(self.W_c(torch.cat((context, state), 1))), weights


@right_answer("LuongAttention")
class WithMatch(nn.Module):
    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__()
        match method:
            case "dot":
                if encoder_dim - hidden_dim:
                    raise ValueError(f"sizes differ: {encoder_dim} and {hidden_dim}")
            case "general":
                self.W = nn.Linear(in_features=encoder_dim, out_features=hidden_dim, bias=False)
            case "concat":
                self.W = nn.Linear(in_features=hidden_dim + encoder_dim, out_features=hidden_dim, bias=False)
                self.v = nn.Linear(in_features=hidden_dim, out_features=1, bias=False)
            case _:
                raise ValueError(f"{method} is unknown: dot | general | concat")
        self.W_c = nn.Linear(encoder_dim + hidden_dim, hidden_dim, bias=False)
        self.score = getattr(self, method)

    def dot(self, s, h):
        return torch.einsum("bd,bjd->bj", s, h)

    def general(self, s, h):
        return torch.einsum("bd,de,bje->bj", s, self.W.weight, h)

    def concat(self, s, h):
        both = torch.cat([s[:, None].expand(-1, h.shape[1], -1), h], dim=-1)
        return torch.einsum("bjd,d->bj", torch.tanh(self.W(both)), self.v.weight[0])

    def forward(self, state, encoder_states, mask=None):
        mask = torch.ones(encoder_states.shape[:2], dtype=torch.bool) if mask is None else mask
        scores = self.score(state, encoder_states).masked_fill(~mask, -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
        context = torch.einsum("bj,bjd->bd", weights, encoder_states)
        return self.W_c(torch.cat([context, state], dim=-1)).tanh(), weights


@right_answer("LuongAttention")
class ExponentialsByHand(nn.Module):
    """Divides by the sum of the real exponentials, and by one where there is none."""

    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__()
        allowed = ["dot", "general", "concat"]
        if method not in allowed:
            raise ValueError(f"method should be one of {allowed}, got {method}")
        if method == "dot" and hidden_dim != encoder_dim:
            raise ValueError(f"dot needs hidden_dim == encoder_dim, got {hidden_dim} and {encoder_dim}")
        if method != "dot":
            width = encoder_dim if method == "general" else hidden_dim + encoder_dim
            self.W = nn.Linear(width, hidden_dim, bias=False)
        if method == "concat":
            self.v = nn.Linear(hidden_dim, 1, bias=False)
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
        self.method = method

    def forward(self, state, encoder_states, mask=None):
        real = torch.ones_like(encoder_states[..., 0]) if mask is None else mask.to(encoder_states.dtype)
        scores = self.scores(state, encoder_states)
        exponentials = (scores - scores.detach().amax(dim=-1, keepdim=True)).exp() * real
        total = exponentials.sum(dim=-1, keepdim=True)
        weights = exponentials / (total + (total == 0))
        context = (weights[..., None] * encoder_states).sum(dim=1)
        return torch.tanh(self.W_c(torch.cat([context, state], dim=-1))), weights

    def scores(self, state, encoder_states):
        if self.method != "concat":
            keys = self.W(encoder_states) if self.method == "general" else encoder_states
            return (keys * state.unsqueeze(1)).sum(dim=-1)
        W_s, W_h = self.W.weight.split([state.size(-1), encoder_states.size(-1)], dim=1)
        return torch.tanh((state @ W_s.mT)[:, None] + encoder_states @ W_h.mT) @ self.v.weight.squeeze(0)


@right_answer("LuongAttention")
class SentenceBySentence(nn.Module):
    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__()
        makers = {"dot": lambda: {}, "general": lambda: {"W": nn.Linear(encoder_dim, hidden_dim, bias=False)},
                  "concat": lambda: {"W": nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False),
                                     "v": nn.Linear(hidden_dim, 1, bias=False)}}
        if method not in makers:
            raise ValueError("unknown method, use " + "/".join(makers))
        if method == "dot" and encoder_dim != hidden_dim:
            raise ValueError("dot cannot multiply vectors of the sizes " + str(hidden_dim) + " and " + str(encoder_dim))
        self.method, self.hidden_dim, self.encoder_dim = method, hidden_dim, encoder_dim
        for name, layer in makers[method]().items():
            self.add_module(name, layer)
        self.W_c = nn.Linear(encoder_dim + hidden_dim, hidden_dim, bias=False)

    def one_score(self, s, h):
        if self.method == "dot":
            return s @ h
        if self.method == "general":
            return s @ self.W(h)
        return self.v(torch.tanh(self.W(torch.cat([s, h]))))[0]

    def one_sentence(self, s, words, real):
        weights = torch.zeros(len(words), dtype=s.dtype)
        if real.any():
            scores = torch.stack([self.one_score(s, h) for h in words[real]])
            weights[real] = torch.softmax(scores, dim=0)
        return torch.tanh(self.W_c(torch.cat([weights @ words, s]))), weights

    def forward(self, state, encoder_states, mask=None):
        if mask is None:
            mask = torch.full(encoder_states.shape[:2], True)
        pairs = [self.one_sentence(*row) for row in zip(state, encoder_states, mask, strict=True)]
        return torch.stack([h for h, _ in pairs]), torch.stack([w for _, w in pairs])


@right_answer("LuongAttention")
class SafeRows(nn.Module):
    def __init__(self, hidden_dim, encoder_dim, method):
        if method not in {"dot", "general", "concat"}:
            raise ValueError(f"'{method}'? Only dot, general, concat.")
        if method == "dot" and hidden_dim != encoder_dim:
            raise ValueError(f"hidden_dim={hidden_dim}, encoder_dim={encoder_dim}: dot needs them equal")
        super().__init__()
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
        self.W = self.v = None
        if method == "general":
            self.W = nn.Linear(encoder_dim, hidden_dim, bias=False)
        if method == "concat":
            self.W = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
            self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, state, encoder_states, mask=None):
        src = encoder_states.size(1)
        if self.v is not None:
            states = torch.stack([state] * src, dim=1)
            scores = self.v(self.W(torch.cat([states, encoder_states], dim=-1)).tanh()).flatten(1)
        else:
            query = state if self.W is None else state @ self.W.weight
            scores = (query.unsqueeze(1) @ encoder_states.mT).flatten(1)
        weights = self.masked_softmax(scores, mask)
        context = torch.matmul(weights.unsqueeze(-2), encoder_states).flatten(1)
        return torch.tanh(F.linear(torch.cat([context, state], dim=1), self.W_c.weight)), weights

    @staticmethod
    def masked_softmax(scores, mask):
        if mask is None:
            return scores.softmax(-1)
        real = mask.any(dim=1)
        weights = torch.zeros_like(scores)
        weights[real] = torch.softmax(scores[real].masked_fill(~mask[real], float("-inf")), dim=-1)
        return weights


@right_answer("LuongAttention")
class ContextAndStateApart(nn.Module):
    """W_c [c ; s] is the sum of two products, one with each half of W_c; the scores are classes of their own."""

    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__()
        if method not in ("dot", "general", "concat"):
            raise ValueError("Choose among: dot, general, concat")
        if method == "dot" and hidden_dim != encoder_dim:
            raise ValueError(f"{hidden_dim} is not {encoder_dim}")
        self.method = method
        self.hidden_dim = hidden_dim
        self.W_c = nn.Linear(encoder_dim + hidden_dim, hidden_dim, False)
        if method == "general":
            self.W = nn.Linear(encoder_dim, hidden_dim, False)
        elif method == "concat":
            self.W = nn.Linear(encoder_dim + hidden_dim, hidden_dim, False)
            self.v = nn.Linear(hidden_dim, 1, False)
        self.tanh, self.softmax = nn.Tanh(), nn.Softmax(dim=-1)

    def forward(self, state, encoder_states, mask=None):
        scores = []
        for h in encoder_states.unbind(dim=1):
            if self.method == "concat":
                scores.append(self.v(self.tanh(self.W(torch.cat([state, h], dim=1)))))
            else:
                key = self.W(h) if self.method == "general" else h
                scores.append((state * key).sum(dim=1, keepdim=True))
        scores = torch.cat(scores, dim=1)
        if mask is not None:
            empty = ~mask.any(dim=1, keepdim=True)
            scores = torch.where(mask | empty, scores, torch.full_like(scores, -math.inf))
        weights = self.softmax(scores)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = sum(weights[:, j, None] * encoder_states[:, j] for j in range(weights.size(1)))
        for_context, for_state = self.W_c.weight[:, : -self.hidden_dim], self.W_c.weight[:, -self.hidden_dim :]
        return self.tanh(context @ for_context.T + state @ for_state.T), weights


@right_answer("LuongAttention")
class LogarithmOfTheMask(nn.Module):
    METHODS = ("dot", "general", "concat")

    def __init__(self, hidden_dim: int, encoder_dim: int, method: str = "dot"):
        super().__init__()
        if method not in self.METHODS:
            raise ValueError(f"Unknown method {method!r}. Valid methods: {self.METHODS}.")
        if method == self.METHODS[0] and hidden_dim != encoder_dim:
            raise ValueError(f"With dot, both sizes must agree; got {(hidden_dim, encoder_dim)}.")
        self.method = method
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
        self.W = nn.Identity() if method == "dot" else nn.Linear(
            encoder_dim if method == "general" else hidden_dim + encoder_dim, hidden_dim, bias=False)
        if method == "concat":
            self.v = nn.Linear(hidden_dim, 1, bias=False)

    def score(self, state, encoder_states):
        if self.method == "concat":
            state = state.unsqueeze(1).expand(-1, encoder_states.size(1), -1)
            energy = torch.tanh(self.W(torch.cat([state, encoder_states], dim=-1)))
            return self.v(energy)[..., 0]
        return torch.matmul(self.W(encoder_states), state[..., None])[..., 0]

    def forward(self, state, encoder_states, mask=None):
        scores = self.score(state, encoder_states)
        if mask is None:
            weights = torch.softmax(scores, -1)
        else:
            floor = torch.zeros_like(scores).masked_fill(~mask, torch.finfo(scores.dtype).min / 2)
            weights = torch.softmax(scores + floor, -1) * mask.to(scores.dtype)
        context = torch.bmm(weights[:, None], encoder_states)[:, 0]
        return torch.tanh(self.W_c(torch.hstack([context, state]))), weights
