"""Chapter 06: the mistakes that are named in MultiHeadAttention, each a wrong module that stands alone."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.multi_head import CHAPTER, multi_head_attention


class MultiHead(nn.Module):
    """What the wrong modules below have in common: all is right, and each of them replaces one part."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.refuse(d_model, num_heads)
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def refuse(self, d_model, num_heads):
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} cannot be split into {num_heads} heads.")

    def project(self, q, k, v):
        return self.W_q(q), self.W_k(k), self.W_v(v)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def merge(self, heads):
        return heads.transpose(1, 2).flatten(2)

    def divisor(self, query):
        return query.size(-1) ** 0.5

    def weigh(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        return torch.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1).masked_fill(mask == 0, 0.0)

    def mix(self, weights, value):
        return weights @ value, weights

    def finish(self, merged, weights):
        return self.W_o(self.dropout(merged)), weights

    def forward(self, q, k, v, mask=None):
        query, key, value = (self.split(x) for x in self.project(q, k, v))
        scores = query @ key.transpose(-2, -1) / self.divisor(query)
        heads, weights = self.mix(self.weigh(scores, mask), value)
        return self.finish(self.merge(heads), weights)


# --- split and merge -------------------------------------------------------------------------------------------


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-split")
class heads_of_mixed_tokens(MultiHead):
    """You cut the heads out of the memory, both ways: the shapes are right, but each head mixes pieces of tokens."""

    def split(self, x):
        return x.reshape(x.size(0), self.num_heads, x.size(1), -1)

    def merge(self, heads):
        return heads.reshape(heads.size(0), heads.size(2), -1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-split")
class split_without_transpose(MultiHead):
    """You reshape straight to (batch, heads, seq, d_k): the tokens of a head are made of pieces of several tokens."""

    def split(self, x):
        return x.reshape(x.size(0), self.num_heads, x.size(1), -1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-split")
class every_head_the_same(MultiHead):
    """Every head of yours works on the same first features; each is to have a part of its own."""

    def split(self, x):
        return x[..., : x.size(-1) // self.num_heads].unsqueeze(1).repeat(1, self.num_heads, 1, 1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-merge")
class merge_without_transpose(MultiHead):
    """You merge without bringing the tokens in front of the heads: W_o then reads several tokens at once."""

    def merge(self, heads):
        return heads.reshape(heads.size(0), heads.size(2), -1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-merge")
class merged_feature_by_feature(MultiHead):
    """You interleave the heads feature by feature, so W_o meets them in another order than side by side."""

    def merge(self, heads):
        return heads.permute(0, 2, 3, 1).flatten(2)


# --- projections -----------------------------------------------------------------------------------------------


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-output-projection")
class output_not_projected(MultiHead):
    """You return the merged heads as they are: without W_o no head can speak to another one."""

    def finish(self, merged, weights):
        return self.dropout(merged), weights


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-output-projection")
class no_output_projection_made(MultiHead):
    """Your module has no W_o: the heads lie side by side, and no head can speak to another one."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, num_heads, dropout)
        del self.W_o

    def finish(self, merged, weights):
        return self.dropout(merged), weights


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-output-projection")
class one_matrix_for_all(MultiHead):
    """Queries, keys and values all come from W_q; W_k and W_v have no effect."""

    def project(self, q, k, v):
        return self.W_q(q), self.W_q(k), self.W_q(v)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class everything_taken_from_the_query(MultiHead):
    """Your keys and values are made of q: that works where all three are one sequence, and only there."""

    def project(self, q, k, v):
        return self.W_q(q), self.W_k(q), self.W_v(q)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class keys_and_values_changed_over(MultiHead):
    """Your keys come from W_v and your values from W_k; it is the other way round."""

    def project(self, q, k, v):
        return self.W_q(q), self.W_v(k), self.W_k(v)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class values_taken_from_the_keys(MultiHead):
    """Your values are made of k, and v has no effect."""

    def project(self, q, k, v):
        return self.W_q(q), self.W_k(k), self.W_v(k)


# --- dropout ---------------------------------------------------------------------------------------------------


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-dropout")
class weights_dropped(MultiHead):
    """You drop attention weights, as most libraries do; here dropout acts on the merged heads."""

    def mix(self, weights, value):
        weights = self.dropout(weights)
        return weights @ value, weights

    def finish(self, merged, weights):
        return self.W_o(merged), weights


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-dropout")
class output_dropped(MultiHead):
    """Your dropout comes after W_o; here it acts on the merged heads, before W_o."""

    def finish(self, merged, weights):
        return self.dropout(self.W_o(merged)), weights


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-dropout")
class dropped_in_eval_mode_too(MultiHead):
    """Your dropout goes on in eval mode: `F.dropout` does not know the mode unless you pass `self.training`."""

    def finish(self, merged, weights):
        return self.W_o(F.dropout(merged, self.dropout.p)), weights


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-dropout")
class dropout_never_used(MultiHead):
    """Your module takes a dropout rate and drops nothing, also in train mode."""

    def finish(self, merged, weights):
        return self.W_o(merged), weights


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-dropout")
class head_dropout_rate_of_its_own(MultiHead):
    """Your dropout always drops a tenth; the constructor says how much."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, num_heads, 0.1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-dropout")
class no_dropout_by_default(MultiHead):
    """The default of `dropout` is 0.1; yours is 0."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__(d_model, num_heads, dropout)


# --- the module ------------------------------------------------------------------------------------------------


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class weights_averaged(MultiHead):
    """You average the weights over the heads; those of every head are asked for, (batch, heads, n_q, n_k)."""

    def finish(self, merged, weights):
        return self.W_o(self.dropout(merged)), weights.mean(dim=1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class head_weights_not_returned(MultiHead):
    """You return the output alone; the weights of every head are asked for too."""

    def finish(self, merged, weights):
        return self.W_o(self.dropout(merged))


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class head_weights_returned_first(MultiHead):
    """You return the weights first and the output second; it is the other way round."""

    def finish(self, merged, weights):
        return weights, self.W_o(self.dropout(merged))


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class projections_without_bias(MultiHead):
    """Your projections have no bias; in this exercise all four have one."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, num_heads, dropout)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class uneven_split_accepted(MultiHead):
    """Your constructor accepts a d_model that cannot be split evenly; the error then comes later, and elsewhere."""

    def refuse(self, d_model, num_heads):
        pass


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-multi-head-module")
class uneven_split_refused_by_assert(MultiHead):
    """You refuse with assert: that raises AssertionError, no ValueError, and is skipped when Python runs with -O."""

    def refuse(self, d_model, num_heads):
        assert d_model % num_heads == 0
