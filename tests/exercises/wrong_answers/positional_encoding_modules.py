"""Chapter 07: the two modules that add a table. Most slips are the reference with one part replaced."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference.positional_encoding import (
    LearnedPositionalEmbedding,
    PositionalEncoding,
    first_rows,
    sinusoidal_encoding,
)


def encoding(join=torch.add, rows=first_rows, table=sinusoidal_encoding, keep=None):
    """PositionalEncoding around a slip in the sum, in the choice of rows, in the table, or in how it is kept."""
    class Slip(nn.Module):
        def __init__(self, d_model, max_len=5000):
            super().__init__()
            (keep or (lambda module, pe: module.register_buffer("pe", pe)))(self, table(max_len, d_model))

        def forward(self, x):
            return join(x, rows(self.pe, x.size(1)))

    return Slip


def learned(join=torch.add, rows=first_rows, keep=None):
    """LearnedPositionalEmbedding around a slip."""
    class Slip(nn.Module):
        def __init__(self, max_len, d_model):
            super().__init__()
            keeping = keep or (lambda module, table: module.register_parameter("table", nn.Parameter(table)))
            keeping(self, torch.randn(max_len, d_model) * 0.02)

        def forward(self, x):
            return join(x, rows(self.table, x.size(1)))

    return Slip


def one_too_many(table, length):
    if length > len(table) + 1:
        raise ValueError(f"{length} > {len(table)}")
    return torch.cat([table, table[-1:]])[:length]


def one_row_of_numbers(x, rows):
    """All positions of a sentence side by side, by a view: only where memory lies in order."""
    return (x.view(len(x), -1) + rows.reshape(-1)).view(x.shape)


class DroppedInTraining(LearnedPositionalEmbedding):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.1, self.training)


def refused(kind, text):
    """Rows that are refused with another exception, or another text."""
    def rows(table, length):
        if length > len(table):
            raise kind(text.format(length=length, longest=len(table)))
        return table[:length]

    return rows


def nothing_refused_up_to(limit):
    def rows(table, length):
        return first_rows(table, length) if length > limit else table[:length]

    return rows


class SequenceFirst(nn.Module):
    """As in torch's tutorial: (seq, batch, d_model)."""

    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model).unsqueeze(1))

    def forward(self, x):
        if x.size(1) > len(self.pe):
            raise ValueError(f"{x.size(1)} > {len(self.pe)}")
        return x + self.pe[: x.size(0)]


class MadeInForward(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.d_model, self.max_len = d_model, max_len

    def forward(self, x):
        return x + first_rows(sinusoidal_encoding(self.max_len, self.d_model), x.size(1)).to(x.dtype)


class AnotherName(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        return x + first_rows(self.table, x.size(1))


class ArgumentsExchanged(PositionalEncoding):
    def __init__(self, max_len, d_model=5000):
        super().__init__(d_model, max_len)


class ThousandRows(PositionalEncoding):
    def __init__(self, d_model, max_len=1000):
        super().__init__(d_model, max_len)


class NoDefault(PositionalEncoding):
    def __init__(self, d_model, max_len):
        super().__init__(d_model, max_len)


class OneRowMore(PositionalEncoding):
    def __init__(self, d_model, max_len=5000):
        super().__init__(d_model, max_len + 1)


class OneWordRefused(PositionalEncoding):
    def forward(self, x):
        if x.size(1) not in range(2, len(self.pe) + 1):
            raise ValueError(f"length {x.size(1)}, max_len {len(self.pe)}")
        return super().forward(x)


class Remembers(PositionalEncoding):
    """The sum is written into the table, so a second call adds more."""

    def forward(self, x):
        self.pe[: x.size(1)] += x[0].detach()
        return super().forward(x)


class Normalises(PositionalEncoding):
    def forward(self, x):
        return nn.functional.layer_norm(super().forward(x), x.shape[-1:])


class OneSentence(PositionalEncoding):
    def forward(self, x):
        return super().forward(x)[0]


class DropsOut(PositionalEncoding):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.2, self.training)


class WithAGain(PositionalEncoding):
    """A learned factor for the table."""

    def __init__(self, d_model, max_len=5000):
        super().__init__(d_model, max_len)
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x + self.gain * first_rows(self.pe, x.size(1))


NO_PART = "Sequence too long."
ONE_LENGTH = "max_len is {longest}."
BOTH = "{length} > {longest}"

POSITIONAL_ENCODING = {
    "one row of numbers": encoding(one_row_of_numbers),
    "the table alone": encoding(lambda x, rows: rows.expand_as(x).clone()),
    "x alone": encoding(lambda x, rows: x.clone()),
    "subtracted": encoding(torch.sub),
    "mean of both": encoding(lambda x, rows: (x + rows) / 2),
    "a tenth of the table": encoding(lambda x, rows: x + 0.1 * rows),
    "divided by the root of the width": encoding(lambda x, rows: x + rows / x.size(-1) ** 0.5),
    "rows reversed": encoding(rows=lambda table, n: first_rows(table, n).flip(0)),
    "one row later": encoding(rows=lambda table, n: first_rows(table, n + 1)[1:]),
    "columns halved": encoding(table=lambda n, d: torch.cat([sinusoidal_encoding(n, d)[:, 0::2],
                                                             sinusoidal_encoding(n, d)[:, 1::2]], 1)),
    "every second row": encoding(table=lambda n, d: sinusoidal_encoding(2 * n, d)[::2]),
    "random table": encoding(table=lambda n, d: torch.randn(n, d)),
    "table of zeros": encoding(table=lambda n, d: torch.zeros(n, d)),
    "x detached": encoding(lambda x, rows: x.detach() + rows),
    "result float32": encoding(lambda x, rows: (x + rows).float()),
    "sequence first": SequenceFirst,
    "made in forward": MadeInForward,
    "another name": AnotherName,
    "buffer transposed": encoding(rows=lambda pe, n: first_rows(pe.T, n),
                                  keep=lambda module, pe: module.register_buffer("pe", pe.T)),
    "frozen parameter": encoding(keep=lambda module, pe: module.register_parameter(
        "pe", nn.Parameter(pe, requires_grad=False))),
    "arguments exchanged": ArgumentsExchanged,
    "a thousand rows": ThousandRows,
    "no default": NoDefault,
    "one row more": OneRowMore,
    "one word refused": OneWordRefused,
    "one word too many is taken": encoding(rows=one_too_many),
    "remembers": Remembers,
    "normalises": Normalises,
    "one sentence": OneSentence,
    "drops out": DropsOut,
    "with a gain": WithAGain,
    "IndexError": encoding(rows=refused(IndexError, BOTH)),
    "RuntimeError": encoding(rows=refused(RuntimeError, BOTH)),
    "Exception": encoding(rows=refused(Exception, BOTH)),
    "no length in the text": encoding(rows=refused(ValueError, NO_PART)),
    "one length in the text": encoding(rows=refused(ValueError, ONE_LENGTH)),
    "shape error under a thousand": encoding(rows=nothing_refused_up_to(1000)),
    "no row past the end": encoding(rows=lambda table, n: torch.cat(
        [table, torch.zeros(max(n - len(table), 0), table.size(1))])[:n]),
}


class Scaled(LearnedPositionalEmbedding):
    def forward(self, x):
        return x * x.size(-1) ** 0.5 + first_rows(self.table, x.size(1))


class Pair(LearnedPositionalEmbedding):
    def forward(self, x):
        return super().forward(x), self.table


class AndALayer(LearnedPositionalEmbedding):
    """One more parameter, with nothing to do."""

    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.projection = nn.Linear(d_model, d_model)


class LearnedUnderAnotherName(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        return x + first_rows(self.pe, x.size(1))


class AParameterForEachRow(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.ParameterList([torch.randn(d_model) * 0.02 for _ in range(max_len)])

    def forward(self, x):
        return x + first_rows(torch.stack(list(self.table)), x.size(1))


class Sinusoidal(LearnedPositionalEmbedding):
    """A parameter there is, but the sines are added."""

    def forward(self, x):
        return x + first_rows(sinusoidal_encoding(*self.table.shape), x.size(1)) + 0 * self.table.sum()


LEARNED_POSITIONAL_EMBEDDING = {
    "one row of numbers": learned(one_row_of_numbers),
    "dropped in training": DroppedInTraining,
    "a batch of one squeezed": learned(lambda x, rows: (x + rows).squeeze(0)),
    "x alone": learned(lambda x, rows: x + 0 * rows),
    "subtracted": learned(torch.sub),
    "mean of both": learned(lambda x, rows: (x + rows) / 2),
    "side by side": learned(lambda x, rows: torch.cat([x, rows.expand_as(x)], -1)),
    "scaled": Scaled,
    "rows reversed": learned(rows=lambda table, n: first_rows(table, n).flip(0)),
    "one row later": learned(rows=lambda table, n: first_rows(table, n + 1)[1:]),
    "one row for all": learned(rows=lambda table, n: first_rows(table, n)[-1]),
    "mean of the rows": learned(rows=lambda table, n: first_rows(table, n).mean(0)),
    "normalised rows": learned(rows=lambda table, n: nn.functional.normalize(first_rows(table, n), dim=-1)),
    "tanh of the rows": learned(rows=lambda table, n: first_rows(table, n).tanh()),
    "x detached": learned(lambda x, rows: x.detach() + rows),
    "no gradients": learned(torch.no_grad()(torch.add)),
    "frozen": learned(keep=lambda module, table: module.register_parameter(
        "table", nn.Parameter(table, requires_grad=False))),
    "result float32": learned(lambda x, rows: (x + rows).float()),
    "float32 inside": learned(lambda x, rows: (x.float() + rows.float()).to(x.dtype)),
    "rounded": learned(lambda x, rows: (x + rows).round(decimals=2)),
    "another name": LearnedUnderAnotherName,
    "one row more": learned(keep=lambda module, table: module.register_parameter(
        "table", nn.Parameter(torch.cat([table, table[:1]])))),
    "a list of parameters": AParameterForEachRow,
    "arguments exchanged": type("Exchanged", (LearnedPositionalEmbedding,), {
        "__init__": lambda self, d_model, max_len: LearnedPositionalEmbedding.__init__(self, max_len, d_model)}),
    "a pair of results": Pair,
    "and a layer": AndALayer,
    "sines": Sinusoidal,
    "IndexError": learned(rows=refused(IndexError, BOTH)),
    "no length in the text": learned(rows=refused(ValueError, NO_PART)),
    "one length in the text": learned(rows=refused(ValueError, ONE_LENGTH)),
    "one word too many is taken": learned(rows=one_too_many),
    "longest refused": learned(rows=lambda table, n: first_rows(table[:-1], n)),
    "rows used again": learned(rows=lambda table, n: table[torch.arange(n) % len(table)]),
    "in place on x": learned(lambda x, rows: x + rows + 0 * x.data.add_(1)),
}

WRONG = {
    "PositionalEncoding": POSITIONAL_ENCODING,
    "LearnedPositionalEmbedding": LEARNED_POSITIONAL_EMBEDDING,
}

NAMED = {
    ("LearnedPositionalEmbedding", "one word too many is taken"): "last_row_repeated",
    ("PositionalEncoding", "sequence first"): "a_row_for_each_sentence",
    ("PositionalEncoding", "made in forward"): "table_a_plain_attribute",
    ("PositionalEncoding", "another name"): "table_a_plain_attribute",
    ("PositionalEncoding", "frozen parameter"): "table_a_parameter",
    ("PositionalEncoding", "shape error under a thousand"): "left_to_a_shape_error",
    ("PositionalEncoding", "no length in the text"): "refused_without_the_lengths",
    ("LearnedPositionalEmbedding", "no length in the text"): "refused_without_the_lengths",
    ("LearnedPositionalEmbedding", "rows used again"): "rows_used_again",
    ("LearnedPositionalEmbedding", "arguments exchanged"): "max_len_and_width_exchanged",
    ("LearnedPositionalEmbedding", "frozen"): "table_out_of_reach",
    ("LearnedPositionalEmbedding", "in place on x"): "added_in_place",
}
