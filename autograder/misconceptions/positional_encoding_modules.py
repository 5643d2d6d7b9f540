"""Chapter 07: the mistakes that are named in the two modules that add a table, each a wrong module."""

import torch
from torch import nn

from autograder.exercises.positional_encoding import (
    CHAPTER,
    learned_positional_embedding,
    positional_encoding_module,
)


def table_of_waves(max_len, d_model):
    """The right table."""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = torch.arange(max_len, dtype=torch.float64).unsqueeze(1) * 10_000**-exponents
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model].float()


def refuse(length, max_len):
    """The right refusal."""
    if length > max_len:
        raise ValueError(f"A sequence of length {length} is longer than max_len {max_len}.")


class _Adds(nn.Module):
    """What the wrong modules below have in common: all is right, and each of them replaces one part.

    `keep` stores the table, `rows` finds the rows for a sequence, `join` puts them together with x.
    """

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[: x.size(1)]

    def join(self, x, rows):
        return x + rows


class _Waves(_Adds):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.keep(table_of_waves(max_len, d_model))

    def keep(self, table):
        self.register_buffer("pe", table)

    def forward(self, x):
        return self.join(x, self.rows(self.pe, x))


class _Learned(_Adds):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.keep(torch.randn(max_len, d_model) * 0.02)

    def keep(self, table):
        self.table = nn.Parameter(table)

    def forward(self, x):
        return self.join(x, self.rows(self.table, x))


# --- PositionalEncoding ----------------------------------------------------------------------------------------


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-buffer")
class table_a_plain_attribute(_Waves):
    """Your table is no buffer called `pe`: a plain attribute stays behind when the module moves or is saved."""

    def keep(self, table):
        self.pe = table


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-buffer")
class table_a_parameter(_Waves):
    """Your table is a parameter, so training would change it; the sines and cosines are meant to stay."""

    def keep(self, table):
        self.pe = nn.Parameter(table)


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class a_row_for_each_sentence(_Waves):
    """You count along the batch: all words of a sentence get the same row. With batch first, positions are axis 1."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[: x.size(0)].unsqueeze(1)


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class last_rows_taken(_Waves):
    """You take the last rows of the table; the first word stands at position 0."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[len(table) - x.size(1) :]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class one_row_for_every_word(_Waves):
    """You add one and the same row to all words, so they still cannot be told apart by their place."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[x.size(1) - 1]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class multiplied_by_the_rows(_Waves):
    """You multiply x by the rows of the table; they are to be added."""

    def join(self, x, rows):
        return x * rows


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class put_side_by_side(_Waves):
    """You put the rows beside x, which makes it twice as wide; they are to be added."""

    def join(self, x, rows):
        return torch.cat([x, rows.expand_as(x)], dim=-1)


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class scaled_by_the_root_of_the_width(_Waves):
    """You multiply x by the root of d_model first; the whole Transformer does that elsewhere, this module only adds."""

    def join(self, x, rows):
        return x * x.size(-1) ** 0.5 + rows


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class dropout_already_here(_Waves):
    """You put dropout after the sum; this module has none, so that train mode and eval mode give the same."""

    def join(self, x, rows):
        return nn.functional.dropout(x + rows, 0.1, self.training)


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class added_in_place(_Waves):
    """You add the rows to x itself, so the caller's tensor is changed."""

    def join(self, x, rows):
        x += rows
        return x


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-too-long")
class left_to_a_shape_error(_Waves):
    """A sequence longer than the table ends in torch's own error about shapes; refuse it first, with both lengths."""

    def rows(self, table, x):
        return table[: x.size(1)]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-too-long")
class longest_refused_too(_Waves):
    """You refuse a sequence of exactly max_len positions; the table has a row for each of them."""

    def rows(self, table, x):
        refuse(x.size(1) + 1, len(table))
        return table[: x.size(1)]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-too-long")
class what_is_too_long_cut_off(_Waves):
    """You cut a sequence that is longer than the table, so its last words are lost and nobody is told."""

    def forward(self, x):
        x = x[:, : len(self.pe)]
        return x + self.pe[: x.size(1)]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-too-long")
class rows_used_again(_Waves):
    """Past the end of the table you begin again with its first row, so two words of a sentence get the same place."""

    def rows(self, table, x):
        return table[torch.arange(x.size(1)) % len(table)]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-too-long")
class refused_by_assertion(_Waves):
    """You refuse with assert: that raises AssertionError, names no length, and is skipped when Python runs with -O."""

    def rows(self, table, x):
        assert x.size(1) <= len(table)
        return table[: x.size(1)]


# --- LearnedPositionalEmbedding --------------------------------------------------------------------------------


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-buffer")
class table_that_nobody_trains(_Learned):
    """Your table is no parameter, so no optimiser finds it, and it stays as random as it began."""

    def keep(self, table):
        self.register_buffer("table", table)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-buffer")
class an_embedding_inside(_Learned):
    """You keep an nn.Embedding, whose parameter is called `table.weight`; asked for is a parameter `table`."""

    def keep(self, table):
        self.table = nn.Embedding.from_pretrained(table, freeze=False)

    def forward(self, x):
        return self.join(x, self.rows(self.table.weight, x))


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-buffer")
class table_out_of_reach(_Learned):
    """Your table is a parameter, but no gradient reaches it: `.data` and `.detach()` cut it off, as does no_grad."""

    def join(self, x, rows):
        return x + rows.detach()


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-table-form")
class table_on_its_side(_Learned):
    """Your table is (d_model, max_len): each position should be a row, each feature a column."""

    def keep(self, table):
        self.table = nn.Parameter(table.T.contiguous())

    def rows(self, table, x):
        return super().rows(table.T, x)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-table-form")
class table_with_an_axis_for_the_batch(_Learned):
    """Your table has an axis of size 1 in front for the batch; asked for is (max_len, d_model)."""

    def keep(self, table):
        self.table = nn.Parameter(table.unsqueeze(0))

    def rows(self, table, x):
        return super().rows(table[0], x)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class learned_row_for_each_sentence(_Learned):
    """You count along the batch: all words of a sentence get the same row. With batch first, positions are axis 1."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[: x.size(0)].unsqueeze(1)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class learned_rows_from_the_end(_Learned):
    """You take the last rows of the table; the first word stands at position 0."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[len(table) - x.size(1) :]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class learned_rows_alone(_Learned):
    """You return the rows of the table without x; they are to be added to it."""

    def join(self, x, rows):
        return rows.expand_as(x)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class multiplied_by_learned_rows(_Learned):
    """You multiply x by the rows of the table; they are to be added."""

    def join(self, x, rows):
        return x * rows


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class learned_rows_added_in_place(_Learned):
    """You add the rows to x itself, so the caller's tensor is changed."""

    def join(self, x, rows):
        x.data += rows.data
        return x + rows - rows.detach()


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class learned_shape_error(_Learned):
    """A sequence longer than the table ends in torch's own error about shapes; refuse it first, with both lengths."""

    def rows(self, table, x):
        return table[: x.size(1)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class last_row_repeated(_Learned):
    """Past the end of the table you repeat its last row; a place that was never learned should be refused."""

    def rows(self, table, x):
        return table[torch.arange(x.size(1)).clamp(max=len(table) - 1)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class learned_refused_by_assertion(_Learned):
    """You refuse with assert: that raises AssertionError, names no length, and is skipped when Python runs with -O."""

    def rows(self, table, x):
        assert x.size(1) <= len(table)
        return table[: x.size(1)]
