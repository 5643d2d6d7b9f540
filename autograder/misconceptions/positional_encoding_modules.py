"""Chapter 07: the mistakes that are named in PositionalEncoding, each a wrong module.

Those of the learned table are in positional_encoding_learned.py, which shares what stands first here.
"""

import torch
from torch import nn

from autograder.exercises.positional_encoding import CHAPTER, positional_encoding_module


def table_of_waves(max_len, d_model):
    """The right table."""
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = torch.arange(max_len, dtype=torch.float64).unsqueeze(1) * 10_000**-exponents
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model].float()


def refuse(length, max_len):
    """The right refusal."""
    if length > max_len:
        raise ValueError(f"A sequence of length {length} is longer than max_len {max_len}.")


def refuse_the_longest_too(length, max_len):
    """>= where > is right."""
    if length >= max_len:
        raise ValueError(f"A sequence of length {length} is longer than max_len {max_len}.")


def refuse_without_numbers(length, max_len):
    """The right refusal, in words alone."""
    if length > max_len:
        raise ValueError("The sequence is too long.")


class Adds(nn.Module):
    """What the wrong modules below have in common: all is right, and each of them replaces one part.

    `keep` stores the table, `rows` finds the rows for a sequence, `join` puts them together with x.
    """

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[: x.size(1)]

    def join(self, x, rows):
        return x + rows


class _Waves(Adds):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.keep(table_of_waves(max_len, d_model))

    def keep(self, table):
        self.register_buffer("pe", table)

    def forward(self, x):
        return self.join(x, self.rows(self.pe, x))


# --- PositionalEncoding ----------------------------------------------------------------------------------------


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-buffer")
class table_a_plain_attribute(_Waves):
    """Your table is no buffer called `pe`: a plain attribute stays behind when the module moves or is saved."""

    def keep(self, table):
        self.pe = table


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-buffer")
class table_a_parameter(_Waves):
    """Your table is a parameter; asked for is a buffer: it moves with the module, and no optimiser finds it."""

    def keep(self, table):
        self.pe = nn.Parameter(table)


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class a_row_for_each_sentence(_Waves):
    """You count along the batch: all words of a sentence get the same row. With batch first, positions are axis 1."""

    def rows(self, table, x):
        refuse(x.size(1), len(table))
        return table[: x.size(0)].unsqueeze(1)


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class as_many_rows_as_features(_Waves):
    """You take as many rows as x has features: `x.size(-1)` is d_model; the number of positions is `x.size(1)`."""

    def rows(self, table, x):
        return table[: x.size(-1)]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class as_many_rows_as_sentences(_Waves):
    """You take as many rows as the batch has sentences: `x.size(0)`; the number of positions is `x.size(1)`."""

    def rows(self, table, x):
        return table[: x.size(0)]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-position-added")
class whole_table_added(_Waves):
    """You add the whole table, whose rows are as many as max_len; cut it to the `x.size(1)` rows of the sequence."""

    def rows(self, table, x):
        return table


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
        refuse_the_longest_too(x.size(1), len(table))
        return table[: x.size(1)]


@positional_encoding_module.misconception(see=f"{CHAPTER}#mistake-too-long")
class refused_without_the_lengths(_Waves):
    """Your ValueError names neither length; with both, its reader knows what to change."""

    def rows(self, table, x):
        refuse_without_numbers(x.size(1), len(table))
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
    """You refuse with assert: that raises AssertionError, no ValueError, and is skipped when Python runs with -O."""

    def rows(self, table, x):
        assert x.size(1) <= len(table)
        return table[: x.size(1)]
