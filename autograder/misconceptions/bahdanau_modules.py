"""Chapter 02: the mistakes that are named in AdditiveAttention and in the decoder's step."""

import torch
from torch import nn

from autograder.exercises.bahdanau import CHAPTER, additive_attention, bahdanau_decoder_step


def _weights(scores, mask):
    """The right weights."""
    if mask is None:
        return torch.softmax(scores, dim=-1)
    nothing = ~mask.any(dim=-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~mask & ~nothing, float("-inf")), dim=-1).masked_fill(~mask, 0)


def _context(weights, encoder_states):
    """The right context."""
    return (weights.unsqueeze(-1) * encoder_states).sum(dim=1)


# --- AdditiveAttention -----------------------------------------------------------------------------------------


class _Attention(nn.Module):
    """What the wrong implementations have in common: the right parameters, and every part right unless replaced."""

    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def scores(self, state, encoder_states):
        return self.v(torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(encoder_states))).squeeze(-1)

    def weights(self, scores, mask):
        return _weights(scores, mask)

    def forward(self, state, encoder_states, mask=None):
        weights = self.weights(self.scores(state, encoder_states), mask)
        return _context(weights, encoder_states), weights


@additive_attention.misconception(see=f"{CHAPTER}#mistake-no-tanh")
class tanh_forgotten_inside(_Attention):
    """There is no tanh in your score: then your weights do not depend on the decoder's state at all."""

    def scores(self, state, encoder_states):
        return self.v(self.W_s(state).unsqueeze(1) + self.W_h(encoder_states)).squeeze(-1)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-scores-blind")
class state_ignored_inside(_Attention):
    """The decoder's state has no effect on your weights: it is left out, or it adds the same to every position."""

    def scores(self, state, encoder_states):
        return self.v(torch.tanh(self.W_h(encoder_states))).squeeze(-1)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-scores-blind")
class v_left_out(_Attention):
    """You add up the entries after tanh with equal weight: v has no effect."""

    def scores(self, state, encoder_states):
        return torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(encoder_states)).sum(dim=-1)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-weights-axis")
class softmax_over_one_number(_Attention):
    """Your softmax runs over the last axis that v leaves, which has size 1: every weight is 1."""

    def weights(self, scores, mask):
        return torch.ones_like(scores) if mask is None else mask.to(scores.dtype)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-weights-axis")
class softmax_over_sentences(_Attention):
    """Your softmax runs over the batch: different sentences compete for the same position."""

    def weights(self, scores, mask):
        return _weights(scores.T, None if mask is None else mask.T).T


@additive_attention.misconception(see=f"{CHAPTER}#mistake-mask")
class mask_without_effect(_Attention):
    """Your weights do not depend on the mask: hidden positions get a share."""

    def weights(self, scores, mask):
        return torch.softmax(scores, dim=-1)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-mask")
class mask_applied_last(_Attention):
    """You clear weights after the softmax: what the hidden positions had taken is lost."""

    def weights(self, scores, mask):
        weights = torch.softmax(scores, dim=-1)
        return weights if mask is None else weights * mask


@additive_attention.misconception(see=f"{CHAPTER}#mistake-mask")
class real_ones_hidden(_Attention):
    """You hide what is real and keep what is not: in this course True means real."""

    def weights(self, scores, mask):
        return _weights(scores, None if mask is None else ~mask)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-mask")
class mask_always_needed(_Attention):
    """Without a mask your code fails: `mask=None` means that every position is real."""

    def weights(self, scores, mask):
        return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1).masked_fill(~mask, 0)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-nothing-real")
class not_a_number_in_a_row(_Attention):
    """Where nothing is real, every score is minus infinity, and the softmax divides 0 by 0."""

    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask, float("-inf")), dim=-1)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-nothing-real")
class everywhere_where_nothing_is_real(_Attention):
    """Where nothing is real, you look at all positions equally; such a row should have no weight and a zero context."""

    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), dim=-1)


@additive_attention.misconception(see=f"{CHAPTER}#mistake-context")
class projected_states_mixed(_Attention):
    """You mix W_h h_j; W_h is for the scores only, and the context mixes the states themselves."""

    def forward(self, state, encoder_states, mask=None):
        _, weights = super().forward(state, encoder_states, mask)
        return _context(weights, self.W_h(encoder_states)), weights


@additive_attention.misconception(see=f"{CHAPTER}#mistake-additive-module")
class weights_first(_Attention):
    """You return the weights first and the context second; it is the other way round."""

    def forward(self, state, encoder_states, mask=None):
        return super().forward(state, encoder_states, mask)[::-1]


@additive_attention.misconception(see=f"{CHAPTER}#mistake-additive-module")
class context_alone(_Attention):
    """You return the context alone; the attention weights are asked for too."""

    def forward(self, state, encoder_states, mask=None):
        return super().forward(state, encoder_states, mask)[0]


@additive_attention.misconception(see=f"{CHAPTER}#mistake-additive-module")
class layers_with_bias(_Attention):
    """Your three layers have a bias; in this exercise they are matrices alone (`bias=False`)."""

    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        nn.Module.__init__(self)
        self.W_s = nn.Linear(decoder_dim, attention_dim)
        self.W_h = nn.Linear(encoder_dim, attention_dim)
        self.v = nn.Linear(attention_dim, 1)


# --- BahdanauDecoderStep ---------------------------------------------------------------------------------------


class _Step(nn.Module):
    """The right parameters, and `read`, the new state for a context and a token."""

    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = _Attention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def read(self, context, token, state):
        return self.cell(torch.cat([context, self.embedding(token)], dim=-1), state)

    def forward(self, token, state, encoder_states, mask=None):
        context, weights = self.attention(state, encoder_states, mask)
        new_state = self.read(context, token, state)
        return self.out(new_state), new_state, weights


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-which-state")
class looks_with_the_new_state(_Step):
    """Your weights come from the new state; the decoder looks first, with the state that came in, and then reads."""

    def forward(self, token, state, encoder_states, mask=None):
        context, _ = self.attention(state, encoder_states, mask)
        new_state = self.read(context, token, state)
        _, weights = self.attention(new_state, encoder_states, mask)
        return self.out(new_state), new_state, weights


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-context-not-fed")
class context_is_zero(_Step):
    """The cell reads zeros where the context belongs: the decoder looks, but does not use what it sees."""

    def read(self, context, token, state):
        return super().read(torch.zeros_like(context), token, state)


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-context-not-fed")
class cell_reads_the_word_alone(_Step):
    """Your cell has room for the word alone; it reads context and word side by side."""

    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(embed_dim, hidden_dim)

    def read(self, context, token, state):
        return self.cell(self.embedding(token), state)


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-context-not-fed")
class word_not_read(_Step):
    """The cell reads the context, but zeros where the last word belongs: the token has no effect."""

    def read(self, context, token, state):
        return self.cell(torch.cat([context, torch.zeros_like(self.embedding(token))], dim=-1), state)


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-decoder-order")
class word_before_context(_Step):
    """Your cell reads the word first and the context second; the formula has [context ; word]."""

    def read(self, context, token, state):
        return self.cell(torch.cat([self.embedding(token), context], dim=-1), state)


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-decoder-order")
class speaks_from_the_old_state(_Step):
    """Your logits come from the state that came in; what the cell has read must reach the word that is said."""

    def forward(self, token, state, encoder_states, mask=None):
        _, new_state, weights = super().forward(token, state, encoder_states, mask)
        return self.out(state), new_state, weights


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-decoder-order")
class old_state_returned(_Step):
    """You return the state that came in as the new one: the next step would start where this one did."""

    def forward(self, token, state, encoder_states, mask=None):
        logits, _, weights = super().forward(token, state, encoder_states, mask)
        return logits, state, weights


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-decoder-order")
class state_forgotten_by_the_cell(_Step):
    """You call the cell without the state, so it starts from zeros: the sentence so far is forgotten."""

    def read(self, context, token, state):
        return self.cell(torch.cat([context, self.embedding(token)], dim=-1))


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-mask")
class mask_not_passed_on(_Step):
    """You do not hand the mask to the attention, so it looks at padding."""

    def forward(self, token, state, encoder_states, mask=None):
        return super().forward(token, state, encoder_states)


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-additive-module")
class probabilities_returned(_Step):
    """You return probabilities; logits are asked for, the softmax is part of the loss."""

    def forward(self, token, state, encoder_states, mask=None):
        logits, new_state, weights = super().forward(token, state, encoder_states, mask)
        return torch.softmax(logits, dim=-1), new_state, weights


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-additive-module")
class context_in_place_of_weights(_Step):
    """Your third value is the context; the attention weights are asked for."""

    def forward(self, token, state, encoder_states, mask=None):
        context, _ = self.attention(state, encoder_states, mask)
        new_state = self.read(context, token, state)
        return self.out(new_state), new_state, context


@bahdanau_decoder_step.misconception(see=f"{CHAPTER}#mistake-additive-module")
class state_and_logits_swapped(_Step):
    """You return the new state first and the logits second; it is the other way round."""

    def forward(self, token, state, encoder_states, mask=None):
        logits, new_state, weights = super().forward(token, state, encoder_states, mask)
        return new_state, logits, weights
