"""Chapter 07: the mistakes that are named in LearnedPositionalEmbedding, each a wrong module."""

import torch
from torch import nn

from autograder.exercises.positional_encoding import CHAPTER, learned_positional_embedding
from autograder.misconceptions.positional_encoding_modules import (
    Adds,
    refuse,
    refuse_the_longest_too,
    refuse_without_numbers,
)


class _Learned(Adds):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.keep(torch.randn(max_len, d_model) * 0.02)

    def keep(self, table):
        self.table = nn.Parameter(table)

    def forward(self, x):
        return self.join(x, self.rows(self.table, x))


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
class max_len_and_width_exchanged(_Learned):
    """You take d_model first and max_len second; here max_len comes first, and the table is (max_len, d_model)."""

    def __init__(self, d_model, max_len):
        super().__init__(max_len, d_model)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-table-form")
class table_with_an_axis_for_the_batch(_Learned):
    """Your table has an axis of size 1 in front for the batch; asked for is (max_len, d_model)."""

    def keep(self, table):
        self.table = nn.Parameter(table.unsqueeze(0))

    def rows(self, table, x):
        return super().rows(table[0], x)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class a_row_for_each_sentence(_Learned):
    """You count along the batch: all words of a sentence get the same row. With batch first, positions are axis 1."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[: x.size(0)].unsqueeze(1)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class as_many_rows_as_sentences(_Learned):
    """You take as many rows as the batch has sentences: `x.size(0)`; the number of positions is `x.size(1)`."""

    def rows(self, table, x):
        return table[: x.size(0)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class whole_table_added(_Learned):
    """You add the whole table, whose rows are as many as max_len; cut it to the `x.size(1)` rows of the sequence."""

    def rows(self, table, x):
        return table


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class last_rows_taken(_Learned):
    """You take the last rows of the table; the first word stands at position 0."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[len(table) - x.size(1) :]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class rows_without_the_words(_Learned):
    """You return the rows of the table without x; they are to be added to it."""

    def join(self, x, rows):
        return rows.expand_as(x)


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class multiplied_by_the_rows(_Learned):
    """You multiply x by the rows of the table; they are to be added."""

    def join(self, x, rows):
        return x * rows


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-position-added")
class added_in_place(_Learned):
    """You add the rows to x itself, so the caller's tensor is changed."""

    def join(self, x, rows):
        x.data += rows.data
        return x + rows - rows.detach()


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class left_to_a_shape_error(_Learned):
    """A sequence longer than the table ends in torch's own error about shapes; refuse it first, with both lengths."""

    def rows(self, table, x):
        return table[: x.size(1)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class longest_refused_too(_Learned):
    """You refuse a sequence of exactly max_len positions; the table has a row for each of them."""

    def rows(self, table, x):
        refuse_the_longest_too(x.size(1), len(table))
        return table[: x.size(1)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class refused_without_the_lengths(_Learned):
    """Your ValueError names neither length; with both, its reader knows what to change."""

    def rows(self, table, x):
        refuse_without_numbers(x.size(1), len(table))
        return table[: x.size(1)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class rows_used_again(_Learned):
    """Past the end of the table you begin again with its first row, so two words of a sentence get the same place."""

    def rows(self, table, x):
        return table[torch.arange(x.size(1)) % len(table)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class last_row_repeated(_Learned):
    """Past the end of the table you repeat its last row; a place that was never learned should be refused."""

    def rows(self, table, x):
        return table[torch.arange(x.size(1)).clamp(max=len(table) - 1)]


@learned_positional_embedding.misconception(see=f"{CHAPTER}#mistake-too-long")
class refused_by_assertion(_Learned):
    """You refuse with assert: that raises AssertionError, no ValueError, and is skipped when Python runs with -O."""

    def rows(self, table, x):
        assert x.size(1) <= len(table)
        return table[: x.size(1)]
