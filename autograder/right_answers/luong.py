"""Right answers to the exercises of chapter 03, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer

# --- dot_score -------------------------------------------------------------------------------------------------


@right_answer("dot_score")
def dot_with_einsum(state, encoder_states):
    return torch.einsum("bd,bsd->bs", state, encoder_states)


@right_answer("dot_score")
def dot_with_bmm(state, encoder_states):
    return torch.bmm(encoder_states, state.unsqueeze(2)).squeeze(2)


@right_answer("dot_score")
def dot_from_the_left(state, encoder_states):
    return (state[:, None, :] @ encoder_states.transpose(1, 2))[:, 0]


@right_answer("dot_score")
def dot_by_broadcasting(state, encoder_states):
    products = state.unsqueeze(1) * encoder_states  # (batch, src, d)
    return products.sum(dim=-1)


@right_answer("dot_score")
def dot_word_by_word(state, encoder_states):
    scores = torch.zeros(encoder_states.shape[:2], dtype=state.dtype, device=state.device)
    for b in range(encoder_states.shape[0]):
        for j in range(encoder_states.shape[1]):
            scores[b, j] = torch.dot(state[b], encoder_states[b, j])
    return scores


@right_answer("dot_score")
def dot_sentence_by_sentence(state, encoder_states):
    return torch.stack([torch.mv(words, s) for s, words in zip(state, encoder_states, strict=True)])


@right_answer("dot_score")
def dot_with_the_diagonal(state, encoder_states):
    return torch.matmul(encoder_states, state.T).diagonal(dim1=0, dim2=2).T


@right_answer("dot_score")
def dot_with_vecdot(state, encoder_states):
    return torch.linalg.vecdot(encoder_states, state.unsqueeze(1).expand_as(encoder_states), dim=-1)


# --- general_score ---------------------------------------------------------------------------------------------


@right_answer("general_score")
def general_with_einsum(state, encoder_states, W):
    return torch.einsum("bi,ij,bsj->bs", state, W, encoder_states)


@right_answer("general_score")
def general_on_the_words(state, encoder_states, W):
    keys = encoder_states @ W.T  # (batch, src, d_s)
    return torch.bmm(keys, state.unsqueeze(-1)).squeeze(-1)


@right_answer("general_score")
def general_with_linear(state, encoder_states, W):
    return (F.linear(encoder_states, weight=W) * state.unsqueeze(1)).sum(-1)


@right_answer("general_score")
def general_word_by_word(state, encoder_states, W):
    rows = zip(state, encoder_states, strict=True)
    return torch.stack([torch.stack([s @ W @ h for h in words]) for s, words in rows])


@right_answer("general_score")
def general_with_bilinear(state, encoder_states, W):
    src = encoder_states.size(1)
    rows = [F.bilinear(state, encoder_states[:, j].contiguous(), W.unsqueeze(0)) for j in range(src)]
    return torch.cat(rows, dim=1)


@right_answer("general_score")
def general_through_a_helper(state, encoder_states, W):
    def dot(query, keys):
        return torch.matmul(keys, query[..., None])[..., 0]

    return dot(query=torch.mm(state, W), keys=encoder_states)


@right_answer("general_score")
def general_with_baddbmm(state, encoder_states, W):
    left = state.unsqueeze(1).bmm(W.expand(state.size(0), -1, -1))  # (batch, 1, d_h)
    nothing = torch.zeros(1, 1, 1, dtype=left.dtype, device=left.device)
    return torch.baddbmm(nothing, left, encoder_states.mT).flatten(start_dim=1)


@right_answer("general_score")
def general_position_by_position(state, encoder_states, W):
    query = state.matmul(W)
    return torch.stack([(query * h).sum(dim=1) for h in encoder_states.unbind(dim=1)], dim=1)


# --- concat_score ----------------------------------------------------------------------------------------------


@right_answer("concat_score")
def concat_with_linear(state, encoder_states, W, v):
    batch, src, _ = encoder_states.shape
    both = torch.cat((state[:, None].repeat(1, src, 1), encoder_states), dim=2)
    return F.linear(torch.tanh(F.linear(both, W)), v.unsqueeze(0)).reshape(batch, src)


@right_answer("concat_score")
def matrix_split_in_two(state, encoder_states, W, v):
    W_s, W_h = W[:, : state.size(1)], W[:, state.size(1) :]
    return torch.tanh((state @ W_s.T).unsqueeze(1) + encoder_states @ W_h.T) @ v


@right_answer("concat_score")
def concat_word_by_word(state, encoder_states, W, v):
    scores = []
    for s, words in zip(state, encoder_states, strict=True):
        scores.append(torch.stack([torch.dot(v, torch.tanh(W @ torch.cat([s, h]))) for h in words]))
    return torch.stack(scores)


@right_answer("concat_score")
def concat_position_by_position(state, encoder_states, W, v):
    columns = []
    for j in range(encoder_states.shape[1]):
        hidden = torch.tanh(torch.cat([state, encoder_states[:, j]], dim=1).mm(W.t()))  # (batch, d_a)
        columns.append(hidden.mv(v))
    return torch.stack(columns, dim=1)


@right_answer("concat_score")
def concat_with_einsum(state, encoder_states, W, v):
    copies = state.unsqueeze(1).expand(state.size(0), encoder_states.size(1), state.size(1))
    energy = torch.einsum("bsi,ai->bsa", torch.cat([copies, encoder_states], -1), W).tanh()
    return torch.einsum("bsa,a->bs", energy, v)


@right_answer("concat_score")
def concat_in_one_flat_batch(state, encoder_states, W, v):
    batch, src, d_h = encoder_states.shape
    pairs = torch.cat([state.repeat_interleave(src, dim=0), encoder_states.reshape(batch * src, d_h)], dim=1)
    return ((W @ pairs.T).tanh().T * v).sum(dim=1).view(batch, src)


@right_answer("concat_score")
def concat_into_an_empty_tensor(state, encoder_states, W, v):
    d_s = state.size(-1)
    both = encoder_states.new_empty(*encoder_states.shape[:2], W.size(1))
    both[..., :d_s] = state.unsqueeze(1)
    both[..., d_s:] = encoder_states
    return torch.tanh(both @ W.transpose(0, 1)).matmul(v.unsqueeze(-1)).squeeze(-1)


@right_answer("concat_score")
def tanh_by_exponentials(state, encoder_states, W, v):
    src = encoder_states.size(1)
    x = torch.cat([torch.stack([state] * src, dim=1), encoder_states], dim=-1) @ W.T
    return (2 * torch.sigmoid(2 * x) - 1) @ v


# --- local_window ----------------------------------------------------------------------------------------------


@right_answer("local_window")
def window_between_two_ends(center, half_width, length):
    middle = torch.round(center).unsqueeze(1)
    positions = torch.arange(length, device=center.device).unsqueeze(0)
    return (positions >= middle - half_width) & (positions <= middle + half_width)


@right_answer("local_window")
def window_by_slices(center, half_width, length):
    mask = torch.zeros(len(center), length, dtype=torch.bool)
    for row, c in enumerate(center.tolist()):
        middle = round(c)
        mask[row, max(0, middle - half_width) : middle + half_width + 1] = True
    return mask


@right_answer("local_window")
def window_as_a_list(center, half_width, length):
    middles = [round(c.item()) for c in center]
    return torch.tensor([[abs(j - m) <= half_width for j in range(length)] for m in middles])


@right_answer("local_window")
def window_half_rounded_up(center, half_width, length):
    middle = torch.floor(center + 0.5).long()
    offset = torch.arange(length)[None, :] - middle[:, None]
    return offset.abs().le(half_width)


@right_answer("local_window")
def window_from_a_strip(center, half_width, length):
    strip = torch.zeros(len(center), length + 2 * half_width, dtype=torch.bool)  # with room for what is cut off
    places = center.round().long()[:, None] + torch.arange(2 * half_width + 1)
    strip[torch.arange(len(center))[:, None], places] = True
    return strip[:, half_width : half_width + length]


@right_answer("local_window")
def window_by_the_square(center, half_width, length):
    grid = torch.arange(length, dtype=torch.float64).expand(center.shape[0], length)
    return (grid - center.double().round().view(-1, 1)).pow(2) < (half_width + 0.5) ** 2


@right_answer("local_window")
def window_without_gradients(center, half_width, length):
    with torch.no_grad():
        rows = torch.ones(center.size(0), 1, dtype=torch.int64) * torch.arange(length)
        low, high = torch.round(center) - half_width, torch.round(center) + half_width
        return torch.logical_not(torch.logical_or(rows < low.reshape(-1, 1), rows > high.reshape(-1, 1)))


# --- local_weights ---------------------------------------------------------------------------------------------


@right_answer("local_weights")
def weights_in_two_steps(scores, center, half_width):
    positions = torch.arange(scores.size(1), device=scores.device)
    window = (positions - center.detach().round()[:, None]).abs() <= half_width
    weights = F.softmax(torch.where(window, scores, float("-inf")), dim=1)
    sigma = half_width / 2
    return weights * torch.exp(-0.5 * ((positions - center[:, None]) / sigma) ** 2)


@right_answer("local_weights")
def weights_row_by_row(scores, center, half_width):
    rows = []
    for row, p in zip(scores, center, strict=True):
        middle = round(p.item())
        low, high = max(0, middle - half_width), min(len(row), middle + half_width + 1)
        curve = torch.exp(-2 * (torch.arange(low, high) - p) ** 2 / half_width**2)
        rows.append(F.pad(torch.softmax(row[low:high], dim=0) * curve, (low, len(row) - high)))
    return torch.stack(rows)


@right_answer("local_weights")
def weights_written_into_zeros(scores, center, half_width):
    out = torch.zeros_like(scores)
    for b in range(scores.size(0)):
        p = center[b]
        j = torch.arange(scores.size(1))
        inside = j[(j - p.round()).abs() <= half_width]
        out[b, inside] = scores[b, inside].softmax(-1) * torch.exp(-((inside - p) ** 2) / (2 * (half_width / 2) ** 2))
    return out


@right_answer("local_weights")
def softmax_by_hand(scores, center, half_width):
    distance = torch.arange(scores.size(-1), dtype=scores.dtype) - center.unsqueeze(-1)
    hidden = (torch.arange(scores.size(-1)) - torch.round(center).unsqueeze(-1)).abs() > half_width
    scores = scores.masked_fill(hidden, -1e9)
    exponentials = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    gaussian = torch.exp(-distance.square() / (2 * (half_width / 2) ** 2))
    return exponentials / exponentials.sum(-1, keepdim=True) * gaussian


@right_answer("local_weights")
def curve_in_the_exponent(scores, center, half_width):
    position = torch.arange(scores.size(1))
    distance = position - center.view(-1, 1)
    window = (position - center.round().view(-1, 1)).abs() <= half_width
    logits = scores.masked_fill(~window, -math.inf).log_softmax(dim=-1)
    return torch.exp(logits - distance.pow(2) * 2 / half_width**2)


@right_answer("local_weights")
def weights_masked_at_the_end_too(scores, center, half_width):
    def gaussian(x, sigma):
        return (-x.pow(2) / (2 * sigma**2)).exp()

    positions = torch.arange(scores.shape[1]).to(scores)
    window = positions.sub(center.round()[:, None]).abs().le(half_width)
    bias = torch.zeros_like(scores).masked_fill(~window, torch.finfo(scores.dtype).min)
    weights = nn.Softmax(dim=-1)(scores.where(window, torch.zeros_like(scores)) + bias)
    return weights * gaussian(positions - center[:, None], sigma=half_width / 2) * window


@right_answer("local_weights")
def window_gathered(scores, center, half_width):
    offsets = torch.arange(-half_width, half_width + 1)
    places = center.round().long().unsqueeze(1) + offsets  # (batch, 2D + 1), some outside the source
    inside = (places >= 0) & (places < scores.size(1))
    kept = places.clamp(0, scores.size(1) - 1)
    weights = scores.gather(1, kept).masked_fill(~inside, -math.inf).softmax(dim=1)
    weights = weights * torch.exp(-((places - center.unsqueeze(1)) ** 2) / (2 * (half_width / 2) ** 2))
    return torch.zeros_like(scores).scatter_add(1, kept, weights)
