"""Right answers to patients 6 to 10 of chapter 11's clinic, each mended in another way."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference.transformer import EncoderLayer
from autograder.right_answers import right_answer

# --- clinic_6: layer norm --------------------------------------------------------------------------------------


class _Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))


@right_answer("clinic_6")
class LastAxis(_Norm):
    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.weight * (x - mean) / torch.sqrt(variance + self.eps) + self.bias


@right_answer("clinic_6")
class ThirdAxis(_Norm):
    def forward(self, x):
        mean = x.mean(dim=2, keepdim=True)
        variance = ((x - mean) ** 2).mean(2, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias


@right_answer("clinic_6")
class TheLibrarysOwn(nn.LayerNorm):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps=eps)


@right_answer("clinic_6")
class TheLibrarysFunction(_Norm):
    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


@right_answer("clinic_6")
class MeanOfSquares(_Norm):
    def forward(self, x):
        mean = x.mean(-1).unsqueeze(-1)
        variance = x.square().mean(-1).unsqueeze(-1) - mean.square()
        return torch.addcmul(self.bias, self.weight, (x - mean) / (variance + self.eps) ** 0.5)


@right_answer("clinic_6")
class BothAtOnce(_Norm):
    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean).div((variance + self.eps).sqrt()).mul(self.weight).add(self.bias)


@right_answer("clinic_6")
class TokenByToken(_Norm):
    def forward(self, x):
        rows = [(row - row.mean()) / (row.var(unbiased=False) + self.eps).sqrt() for row in x.flatten(0, -2)]
        return torch.stack(rows).view(x.shape) * self.weight + self.bias


# --- clinic_7: a stack of layers -------------------------------------------------------------------------------


@right_answer("clinic_7")
class MadeAnew(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


@right_answer("clinic_7")
class Copied(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()
        layer = EncoderLayer(d_model, num_heads, d_ff)
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask=mask)
        return x


@right_answer("clinic_7")
class Appended(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout=0.1))

    def forward(self, x, mask=None):
        for i in range(len(self.layers)):
            x = self.layers[i](x, mask)
        return x


@right_answer("clinic_7")
class OneAfterAnother(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()
        self.mine = num_layers
        self.layers = nn.Sequential(*[EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)])

    def forward(self, x, mask=None):
        at = 0
        while at < self.mine:
            x, at = self.layers[at](x, mask), at + 1
        return x


@right_answer("clinic_7")
class AddedByName(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()
        self.layers = nn.Module()
        for i in range(num_layers):
            self.layers.add_module(str(i), EncoderLayer(d_model, num_heads, d_ff))

    def forward(self, x, mask=None):
        for layer in self.layers.children():
            x = layer(x, mask)
        return x


@right_answer("clinic_7")
class Recursive(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()
        sizes = (d_model, num_heads, d_ff)
        self.layers = nn.ModuleList([EncoderLayer(*sizes) for _ in range(num_layers)])

    def forward(self, x, mask=None, first=0):
        if first == len(self.layers):
            return x
        return self.forward(self.layers[first](x, mask), mask, first + 1)


# --- clinic_8: the loss ----------------------------------------------------------------------------------------


@right_answer("clinic_8")
def pads_ignored(logits, target, pad):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad)


@right_answer("clinic_8")
def flattened_first(logits, target, pad):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad)


@right_answer("clinic_8")
def only_real_ones(logits, target, pad):
    real = target != pad
    return F.cross_entropy(logits[real], target[real])


@right_answer("clinic_8")
def sum_and_number(logits, target, pad):
    real = target.ne(pad)
    losses = F.cross_entropy(logits.mT, target, reduction="none")
    return (losses * real).sum() / real.sum()


@right_answer("clinic_8")
def gathered(logits, target, pad):
    log_p = torch.log_softmax(logits, dim=-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -log_p[target != pad].mean()


@right_answer("clinic_8")
def the_loss_of_likelihoods(logits, target, pad):
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    return F.nll_loss(log_p.permute(0, 2, 1), target, ignore_index=pad)


@right_answer("clinic_8")
def a_weight_of_zero(logits, target, pad):
    weight = torch.ones(logits.size(-1), dtype=logits.dtype)
    weight[pad] = 0.0
    return F.cross_entropy(logits.transpose(1, 2), target, weight=weight)


# --- clinic_9: dropout -----------------------------------------------------------------------------------------


@right_answer("clinic_9")
class ToldTheMode(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.rate = dropout

    def forward(self, x):
        return self.linear2(F.dropout(torch.relu(self.linear1(x)), self.rate, training=self.training))


@right_answer("clinic_9")
class AModuleOfItsOwn(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        return self.linear2(self.dropout(F.relu(self.linear1(x))))


@right_answer("clinic_9")
class OnlyIfItTrains(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.rate = dropout

    def forward(self, x):
        hidden = self.linear1(x).clamp(min=0)
        if self.training:
            hidden = F.dropout(hidden, self.rate)
        return self.linear2(hidden)


@right_answer("clinic_9")
class ARateOfZero(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.rate = dropout

    def forward(self, x):
        rate = self.rate if self.training else 0.0
        return self.linear2(F.dropout(self.linear1(x).relu(), p=rate))


@right_answer("clinic_9")
class DrawnByHand(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.kept = 1 - dropout

    def forward(self, x):
        hidden = torch.maximum(self.linear1(x), x.new_zeros(()))
        if not self.training:
            return self.linear2(hidden)
        return self.linear2(hidden * torch.bernoulli(torch.full_like(hidden, self.kept)) / self.kept)


@right_answer("clinic_9")
class TorchsOtherName(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.rate = dropout

    def forward(self, x):
        return self.linear2(torch.dropout(F.relu(self.linear1(x)), self.rate, self.training))


# --- clinic_10: positions after a cache ------------------------------------------------------------------------


@right_answer("clinic_10")
def rows_from_past_on(x, past, table):
    return x + table[past : past + x.size(1)]


@right_answer("clinic_10")
def by_numbers(x, past, table):
    return x + table[torch.arange(past, past + x.shape[1])]


@right_answer("clinic_10")
def past_cut_off(x, past, table):
    return x + table[past:][: x.size(1)]


@right_answer("clinic_10")
def narrowed(x, past, table):
    return torch.add(table.narrow(0, past, x.size(1)), x)


@right_answer("clinic_10")
def one_token_at_a_time(x, past, table):
    return torch.stack([x[:, t] + table[past + t] for t in range(x.size(1))], dim=1)


@right_answer("clinic_10")
def looked_up(x, past, table):
    places = past + torch.arange(x.size(1), device=x.device)
    return x + F.embedding(places.expand(x.size(0), -1), table)


@right_answer("clinic_10")
def rolled(x, past, table):
    return x + table.roll(-past, dims=0)[: x.size(1)]
