"""Chapter 03: the mistakes that are named in the three scores, each a wrong implementation that stands alone."""

import torch
from torch import nn

from autograder.exercises.luong import CHAPTER, concat_score, dot_score, general_score

# --- dot_score -------------------------------------------------------------------------------------------------


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def divided_by_the_root_of_the_width(state, encoder_states):
    """You divide by the square root of d; Luong's score is the dot product as it is, scaling comes in chapter 05."""
    return (encoder_states @ state.unsqueeze(-1)).squeeze(-1) / state.size(-1) ** 0.5


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def mean_instead_of_sum(state, encoder_states):
    """You average the products over the features; a dot product adds them up."""
    return (encoder_states * state.unsqueeze(1)).mean(dim=-1)


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def cosine_of_the_angle(state, encoder_states):
    """You take the cosine, so the lengths of the vectors no longer count; in a dot product they do."""
    return nn.functional.cosine_similarity(state.unsqueeze(1), encoder_states, dim=-1)


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def dot_softmax_taken_already(state, encoder_states):
    """You return weights: the softmax is a later step, here the scores themselves are asked for."""
    return torch.softmax((encoder_states @ state.unsqueeze(-1)).squeeze(-1), dim=-1)


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def products_not_added_up(state, encoder_states):
    """You multiply feature by feature and stop there; a dot product then adds the products to one number."""
    return encoder_states * state.unsqueeze(1)


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def added_up_along_the_source(state, encoder_states):
    """You add up along the source positions; each position needs a score of its own, added up over the features."""
    return (encoder_states * state.unsqueeze(1)).sum(dim=1)


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def every_state_meets_every_sentence(state, encoder_states):
    """Your product pairs each state with the words of all sentences; a state belongs to its own sentence only."""
    return encoder_states @ state.T


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def axis_of_size_one_left_over(state, encoder_states):
    """The numbers are right, but the product with a single column leaves an axis of size 1 at the end."""
    return encoder_states @ state.unsqueeze(-1)


@dot_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def dot_squeezed_without_an_axis(state, encoder_states):
    """You squeeze without naming an axis, so a batch of one or a source of one word loses its axis too."""
    return (encoder_states @ state.unsqueeze(-1)).squeeze()


# --- general_score ---------------------------------------------------------------------------------------------


@general_score.misconception(see=f"{CHAPTER}#mistake-transposed")
def state_meets_the_wrong_axis(state, encoder_states, W):
    """You turn W the wrong way round: the axis of W that meets the state is the one that has the state's size."""
    return (encoder_states @ (state @ W.T).unsqueeze(-1)).squeeze(-1)


@general_score.misconception(see=f"{CHAPTER}#mistake-transposed")
def encoder_states_meet_the_wrong_axis(state, encoder_states, W):
    """You multiply the encoder states by W as it stands; the axis that meets them must have their size."""
    return ((encoder_states @ W) @ state.unsqueeze(-1)).squeeze(-1)


@general_score.misconception(see=f"{CHAPTER}#mistake-transposed")
def matrix_left_out(state, encoder_states, W):
    """You take the dot product without W; only W can bring two vectors of different sizes together."""
    return (encoder_states @ state.unsqueeze(-1)).squeeze(-1)


@general_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def divided_by_the_root_of_the_encoder_width(state, encoder_states, W):
    """You divide by the square root of a width; Luong's score is s^T W h as it is, scaling comes in chapter 05."""
    return (encoder_states @ (state @ W).unsqueeze(-1)).squeeze(-1) / encoder_states.size(-1) ** 0.5


@general_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def divided_by_the_root_of_the_state_width(state, encoder_states, W):
    """You divide by the square root of the state's size; Luong's score is s^T W h as it is, without a divisor."""
    return (encoder_states @ (state @ W).unsqueeze(-1)).squeeze(-1) / state.size(-1) ** 0.5


@general_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def cosine_after_the_matrix(state, encoder_states, W):
    """You take the cosine after W, so the lengths of the vectors no longer count; in a dot product they do."""
    return nn.functional.cosine_similarity((state @ W).unsqueeze(1), encoder_states, dim=-1)


@general_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def general_softmax_taken_already(state, encoder_states, W):
    """You return weights: the softmax is a later step, here the scores themselves are asked for."""
    return torch.softmax((encoder_states @ (state @ W).unsqueeze(-1)).squeeze(-1), dim=-1)


@general_score.misconception(see=f"{CHAPTER}#mistake-concat")
def tanh_where_none_belongs(state, encoder_states, W):
    """You put a tanh around the product with W; that belongs to concat, the general score has none."""
    return (encoder_states @ torch.tanh(state @ W).unsqueeze(-1)).squeeze(-1)


@general_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def general_axis_left_over(state, encoder_states, W):
    """The numbers are right, but the product with a single column leaves an axis of size 1 at the end."""
    return encoder_states @ (state @ W).unsqueeze(-1)


@general_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def general_squeezed_without_an_axis(state, encoder_states, W):
    """You squeeze without naming an axis, so a batch of one or a source of one word loses its axis too."""
    return (encoder_states @ (state @ W).unsqueeze(-1)).squeeze()


# --- concat_score ----------------------------------------------------------------------------------------------


def end_to_end(first, second):
    """Each row of the one beside that of the other: (batch, src, both)."""
    src = max(first.size(1), second.size(1))
    return torch.cat([first.expand(-1, src, -1), second.expand(-1, src, -1)], dim=-1)


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def tanh_left_out(state, encoder_states, W, v):
    """Your score has no tanh; without it the state only shifts all scores of a sentence by the same number."""
    return end_to_end(state.unsqueeze(1), encoder_states) @ W.T @ v


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def encoder_state_first(state, encoder_states, W, v):
    """You put the encoder state before the decoder state, so each meets the columns of W that are the other's."""
    return torch.tanh(end_to_end(encoder_states, state.unsqueeze(1)) @ W.T) @ v


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def v_left_out(state, encoder_states, W, v):
    """You stop after tanh with a vector for each position; v makes one number of it."""
    return torch.tanh(end_to_end(state.unsqueeze(1), encoder_states) @ W.T)


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def added_up_without_v(state, encoder_states, W, v):
    """You add up the entries after tanh as they are; v says how much each of them counts."""
    return torch.tanh(end_to_end(state.unsqueeze(1), encoder_states) @ W.T).sum(dim=-1)


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def tanh_around_the_score(state, encoder_states, W, v):
    """Your tanh stands around the finished score; it belongs to the vector W [s ; h], before v."""
    return torch.tanh(end_to_end(state.unsqueeze(1), encoder_states) @ W.T @ v)


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def tanh_of_the_states(state, encoder_states, W, v):
    """Your tanh is taken of the states, before W; it belongs to what W makes of them."""
    return torch.tanh(end_to_end(state.unsqueeze(1), encoder_states)) @ W.T @ v


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def another_nonlinearity(state, encoder_states, W, v):
    """You use a sigmoid where tanh is asked for: it lies between 0 and 1, tanh between -1 and 1."""
    return torch.sigmoid(end_to_end(state.unsqueeze(1), encoder_states) @ W.T) @ v


@concat_score.misconception(see=f"{CHAPTER}#mistake-concat")
def states_dealt_to_the_wrong_sentences(state, encoder_states, W, v):
    """Your copies of the states get out of step with the batch: some words meet the state of another sentence."""
    src = encoder_states.size(1)
    copies = state.repeat(src, 1).view(len(state), src, -1)
    return torch.tanh(end_to_end(copies, encoder_states) @ W.T) @ v


@concat_score.misconception(see=f"{CHAPTER}#mistake-transposed")
def matrix_not_turned(state, encoder_states, W, v):
    """You multiply by W as it stands; the features of [s ; h] must meet the axis of W that has their size."""
    return torch.tanh(end_to_end(state.unsqueeze(1), encoder_states) @ W) @ v


@concat_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def divided_by_the_root_of_the_hidden_width(state, encoder_states, W, v):
    """You divide by the square root of d_a; the concat score is v^T tanh(W [s ; h]) as it is."""
    return torch.tanh(end_to_end(state.unsqueeze(1), encoder_states) @ W.T) @ v / v.size(0) ** 0.5


@concat_score.misconception(see=f"{CHAPTER}#mistake-score-scaling")
def concat_softmax_taken_already(state, encoder_states, W, v):
    """You return weights: the softmax is a later step, here the scores themselves are asked for."""
    return torch.softmax(torch.tanh(end_to_end(state.unsqueeze(1), encoder_states) @ W.T) @ v, dim=-1)


@concat_score.misconception(see=f"{CHAPTER}#mistake-score-axis")
def concat_squeezed_without_an_axis(state, encoder_states, W, v):
    """You squeeze without naming an axis, so a batch of one or a source of one word loses its axis too."""
    return (torch.tanh(end_to_end(state.unsqueeze(1), encoder_states) @ W.T) @ v.unsqueeze(-1)).squeeze()
