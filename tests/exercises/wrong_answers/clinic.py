"""Chapter 11: patients 1 to 5 of the clinic, mended wrongly or by half."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import clinic
from autograder.reference.positional_encoding import sinusoidal_encoding

FEEDING = {
    "as it was": lambda tokens: (tokens[:, 1:], tokens[:, 1:]),
    "the other half of the fault": lambda tokens: (tokens[:, :-1], tokens[:, :-1]),
    "inputs whole": lambda tokens: (tokens, tokens[:, 1:]),
    "targets whole": lambda tokens: (tokens[:, :-1], tokens),
    "rows cut": lambda tokens: (tokens[:-1], tokens[1:]),
    "last token kept, first lost twice": lambda tokens: (tokens[:, 1:], tokens[:, 2:]),
    "end cut off both": lambda tokens: (tokens[:, :-2], tokens[:, 1:-1]),
    "targets first": lambda tokens: tuple(reversed(clinic.clinic_1(tokens))),
    "stacked": lambda tokens: torch.stack(clinic.clinic_1(tokens)),
    "a list that is one too short": lambda tokens: [tokens[:, :-1]],
    "two ahead": lambda tokens: (tokens[:, :-1], tokens.roll(-2, 1)[:, :-1]),
    "rolled the other way": lambda tokens: (tokens, tokens.roll(1, 1)),
    "float targets": lambda tokens: (tokens[:, :-1], tokens[:, 1:].float()),
    "always six positions": lambda tokens: (tokens[:, :6], tokens[:, 1:7]),
    "zeros in front": lambda tokens: (F.pad(tokens[:, :-1], (1, 0)), tokens),
    "bos taken off": lambda tokens: (tokens[:, 1:-1], tokens[:, 2:]),
}


def scored(query, key):
    return query @ key.mT / math.sqrt(query.size(-1))


def attention(weigh):
    """The mixture of values with the weights `weigh(scores, mask)`."""
    return lambda query, key, value, mask: weigh(scored(query, key), mask) @ value


def shared(weights):
    return weights / weights.sum(-1, keepdim=True)


def detached(query, key, value, mask):
    return clinic.clinic_2(query.detach(), key, value, mask)


def library(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


ATTENTION = {
    "as it was": attention(lambda scores, mask: torch.softmax(scores, -1) * mask),
    "divided along the queries": attention(
        lambda scores, mask: (w := torch.softmax(scores, -1) * mask) / w.sum(-2, keepdim=True)),
    "divided by all heads together": attention(
        lambda scores, mask: (w := torch.softmax(scores, -1) * mask) / w.sum((-1, -2), keepdim=True)),
    "softmax again": attention(lambda scores, mask: torch.softmax(torch.softmax(scores, -1) * mask, -1)),
    "masked before and inverted": attention(
        lambda scores, mask: torch.softmax(scores.masked_fill(mask, -1e9), -1)),
    "scores times the mask": attention(lambda scores, mask: torch.softmax(scores * mask, -1)),
    "minus one": attention(lambda scores, mask: torch.softmax(scores.masked_fill(~mask, -1.0), -1)),
    "minus ten": attention(lambda scores, mask: torch.softmax(scores - 10.0 * ~mask, -1)),
    "a tenth more": attention(lambda scores, mask: torch.softmax(1.1 * scores.masked_fill(~mask, -1e9), -1)),
    "softmax along the queries": attention(
        lambda scores, mask: torch.softmax(scores.masked_fill(~mask, -1e9), -2)),
    "no softmax": attention(lambda scores, mask: shared(scores.abs() * mask)),
    "values masked": lambda query, key, value, mask: torch.softmax(scored(query, key), -1) @ (
        value * mask[0].unsqueeze(-1)),
    "uniform over what is allowed": attention(lambda scores, mask: shared(mask.to(scores.dtype) + 0 * scores)),
    "always causal": attention(lambda scores, mask: torch.softmax(
        scores.masked_fill(~torch.ones_like(mask).tril(), -1e9), -1)),
    "scaled twice": attention(lambda scores, mask: torch.softmax(scores.masked_fill(~mask, -1e9) / 3.3, -1)),
    "weights too": lambda query, key, value, mask: (clinic.clinic_2(query, key, value, mask), mask),
    "first head for all": lambda query, key, value, mask: clinic.clinic_2(
        query[:, :1], key[:, :1], value, mask),
    "detached": detached,
    "the library's own": library,
}

PADDING = {
    "as it was": lambda tokens, pad: (tokens == pad)[:, None, None, :],
    "whole numbers": lambda tokens, pad: (tokens != pad).long()[:, None, None, :],
    "floats": lambda tokens, pad: (tokens != pad).float()[:, None, None, :],
    "ready to be added": lambda tokens, pad: torch.zeros(tokens.shape).masked_fill(
        tokens == pad, -torch.inf)[:, None, None],
    "square": lambda tokens, pad: (tokens != pad)[:, None, None, :] & (tokens != pad)[:, None, :, None],
    "expanded over queries": lambda tokens, pad: (tokens != pad)[:, None, None, :].expand(
        -1, -1, tokens.size(1), -1),
    "axes at the end": lambda tokens, pad: (tokens != pad)[:, :, None, None],
    "axes in front": lambda tokens, pad: (tokens != pad)[None, None],
    "first token always real": lambda tokens, pad: ((tokens != pad) | (
        torch.arange(tokens.size(1)) == 0))[:, None, None],
    "larger than pad": lambda tokens, pad: (tokens > pad)[:, None, None, :],
    "not zero": lambda tokens, pad: tokens.bool()[:, None, None, :],
    "minus one": lambda tokens, pad: (tokens != -1)[:, None, None, :],
    "all real": lambda tokens, pad: torch.ones_like(tokens, dtype=torch.bool)[:, None, None],
    "causal too": lambda tokens, pad: (tokens != pad)[:, None, None] & torch.ones(
        tokens.size(1), tokens.size(1), dtype=torch.bool).tril(),
    "up to the first pad": lambda tokens, pad: (tokens != pad).cumprod(1).bool()[:, None, None],
    "one row for all": lambda tokens, pad: (tokens != pad)[:1, None, None],
    "in place": lambda tokens, pad: tokens.sub_(pad).bool()[:, None, None, :],
}


class Positions(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))


def positions(forward):
    """A module whose forward is `forward(x, table)`."""
    class Slip(Positions):
        def forward(self, x):
            return forward(x, self.pe)

    return Slip


class Trained(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.pe = nn.Parameter(sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class TooShort(Positions):
    def __init__(self, d_model, max_len):
        super().__init__(d_model, 2)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


PLACES = {
    "as it was": positions(lambda x, pe: x + pe[: x.size(0)].unsqueeze(1)),
    "axis mended, size forgotten": positions(lambda x, pe: x + pe[: x.size(0)]),
    "the new axis mended alone": positions(lambda x, pe: x + pe[: x.size(0)].unsqueeze(0)),
    "size mended, axis forgotten": positions(lambda x, pe: x + pe[: x.size(1)].unsqueeze(1)),
    "by the features": positions(lambda x, pe: x + pe[: x.size(2), : x.size(2)][: x.size(1)].flip(0)),
    "backwards": positions(lambda x, pe: x + pe[: x.size(1)].flip(0)),
    "the whole table's mean": positions(lambda x, pe: x + pe.mean(0)),
    "end of the table": positions(lambda x, pe: x + pe[-x.size(1):]),
    "halved": positions(lambda x, pe: x + pe[: x.size(1)] / 2),
    "scaled by the root": positions(lambda x, pe: x * math.sqrt(x.size(-1)) + pe[: x.size(1)]),
    "subtracted": positions(lambda x, pe: x - pe[: x.size(1)]),
    "table alone": positions(lambda x, pe: pe[: x.size(1)].expand_as(x)),
    "twice": positions(lambda x, pe: x + 2 * pe[: x.size(1)]),
    "both counted": positions(lambda x, pe: x + pe[: x.size(1)] + pe[: x.size(0)].unsqueeze(1)),
    "in another order": positions(lambda x, pe: (x.transpose(0, 1) + pe[: x.size(1)].unsqueeze(1))),
    "detached": positions(lambda x, pe: x.detach() + pe[: x.size(1)]),
    "trained": Trained,
    "two rows": TooShort,
}

MERGING = {
    "as it was": lambda heads: heads.reshape(heads.size(0), heads.size(2), -1),
    "transposed back again": lambda heads: heads.transpose(1, 2).transpose(1, 2).reshape(
        heads.size(0), heads.size(2), -1),
    "last two axes swapped": lambda heads: heads.mT.reshape(heads.size(0), heads.size(2), -1),
    "batch and heads swapped": lambda heads: heads.transpose(0, 1).reshape(heads.size(0), heads.size(2), -1),
    "a view that cannot be": lambda heads: heads.transpose(1, 2).view(heads.size(0), heads.size(2), -1),
    "features first": lambda heads: heads.permute(0, 2, 3, 1).reshape(heads.size(0), heads.size(2), -1),
    "added up": lambda heads: heads.sum(1),
    "first head only": lambda heads: heads[:, 0],
    "largest": lambda heads: heads.amax(1),
    "four axes": lambda heads: heads.transpose(1, 2),
    "positions backwards": lambda heads: heads.flip(2).transpose(1, 2).flatten(2),
    "heads moved on by one": lambda heads: heads.roll(1, 1).transpose(1, 2).flatten(2),
    "along the batch": lambda heads: torch.cat(list(heads.unbind(1)), 0),
    "features along the sequence": lambda heads: heads.transpose(1, 2).flatten(1, 2),
    "detached": lambda heads: heads.detach().transpose(1, 2).flatten(2),
    "flat": lambda heads: heads.transpose(1, 2).flatten(1),
}

WRONG = {"clinic_1": FEEDING, "clinic_2": ATTENTION, "clinic_3": PADDING, "clinic_4": PLACES, "clinic_5": MERGING}

NAMED = {
    ("clinic_1", "as it was"): "target_not_shifted",
    ("clinic_1", "targets first"): "input_and_target_changed_over",
    ("clinic_2", "as it was"): "mask_after_softmax",
    ("clinic_2", "masked before and inverted"): "hidden_for_allowed",
    ("clinic_2", "scores times the mask"): "zero_as_a_score",
    ("clinic_3", "as it was"): "mask_polarity_inverted",
    ("clinic_3", "not zero"): "pad_is_zero",
    ("clinic_4", "as it was"): "positions_along_the_batch",
    ("clinic_5", "as it was"): "heads_merged_without_transpose",
    ("clinic_5", "transposed back again"): "heads_merged_without_transpose",
    ("clinic_5", "features first"): "features_interleaved",
}
