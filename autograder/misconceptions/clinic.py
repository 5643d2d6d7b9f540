"""Chapter 11, the clinic, patients 1 to 5: the mistakes that are named, each a wrong implementation.

Of each patient the first one is the fault that the notebook shows: its code is what the learner is given to mend.
"""

import math

import torch
from torch import nn

from autograder.exercises.clinic import CHAPTER, clinic_1, clinic_2, clinic_3, clinic_4, clinic_5
from autograder.reference.positional_encoding import sinusoidal_encoding

# --- clinic_1: what a decoder is fed ---------------------------------------------------------------------------


@clinic_1.misconception(see=f"{CHAPTER}#mistake-target-not-shifted")
def target_not_shifted(tokens):
    """The token that is asked for is fed at the same position, so there is nothing to guess."""
    return tokens[:, 1:], tokens[:, 1:]


@clinic_1.misconception(see=f"{CHAPTER}#mistake-target-not-shifted")
def input_and_target_changed_over(tokens):
    """You ask for the token before the one that is fed; a decoder says what comes next."""
    return tokens[:, 1:], tokens[:, :-1]


@clinic_1.misconception(see=f"{CHAPTER}#mistake-target-not-shifted")
def nothing_cut_off(tokens):
    """Both of your results are the whole sequence; each lacks one token, at opposite ends."""
    return tokens, tokens


@clinic_1.misconception(see=f"{CHAPTER}#mistake-target-not-shifted")
def target_shifted_twice(tokens):
    """Your target is two positions ahead; the next token is one ahead."""
    return tokens[:, :-2], tokens[:, 2:]


@clinic_1.misconception(see=f"{CHAPTER}#mistake-target-not-shifted")
def first_token_at_the_end(tokens):
    """Your shift rolls the first token to the end, where nothing comes next; cut instead."""
    return tokens, tokens.roll(-1, dims=1)


# --- clinic_2: masked attention --------------------------------------------------------------------------------


def _scores(query, key):
    return query @ key.mT / math.sqrt(query.size(-1))


@clinic_2.misconception(see=f"{CHAPTER}#mistake-mask-after-softmax")
def mask_after_softmax(query, key, value, mask):
    """You mask after the softmax: hidden keys still count in its sum, and the weights of a row are less than 1."""
    return (torch.softmax(_scores(query, key), dim=-1) * mask) @ value


@clinic_2.misconception(see=f"{CHAPTER}#mistake-mask-after-softmax")
def zero_as_a_score(query, key, value, mask):
    """You set hidden scores to 0, and exp(0) is 1; minus infinity gives a weight of 0."""
    return torch.softmax(_scores(query, key).masked_fill(~mask, 0.0), dim=-1) @ value


@clinic_2.misconception(see=f"{CHAPTER}#mistake-mask-after-softmax")
def hidden_for_allowed(query, key, value, mask):
    """You hide what is allowed: True means that a key may be attended to."""
    return torch.softmax(_scores(query, key).masked_fill(mask, float("-inf")), dim=-1).nan_to_num() @ value


@clinic_2.misconception(see=f"{CHAPTER}#mistake-mask-after-softmax")
def mask_unused(query, key, value, mask):
    """You do not use the mask."""
    return torch.softmax(_scores(query, key), dim=-1) @ value


@clinic_2.misconception(see=f"{CHAPTER}#mistake-mask-after-softmax")
def scale_forgotten(query, key, value, mask):
    """You mask rightly, and the division by sqrt(d_k) got lost."""
    return torch.softmax((query @ key.mT).masked_fill(~mask, float("-inf")), dim=-1) @ value


# --- clinic_3: the padding mask --------------------------------------------------------------------------------


@clinic_3.misconception(see=f"{CHAPTER}#mistake-mask-polarity")
def mask_polarity_inverted(tokens, pad):
    """Your mask is True at pads, as torch's key_padding_mask is; the course's is True where a token may be read."""
    return (tokens == pad)[:, None, None, :]


@clinic_3.misconception(see=f"{CHAPTER}#mistake-mask-polarity")
def padding_masked_as_queries(tokens, pad):
    """Your mask lies along the queries; what must not be read are the keys, the last axis."""
    return (tokens != pad)[:, None, :, None]


@clinic_3.misconception(see=f"{CHAPTER}#mistake-mask-polarity")
def pad_is_zero(tokens, pad):
    """You compare with 0; which id stands for pad is given."""
    return (tokens != 0)[:, None, None, :]


@clinic_3.misconception(see=f"{CHAPTER}#mistake-mask-polarity")
def no_axes_for_heads_and_queries(tokens, pad):
    """Your mask is (batch, seq); heads and queries need an axis of size 1 each."""
    return tokens != pad


@clinic_3.misconception(see=f"{CHAPTER}#mistake-mask-polarity")
def one_axis_short(tokens, pad):
    """Your mask is (batch, 1, seq), which is taken for one mask for each head; two axes of size 1 are needed."""
    return (tokens != pad)[:, None, :]


# --- clinic_4: positions ---------------------------------------------------------------------------------------


class _Positions(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))


@clinic_4.misconception(see=f"{CHAPTER}#mistake-positions-along-the-batch")
class positions_along_the_batch(_Positions):
    """You count along the batch: all tokens of a sentence get one position, each sentence another one."""

    def forward(self, x):
        return x + self.pe[: x.size(0)].unsqueeze(1)


@clinic_4.misconception(see=f"{CHAPTER}#mistake-positions-along-the-batch")
class no_positions_at_all(_Positions):
    """You add nothing: without positions attention does not know an order."""

    def forward(self, x):
        return x + 0 * x


@clinic_4.misconception(see=f"{CHAPTER}#mistake-positions-along-the-batch")
class first_row_for_all(_Positions):
    """Every position gets the table's first row."""

    def forward(self, x):
        return x + self.pe[0]


@clinic_4.misconception(see=f"{CHAPTER}#mistake-positions-along-the-batch")
class one_position_late(_Positions):
    """Your first token gets row 1; positions begin at 0."""

    def forward(self, x):
        return x + self.pe.roll(-1, dims=0)[: x.size(1)]


@clinic_4.misconception(see=f"{CHAPTER}#mistake-positions-along-the-batch")
class positions_multiplied(_Positions):
    """You multiply by the table; it is added."""

    def forward(self, x):
        return x * self.pe[: x.size(1)]


# --- clinic_5: merging heads -----------------------------------------------------------------------------------


@clinic_5.misconception(see=f"{CHAPTER}#mistake-heads-merged")
def heads_merged_without_transpose(heads):
    """You merge axes that are not neighbours yet: a row of yours holds one head at several positions."""
    batch, number, seq, d_k = heads.shape
    return heads.reshape(batch, seq, number * d_k)


@clinic_5.misconception(see=f"{CHAPTER}#mistake-heads-merged")
def heads_after_one_another(heads):
    """You put the heads one after the other along the sequence; they stand side by side at each position."""
    return heads.flatten(1, 2)


@clinic_5.misconception(see=f"{CHAPTER}#mistake-heads-merged")
def features_interleaved(heads):
    """Your heads take turns, feature by feature; they stand one after the other."""
    return heads.permute(0, 2, 3, 1).flatten(2)


@clinic_5.misconception(see=f"{CHAPTER}#mistake-heads-merged")
def heads_averaged(heads):
    """You take the mean of the heads; they stand side by side, and all features are kept."""
    return heads.mean(dim=1)


@clinic_5.misconception(see=f"{CHAPTER}#mistake-heads-merged")
def heads_in_reverse(heads):
    """Your last head comes first."""
    return heads.flip(1).transpose(1, 2).flatten(2)
