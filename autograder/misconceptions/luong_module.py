"""Chapter 03: the mistakes that are named in LuongAttention, each a wrong module that stands alone."""

import torch
from torch import nn

from autograder.exercises.luong import CHAPTER, luong_attention


class _Luong(nn.Module):
    """What the wrong modules below have in common: all is right, and each of them replaces one part."""

    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__()
        self.refuse(hidden_dim, encoder_dim, method)
        self.method = method
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
        if method == "general":
            self.W = nn.Linear(encoder_dim, hidden_dim, bias=False)
        if method == "concat":
            self.W = nn.Linear(hidden_dim + encoder_dim, hidden_dim, bias=False)
            self.v = nn.Linear(hidden_dim, 1, bias=False)

    def refuse(self, hidden_dim, encoder_dim, method):
        if method not in ("dot", "general", "concat"):
            raise ValueError(f"The method {method!r} is none of dot, general and concat.")
        if method == "dot" and hidden_dim != encoder_dim:
            raise ValueError(f"The method dot needs equal sizes; these are {hidden_dim} and {encoder_dim}.")

    def score(self, state, encoder_states):
        if self.method == "concat":
            return self.concat(state.unsqueeze(1).expand(-1, encoder_states.size(1), -1), encoder_states)
        keys = self.W(encoder_states) if self.method == "general" else encoder_states
        return (keys @ state.unsqueeze(-1)).squeeze(-1)

    def concat(self, states, encoder_states):
        return self.v(torch.tanh(self.W(torch.cat([states, encoder_states], dim=-1)))).squeeze(-1)

    def weigh(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask

    def finish(self, context, state, weights):
        return torch.tanh(self.W_c(torch.cat([context, state], dim=-1))), weights

    def forward(self, state, encoder_states, mask=None):
        weights = self.weigh(self.score(state, encoder_states), mask)
        return self.finish((weights.unsqueeze(1) @ encoder_states).squeeze(1), state, weights)


# --- the attentional state -------------------------------------------------------------------------------------


@luong_attention.misconception(see=f"{CHAPTER}#mistake-attentional-state")
class state_before_the_context(_Luong):
    """You put the state before the context, so each of them meets the columns of W_c that are the other's."""

    def finish(self, context, state, weights):
        return torch.tanh(self.W_c(torch.cat([state, context], dim=-1))), weights


@luong_attention.misconception(see=f"{CHAPTER}#mistake-attentional-state")
class attentional_state_without_tanh(_Luong):
    """Your attentional state has no tanh, so its values are not between -1 and 1."""

    def finish(self, context, state, weights):
        return self.W_c(torch.cat([context, state], dim=-1)), weights


@luong_attention.misconception(see=f"{CHAPTER}#mistake-attentional-state")
class context_returned_alone(_Luong):
    """You return the context; the attentional state is made of context and state together."""

    def finish(self, context, state, weights):
        return context, weights


@luong_attention.misconception(see=f"{CHAPTER}#mistake-attentional-state")
class state_forgotten(_Luong):
    """Your attentional state does not depend on the state that asks, except through the weights."""

    def finish(self, context, state, weights):
        return torch.tanh(self.W_c(torch.cat([context, 0 * state], dim=-1))), weights


# --- scores and weights ----------------------------------------------------------------------------------------


@luong_attention.misconception(see=f"{CHAPTER}#mistake-score-scaling")
class scores_divided_by_a_root(_Luong):
    """You divide the scores by the square root of the hidden size; Luong's scores have no divisor."""

    def score(self, state, encoder_states):
        return super().score(state, encoder_states) / state.size(-1) ** 0.5


@luong_attention.misconception(see=f"{CHAPTER}#mistake-concat")
class concat_without_tanh(_Luong):
    """With the method "concat" your score has no tanh, so the state only shifts all scores of a sentence."""

    def concat(self, states, encoder_states):
        return self.v(self.W(torch.cat([states, encoder_states], dim=-1))).squeeze(-1)


@luong_attention.misconception(see=f"{CHAPTER}#mistake-concat")
class encoder_state_first_in_concat(_Luong):
    """With the method "concat" you put the encoder state first; the decoder state comes before it."""

    def concat(self, states, encoder_states):
        return self.v(torch.tanh(self.W(torch.cat([encoder_states, states], dim=-1)))).squeeze(-1)


@luong_attention.misconception(see=f"{CHAPTER}#mistake-score-axis")
class softmax_over_the_batch(_Luong):
    """Your softmax runs over the batch: sentences compete with each other, where words of one sentence should."""

    def weigh(self, scores, mask):
        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
        return torch.softmax(scores, dim=0) * (1 if mask is None else mask)


@luong_attention.misconception(see="02_bahdanau#mistake-mask")
class mask_unused(_Luong):
    """You do not use the mask: padding gets weight, as if it were words."""

    def weigh(self, scores, mask):
        return torch.softmax(scores, dim=-1)


@luong_attention.misconception(see="02_bahdanau#mistake-mask")
class mask_after_the_softmax(_Luong):
    """You hide padding after the softmax, so the weight that it took is lost and the rest sums to less than 1."""

    def weigh(self, scores, mask):
        weights = torch.softmax(scores, dim=-1)
        return weights if mask is None else weights * mask


@luong_attention.misconception(see="02_bahdanau#mistake-mask")
class mask_turned_around(_Luong):
    """You hide the real words and look at the padding: True means real."""

    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else ~mask)


@luong_attention.misconception(see="02_bahdanau#mistake-nothing-real")
class nothing_real_is_not_a_number(_Luong):
    """A row with nothing real has only minus infinity in it, and its softmax is 0 divided by 0."""

    def weigh(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask, float("-inf")), dim=-1)


@luong_attention.misconception(see="02_bahdanau#mistake-nothing-real")
class nothing_real_is_shared_out(_Luong):
    """Hidden scores are very low but finite, so a row with nothing real shares its weight among the padding."""

    def weigh(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), dim=-1)


# --- the module ------------------------------------------------------------------------------------------------


@luong_attention.misconception(see=f"{CHAPTER}#mistake-luong-module")
class weights_not_returned(_Luong):
    """You return the attentional state alone; the attention weights are asked for too."""

    def finish(self, context, state, weights):
        return torch.tanh(self.W_c(torch.cat([context, state], dim=-1)))


@luong_attention.misconception(see=f"{CHAPTER}#mistake-luong-module")
class weights_returned_first(_Luong):
    """You return the weights first and the attentional state second; it is the other way round."""

    def finish(self, context, state, weights):
        return weights, torch.tanh(self.W_c(torch.cat([context, state], dim=-1)))


@luong_attention.misconception(see=f"{CHAPTER}#mistake-luong-module")
class layers_with_bias(_Luong):
    """Your layers have a bias; in this exercise they are matrices alone."""

    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__(hidden_dim, encoder_dim, method)
        self.W_c = nn.Linear(hidden_dim + encoder_dim, hidden_dim)
        if method == "general":
            self.W = nn.Linear(encoder_dim, hidden_dim)
        if method == "concat":
            self.W = nn.Linear(hidden_dim + encoder_dim, hidden_dim)
            self.v = nn.Linear(hidden_dim, 1)


@luong_attention.misconception(see=f"{CHAPTER}#mistake-transposed")
class general_matrix_the_other_way(_Luong):
    """With the method "general" your W takes the state to the encoder's size; asked for is the other direction."""

    def __init__(self, hidden_dim, encoder_dim, method):
        super().__init__(hidden_dim, encoder_dim, method)
        if method == "general":
            self.W = nn.Linear(hidden_dim, encoder_dim, bias=False)

    def score(self, state, encoder_states):
        if self.method != "general":
            return super().score(state, encoder_states)
        return (encoder_states @ self.W(state).unsqueeze(-1)).squeeze(-1)


@luong_attention.misconception(see=f"{CHAPTER}#mistake-refusal")
class unequal_sizes_accepted(_Luong):
    """Your constructor accepts dot for two different sizes; the product then fails much later, in `forward`."""

    def refuse(self, hidden_dim, encoder_dim, method):
        if method not in ("dot", "general", "concat"):
            raise ValueError(f"The method {method!r} is none of dot, general and concat.")


@luong_attention.misconception(see=f"{CHAPTER}#mistake-refusal")
class refused_by_assert(_Luong):
    """You refuse with assert: that raises AssertionError, no ValueError, and is skipped when Python runs with -O."""

    def refuse(self, hidden_dim, encoder_dim, method):
        assert method in ("dot", "general", "concat")
        assert method != "dot" or hidden_dim == encoder_dim
