"""Chapter 02: the mistakes that are named in the three functions, each a wrong implementation that stands alone."""

import math

import torch

from autograder.exercises.bahdanau import CHAPTER, additive_scores, context_vector, masked_weights

# --- additive_scores -------------------------------------------------------------------------------------------


@additive_scores.misconception(see=f"{CHAPTER}#mistake-no-tanh")
def tanh_forgotten(state, encoder_states, W_s, W_h, v):
    """Your score has no tanh: then the state adds the same number to every position, and the softmax removes it."""
    return ((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T) @ v


@additive_scores.misconception(see=f"{CHAPTER}#mistake-no-tanh")
def tanh_before_the_sum(state, encoder_states, W_s, W_h, v):
    """You take tanh of both parts and then add: the state then shifts all scores of a sentence alike."""
    return (torch.tanh(state @ W_s.T).unsqueeze(1) + torch.tanh(encoder_states @ W_h.T)) @ v


@additive_scores.misconception(see=f"{CHAPTER}#mistake-no-tanh")
def tanh_of_the_score(state, encoder_states, W_s, W_h, v):
    """Your tanh comes last, after v: every score then lies between -1 and 1, and inside all is linear."""
    return torch.tanh(((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T) @ v)


@additive_scores.misconception(see=f"{CHAPTER}#mistake-no-tanh")
def sigmoid_for_tanh(state, encoder_states, W_s, W_h, v):
    """You use the sigmoid where the formula has tanh: tanh lies around 0, between -1 and 1."""
    return torch.sigmoid((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T) @ v


@additive_scores.misconception(see=f"{CHAPTER}#mistake-scores-blind")
def encoder_states_ignored(state, encoder_states, W_s, W_h, v):
    """All scores of a sentence are equal, because W_h and the encoder states do not enter."""
    return (torch.tanh(state @ W_s.T) @ v).unsqueeze(1).expand(encoder_states.shape[:2])


@additive_scores.misconception(see=f"{CHAPTER}#mistake-scores-blind")
def state_ignored(state, encoder_states, W_s, W_h, v):
    """The decoder's state does not enter your scores: it would look at the same words at every step."""
    return torch.tanh(encoder_states @ W_h.T) @ v


@additive_scores.misconception(see=f"{CHAPTER}#mistake-scores-blind")
def v_forgotten(state, encoder_states, W_s, W_h, v):
    """You add up the entries after tanh with equal weight; v says how much each of them counts."""
    return torch.tanh((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T).sum(dim=-1)


@additive_scores.misconception(see=f"{CHAPTER}#mistake-additive-axis")
def source_axis_missing(state, encoder_states, W_s, W_h, v):
    """You add (batch, d_a) to (batch, src, d_a): the first has no axis for the source positions yet."""
    return torch.tanh(state @ W_s.T + encoder_states @ W_h.T) @ v


@additive_scores.misconception(see=f"{CHAPTER}#mistake-additive-axis")
def matrices_not_transposed(state, encoder_states, W_s, W_h, v):
    """You multiply by W where W transposed is needed: W_s is (d_a, d_s), and the state has its d_s numbers last."""
    return torch.tanh((state @ W_s).unsqueeze(1) + encoder_states @ W_h) @ v


@additive_scores.misconception(see=f"{CHAPTER}#mistake-additive-axis")
def matrices_swapped(state, encoder_states, W_s, W_h, v):
    """Your state meets W_h and your encoder states meet W_s; it is the other way round."""
    return torch.tanh((state @ W_h.T).unsqueeze(1) + encoder_states @ W_s.T) @ v


@additive_scores.misconception(see=f"{CHAPTER}#mistake-weights-axis")
def softmax_already(state, encoder_states, W_s, W_h, v):
    """You return weights; here only the scores are asked for, the softmax comes in the next exercise."""
    return torch.softmax(torch.tanh((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T) @ v, dim=-1)


@additive_scores.misconception(see=f"{CHAPTER}#mistake-no-tanh")
def divided_by_the_root(state, encoder_states, W_s, W_h, v):
    """You divide by the square root of a width: that belongs to dot products, additive scores are not scaled."""
    return torch.tanh((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T) @ v / math.sqrt(v.numel())


# --- masked_weights --------------------------------------------------------------------------------------------


@masked_weights.misconception(see=f"{CHAPTER}#mistake-mask")
def mask_ignored(scores, mask):
    """Your weights do not depend on the mask: hidden positions get a share."""
    return torch.softmax(scores, dim=-1)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-mask")
def mask_after_the_softmax(scores, mask):
    """You clear weights after the softmax: what the hidden positions had taken is lost, and rows sum to less than 1."""
    return torch.softmax(scores, dim=-1).masked_fill(~mask, 0)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-mask")
def renormalised_after_the_softmax(scores, mask):
    """You divide what the mask left by its sum: where a hidden score is much larger, nothing is left to divide."""
    weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0)
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-12)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-mask")
def mask_inverted(scores, mask):
    """You hide what is real and keep what is not: in this course True means real."""
    return torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-mask")
def scores_set_to_zero(scores, mask):
    """You set hidden scores to 0, but exp(0) is 1: they still get a share."""
    return torch.softmax(scores * mask, dim=-1)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-mask")
def fill_within_reach(scores, mask):
    """You fill hidden scores with a number that real scores can reach; then hidden positions are looked at."""
    return torch.softmax(scores.masked_fill(~mask, -1e4), dim=-1)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-weights-axis")
def softmax_over_the_batch(scores, mask):
    """Your softmax runs over the batch: different sentences compete for the same position."""
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=0).masked_fill(~mask, 0)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-weights-axis")
def softmax_over_everything(scores, mask):
    """You divide by the sum over the whole batch; each sentence needs weights that sum to 1."""
    return torch.softmax(scores.masked_fill(~mask, float("-inf")).flatten(), dim=0).view(scores.shape)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-nothing-real")
def not_a_number_where_nothing_is_real(scores, mask):
    """Where nothing is real, every score is minus infinity, and the softmax divides 0 by 0."""
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)


@masked_weights.misconception(see=f"{CHAPTER}#mistake-nothing-real")
def not_a_number_painted_over(scores, mask):
    """Your weights are right, but NaN was computed and then replaced: it comes back in the gradient."""
    hidden = torch.zeros_like(scores).masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(scores + hidden, dim=-1))


@masked_weights.misconception(see=f"{CHAPTER}#mistake-nothing-real")
def uniform_where_nothing_is_real(scores, mask):
    """Where nothing is real, you look at all positions equally; such a row should have no weight at all."""
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1)


@masked_weights.misconception(see="04_self_attention#mistake-overflow")
def maximum_not_subtracted(scores, mask):
    """Your own exp overflows on large scores, and becomes 0 on very negative ones."""
    exponentials = scores.exp() * mask
    return exponentials / exponentials.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# --- context_vector --------------------------------------------------------------------------------------------


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def not_added_up(weights, encoder_states):
    """You weigh every state but do not add them up: the source axis is still there."""
    return weights.unsqueeze(-1) * encoder_states


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def features_added_up(weights, encoder_states):
    """You add over the features; the sum runs over the source positions, and the features stay."""
    return (weights.unsqueeze(-1) * encoder_states).sum(dim=-1)


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def weights_ignored(weights, encoder_states):
    """Your context is the plain mean of all states: the weights have no effect."""
    return encoder_states.mean(dim=1)


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def mean_for_sum(weights, encoder_states):
    """You divide by the number of positions as well; the weights are the division already."""
    return (weights.unsqueeze(-1) * encoder_states).mean(dim=1)


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def softmax_again(weights, encoder_states):
    """You apply softmax to weights that are weights already, which flattens them."""
    return (torch.softmax(weights, dim=-1).unsqueeze(1) @ encoder_states).squeeze(1)


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def renormalised(weights, encoder_states):
    """You divide the weights by their sum once more; here they are to be used as they are given."""
    return ((weights / weights.sum(dim=-1, keepdim=True)).unsqueeze(1) @ encoder_states).squeeze(1)


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def only_the_best_state(weights, encoder_states):
    """You copy the state with the largest weight; the context is a mixture of all of them."""
    return encoder_states[torch.arange(len(weights)), weights.argmax(dim=-1)]


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def every_row_with_every_sentence(weights, encoder_states):
    """The batch meets itself: each row of weights is used for every sentence, not only for its own."""
    return weights @ encoder_states


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def axis_left_over(weights, encoder_states):
    """Your numbers are right, but the axis that you added to the weights is still there, with size 1."""
    return weights.unsqueeze(1) @ encoder_states


@context_vector.misconception(see=f"{CHAPTER}#mistake-context")
def squeezed_too_much(weights, encoder_states):
    """Your `squeeze()` removes every axis of size 1, the batch too where it holds one sentence; name the axis."""
    return (weights.unsqueeze(1) @ encoder_states).squeeze()
