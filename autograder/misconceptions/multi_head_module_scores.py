"""Chapter 06: the mistakes with scores and masks that are named in MultiHeadAttention."""

import torch

from autograder.exercises.multi_head import CHAPTER, multi_head_attention
from autograder.misconceptions.multi_head_module import MultiHead


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-width")
class divided_by_the_root_of_d_model(MultiHead):
    """You divide by the square root of d_model; the dot products of a head add up d_k features."""

    def divisor(self, query):
        return self.W_q.out_features ** 0.5


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-width")
class divided_by_the_root_of_the_heads(MultiHead):
    """You divide by the square root of the number of heads; the dot products of a head add up d_k features."""

    def divisor(self, query):
        return self.num_heads ** 0.5


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-width")
class scaled_twice(MultiHead):
    """You divide by d_k, or by its square root twice; one square root is asked for."""

    def divisor(self, query):
        return query.size(-1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-head-width")
class heads_not_scaled(MultiHead):
    """Your scores are not divided by the square root of d_k before the softmax."""

    def divisor(self, query):
        return 1.0


@multi_head_attention.misconception(see="05_scaling#mistake-wrong-divisor")
class divided_by_the_root_of_the_keys(MultiHead):
    """You divide by the square root of the number of keys; the dot products of a head add up d_k features."""

    def forward(self, q, k, v, mask=None):
        query, key, value = (self.split(x) for x in self.project(q, k, v))
        heads, weights = self.mix(self.weigh(query @ key.transpose(-2, -1) / key.size(-2) ** 0.5, mask), value)
        return self.finish(self.merge(heads), weights)


@multi_head_attention.misconception(see="05_scaling#mistake-after-softmax")
class weights_divided(MultiHead):
    """You divide the weights, after the softmax; the scores are to be divided, before it."""

    def divisor(self, query):
        return 1.0

    def mix(self, weights, value):
        weights = weights / value.size(-1) ** 0.5
        return weights @ value, weights


@multi_head_attention.misconception(see="04_self_attention#mistake-softmax-axis")
class softmax_over_the_heads(MultiHead):
    """Your softmax runs over the heads, which compete then; the keys of one query should, in each head by itself."""

    def weigh(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=1)
        return torch.softmax(scores.masked_fill(mask == 0, -1e9), dim=1).masked_fill(mask == 0, 0.0)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
class mask_has_no_effect(MultiHead):
    """You do not use the mask: forbidden keys get weight like all the others."""

    def weigh(self, scores, mask):
        return torch.softmax(scores, dim=-1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-mask-moment")
class masked_after_the_softmax(MultiHead):
    """You mask after the softmax: the weight that forbidden keys took is lost, and rows sum to less than 1."""

    def weigh(self, scores, mask):
        weights = torch.softmax(scores, dim=-1)
        return weights if mask is None else weights.masked_fill(mask == 0, 0.0)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-polarity")
class mask_read_the_other_way(MultiHead):
    """You forbid what is allowed and allow what is forbidden: True means allowed."""

    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask == 0)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
class nothing_allowed_is_not_a_number(MultiHead):
    """A query that may attend to nothing has only minus infinity in its row, and softmax makes 0 / 0 of it."""

    def weigh(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(mask == 0, float("-inf")), dim=-1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
class nothing_allowed_is_shared_out(MultiHead):
    """Your forbidden scores are low but finite, so a query that may attend to nothing looks at what is forbidden."""

    def weigh(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(mask == 0, -1e9), dim=-1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
class minus_infinity_added_to_a_whole_row(MultiHead):
    """A query that may attend to nothing has only minus infinity in its row: softmax gives NaN, and so do gradients."""

    def weigh(self, scores, mask):
        added = 0.0 if mask is None else torch.zeros_like(scores).masked_fill(mask == 0, float("-inf"))
        return torch.softmax(scores + added, dim=-1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
class low_number_added_to_a_whole_row(MultiHead):
    """You add a low but finite number, so a query that may attend to nothing looks at all that is forbidden."""

    def weigh(self, scores, mask):
        return torch.softmax(scores if mask is None else scores + (mask == 0) * -1e9, dim=-1)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-empty-row")
class not_a_number_painted_over(MultiHead):
    """You paint zeros over NaN: the values are right, but the gradients behind a row of NaN are NaN."""

    def weigh(self, scores, mask):
        added = 0.0 if mask is None else torch.zeros_like(scores).masked_fill(mask == 0, float("-inf"))
        return torch.softmax(scores + added, dim=-1).nan_to_num(0.0)


@multi_head_attention.misconception(see=f"{CHAPTER}#mistake-padding")
class an_axis_too_many_in_the_mask(MultiHead):
    """You give the mask one more axis, and with it the scores; it comes with its four axes and fits them as it is."""

    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask.unsqueeze(1))
