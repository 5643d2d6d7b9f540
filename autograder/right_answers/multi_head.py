"""Right answers to the exercises of chapter 06 on heads and masks, each written in another way."""

import torch

from autograder.right_answers import right_answer

# --- split_heads -----------------------------------------------------------------------------------------------


@right_answer("split_heads")
def split_by_view(x, num_heads):
    batch, seq, d_model = x.shape
    return x.view(batch, seq, num_heads, d_model // num_heads).transpose(1, 2)


@right_answer("split_heads")
def split_by_reshape(x, num_heads):
    batch, seq, _ = x.size()
    heads = x.reshape(batch, seq, num_heads, -1)  # (batch, seq, heads, d_k)
    return heads.permute(0, 2, 1, 3).contiguous()


@right_answer("split_heads")
def split_by_chunks(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=2), dim=1)


@right_answer("split_heads")
def split_by_slices(x, num_heads):
    d_k = x.shape[-1] // num_heads
    return torch.stack([x[:, :, i * d_k : (i + 1) * d_k] for i in range(num_heads)], dim=1)


@right_answer("split_heads")
def split_token_by_token(x, num_heads):
    batch, seq, d_model = x.shape
    d_k = d_model // num_heads
    out = torch.zeros(batch, num_heads, seq, d_k, dtype=x.dtype, device=x.device)
    for h in range(num_heads):
        for i in range(seq):
            out[:, h, i] = x[:, i, h * d_k : h * d_k + d_k]
    return out


@right_answer("split_heads")
def split_with_unfold(x, num_heads):
    d_k = x.size(-1) // num_heads
    return x.unfold(dimension=-1, size=d_k, step=d_k).movedim(2, 1)


@right_answer("split_heads")
def split_by_an_index(x, num_heads):
    features = torch.arange(x.size(2), device=x.device).view(num_heads, -1)  # row i: what belongs to head i
    return x[:, :, features].swapaxes(1, 2)


@right_answer("split_heads")
def split_from_the_transpose(x, num_heads):
    batch, seq, d_model = x.shape
    columns = x.mT.reshape(batch, num_heads, d_model // num_heads, seq)
    return columns.transpose(-1, -2)


# --- merge_heads -----------------------------------------------------------------------------------------------


@right_answer("merge_heads")
def merged_by_view(x):
    batch, heads, seq, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(batch, seq, heads * d_k)


@right_answer("merge_heads")
def merged_by_reshape(x):
    return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)


@right_answer("merge_heads")
def merged_by_cat(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@right_answer("merge_heads")
def merged_head_by_head(x):
    merged = x[:, 0]
    for i in range(1, x.shape[1]):
        merged = torch.cat((merged, x[:, i]), 2)
    return merged


@right_answer("merge_heads")
def merged_into_an_empty_tensor(x):
    batch, heads, seq, d_k = x.shape
    merged = x.new_empty(batch, seq, heads * d_k)
    for i in range(heads):
        merged[:, :, i * d_k : (i + 1) * d_k] = x[:, i]
    return merged


@right_answer("merge_heads")
def merged_token_by_token(x):
    return torch.stack([x[:, :, i].flatten(start_dim=1) for i in range(x.size(2))], dim=1)


@right_answer("merge_heads")
def merged_sentence_by_sentence(x):
    return torch.stack([torch.hstack(list(heads)) for heads in x])


@right_answer("merge_heads")
def merged_with_einsum(x):
    batch, heads, seq, d_k = x.shape
    return torch.einsum("bhsd->bshd", x).reshape(batch, seq, heads * d_k)


# --- causal_mask -----------------------------------------------------------------------------------------------


@right_answer("causal_mask")
def causal_by_positions(size):
    positions = torch.arange(size)
    return positions[None, :] <= positions[:, None]


@right_answer("causal_mask")
def causal_by_the_future(size):
    return ~torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)


@right_answer("causal_mask")
def causal_by_numbers(size):
    return torch.tril(torch.ones((size, size))).bool()


@right_answer("causal_mask")
def causal_as_a_list(size):
    return torch.tensor([[j <= i for j in range(size)] for i in range(size)])


@right_answer("causal_mask")
def causal_row_by_row(size):
    mask = torch.zeros(size, size, dtype=torch.bool)
    for i in range(size):
        mask[i, : i + 1] = True
    return mask


@right_answer("causal_mask")
def causal_by_counting(size):
    return torch.eye(size).cumsum(dim=0) > 0


@right_answer("causal_mask")
def causal_from_the_additive_form(size):
    return torch.full((size, size), float("-inf")).triu(diagonal=1) == 0


@right_answer("causal_mask")
def causal_by_indices(size):
    mask = torch.full((size, size), False)
    rows, columns = torch.tril_indices(size, size)
    mask[rows, columns] = True
    return mask


# --- padding_mask ----------------------------------------------------------------------------------------------


@right_answer("padding_mask")
def padding_by_unsqueeze(tokens, pad):
    return (tokens != pad).unsqueeze(1).unsqueeze(2)


@right_answer("padding_mask")
def padding_by_view(tokens, pad):
    batch, seq = tokens.shape
    return tokens.ne(pad).view(batch, 1, 1, seq)


@right_answer("padding_mask")
def padding_by_reshape(tokens, pad):
    return torch.logical_not(tokens == pad).reshape(len(tokens), 1, 1, -1)


@right_answer("padding_mask")
def padding_by_indexing_first(tokens, pad):
    return tokens[:, None, None] != pad


@right_answer("padding_mask")
def padding_word_by_word(tokens, pad):
    real = [[token != pad for token in sentence] for sentence in tokens.tolist()]
    return torch.tensor(real).unsqueeze(-2).unsqueeze(-2)


@right_answer("padding_mask")
def padding_written_into_ones(tokens, pad):
    mask = torch.ones(tokens.shape, dtype=torch.bool)
    mask[tokens == pad] = False
    return mask[:, None, None, :]


@right_answer("padding_mask")
def padding_by_where(tokens, pad):
    mask = torch.where(tokens.eq(pad), 0, 1)
    return mask.bool().unflatten(0, (-1, 1, 1))


@right_answer("padding_mask")
def padding_by_the_distance(tokens, pad):
    return ((tokens - pad) ** 2 > 0)[:, None, None, :]
