"""Right answers to the exercises of chapter 02, each written in another way."""

import math

import torch
import torch.nn.functional as F

from autograder.right_answers import right_answer

# --- additive_scores -------------------------------------------------------------------------------------------


@right_answer("additive_scores")
def scores_with_einsum(state, encoder_states, W_s, W_h, v):
    asked = torch.einsum("bs,as->ba", state, W_s)
    offered = torch.einsum("bjh,ah->bja", encoder_states, W_h)
    return torch.einsum("bja,a->bj", (asked[:, None, :] + offered).tanh(), v)


@right_answer("additive_scores")
def scores_position_by_position(state, encoder_states, W_s, W_h, v):
    batch, src, _ = encoder_states.shape
    scores = state.new_zeros(batch, src)
    for b in range(batch):
        for j in range(src):
            hidden = torch.tanh(W_s @ state[b] + W_h @ encoder_states[b, j])
            scores[b, j] = torch.dot(v, hidden)
    return scores


@right_answer("additive_scores")
def scores_with_linear(state, encoder_states, W_s, W_h, v):
    query = F.linear(state, W_s).unsqueeze(dim=1)
    keys = F.linear(encoder_states, W_h)
    return F.linear(torch.tanh(query + keys), v.unsqueeze(0)).squeeze(-1)


@right_answer("additive_scores")
def scores_of_joined_vectors(state, encoder_states, W_s, W_h, v):
    # Bahdanau's two matrices side by side are one matrix on [s ; h]
    repeated = state.unsqueeze(1).expand(-1, encoder_states.shape[1], -1)
    joined = torch.cat([repeated, encoder_states], dim=-1)
    return torch.tanh(joined @ torch.cat([W_s, W_h], dim=1).T).matmul(v)


@right_answer("additive_scores")
def scores_with_the_state_repeated(state, encoder_states, W_s, W_h, v):
    src = encoder_states.size(1)
    states = state.unsqueeze(1).repeat(1, src, 1)
    energy = torch.tanh(torch.matmul(states, W_s.t()) + torch.matmul(encoder_states, W_h.t()))
    return torch.sum(energy * v, dim=2)


@right_answer("additive_scores")
def scores_with_bmm(state, encoder_states, W_s, W_h, v):
    batch = state.size(0)
    keys = torch.bmm(encoder_states, W_h.T.expand(batch, -1, -1))
    query = torch.bmm(state.unsqueeze(1), W_s.T.expand(batch, -1, -1))
    energy = (query + keys).tanh().transpose(1, 2)  # (batch, d_a, src)
    return torch.bmm(v.repeat(batch, 1).unsqueeze(1), energy).squeeze(1)


@right_answer("additive_scores")
def scores_sentence_by_sentence(state, encoder_states, W_s, W_h, v):
    def scores_of(s, states):
        return torch.tanh(W_s @ s + states @ W_h.T) @ v

    return torch.stack([scores_of(s, states) for s, states in zip(state, encoder_states, strict=True)])


@right_answer("additive_scores")
def scores_source_axis_first(state, encoder_states, W_s, W_h, v):
    by_position = encoder_states.transpose(0, 1)  # (src, batch, d_h), so that the state broadcasts by itself
    return (torch.tanh(state @ W_s.mT + by_position @ W_h.mT) @ v).T


@right_answer("additive_scores")
def scores_with_an_own_tanh(state, encoder_states, W_s, W_h, v):
    total = (state @ W_s.T)[:, None] + encoder_states @ W_h.T
    return (2 * torch.sigmoid(2 * total) - 1) @ v


# --- masked_weights --------------------------------------------------------------------------------------------


@right_answer("masked_weights")
def weights_row_by_row(scores, mask):
    rows = []
    for row, real in zip(scores, mask, strict=True):
        weights = torch.zeros_like(row)
        if real.any():
            weights[real] = torch.softmax(row[real], dim=0)
        rows.append(weights)
    return torch.stack(rows)


@right_answer("masked_weights")
def weights_with_nan_replaced(scores, mask):
    # The fill stands before the softmax, so no NaN passes it on the way back
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1).nan_to_num(0.0)


@right_answer("masked_weights")
def weights_written_out(scores, mask):
    largest = scores.masked_fill(~mask, -torch.inf).amax(dim=1, keepdim=True)
    shifted = scores - torch.where(mask.any(1, keepdim=True), largest, 0)
    exponentials = torch.where(mask, shifted, -torch.inf).exp()
    total = exponentials.sum(dim=1, keepdim=True)
    return exponentials / torch.where(total > 0, total, torch.ones_like(total))


@right_answer("masked_weights")
def weights_filled_with_the_smallest_number(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    weights = F.softmax(scores.masked_fill(mask == False, lowest), dim=-1)  # noqa: E712
    return weights * mask


@right_answer("masked_weights")
def weights_with_where(scores, mask):
    hidden = torch.logical_not(mask)
    weights = torch.where(hidden, torch.full_like(scores, -1e9), scores).softmax(-1)
    return torch.where(hidden, torch.zeros_like(weights), weights)


@right_answer("masked_weights")
def weights_with_one_position_more(scores, mask):
    # A position that nobody asked for takes all the weight where nothing else is there
    nothing = torch.where(mask.any(-1, keepdim=True), -math.inf, 0.0).to(scores)
    filled = torch.cat([scores.masked_fill(~mask, -math.inf), nothing], dim=-1)
    return F.softmax(filled, dim=-1)[:, :-1]


@right_answer("masked_weights")
def weights_of_the_rows_that_have_any(scores, mask):
    weights = torch.zeros_like(scores)
    some = mask.any(dim=1)
    weights[some] = torch.softmax(scores[some].masked_fill(~mask[some], float("-inf")), dim=1)
    return weights


@right_answer("masked_weights")
def weights_through_the_logarithm(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.log_softmax(filled, dim=-1).exp().masked_fill(mask.logical_not(), 0.0)


@right_answer("masked_weights")
def weights_in_place_on_a_copy(scores, mask):
    filled = scores.clone()
    filled[~mask] = -float("inf")
    filled[~mask.any(dim=-1)] = 0
    weights = torch.nn.Softmax(dim=-1)(filled)
    return weights * mask.to(weights.dtype)


# --- context_vector --------------------------------------------------------------------------------------------


@right_answer("context_vector")
def context_with_einsum(weights, encoder_states):
    return torch.einsum("bj,bjd->bd", weights, encoder_states)


@right_answer("context_vector")
def context_with_bmm(weights, encoder_states):
    return torch.bmm(weights.unsqueeze(1), encoder_states).squeeze(1)


@right_answer("context_vector")
def context_by_broadcasting(weights, encoder_states):
    return (weights[:, :, None] * encoder_states).sum(dim=1)


@right_answer("context_vector")
def context_position_by_position(weights, encoder_states):
    context = torch.zeros_like(encoder_states[:, 0])
    for j in range(encoder_states.shape[1]):
        context = context + weights[:, j].unsqueeze(-1) * encoder_states[:, j]
    return context


@right_answer("context_vector")
def context_sentence_by_sentence(weights, encoder_states):
    return torch.stack([row @ states for row, states in zip(weights, encoder_states, strict=True)], dim=0)


@right_answer("context_vector")
def context_of_columns(weights, encoder_states):
    return torch.matmul(encoder_states.transpose(1, 2), weights.unsqueeze(-1)).squeeze(-1)


@right_answer("context_vector")
def context_of_expanded_weights(weights, encoder_states):
    shares = weights.unsqueeze(-1).expand_as(encoder_states)
    return torch.mul(encoder_states, shares).sum(1, keepdim=False)


@right_answer("context_vector")
def context_with_baddbmm(weights, encoder_states):
    batch, _, width = encoder_states.shape
    nothing = encoder_states.new_zeros(batch, 1, width)
    return torch.baddbmm(nothing, weights[:, None], encoder_states)[:, 0]
