"""Chapter 11: patients 6 to 10 of the clinic, mended wrongly or by half, and wrong names for all ten."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import clinic
from autograder.reference.transformer import EncoderLayer


class Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps, self.weight, self.bias = eps, nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))


def norm(forward):
    """A norm whose forward is `forward(self, x)`."""
    class Slip(Norm):
        pass

    Slip.forward = forward
    return Slip


def over(mean_axes, variance_axes, unbiased=False, affine=lambda self, x: self.weight * x + self.bias):
    def forward(self, x):
        mean = x.mean(mean_axes, keepdim=True)
        variance = x.var(variance_axes, keepdim=True, unbiased=unbiased)
        return affine(self, (x - mean) / torch.sqrt(variance + self.eps))

    return norm(forward)


class FixedEps(clinic.clinic_6):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model)


class NoParameters(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], eps=self.eps)


NORMS = {
    "as it was": over(1, 1),
    "mean mended alone": over(-1, 1),
    "variance mended alone": over(1, -1),
    "mean of the batch": over(0, -1),
    "both axes in the variance": over(-1, (1, 2)),
    "unbiased": over(-1, -1, unbiased=True),
    "bias forgotten": over(-1, -1, affine=lambda self, x: self.weight * x),
    "weight forgotten": over(-1, -1, affine=lambda self, x: x + self.bias),
    "bias before the weight": over(-1, -1, affine=lambda self, x: self.weight * (x + self.bias)),
    "weight and bias changed over": over(-1, -1, affine=lambda self, x: self.bias * x + self.weight),
    "root forgotten": norm(lambda self, x: self.weight * (x - x.mean(-1, keepdim=True)) / (
        x.var(-1, keepdim=True, unbiased=False) + self.eps) + self.bias),
    "mean only": norm(lambda self, x: self.weight * (x - x.mean(-1, keepdim=True)) + self.bias),
    "length one": norm(lambda self, x: self.weight * F.normalize(x - x.mean(-1, keepdim=True), dim=-1) + self.bias),
    "detached statistics": norm(lambda self, x: self.weight * (x - x.mean(-1, keepdim=True).detach()) / torch.sqrt(
        x.var(-1, keepdim=True, unbiased=False).detach() + self.eps) + self.bias),
    "eps is fixed": FixedEps,
    "no parameters": NoParameters,
}




def stack(forward):
    """A stack whose forward is `forward(layers, x, mask)`."""
    class Slip(clinic.clinic_7):
        def forward(self, x, mask=None):
            return forward(self.layers, x, mask)

    return Slip


def made(make):
    """A stack whose layers are `make(num_layers, *sizes)`."""
    class Slip(clinic.clinic_7):
        def __init__(self, num_layers, *sizes):
            super().__init__(0, *sizes)
            self.layers = make(num_layers, *sizes)

    return Slip


class PlainList(nn.Module):
    def __init__(self, num_layers, *sizes):
        super().__init__()
        self.layers = [EncoderLayer(*sizes) for _ in range(num_layers)]

    def forward(self, x, mask=None):
        return through(self.layers, x, mask)


def through(layers, x, mask):
    for layer in layers:
        x = layer(x, mask)
    return x


def shared_attention(number, *sizes):
    layers = nn.ModuleList(EncoderLayer(*sizes) for _ in range(number))
    for layer in layers:
        layer.self_attn = layers[0].self_attn
    return layers


def renamed(number, *sizes):
    return nn.ModuleDict({f"layer_{i}": EncoderLayer(*sizes) for i in range(number)})


STACKS = {
    "as it was": made(lambda number, *sizes: nn.ModuleList([EncoderLayer(*sizes)] * number)),
    "one layer only": made(lambda number, *sizes: nn.ModuleList([EncoderLayer(*sizes)])),
    "always two": made(lambda number, *sizes: nn.ModuleList(EncoderLayer(*sizes) for _ in range(2))),
    "one too many": made(lambda number, *sizes: nn.ModuleList(EncoderLayer(*sizes) for _ in range(number + 1))),
    "attention shared": made(shared_attention),
    "a plain list": PlainList,
    "other names": made(renamed),
    "last layer left out": stack(lambda layers, x, mask: through(layers[:-1], x, mask)),
    "first layer left out": stack(lambda layers, x, mask: through(layers[1:], x, mask)),
    "first layer again and again": stack(lambda layers, x, mask: through([layers[0]] * len(layers), x, mask)),
    "results added up": stack(lambda layers, x, mask: sum(layer(x, mask) for layer in layers)),
    "input added": stack(lambda layers, x, mask: x + through(layers, x, mask)),
    "each layer twice": stack(lambda layers, x, mask: through([one for one in layers for _ in "ab"], x, mask)),
    "mask in the last layer only": stack(lambda layers, x, mask: layers[-1](through(layers[:-1], x, None), mask)),
    "mask inverted": stack(lambda layers, x, mask: through(layers, x, None if mask is None else ~mask)),
    "mask required": stack(lambda layers, x, mask: through(layers, x, mask.bool())),
    "returns inside the loop": stack(lambda layers, x, mask: next(layer(x, mask) for layer in layers)),
    "detached between": stack(lambda layers, x, mask: layers[-1](through(layers[:-1], x, mask).detach(), mask)),
}


def losses(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="none")


def by_sentence(logits, target, pad):
    return torch.stack([F.cross_entropy(a, b, ignore_index=pad) for a, b in zip(logits, target, strict=True)])


LOSSES = {
    "as it was": lambda logits, target, pad: F.cross_entropy(logits.transpose(1, 2), target),
    "pad 0 always": lambda logits, target, pad: F.cross_entropy(logits.transpose(1, 2), target, ignore_index=0),
    "-100 always": lambda logits, target, pad: F.cross_entropy(logits.mT, target, ignore_index=-100),
    "view in place of a transpose": lambda logits, target, pad: F.cross_entropy(
        logits.reshape(logits.size(0), logits.size(2), -1), target, ignore_index=pad),
    "one for each sentence": by_sentence,
    "zeros in the mean": lambda logits, target, pad: losses(logits, target).masked_fill(target == pad, 0).mean(),
    "only the pads": lambda logits, target, pad: F.cross_entropy(logits[target == pad], target[target == pad]),
    "sum over the number of sentences": lambda logits, target, pad: F.cross_entropy(
        logits.mT, target, ignore_index=pad, reduction="sum") / len(target),
    "not reduced": lambda logits, target, pad: losses(logits, target)[target != pad],
    "a number": lambda logits, target, pad: clinic.clinic_8(logits, target, pad).item(),
    "negative": lambda logits, target, pad: -clinic.clinic_8(logits, target, pad),
    "log of softmax twice": lambda logits, target, pad: F.nll_loss(
        torch.log_softmax(torch.softmax(logits, -1), -1).mT, target, ignore_index=pad),
    "last token forgotten": lambda logits, target, pad: clinic.clinic_8(logits[:, :-1], target[:, :-1], pad),
    "shifted once more": lambda logits, target, pad: clinic.clinic_8(logits[:, :-1], target[:, 1:], pad),
    "smoothed": lambda logits, target, pad: F.cross_entropy(
        logits.mT, target, ignore_index=pad, label_smoothing=0.1),
    "pad taken out of the softmax": lambda logits, target, pad: F.cross_entropy(logits.masked_fill(
        torch.arange(logits.size(-1)) == pad, -1e4).mT, target, ignore_index=pad),
    "detached": lambda logits, target, pad: clinic.clinic_8(logits.detach(), target, pad),
}


class Net(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1, self.linear2, self.rate = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), dropout


def net(forward):
    """A net whose forward is `forward(self, x)`."""
    class Slip(Net):
        pass

    Slip.forward = forward
    return Slip


def hidden(self, x):
    return torch.relu(self.linear1(x))


class OneHalfAlways(clinic.clinic_9):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__(d_model, d_ff, 0.5)


class NoRate(clinic.clinic_9):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)


NETS = {
    "as it was": net(lambda self, x: self.linear2(F.dropout(hidden(self, x), self.rate))),
    "a module that is made anew": net(lambda self, x: self.linear2(nn.Dropout(self.rate)(hidden(self, x)))),
    "training is a word": net(lambda self, x: self.linear2(F.dropout(hidden(self, x), self.rate, training="eval"))),
    "training is True": net(lambda self, x: self.linear2(F.dropout(hidden(self, x), self.rate, training=True))),
    "training is False": net(lambda self, x: self.linear2(F.dropout(hidden(self, x), self.rate, training=False))),
    "by the gradient mode": net(lambda self, x: self.linear2(F.dropout(hidden(self, x), self.rate,
                                                                       training=torch.is_grad_enabled()))),
    "by the input's gradient": net(lambda self, x: self.linear2(F.dropout(hidden(self, x), self.rate,
                                                                          training=x.requires_grad))),
    "the other way round": net(lambda self, x: self.linear2(F.dropout(hidden(self, x), self.rate,
                                                                      training=not self.training))),
    "result thrown away": net(lambda self, x: (F.dropout(hidden(self, x), self.rate, self.training),
                                               self.linear2(hidden(self, x)))[1]),
    "one half always": OneHalfAlways,
    "no rate to give": NoRate,
    "scaled once more": net(lambda self, x: self.linear2(
        F.dropout(hidden(self, x), self.rate, self.training) / (1 - self.rate))),
    "gelu": net(lambda self, x: self.linear2(F.dropout(F.gelu(self.linear1(x)), self.rate, self.training))),
    "relu at the end": net(lambda self, x: torch.relu(self.linear2(
        F.dropout(self.linear1(x), self.rate, self.training)))),
    "second layer lost": net(lambda self, x: F.dropout(hidden(self, x), self.rate, self.training)),
    "input added": net(lambda self, x: x + self.linear2(F.dropout(hidden(self, x), self.rate, self.training))),
    "detached": net(lambda self, x: self.linear2(F.dropout(hidden(self, x).detach(), self.rate, self.training))),
}

AFTER_A_CACHE = {
    "as it was": lambda x, past, table: x + table[: x.size(1)],
    "end forgotten": lambda x, past, table: x + table[past:],
    "past as the end": lambda x, past, table: x + table[past - x.size(1) : past],
    "new tokens as the end": lambda x, past, table: x + table[past : x.size(1)],
    "one too early": lambda x, past, table: x + table[max(past - 1, 0) :][: x.size(1)],
    "one too far": lambda x, past, table: x + table[past + 1 :][: x.size(1)],
    "past alone": lambda x, past, table: x + table[past],
    "past added to the values": lambda x, past, table: x + table[: x.size(1)] + past,
    "rows added up": lambda x, past, table: x + table[: x.size(1)] + table[past],
    "backwards": lambda x, past, table: x + table[past : past + x.size(1)].flip(0),
    "table alone": lambda x, past, table: table[past : past + x.size(1)].expand_as(x),
    "batch counted": lambda x, past, table: x + table[past : past + x.size(0)].unsqueeze(1),
    "every second row": lambda x, past, table: x + table[past::2][: x.size(1)],
    "rows for the past as well": lambda x, past, table: x + table[: past + x.size(1)],
    "past times two": lambda x, past, table: x + table[min(2 * past, len(table) - x.size(1)) :][: x.size(1)],
    "first token alone": lambda x, past, table: torch.cat([x[:, :1] + table[past], x[:, 1:]], dim=1),
    "detached": lambda x, past, table: x + table[past : past + x.size(1)].detach(),
    "in place": lambda x, past, table: x.data.add_(table[past : past + x.size(1)]),
}


def names(**wrong):
    return clinic.NAMES | wrong


class Raising(dict):
    def get(self, key, default=None):
        raise KeyError(key)


RIGHT = list(clinic.NAMES.values())
DIAGNOSES = {
    "nothing named": {},
    "one is missing": {key: name for key, name in clinic.NAMES.items() if key != "clinic_7"},
    "one is None": names(clinic_2=None),
    "one name for all": dict.fromkeys(clinic.NAMES, "target_not_shifted"),
    "two changed over": names(clinic_2=RIGHT[4], clinic_5=RIGHT[1]),
    "moved on by one": dict(zip(clinic.NAMES, RIGHT[1:] + RIGHT[:1], strict=True)),
    "spelt with spaces": {key: name.replace("_", " ") for key, name in clinic.NAMES.items()},
    "capital": names(clinic_9="Dropout_in_evaluation"),
    "shortened": names(clinic_4="positions"),
    "numbers for keys": dict(enumerate(RIGHT, start=1)),
    "keys and values changed over": {name: key for key, name in clinic.NAMES.items()},
    "names in lists": {key: [name] for key, name in clinic.NAMES.items()},
    "a list": RIGHT,
    "raises": Raising(clinic.NAMES),
    "a wrong mask": names(clinic_1="mask_one_row_off"),
    "a scale": names(clinic_2="scale_forgotten"),
    "another axis": names(clinic_2="softmax_over_the_queries"),
    "a softmax": names(clinic_8="softmax_before_the_loss"),
    "a residual": names(clinic_6="residual_dropped"),
}

WRONG = {"clinic_6": NORMS, "clinic_7": STACKS, "clinic_8": LOSSES, "clinic_9": NETS, "clinic_10": AFTER_A_CACHE,
         "clinic_names": DIAGNOSES}

NAMED = {
    ("clinic_6", "as it was"): "norm_over_the_sequence",
    ("clinic_7", "as it was"): "layers_share_weights",
    ("clinic_7", "first layer left out"): "each_layer_reads_the_input",  # where there are two
    ("clinic_7", "a plain list"): "layers_unknown_to_the_module",
    ("clinic_8", "as it was"): "loss_counts_padding",
    ("clinic_8", "zeros in the mean"): "divided_by_all_positions",
    ("clinic_8", "pad 0 always"): "loss_counts_padding",  # where pad is another id
    ("clinic_8", "-100 always"): "loss_counts_padding",
    ("clinic_8", "log of softmax twice"): "softmax_before_the_loss",
    ("clinic_9", "as it was"): "dropout_in_evaluation",
    ("clinic_9", "a module that is made anew"): "dropout_in_evaluation",
    ("clinic_9", "training is a word"): "dropout_in_evaluation",
    ("clinic_9", "training is True"): "dropout_in_evaluation",
    ("clinic_9", "training is False"): "dropout_gone",
    ("clinic_9", "by the gradient mode"): "dropout_in_evaluation",
    ("clinic_9", "the other way round"): "dropout_turned_around",
    ("clinic_9", "result thrown away"): "dropout_gone",
    ("clinic_10", "as it was"): "cache_position_restarts",
    ("clinic_10", "one too far"): "one_position_too_far",
    ("clinic_10", "past alone"): "one_position_for_all_new_tokens",
    ("clinic_10", "batch counted"): "position_of_the_batch",
    ("clinic_names", "moved on by one"): "norm_in_patient_5",
    ("clinic_names", "a wrong mask"): "leaking_mask_in_patient_1",
    ("clinic_names", "another axis"): "queries_softmax_in_patient_2",
    ("clinic_names", "a softmax"): "double_softmax_in_patient_8",
}
