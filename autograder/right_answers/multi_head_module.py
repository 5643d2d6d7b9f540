"""Right answers to the exercise MultiHeadAttention of chapter 06, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer


@right_answer("MultiHeadAttention")
class AsInTheArticle(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by num_heads ({num_heads})")
        self.h, self.d_k = num_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        batch = q.size(0)
        q = self.W_q(q).view(batch, -1, self.h, self.d_k).transpose(1, 2)
        k = self.W_k(k).view(batch, -1, self.h, self.d_k).transpose(1, 2)
        v = self.W_v(v).view(batch, -1, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        heads = torch.matmul(weights, v).transpose(1, 2).contiguous().view(batch, -1, self.h * self.d_k)
        return self.W_o(self.dropout(heads)), weights


@right_answer("MultiHeadAttention")
class HeadByHead(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError(f"{num_heads} heads do not divide {d_model} features")
        self.num_heads, self.p = num_heads, dropout
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=True) for _ in range(4))

    def forward(self, q, k, v, mask=None):
        outputs, maps = [], []
        parts = (layer(x).chunk(self.num_heads, dim=-1) for layer, x in
                 ((self.W_q, q), (self.W_k, k), (self.W_v, v)))
        for i, (query, key, value) in enumerate(zip(*parts, strict=True)):
            scores = torch.bmm(query, key.transpose(1, 2)) * query.size(-1) ** -0.5
            if mask is not None:
                allowed = mask.bool().expand(q.size(0), self.num_heads, q.size(1), k.size(1))[:, i]
                weights = torch.softmax(scores.masked_fill(~allowed, -1e9), -1) * allowed
            else:
                weights = torch.softmax(scores, -1)
            outputs.append(torch.bmm(weights, value))
            maps.append(weights)
        merged = F.dropout(torch.cat(outputs, dim=-1), p=self.p, training=self.training)
        return self.W_o(merged), torch.stack(maps, dim=1)


@right_answer("MultiHeadAttention")
class WithEinsum(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        d_k, left_over = divmod(d_model, num_heads)
        if left_over:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
        self.shape = (num_heads, d_k)
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.drop = nn.Dropout(p=dropout)

    def forward(self, q, k, v, mask=None):
        query, key, value = (layer(x).unflatten(-1, self.shape)
                             for layer, x in ((self.W_q, q), (self.W_k, k), (self.W_v, v)))
        scores = torch.einsum("bihd,bjhd->bhij", query, key) / self.shape[1] ** 0.5
        allowed = torch.ones_like(scores) if mask is None else torch.zeros_like(scores) + mask
        scores = torch.where(allowed > 0, scores, torch.finfo(scores.dtype).min)
        weights = torch.where(allowed > 0, scores.softmax(-1), 0)
        merged = torch.einsum("bhij,bjhd->bihd", weights, value).flatten(2)
        return self.W_o(self.drop(merged)), weights


@right_answer("MultiHeadAttention")
class HelpersInside(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        if not d_model % num_heads == 0:
            raise ValueError(f"d_model % num_heads must be 0, got d_model {d_model} and num_heads {num_heads}")
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.after_merge = nn.Sequential(nn.Dropout(dropout))

    def _split(self, x):
        return torch.stack(x.tensor_split(self.num_heads, dim=-1), dim=1)

    def _merge(self, x):
        return torch.cat(x.unbind(1), dim=-1)

    @staticmethod
    def _weights(scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        forbidden = mask.bool().logical_not()
        return torch.nan_to_num(torch.softmax(scores.masked_fill(forbidden, -math.inf), dim=-1))

    def forward(self, q, k, v, mask=None):
        query, key, value = self._split(self.W_q(q)), self._split(self.W_k(k)), self._split(self.W_v(v))
        weights = self._weights(query @ key.mT / math.sqrt(query.shape[-1]), mask)
        return self.W_o(self.after_merge(self._merge(weights @ value))), weights


@right_answer("MultiHeadAttention")
class HeadsInTheBatch(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads > 0:
            raise ValueError(f"cannot split {d_model} features into {num_heads} heads")
        self.d_k, self.num_heads = d_model // num_heads, num_heads
        self.W_q = nn.Linear(in_features=d_model, out_features=d_model)
        self.W_k = nn.Linear(in_features=d_model, out_features=d_model)
        self.W_v = nn.Linear(in_features=d_model, out_features=d_model)
        self.W_o = nn.Linear(in_features=d_model, out_features=d_model)
        self.dropout = nn.Dropout(dropout)

    def fold(self, x):
        return x.reshape(x.size(0), x.size(1), self.num_heads, self.d_k).transpose(1, 2).flatten(0, 1)

    def forward(self, q, k, v, mask=None):
        batch, n_q, n_k = len(q), q.size(1), k.size(1)
        query, key, value = self.fold(self.W_q(q)), self.fold(self.W_k(k)), self.fold(self.W_v(v))
        scores = torch.baddbmm(query.new_zeros(1, 1, 1), query, key.transpose(1, 2), alpha=self.d_k ** -0.5)
        if mask is None:
            weights = scores.softmax(dim=2)
        else:
            mask = mask.expand(batch, self.num_heads, n_q, n_k).reshape(scores.shape).ne(0)
            weights = scores.masked_fill(mask.logical_not(), -1e9).softmax(dim=2).mul(mask)
        heads = torch.bmm(weights, value).view(batch, self.num_heads, n_q, self.d_k)
        output = self.W_o(self.dropout(heads.permute(0, 2, 1, 3).reshape(batch, n_q, -1)))
        return output, weights.view(batch, self.num_heads, n_q, n_k)


@right_answer("MultiHeadAttention")
class DroppedBeforeMerging(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features, {num_heads} heads: choose a number of heads that divides them")
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = [nn.Linear(d_model, d_model) for _ in "qkvo"]
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        def heads(x):
            return x.unflatten(2, (self.num_heads, x.size(2) // self.num_heads)).movedim(2, 1)

        query, key, value = heads(self.W_q(q)), heads(self.W_k(k)), heads(self.W_v(v))
        scores = (query.unsqueeze(3) * key.unsqueeze(2)).sum(-1) / query.size(-1) ** 0.5
        some = torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask is None else mask != 0
        nothing = ~some.any(dim=-1, keepdim=True)
        weights = torch.softmax(scores.masked_fill(~(some | nothing), -math.inf), dim=-1)
        weights = weights.masked_fill(nothing, 0)
        mixed = self.dropout((weights.unsqueeze(-1) * value.unsqueeze(2)).sum(dim=3))
        return self.W_o(mixed.movedim(1, 2).flatten(2)), weights


@right_answer("MultiHeadAttention")
class OneHeadFromItsRows(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if math.gcd(d_model, num_heads) != num_heads:
            raise ValueError(f"{num_heads} is no divisor of {d_model}")
        self.num_heads, self.width, self.rate = num_heads, d_model // num_heads, dropout
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def part(self, layer, x, i):
        rows = slice(i * self.width, (i + 1) * self.width)
        return F.linear(x, layer.weight[rows], layer.bias[rows])

    def attend(self, query, key, value, mask):
        scores = query.matmul(key.transpose(-1, -2)).div(math.sqrt(self.width))
        if mask is None:
            return F.softmax(scores, -1)
        allowed = torch.broadcast_to(mask, scores.shape).to(scores)
        return F.softmax(scores - 1e30 * (1 - allowed), -1) * allowed

    def forward(self, q, k, v, mask=None):
        merged, all_weights = [], []
        for i in range(self.num_heads):
            query, key, value = self.part(self.W_q, q, i), self.part(self.W_k, k, i), self.part(self.W_v, v, i)
            own = mask if mask is None or mask.dim() < 4 else mask[:, min(i, mask.size(1) - 1)]
            weights = self.attend(query, key, value, own)
            merged.append(weights @ value)
            all_weights.append(weights)
        mixed = torch.dropout(torch.cat(merged, -1), self.rate, self.training)
        return self.W_o(mixed), torch.stack(all_weights, 1)
