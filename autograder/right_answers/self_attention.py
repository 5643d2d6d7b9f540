"""Right answers to the exercises of chapter 04, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer

# --- project_qkv -----------------------------------------------------------------------------------------------


@right_answer("project_qkv")
def with_linear(x, w_q, w_k, w_v):
    return F.linear(x, w_q), F.linear(x, w_k), F.linear(x, weight=w_v, bias=None)


@right_answer("project_qkv")
def with_einsum(x, w_q, w_k, w_v):
    return tuple(torch.einsum("bsm,dm->bsd", x, w) for w in (w_q, w_k, w_v))


@right_answer("project_qkv")
def token_by_token(x, w_q, w_k, w_v):
    def project(w):
        return torch.stack([torch.stack([w @ token for token in sequence]) for sequence in x])

    return project(w_q), project(w_k), project(w_v)


@right_answer("project_qkv")
def one_product_then_split(x, w_q, w_k, w_v):
    together = x @ torch.cat([w_q, w_k, w_v]).mT
    return together.split([len(w_q), len(w_k), len(w_v)], dim=-1)


@right_answer("project_qkv")
def batch_of_products(x, w_q, w_k, w_v):
    def project(w):
        return torch.bmm(x, w.transpose(0, 1).expand(x.size(0), -1, -1))

    return project(w_q), project(w_k), project(w_v)


@right_answer("project_qkv")
def columns_turned_twice(x, w_q, w_k, w_v):
    columns = x.transpose(1, 2)
    q, k, v = (torch.matmul(input=w, other=columns) for w in (w_q, w_k, w_v))
    return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)


@right_answer("project_qkv")
def products_added_up(x, w_q, w_k, w_v):
    x = x.unsqueeze(-2)  # (batch, seq, 1, d_model) against (d, d_model)
    return (x * w_q).sum(-1), (x * w_k).sum(-1), (x * w_v).sum(-1)


@right_answer("project_qkv")
def with_tensordot(x, w_q, w_k, w_v):
    return [torch.tensordot(x, w, dims=([2], [1])) for w in (w_q, w_k, w_v)]


# --- attention_scores ------------------------------------------------------------------------------------------


@right_answer("attention_scores")
def scores_with_einsum(q, k):
    return torch.einsum("bqd,bkd->bqk", q, k)


@right_answer("attention_scores")
def scores_with_bmm(q, k):
    return torch.bmm(q, k.permute(0, 2, 1))


@right_answer("attention_scores")
def scores_pair_by_pair(q, k):
    batch, n_q, _ = q.shape
    scores = q.new_empty(batch, n_q, k.shape[1])
    for b in range(batch):
        for i in range(n_q):
            for j in range(k.shape[1]):
                scores[b, i, j] = torch.dot(q[b, i], k[b, j])
    return scores


@right_answer("attention_scores")
def scores_by_broadcasting(q, k):
    return (q[:, :, None, :] * k[:, None, :, :]).sum(dim=-1)


@right_answer("attention_scores")
def scores_with_baddbmm(q, k):
    nothing = torch.zeros(1, 1, 1, dtype=q.dtype, device=q.device)
    return torch.baddbmm(nothing, q, k.mT, beta=0)


@right_answer("attention_scores")
def scores_turned_afterwards(q, k):
    return (k @ q.mT).mT


@right_answer("attention_scores")
def scores_feature_by_feature(q, k):
    total = 0
    for feature in range(q.size(-1)):
        total = total + q[..., feature].unsqueeze(-1) * k[..., feature].unsqueeze(-2)
    return total


@right_answer("attention_scores")
def scores_key_by_key(q, k):
    return torch.stack([(q @ key.unsqueeze(-1)).squeeze(-1) for key in k.unbind(dim=1)], dim=-1)


# --- attention_weights -----------------------------------------------------------------------------------------


@right_answer("attention_weights")
def exp_minus_logsumexp(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right_answer("attention_weights")
def maximum_detached(scores):
    shifted = scores - scores.max(dim=-1, keepdim=True).values.detach()
    exponentials = torch.exp(shifted)
    return exponentials.div(exponentials.sum(-1).unsqueeze(-1))


@right_answer("attention_weights")
def row_by_row(scores):
    rows = []
    for row in scores.reshape(-1, scores.size(-1)):
        exponentials = (row - max(row)).exp()
        rows.append(exponentials / sum(exponentials))
    return torch.stack(rows).reshape(scores.shape)


@right_answer("attention_weights")
def in_double_precision(scores):
    exact = scores.double()
    exponentials = (exact - exact.amax(-1, keepdim=True)).exp()
    return (exponentials / exponentials.sum(-1, keepdim=True)).to(scores.dtype)


@right_answer("attention_weights")
def powers_of_two(scores):
    scores = (scores - scores.amax(-1, True)) * math.log2(math.e)
    return torch.exp2(scores) * torch.exp2(scores).sum(-1, True).reciprocal()


@right_answer("attention_weights")
def compared_with_every_other(scores):
    # 1 / sum_l exp(s_l - s_j): an overflow to infinity becomes the weight 0, which is right
    return 1 / (scores.unsqueeze(-2) - scores.unsqueeze(-1)).exp().sum(dim=-1)


@right_answer("attention_weights")
def last_axis_first(scores):
    turned = scores.movedim(-1, 0)
    exponentials = (turned - turned.amax(0)).exp()
    return (exponentials / exponentials.sum(0)).movedim(0, -1)


@right_answer("attention_weights")
def in_place_on_a_copy(scores):
    weights = scores.clone()
    weights -= weights.detach().amax(dim=-1, keepdim=True)
    weights = weights.exp_()
    return weights / torch.einsum("...k->...", weights)[..., None]


@right_answer("attention_weights")
def argument_borrowed(scores):
    with torch.no_grad():
        before = scores.clone()
        scores.sub_(scores.amax(dim=-1, keepdim=True))
        maximum = (before - scores).clone()
        scores.copy_(before)
    exponentials = (scores - maximum).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


# --- weighted_sum ----------------------------------------------------------------------------------------------


@right_answer("weighted_sum")
def sum_with_einsum(weights, v):
    return torch.einsum("bij,bjd->bid", weights, v)


@right_answer("weighted_sum")
def sum_with_bmm(weights, v):
    return torch.bmm(input=weights, mat2=v)


@right_answer("weighted_sum")
def sum_key_by_key(weights, v):
    out = torch.zeros(*weights.shape[:2], v.shape[2], dtype=v.dtype, device=v.device)
    for j in range(v.shape[1]):
        out = out + weights[:, :, j : j + 1] * v[:, j : j + 1, :]
    return out


@right_answer("weighted_sum")
def sum_by_broadcasting(weights, v):
    return (weights.unsqueeze(-1) * v.unsqueeze(1)).sum(dim=2)


@right_answer("weighted_sum")
def sum_sequence_by_sequence(weights, v):
    return torch.stack([F.linear(weights[b], v[b].T) for b in range(len(v))])


@right_answer("weighted_sum")
def sum_turned_afterwards(weights, v):
    return torch.matmul(v.mT, weights.mT).mT


@right_answer("weighted_sum")
def sum_filled_in_place(weights, v):
    batch, n_q, _ = weights.shape
    out = v.new_zeros(batch, n_q, v.size(-1))
    for i in range(n_q):
        out[:, i] += (weights[:, i].unsqueeze(-1) * v).sum(dim=1)
    return out


# --- SelfAttention ---------------------------------------------------------------------------------------------


@right_answer("SelfAttention")
class QueryScaledFirst(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)
        self.scale = d_k**-0.5

    def forward(self, x):
        weights = F.softmax(self.scale * self.W_q(x) @ self.W_k(x).transpose(1, 2), dim=-1)
        return weights @ self.W_v(x), weights


@right_answer("SelfAttention")
class WithEinsum(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, x):
        scores = torch.einsum("bqd,bkd->bqk", self.W_q(x), self.W_k(x)) / math.sqrt(self.d_k)
        weights = scores.softmax(-1)
        return torch.einsum("bqk,bkd->bqd", weights, self.W_v(x)), weights


@right_answer("SelfAttention")
class OwnSoftmax(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_v", "W_k", "W_q"):
            self.add_module(name, nn.Linear(in_features=d_model, out_features=d_k, bias=False))

    def forward(self, x):
        def normalise(scores):
            return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()

        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = normalise(q @ k.mT / q.shape[-1] ** 0.5)
        return weights @ v, weights


@right_answer("SelfAttention")
class OneProjectionForAll(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        together = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        q, k, v = F.linear(x, together).chunk(3, dim=-1)
        nothing = q.new_zeros(())
        scores = torch.baddbmm(nothing, q, k.mT, beta=0, alpha=1 / math.sqrt(q.size(-1)))
        weights = torch.softmax(scores, dim=2)
        return torch.bmm(weights, v), weights


@right_answer("SelfAttention")
class SequenceBySequence(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def attend(self, tokens):
        q, k, v = self.W_q(tokens), self.W_k(tokens), self.W_v(tokens)
        weights = self.softmax(torch.stack([k @ query for query in q]) / math.sqrt(k.shape[1]))
        return weights @ v, weights

    def forward(self, x):
        pairs = [self.attend(tokens) for tokens in x]
        return torch.stack([out for out, _ in pairs]), torch.stack([weights for _, weights in pairs])


@right_answer("SelfAttention")
class BothSidesScaled(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)
        self.register_buffer("root", torch.tensor(float(d_k)) ** 0.25)

    def forward(self, x):
        q, k, v = self.W_q(x) / self.root, self.W_k(x) / self.root, self.W_v(x)
        weights = torch.softmax(q @ k.mT, dim=-1)
        return weights @ v, weights


@right_answer("SelfAttention")
class ValuesProjectedLast(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)
        self.d_k = d_k

    def forward(self, x):
        scores = self.W_q(x) @ self.W_k(x).mT / torch.sqrt(torch.tensor(self.d_k))
        weights = torch.nn.functional.softmax(scores, dim=-1)
        return self.W_v(weights @ x), weights  # mixing and projecting are both linear, so the order is free
