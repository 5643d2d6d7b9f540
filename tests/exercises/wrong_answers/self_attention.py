"""Chapter 04. For SelfAttention a function takes x, q, k, v (the right projections)."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def right_weights(q, k, width=None):
    return torch.softmax(q @ k.mT / math.sqrt(width or q.size(-1)), dim=-1)


PROJECT_QKV = {
    "one matrix for all": lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_q.T, x @ w_v.T),
    "value and key in the other order": lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_v.T, x @ w_k.T),
    "query from the key": lambda x, w_q, w_k, w_v: (x @ w_k.T, x @ w_k.T, x @ w_v.T),
    "only the first sequence": lambda x, w_q, w_k, w_v: tuple((x[:1] @ w.T).expand(len(x), -1, -1)
                                                              for w in (w_q, w_k, w_v)),
    "rounded": lambda x, w_q, w_k, w_v: tuple((x @ w.T).round(decimals=3) for w in (w_q, w_k, w_v)),
    "relu": lambda x, w_q, w_k, w_v: tuple(torch.relu(x @ w.T) for w in (w_q, w_k, w_v)),
    "vectors of length one": lambda x, w_q, w_k, w_v: tuple(F.normalize(x @ w.T, dim=-1) for w in (w_q, w_k, w_v)),
    "tokens reversed": lambda x, w_q, w_k, w_v: tuple((x @ w.T).flip(1) for w in (w_q, w_k, w_v)),
    "view": lambda x, w_q, w_k, w_v: tuple(
        (x.view(-1, x.size(-1)) @ w.T).view(*x.shape[:2], -1) for w in (w_q, w_k, w_v)),
    "squeezed": lambda x, w_q, w_k, w_v: tuple((x @ w.T).squeeze() for w in (w_q, w_k, w_v)),
    "through NumPy": lambda x, w_q, w_k, w_v: tuple(
        torch.from_numpy(x.detach().numpy() @ w.detach().numpy().T) for w in (w_q, w_k, w_v)),
    "value detached": lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, (x @ w_v.T).detach()),
    "matrix detached": lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.data.T, x @ w_v.T),
    "float32 inside": lambda x, w_q, w_k, w_v: tuple(
        (x.float() @ w.float().T).to(x.dtype) for w in (w_q, w_k, w_v)),
    "one number added": lambda x, w_q, w_k, w_v: (x @ w_q.T + 1e-3, x @ w_k.T, x @ w_v.T),
    "in place on x": lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x.mul_(2) @ w_v.T / 2),
}

ATTENTION_SCORES = {
    "reshaped where a transpose is needed": lambda q, k: q @ k.reshape(len(k), k.size(2), k.size(1)),
    "whole batch turned": lambda q, k: torch.einsum("bqd,ckd->bqk", q, k),
    "negative distance": lambda q, k: -torch.cdist(q, k),
    "negative squared distance": lambda q, k: -torch.cdist(q, k) ** 2 / 2,
    "absolute": lambda q, k: (q @ k.mT).abs(),
    "relu": lambda q, k: torch.relu(q @ k.mT),
    "keys reversed": lambda q, k: q @ k.flip(1).mT,
    "one feature forgotten": lambda q, k: q[..., :-1] @ k[..., :-1].mT,
    "softmax already": lambda q, k: torch.softmax(q @ k.mT, dim=-1),
    "rounded": lambda q, k: (q @ k.mT).round(decimals=2),
    "bfloat16 inside": lambda q, k: (q.bfloat16() @ k.bfloat16().mT).to(q.dtype),
    "float32 inside": lambda q, k: (q.float() @ k.float().mT).to(q.dtype),
    "key detached": lambda q, k: q @ k.detach().mT,
    "no gradients": torch.no_grad()(lambda q, k: q @ k.mT),
    "squeezed": lambda q, k: (q.unsqueeze(2) @ k.mT.unsqueeze(1)).squeeze(),
    "causal": lambda q, k: (q @ k.mT).tril(),
    "scaled when wide": lambda q, k: q @ k.mT / (math.sqrt(q.size(-1)) if q.size(-1) > 8 else 1),
    "view of k": lambda q, k: q @ k.view(-1, k.size(-1)).view(k.shape).mT,
}


def softmax_along(axis):
    def answer(scores):
        exponentials = (scores - scores.amax(axis, keepdim=True)).exp()
        return exponentials / exponentials.sum(axis, keepdim=True)

    return answer


def stable(scores):
    return softmax_along(-1)(scores)


def filled_loop(scores):
    """Loops over a batch of matrices, so it knows only three axes."""
    weights = torch.zeros_like(scores)
    for b in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            weights[b, i] = stable(scores[b, i])
    return weights


ATTENTION_WEIGHTS = {
    "axis 1": softmax_along(1),
    "axis 2": softmax_along(2),
    "only three axes": filled_loop,
    "sigmoid": torch.sigmoid,
    "powers of two": lambda s: stable(s * math.log(2)),
    "half the temperature": lambda s: stable(2 * s),
    "hard choice": lambda s: F.one_hot(s.argmax(-1), s.size(-1)).to(s.dtype),
    "soft result, hard gradient": lambda s: stable(s).detach() + 0 * s,
    "relu and divided": lambda s: torch.relu(s) / torch.relu(s).sum(-1, keepdim=True).clamp(min=1e-6),
    "squares": lambda s: s**2 / (s**2).sum(-1, keepdim=True).clamp(min=1e-6),
    "uniform": lambda s: torch.ones_like(s) / s.size(-1) + 0 * s,
    "logarithms": lambda s: stable(s).log(),
    "sorted": lambda s: stable(s).sort(-1).values,
    "rounded": lambda s: stable(s).round(decimals=4),
    "mean taken away": lambda s: (s - s.mean(-1, keepdim=True)).exp() / (s - s.mean(-1, keepdim=True)).exp().sum(
        -1, keepdim=True),
    "minimum taken away": lambda s: (s - s.amin(-1, keepdim=True)).exp() / (s - s.amin(-1, keepdim=True)).exp().sum(
        -1, keepdim=True),
    "a large constant taken away": lambda s: (s - 100).exp() / (s - 100).exp().sum(-1, keepdim=True),
    "exp cut at a million": lambda s: s.exp().clamp(max=1e6) / s.exp().clamp(max=1e6).sum(-1, keepdim=True),
    "denominator detached": lambda s: (s - s.amax(-1, keepdim=True)).exp() / (
        s - s.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True).detach(),
    "large constant in the denominator": lambda s: (s - s.amax(-1, keepdim=True)).exp() / (
        (s - s.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True) + 1e-3),
    "zeros taken for a mask": lambda s: stable(s.masked_fill(s == 0, -math.inf)),
    "causal": lambda s: stable(s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -1e9)
                               if s.dim() > 1 else s),
    "float32 inside": lambda s: stable(s.float()).to(s.dtype),
    "in place on the argument": lambda s: s.sub_(s.amax(-1, keepdim=True)).exp_().div_(s.sum(-1, keepdim=True)),
    "in place through data": lambda s: stable(s.data.clamp_(min=-1e3) * 0 + s),
    "squeezed": lambda s: stable(s).squeeze(),
    "view": lambda s: stable(s.view(-1, s.size(-1))).view(s.shape),
    "maximum and minimum": lambda s: (s - s.amin(-1, keepdim=True)) / (
        s.amax(-1, keepdim=True) - s.amin(-1, keepdim=True)),
}

WEIGHTED_SUM = {
    "largest weight doubled": lambda w, v: (w + 1e-2 * (w == w.amax(-1, keepdim=True))) @ v,
    "keys reversed": lambda w, v: w.flip(-1) @ v,
    "first sequence's values": lambda w, v: w @ v[:1],
    "first sequence's weights": lambda w, v: w[:1] @ v,
    "mean of the values": lambda w, v: v.mean(1, keepdim=True).expand(-1, w.size(1), -1) + 0 * (w @ v),
    "two best keys": lambda w, v: (w * (w >= w.topk(min(2, w.size(-1)), -1).values[..., -1:])) @ v,
    "weights cut to 0 and 1": lambda w, v: w.clamp(0, 1) @ v,
    "weights made positive": lambda w, v: w.abs() @ v,
    "sum made one": lambda w, v: (w / w.sum(-1, keepdim=True).clamp(min=1)) @ v,
    "rounded": lambda w, v: (w @ v).round(decimals=3),
    "float32 inside": lambda w, v: (w.float() @ v.float()).to(v.dtype),
    "weights detached": lambda w, v: w.detach() @ v,
    "values detached": lambda w, v: w @ v.detach(),
    "last key forgotten": lambda w, v: w[..., :-1] @ v[:, :-1],
    "squeezed": lambda w, v: (w.unsqueeze(-1) * v.unsqueeze(1)).sum(2).squeeze(),
    "reshaped values": lambda w, v: w @ v.mT.reshape(v.shape),
    "view": lambda w, v: (w.view(-1, w.size(-1)).view(w.shape)) @ v,
    "in place on v": lambda w, v: w @ v.mul_(2) / 2,
    "softmax where it is no distribution": lambda w, v: (
        w if bool(torch.isclose(w.sum(-1), torch.ones(()).to(w)).all()) else torch.softmax(w, -1)) @ v,
}


class Parts(nn.Module):
    """SelfAttention around a slip: `attend(x, q, k, v)` gets the right projections."""

    attend = None

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, x):
        return type(self).attend(x, self.W_q(x), self.W_k(x), self.W_v(x))


def module(attend):
    return type("SelfAttention", (Parts,), {"attend": staticmethod(attend)})


def mixed(weights, v):
    return weights @ v, weights


class DropoutInTraining(Parts):
    def forward(self, x):
        weights = F.dropout(right_weights(self.W_q(x), self.W_k(x)), 0.1, self.training)
        return mixed(weights, self.W_v(x))


class ScaledInTraining(Parts):
    def forward(self, x):
        return mixed(right_weights(self.W_q(x), self.W_k(x), None if self.training else 1), self.W_v(x))


class OutputProjected(Parts):
    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        self.W_o = nn.Linear(d_k, d_k, bias=False)

    def forward(self, x):
        out, weights = mixed(right_weights(self.W_q(x), self.W_k(x)), self.W_v(x))
        return self.W_o(out), weights


class UnusedParameter(Parts):
    attend = staticmethod(lambda x, q, k, v: mixed(right_weights(q, k), v))

    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        self.scale = nn.Parameter(torch.ones(1))


class OtherNames(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, x):
        return mixed(right_weights(self.query(x), self.key(x)), self.value(x))


class NotRegistered(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.projections = [nn.Linear(d_model, d_k, bias=False) for _ in range(3)]

    def forward(self, x):
        q, k, v = (projection(x) for projection in self.projections)
        return mixed(right_weights(q, k), v)


class SharedMatrix(Parts):
    attend = staticmethod(lambda x, q, k, v: mixed(right_weights(q, k), v))

    def __init__(self, d_model, d_k):
        super().__init__(d_model, d_k)
        self.W_k.weight = self.W_q.weight


class Reset(Parts):
    def forward(self, x):
        nn.init.eye_(self.W_v.weight)
        return mixed(right_weights(self.W_q(x), self.W_k(x)), self.W_v(x))


SELF_ATTENTION = {
    "dropout in training": DropoutInTraining,
    "scaled in training only": ScaledInTraining,
    "output projected": OutputProjected,
    "an unused parameter": UnusedParameter,
    "other names": OtherNames,
    "not registered": NotRegistered,
    "a shared matrix": SharedMatrix,
    "weights set anew": Reset,
    "a fixed scale": module(lambda x, q, k, v: mixed(right_weights(q, k, 64), v)),
    "root rounded down": module(lambda x, q, k, v: mixed(torch.softmax(q @ k.mT / int(q.size(-1) ** 0.5), -1), v)),
    "scores returned": module(lambda x, q, k, v: (right_weights(q, k) @ v, q @ k.mT / math.sqrt(q.size(-1)))),
    "weights first": module(lambda x, q, k, v: mixed(right_weights(q, k), v)[::-1]),
    "weights detached": module(lambda x, q, k, v: (right_weights(q, k) @ v, right_weights(q, k).detach())),
    "output without the weights' gradient": module(lambda x, q, k, v: (
        right_weights(q, k).detach() @ v, right_weights(q, k))),
    "causal": module(lambda x, q, k, v: mixed(F.normalize(right_weights(q, k).tril(), 1, -1), v)),
    "nobody looks at itself": module(lambda x, q, k, v: mixed(torch.softmax(
        (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(torch.eye(q.size(1), dtype=torch.bool), -1e9), -1), v)),
    "values added": module(lambda x, q, k, v: (right_weights(q, k) @ v + v, right_weights(q, k))),
    "normalised output": module(lambda x, q, k, v: (
        F.layer_norm(right_weights(q, k) @ v, v.shape[-1:]), right_weights(q, k))),
    "positions added": module(lambda x, q, k, v: mixed(torch.softmax(
        q @ k.mT / math.sqrt(q.size(-1)) - 0.1 * torch.arange(q.size(1)), -1), v)),
    "one sequence for all": module(lambda x, q, k, v: mixed(right_weights(q, k), v[:1])),
    "batch axis": module(lambda x, q, k, v: mixed(torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), 0), v)),
    "weights mixed twice": module(lambda x, q, k, v: (right_weights(q, k) @ (right_weights(q, k) @ v),
                                                      right_weights(q, k))),
    "squeezed": module(lambda x, q, k, v: ((right_weights(q, k) @ v).squeeze(), right_weights(q, k).squeeze())),
    "view of x": module(lambda x, q, k, v: mixed(right_weights(q, k), v + 0 * x.view(-1).sum())),
    "float32 inside": module(lambda x, q, k, v: tuple(
        t.to(x.dtype) for t in mixed(right_weights(q.float(), k.float()), v.float()))),
    "in place on x": module(lambda x, q, k, v: mixed(right_weights(q, k), v + 0 * x.data.add_(1).sum())),
}

WRONG = {
    "project_qkv": PROJECT_QKV,
    "attention_scores": ATTENTION_SCORES,
    "attention_weights": ATTENTION_WEIGHTS,
    "weighted_sum": WEIGHTED_SUM,
    "SelfAttention": SELF_ATTENTION,
}

NAMED = {
    ("attention_scores", "scaled when wide"): "already_scaled",
    ("attention_weights", "axis 1"): "softmax_over_queries",
    ("attention_weights", "axis 2"): "softmax_over_queries",
    ("attention_weights", "a large constant taken away"): "maximum_not_subtracted",
    ("attention_weights", "in place on the argument"): "scores_edited_in_place",
    ("weighted_sum", "sum made one"): "renormalised",
    ("weighted_sum", "softmax where it is no distribution"): "softmax_applied_again",
    ("SelfAttention", "scaled in training only"): "not_scaled",
    ("SelfAttention", "weights first"): "output_and_weights_swapped",
}
