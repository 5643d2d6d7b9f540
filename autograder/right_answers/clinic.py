"""Right answers to patients 1 to 5 of chapter 11's clinic, each mended in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer

# --- clinic_1: what a decoder is fed ---------------------------------------------------------------------------


@right_answer("clinic_1")
def cut_at_either_end(tokens):
    return tokens[:, :-1], tokens[:, 1:]


@right_answer("clinic_1")
def copied(tokens):
    inputs, targets = tokens[:, :-1].clone(), tokens[:, 1:].contiguous()
    return inputs, targets


@right_answer("clinic_1")
def narrowed(tokens):
    steps = tokens.size(1) - 1
    return tokens.narrow(1, 0, steps), tokens.narrow(1, 1, steps)


@right_answer("clinic_1")
def windows_of_two(tokens):
    return tokens.unfold(1, 2, 1).unbind(dim=-1)


@right_answer("clinic_1")
def rolled_and_cut(tokens):
    return tokens[..., :-1], torch.roll(tokens, -1, dims=1)[..., :-1]


@right_answer("clinic_1")
def row_by_row(tokens):
    rows = tokens.tolist()
    return torch.tensor([row[:-1] for row in rows]), torch.tensor([row[1:] for row in rows])


@right_answer("clinic_1")
def by_index(tokens):
    places = torch.arange(tokens.shape[1] - 1)
    return tokens.index_select(1, places), tokens.index_select(1, places + 1)


# --- clinic_2: masked attention --------------------------------------------------------------------------------


@right_answer("clinic_2")
def minus_infinity(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ value


@right_answer("clinic_2")
def a_very_low_score(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
    return torch.softmax(torch.where(mask, scores, -1e9), dim=-1) @ value


@right_answer("clinic_2")
def divided_by_what_is_left(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, dim=-1) * mask
    return (weights / weights.sum(dim=-1, keepdim=True)) @ value


@right_answer("clinic_2")
def divided_after_the_mixture(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
    return powers @ value / powers.sum(dim=-1, keepdim=True)


@right_answer("clinic_2")
def a_mask_that_is_added(query, key, value, mask):
    added = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(mask.logical_not(), -math.inf)
    return F.softmax(torch.matmul(query, key.mT) / math.sqrt(query.shape[-1]) + added, -1).matmul(value)


@right_answer("clinic_2")
def in_indices(query, key, value, mask):
    scores = torch.einsum("bhqd,bhkd->bhqk", query / query.size(-1) ** 0.5, key)
    weights = scores.masked_fill(mask == 0, -torch.inf).softmax(dim=-1)
    return torch.einsum("bhqk,bhkd->bhqd", weights, value)


@right_answer("clinic_2")
def through_the_logarithm(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.size(-1)) + mask.log()
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True)) @ value


# --- clinic_3: the padding mask --------------------------------------------------------------------------------


@right_answer("clinic_3")
def unequal(tokens, pad):
    return (tokens != pad)[:, None, None, :]


@right_answer("clinic_3")
def not_equal(tokens, pad):
    return ~(tokens == pad).unsqueeze(1).unsqueeze(2)


@right_answer("clinic_3")
def by_the_functions_name(tokens, pad):
    return torch.ne(tokens, pad).view(tokens.size(0), 1, 1, tokens.size(1))


@right_answer("clinic_3")
def filled_with_false(tokens, pad):
    mask = torch.ones(len(tokens), 1, 1, tokens.shape[1], dtype=torch.bool)
    return mask.masked_fill(tokens.eq(pad)[:, None, None], False)


@right_answer("clinic_3")
def a_difference_that_is_not_zero(tokens, pad):
    return (tokens - pad).bool().reshape(tokens.size(0), 1, 1, -1)


@right_answer("clinic_3")
def token_by_token(tokens, pad):
    return torch.tensor([[[[token != pad for token in row]]] for row in tokens.tolist()])


# --- clinic_4: positions ---------------------------------------------------------------------------------------


def _waves(max_len, d_model):
    angles = torch.arange(max_len).unsqueeze(1) * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model]


@right_answer("clinic_4")
class SecondAxis(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", _waves(max_len, d_model))

    def forward(self, x):
        return x + self.pe[: x.size(1)]


@right_answer("clinic_4")
class WithAnAxisForTheBatch(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", _waves(max_len, d_model).unsqueeze(0))

    def forward(self, x):
        _, seq, _ = x.shape
        return x + self.pe[:, :seq, :]


@right_answer("clinic_4")
class LookedUp(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", _waves(max_len, d_model))

    def forward(self, x):
        return F.embedding(torch.arange(x.shape[-2]), self.pe) + x


@right_answer("clinic_4")
class CountedFromTheEnd(nn.Module):
    """The axis before the features is the sequence, however many stand before it."""

    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", _waves(max_len, d_model))

    def forward(self, x):
        return torch.add(x, self.pe.narrow(0, 0, x.size(-2)))


@right_answer("clinic_4")
class SequenceFirstAndBack(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", _waves(max_len, d_model).unsqueeze(1))

    def forward(self, x):
        x = x.transpose(0, 1)
        return (x + self.pe[: x.size(0)]).transpose(0, 1)


@right_answer("clinic_4")
class SentenceBySentence(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", _waves(max_len, d_model))

    def forward(self, x):
        return torch.stack([sentence + self.pe[: len(sentence)] for sentence in x])


# --- clinic_5: merging heads -----------------------------------------------------------------------------------


@right_answer("clinic_5")
def transposed_and_flattened(heads):
    return heads.transpose(1, 2).flatten(2)


@right_answer("clinic_5")
def permuted_and_viewed(heads):
    batch, number, seq, d_k = heads.shape
    return heads.permute(0, 2, 1, 3).contiguous().view(batch, seq, number * d_k)


@right_answer("clinic_5")
def side_by_side(heads):
    return torch.cat(heads.unbind(dim=1), dim=-1)


@right_answer("clinic_5")
def swapped_and_reshaped(heads):
    return heads.swapaxes(1, 2).reshape(heads.shape[0], heads.shape[2], -1)


@right_answer("clinic_5")
def position_by_position(heads):
    return torch.stack([heads[:, :, t].flatten(1) for t in range(heads.size(2))], dim=1)


@right_answer("clinic_5")
def head_by_head(heads):
    batch, number, seq, d_k = heads.shape
    merged = heads.new_zeros(batch, seq, number * d_k)
    for i in range(number):
        merged[:, :, i * d_k : (i + 1) * d_k] = heads[:, i]
    return merged


@right_answer("clinic_5")
def by_moving_an_axis(heads):
    return torch.movedim(heads, 1, 2).flatten(start_dim=-2)
