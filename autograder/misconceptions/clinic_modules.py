"""Chapter 11, the clinic, patients 6 to 10: the mistakes that are named, each a wrong implementation.

Of each patient the first one is the fault that the notebook shows: its code is what the learner is given to mend.
"""

import torch
from torch import nn
from torch.nn import functional as F

from autograder.exercises.clinic import CHAPTER, clinic_6, clinic_7, clinic_8, clinic_9, clinic_10
from autograder.reference.transformer import EncoderLayer

# --- clinic_6: layer norm --------------------------------------------------------------------------------------


class _Norm(nn.Module):
    """Normalises over `axes`; the wrong ones below have other axes, or another variance."""

    axes, unbiased = (-1,), False

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean = x.mean(dim=self.axes, keepdim=True)
        variance = (x - mean).square().mean(dim=self.axes, keepdim=True)
        return self.weight * (x - mean) / torch.sqrt(variance + self.eps) + self.bias


@clinic_6.misconception(see=f"{CHAPTER}#mistake-norm-over-the-sequence")
class norm_over_the_sequence(_Norm):
    """You normalise each feature over the positions, so each token depends on all others, later ones too."""

    axes = (1,)


@clinic_6.misconception(see=f"{CHAPTER}#mistake-norm-over-the-sequence")
class norm_over_the_sentence(_Norm):
    """You normalise over positions and features at once; a token is normalised by itself."""

    axes = (1, 2)


@clinic_6.misconception(see=f"{CHAPTER}#mistake-norm-over-the-sequence")
class norm_over_the_batch(_Norm):
    """You normalise over the batch, as batch norm does; a token is normalised by itself."""

    axes = (0,)


@clinic_6.misconception(see=f"{CHAPTER}#mistake-norm-over-the-sequence")
class mean_left_in(_Norm):
    """You divide by the root mean square and leave the mean in (RMSNorm)."""

    def forward(self, x):
        return self.weight * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) + self.bias


@clinic_6.misconception(see=f"{CHAPTER}#mistake-norm-over-the-sequence")
class eps_outside_the_root(_Norm):
    """You add eps to the root; it stands under it."""

    def forward(self, x):
        deviation = x.var(dim=-1, keepdim=True, unbiased=False).sqrt()
        return self.weight * (x - x.mean(dim=-1, keepdim=True)) / (deviation + self.eps) + self.bias


# --- clinic_7: a stack of layers -------------------------------------------------------------------------------


class _Stack(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


@clinic_7.misconception(see=f"{CHAPTER}#mistake-layers-share-weights")
class layers_share_weights(_Stack):
    """You make one layer and list it several times; each layer is made anew."""

    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__(1, d_model, num_heads, d_ff)
        self.layers = nn.ModuleList([self.layers[0]] * num_layers)


@clinic_7.misconception(see=f"{CHAPTER}#mistake-layers-share-weights")
class layers_unknown_to_the_module(nn.Module):
    """You keep the layers in a plain list, where no optimiser finds them; nn.ModuleList registers them."""

    forward = _Stack.forward

    def __init__(self, num_layers, d_model, num_heads, d_ff):
        super().__init__()  # of nn.Module: what is a module once cannot become a list
        self.layers = [EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)]


@clinic_7.misconception(see=f"{CHAPTER}#mistake-layers-share-weights")
class each_layer_reads_the_input(_Stack):
    """Each of your layers reads the input, and only the last one counts; a layer reads the one before it."""

    def forward(self, x, mask=None):
        return [layer(x, mask) for layer in self.layers][-1]


@clinic_7.misconception(see=f"{CHAPTER}#mistake-layers-share-weights")
class mask_in_the_first_layer_only(_Stack):
    """Only your first layer gets the mask; every layer needs it."""

    def forward(self, x, mask=None):
        for layer in self.layers:
            x, mask = layer(x, mask), None
        return x


@clinic_7.misconception(see=f"{CHAPTER}#mistake-layers-share-weights")
class stack_without_mask(_Stack):
    """You do not pass the mask on; every layer needs it."""

    def forward(self, x, mask=None):
        return super().forward(x)


@clinic_7.misconception(see=f"{CHAPTER}#mistake-layers-share-weights")
class last_layer_first(_Stack):
    """You run the layers from the last to the first."""

    def forward(self, x, mask=None):
        for layer in reversed(self.layers):
            x = layer(x, mask)
        return x


# --- clinic_8: the loss ----------------------------------------------------------------------------------------


def _losses(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="none")


@clinic_8.misconception(see=f"{CHAPTER}#mistake-loss-counts-padding")
def loss_counts_padding(logits, target, pad):
    """Your mean counts pads, which are easy to say; it runs over the real tokens."""
    return F.cross_entropy(logits.transpose(1, 2), target)


@clinic_8.misconception(see=f"{CHAPTER}#mistake-loss-counts-padding")
def divided_by_all_positions(logits, target, pad):
    """You add up the real tokens' losses and divide by all positions; divide by the number of real ones."""
    return (_losses(logits, target) * (target != pad)).mean()


@clinic_8.misconception(see=f"{CHAPTER}#mistake-loss-counts-padding")
def losses_added_up(logits, target, pad):
    """You add up the losses; their mean does not grow with the batch."""
    return (_losses(logits, target) * (target != pad)).sum()


@clinic_8.misconception(see=f"{CHAPTER}#mistake-loss-counts-padding")
def softmax_before_the_loss(logits, target, pad):
    """You take a softmax first; `F.cross_entropy` has one inside and expects logits."""
    return F.cross_entropy(torch.softmax(logits, dim=-1).transpose(1, 2), target, ignore_index=pad)


@clinic_8.misconception(see=f"{CHAPTER}#mistake-loss-counts-padding")
def mean_of_means(logits, target, pad):
    """You average each sentence, then the sentences; each real token counts the same."""
    real = target != pad
    return ((_losses(logits, target) * real).sum(dim=1) / real.sum(dim=1)).mean()


# --- clinic_9: dropout -----------------------------------------------------------------------------------------


class _Net(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.rate = dropout


@clinic_9.misconception(see=f"{CHAPTER}#mistake-dropout-in-evaluation")
class dropout_in_evaluation(_Net):
    """Your `F.dropout` drops in any mode: it must be told `training=self.training`; `nn.Dropout` knows by itself."""

    def forward(self, x):
        return self.linear2(F.dropout(torch.relu(self.linear1(x)), self.rate))


@clinic_9.misconception(see=f"{CHAPTER}#mistake-dropout-in-evaluation")
class dropout_gone(_Net):
    """You took dropout out; while the module trains it is meant to be there."""

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)))


@clinic_9.misconception(see=f"{CHAPTER}#mistake-dropout-in-evaluation")
class dropout_turned_around(_Net):
    """You drop in eval mode and not in train mode."""

    def forward(self, x):
        return self.linear2(F.dropout(torch.relu(self.linear1(x)), self.rate, training=not self.training))


@clinic_9.misconception(see=f"{CHAPTER}#mistake-dropout-in-evaluation")
class scaled_in_evaluation(_Net):
    """You multiply by 1 - dropout in eval mode; torch's dropout has scaled what it keeps while training."""

    def forward(self, x):
        hidden = F.dropout(torch.relu(self.linear1(x)), self.rate, self.training)
        return self.linear2(hidden if self.training else hidden * (1 - self.rate))


@clinic_9.misconception(see=f"{CHAPTER}#mistake-dropout-in-evaluation")
class relu_lost(_Net):
    """You mended the dropout and lost the ReLU."""

    def forward(self, x):
        return self.linear2(F.dropout(self.linear1(x), self.rate, self.training))


# --- clinic_10: positions after a cache ------------------------------------------------------------------------


@clinic_10.misconception(see=f"{CHAPTER}#mistake-cache-position")
def cache_position_restarts(x, past, table):
    """Your positions begin at 0 in every call; the cache already holds `past` of them."""
    return x + table[: x.size(1)]


@clinic_10.misconception(see=f"{CHAPTER}#mistake-cache-position")
def one_position_too_far(x, past, table):
    """Your first new token stands at past + 1; `past` tokens occupy 0 to past - 1, so it stands at past."""
    return x + table[past + 1 : past + 1 + x.size(1)]


@clinic_10.misconception(see=f"{CHAPTER}#mistake-cache-position")
def one_position_for_all_new_tokens(x, past, table):
    """All your new tokens get the position `past`; each of them stands one further."""
    return x + table[past]


@clinic_10.misconception(see=f"{CHAPTER}#mistake-cache-position")
def position_of_the_batch(x, past, table):
    """You count the batch; positions count along the sequence."""
    return x + table[past : past + x.size(0)].unsqueeze(1)


@clinic_10.misconception(see=f"{CHAPTER}#mistake-cache-position")
def last_rows_of_the_table(x, past, table):
    """You take rows from the end of the table; it is longer than what was said so far."""
    return x + table[-x.size(1):]
