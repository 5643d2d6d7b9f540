"""Chapter 06: the mistakes that are named in heads and masks, each a wrong implementation that stands alone."""

import torch

from autograder.exercises.multi_head import CHAPTER, causal_mask, merge_heads, padding_mask, split_heads

# --- split_heads -----------------------------------------------------------------------------------------------


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def heads_cut_out_of_the_tokens(x, num_heads):
    """You reshape straight to (batch, heads, seq, d_k): a head is then made of pieces of several tokens."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, num_heads, seq, d_model // num_heads)


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def heads_left_behind(x, num_heads):
    """Your result is (batch, seq, heads, d_k): the heads are cut out, but not brought in front of the tokens."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, num_heads, d_model // num_heads)


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def heads_before_the_batch(x, num_heads):
    """Your heads are the first axis; they belong behind the batch: (batch, heads, seq, d_k)."""
    return torch.stack(x.chunk(num_heads, dim=-1))


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def heads_folded_into_the_batch(x, num_heads):
    """You make one axis of batch and heads; the heads are to keep an axis of their own: (batch, heads, seq, d_k)."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, num_heads, d_model // num_heads).transpose(1, 2).flatten(0, 1)


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def features_before_tokens(x, num_heads):
    """You turn the head around as well: its features stand before its tokens, (batch, heads, d_k, seq)."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, num_heads, d_model // num_heads).permute(0, 2, 3, 1)


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def every_other_feature(x, num_heads):
    """A head of yours gets every h-th feature; it is to get d_k neighbouring ones."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, d_model // num_heads, num_heads).permute(0, 3, 1, 2)


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def width_and_number_swapped(x, num_heads):
    """You make d_k heads of width h; num_heads is the number of heads, not their width."""
    batch, seq, d_model = x.shape
    return x.reshape(batch, seq, d_model // num_heads, num_heads).transpose(1, 2)


@split_heads.misconception(see=f"{CHAPTER}#mistake-split")
def same_features_for_all(x, num_heads):
    """Every head of yours gets the same first features; each is to get a part of its own."""
    d_k = x.shape[-1] // num_heads
    return x[..., :d_k].unsqueeze(1).repeat(1, num_heads, 1, 1)


# --- merge_heads -----------------------------------------------------------------------------------------------


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def merged_without_transpose(x):
    """You reshape without bringing the tokens in front of the heads first: a row then holds several tokens."""
    batch, heads, seq, d_k = x.shape
    return x.reshape(batch, seq, heads * d_k)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def heads_not_joined(x):
    """You bring the tokens in front, and stop there: heads and d_k are still two axes."""
    return x.transpose(1, 2)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def heads_joined_along_the_tokens(x):
    """You put the heads one after the other along the tokens; they belong side by side, along the features."""
    return x.flatten(1, 2)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def heads_interleaved(x):
    """You interleave the heads feature by feature; they are to lie side by side, each in one piece."""
    return x.permute(0, 2, 3, 1).flatten(2)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def heads_added(x):
    """You add the heads up; they are to lie side by side, so that W_o can tell them apart."""
    return x.sum(dim=1)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def heads_averaged(x):
    """You average the heads; they are to lie side by side, so that W_o can tell them apart."""
    return x.mean(dim=1)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def tokens_last(x):
    """Your heads are joined, with the features as rows and the tokens as columns: (batch, d_model, seq)."""
    return x.transpose(2, 3).flatten(1, 2)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-merge")
def last_head_first(x):
    """You put the heads side by side in reverse order."""
    return x.flip(1).transpose(1, 2).flatten(2)


@merge_heads.misconception(see=f"{CHAPTER}#mistake-view")
def view_after_transpose(x):
    """After a transpose the memory is not in order, and `view` fails there."""
    batch, heads, seq, d_k = x.shape
    return x.transpose(1, 2).view(batch, seq, heads * d_k)


# --- causal_mask -----------------------------------------------------------------------------------------------


@causal_mask.misconception(see=f"{CHAPTER}#mistake-causal")
def diagonal_forbidden(size):
    """A token may look at itself; your diagonal is False, so the first token may look at nothing."""
    return torch.ones(size, size, dtype=torch.bool).tril(-1)


@causal_mask.misconception(see=f"{CHAPTER}#mistake-causal")
def future_allowed(size):
    """Your mask is transposed: it allows what comes later and forbids the past."""
    return torch.ones(size, size, dtype=torch.bool).triu()


@causal_mask.misconception(see=f"{CHAPTER}#mistake-causal")
def one_step_ahead(size):
    """Your mask lets every token see the next one, which is the one that it shall predict."""
    return torch.ones(size, size, dtype=torch.bool).tril(1)


@causal_mask.misconception(see=f"{CHAPTER}#mistake-causal")
def everything_allowed(size):
    """Your mask allows everything, the future too."""
    return torch.ones(size, size, dtype=torch.bool)


@causal_mask.misconception(see=f"{CHAPTER}#mistake-polarity")
def true_means_forbidden(size):
    """Your polarity is the other one: in this course True means allowed."""
    return torch.ones(size, size, dtype=torch.bool).triu(1)


@causal_mask.misconception(see=f"{CHAPTER}#mistake-polarity")
def numbers_for_truths(size):
    """Your mask has the right entries as numbers; a bool tensor is asked for."""
    return torch.ones(size, size).tril()


@causal_mask.misconception(see=f"{CHAPTER}#mistake-polarity")
def additive_form(size):
    """That is the additive form, 0 and minus infinity; here True and False are asked for."""
    return torch.full((size, size), float("-inf")).triu(1)


@causal_mask.misconception(see=f"{CHAPTER}#mistake-causal")
def axes_for_batch_and_heads(size):
    """Your mask is (1, 1, size, size); (size, size) is asked for, and broadcasts over batch and heads as well."""
    return torch.ones(1, 1, size, size, dtype=torch.bool).tril()


# --- padding_mask ----------------------------------------------------------------------------------------------


@padding_mask.misconception(see=f"{CHAPTER}#mistake-padding")
def queries_masked(tokens, pad):
    """Your mask lies on the axis of the queries; what is to be hidden are keys."""
    return (tokens != pad)[:, None, :, None]


@padding_mask.misconception(see=f"{CHAPTER}#mistake-padding")
def queries_masked_as_well(tokens, pad):
    """You hide padding as a query too; a mask for keys alone is asked for, (batch, 1, 1, seq)."""
    real = tokens != pad
    return real[:, None, None, :] & real[:, None, :, None]


@padding_mask.misconception(see=f"{CHAPTER}#mistake-padding")
def axes_missing(tokens, pad):
    """Your mask is (batch, seq): it would be laid over queries and keys, not over batch and keys."""
    return tokens != pad


@padding_mask.misconception(see=f"{CHAPTER}#mistake-padding")
def one_axis_missing(tokens, pad):
    """Your mask is (batch, 1, seq): laid over four axes its batch would meet the heads."""
    return (tokens != pad)[:, None, :]


@padding_mask.misconception(see=f"{CHAPTER}#mistake-padding")
def pad_is_always_zero(tokens, pad):
    """You compare with 0; the id of the padding is an argument."""
    return (tokens != 0)[:, None, None, :]


@padding_mask.misconception(see=f"{CHAPTER}#mistake-padding")
def ids_above_pad_are_real(tokens, pad):
    """You take only ids above pad for real; a real word may have a smaller id as well."""
    return (tokens > pad)[:, None, None, :]


@padding_mask.misconception(see=f"{CHAPTER}#mistake-padding")
def as_many_as_are_real(tokens, pad):
    """You count the real tokens and allow as many from the left; padding may stand anywhere, at the front as well."""
    lengths = (tokens != pad).sum(dim=1, keepdim=True)
    return (torch.arange(tokens.shape[1]) < lengths)[:, None, None, :]


@padding_mask.misconception(see=f"{CHAPTER}#mistake-polarity")
def true_for_padding(tokens, pad):
    """Your polarity is the other one: in this course True means real."""
    return (tokens == pad)[:, None, None, :]


@padding_mask.misconception(see=f"{CHAPTER}#mistake-polarity")
def numbers_instead_of_truths(tokens, pad):
    """Your mask has the right entries as numbers; a bool tensor is asked for."""
    return (tokens != pad)[:, None, None, :].float()
