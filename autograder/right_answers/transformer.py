"""Right answers to the exercises LayerNorm and FeedForward of chapter 08, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer

# --- LayerNorm -------------------------------------------------------------------------------------------------


@right_answer("LayerNorm")
class AsInTheFormula(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.weight * (x - mean) / torch.sqrt(variance + self.eps) + self.bias


@right_answer("LayerNorm")
class MeanOfSquaresMinusSquareOfMean(nn.Module):
    """The difference is taken in float64, where it does not cancel."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))
        self.register_parameter("bias", nn.Parameter(torch.full((d_model,), 0.0)))

    def forward(self, x):
        wide = x.double()
        mean = wide.sum(-1, keepdim=True) / self.d_model
        variance = ((wide**2).sum(-1, keepdim=True) / self.d_model - mean**2).clamp(min=0)
        normal = (wide - mean) / (variance + self.eps) ** 0.5
        return normal.to(x.dtype) * self.weight + self.bias


@right_answer("LayerNorm")
class VarMeanCorrection(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model)), eps

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return torch.addcmul(self.bias, (x - mean) * (variance + self.eps).rsqrt(), self.weight)


@right_answer("LayerNorm")
class TokenByToken(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        tokens = [self.one(token) for token in x.reshape(-1, x.size(-1))]
        return torch.stack(tokens).reshape(x.shape)

    def one(self, token):
        difference = token - sum(token) / len(token)
        variance = torch.dot(difference, difference) / len(token)
        return difference / torch.sqrt(variance + self.eps) * self.weight + self.bias


@right_answer("LayerNorm")
class WithEinsum(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.width, self.eps = d_model, eps

    def forward(self, x):
        centred = x - torch.einsum("...d->...", x)[..., None] / self.width
        variance = torch.einsum("...d,...d->...", centred, centred)[..., None] / self.width
        return torch.einsum("...d,d->...d", centred / torch.sqrt(variance + self.eps), self.weight) + self.bias


@right_answer("LayerNorm")
class UnbiasedPutRight(nn.Module):
    """Takes the library's variance, d / (d - 1) times too large, back to the biased one; width 1 has none at all."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.epsilon = eps

    def forward(self, x):
        d = x.shape[-1]
        variance = x.var(-1) * ((d - 1) / d) if d > 1 else torch.zeros_like(x[..., 0])
        deviation = (variance + self.epsilon).sqrt().unsqueeze(-1)
        normal = (x - x.mean(-1).unsqueeze(-1)).div(deviation)
        return normal.mul(self.weight).add(self.bias)


@right_answer("LayerNorm")
class LengthOfTheDifference(nn.Module):
    """sqrt(|x - mean|^2 + d eps) is sqrt(d) times the divisor."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.root, self.floor = math.sqrt(d_model), d_model * eps

    def forward(self, x):
        difference = x - x.mean(dim=-1, keepdim=True)
        squares = (difference.unsqueeze(-2) @ difference.unsqueeze(-1)).squeeze(-1)
        return self.bias + self.weight * (self.root * difference / torch.sqrt(squares + self.floor))


# --- FeedForward -----------------------------------------------------------------------------------------------


@right_answer("FeedForward")
class InOneLine(nn.Module):
    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.linear2(self.dropout(F.relu(self.linear1(x))))


@right_answer("FeedForward")
class MaximumWithZero(nn.Module):
    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.rate = dropout

    def forward(self, x):
        hidden = self.linear1(x)
        hidden = torch.maximum(hidden, torch.zeros_like(hidden))
        return self.linear2(F.dropout(hidden, self.rate, training=self.training))


@right_answer("FeedForward")
class MatricesByHand(nn.Module):
    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(in_features=d_model, out_features=d_ff)
        self.linear2 = nn.Linear(in_features=d_ff, out_features=d_model)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x):
        hidden = (x @ self.linear1.weight.T + self.linear1.bias).clamp(min=0)
        return self.drop(hidden) @ self.linear2.weight.T + self.linear2.bias


@right_answer("FeedForward")
class DropoutAtTheEnd(nn.Module):
    """Where dropout stands is not asked."""

    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.act, self.dropout = nn.ReLU(), nn.Dropout(dropout)

    def forward(self, x):
        x = self.linear1(x)
        x = self.act(x)
        x = self.linear2(x)
        return self.dropout(x)


@right_answer("FeedForward")
class NamedSteps(nn.Sequential):
    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.add_module("linear1", nn.Linear(d_model, d_ff))
        self.add_module("relu", nn.ReLU())
        self.add_module("drop", nn.Dropout(dropout))
        self.add_module("linear2", nn.Linear(d_ff, d_model))

    def forward(self, x):
        return super().forward(x)


@right_answer("FeedForward")
class PositionByPosition(nn.Module):
    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff, bias=True)
        self.linear2 = nn.Linear(d_ff, d_model, bias=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return torch.stack([self.one(token) for token in x.unbind(dim=-2)], dim=-2)

    def one(self, token):
        hidden = self.linear1(token)
        return self.linear2(self.dropout(hidden * (hidden > 0)))


@right_answer("FeedForward")
class HalfOfSumWithItsSize(nn.Module):
    """max(0, h) is (h + |h|) / 2."""

    def __init__(self, d_model, d_ff=2048, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.keep = 1 - dropout

    def forward(self, x):
        hidden = self.linear1(x)
        hidden = (hidden + hidden.abs()) / 2
        if self.training:
            kept = torch.rand_like(hidden) < self.keep
            hidden = hidden * kept / self.keep
        return self.linear2(hidden)
