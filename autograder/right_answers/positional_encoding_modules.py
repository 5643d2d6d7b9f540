"""Right answers to the two modules of chapter 07, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer

# --- PositionalEncoding ----------------------------------------------------------------------------------------


@right_answer("PositionalEncoding")
class WithAnAxisForTheBatch(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(max_len).unsqueeze(1).float()
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)[:, : d_model // 2]
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        seq = x.size(1)
        if seq > self.pe.size(1):
            raise ValueError(f"The sequence has {seq} positions, the table only {self.pe.size(1)}.")
        return x + self.pe[:, :seq, :]


def waves(max_len, d_model):
    """What a module brings along; in a notebook it would be the sinusoidal_encoding above it."""
    angles = torch.arange(max_len, dtype=torch.float64).unsqueeze(1) * 10_000 ** (
        -torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model].float()


@right_answer("PositionalEncoding")
class WithKeywords(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000):
        super().__init__()
        self.max_len = max_len
        self.register_buffer(name="pe", tensor=waves(max_len=max_len, d_model=d_model), persistent=False)

    def forward(self, x):
        batch, seq, width = x.shape
        if not seq <= self.max_len:
            raise ValueError("sequence length " + str(seq) + " exceeds max_len " + str(self.max_len))
        return torch.add(input=x, other=self.pe[:seq].expand(batch, seq, width))


@right_answer("PositionalEncoding")
class RowsLookedUp(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.register_buffer("pe", waves(max_len, d_model))
        self.register_buffer("positions", torch.arange(max_len))

    def forward(self, x):
        positions = self.positions[: x.size(-2)]
        if len(positions) < x.size(-2):
            raise ValueError(f"max_len is {len(positions)}, which is less than {x.size(-2)}")
        return x + F.embedding(positions, self.pe)


@right_answer("PositionalEncoding")
class PositionByPosition(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.register_buffer("pe", waves(max_len, d_model))

    def forward(self, x):
        words = x.unbind(dim=1)
        if len(words) > self.pe.shape[0]:
            raise ValueError(f"{len(words)} words do not fit into a table of {self.pe.shape[0]} rows")
        return torch.stack([word + self.pe[pos] for pos, word in enumerate(words)], dim=1)


@right_answer("PositionalEncoding")
class ShapeErrorTranslated(nn.Module):
    """Lets torch find that the shapes differ, and says it better."""

    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.register_buffer("pe", waves(max_len, d_model)[None])

    def forward(self, x):
        try:
            return x + self.pe[:, : x.size(1)]
        except RuntimeError as error:
            raise ValueError(f"{x.size(1)} positions, but max_len = {self.pe.size(1)}") from error


@right_answer("PositionalEncoding")
class PaddedToTheLength(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        self.register_buffer("pe", waves(max_len, d_model))
        self.lengths = range(1, max_len + 1)

    def forward(self, x):
        if x.size(1) not in self.lengths:
            raise ValueError(f"length {x.size(1)} is not in 1..{self.lengths[-1]}")
        rows, _ = self.pe.split([x.size(1), len(self.pe) - x.size(1)])
        return torch.einsum("bsd,sd->bsd", torch.ones_like(x), rows) + x


@right_answer("PositionalEncoding")
class SinesAndCosinesWithinTheClass(nn.Module):
    BASE = 10_000

    def __init__(self, d_model, max_len=5000):
        super().__init__()
        column = torch.arange(d_model)
        angles = torch.arange(max_len)[:, None] / self.BASE ** ((column - column % 2) / d_model)
        self.pe = nn.Buffer(torch.where(column % 2 == 0, angles.sin(), angles.cos()))

    def forward(self, x):
        self.check(x.shape[1])
        return self.pe.narrow(0, 0, x.shape[1]).unsqueeze(0) + x

    def check(self, seq):
        limit = len(self.pe)
        if seq > limit:
            raise ValueError(f"Sequence length {seq} > {limit}; give a larger max_len.")


# --- LearnedPositionalEmbedding --------------------------------------------------------------------------------


@right_answer("LearnedPositionalEmbedding")
class SmallNormalValues(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        seq = x.size(1)
        if seq > self.table.size(0):
            raise ValueError(f"The sequence has {seq} positions, the table only {self.table.size(0)}.")
        return x + self.table[:seq]


@right_answer("LearnedPositionalEmbedding")
class BeginsWithZeros(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Parameter(data=torch.zeros(max_len, d_model), requires_grad=True)

    def forward(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError(" ".join(["max_len", str(self.max_len), "is less than", str(x.shape[1])]))
        return x + self.table[None, : x.shape[1], :]


@right_answer("LearnedPositionalEmbedding")
class FilledAfterwards(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.register_parameter("table", nn.Parameter(torch.empty(max_len, d_model)))
        nn.init.normal_(self.table, std=0.02)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device)
        if x.size(1) > len(self.table):
            raise ValueError(f"Position {x.size(1)} was asked for, but there are {len(self.table)} (max_len)")
        return x + F.embedding(positions, self.table)


@right_answer("LearnedPositionalEmbedding")
class EachWordItsRow(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.rand(max_len, d_model))

    def forward(self, x):
        words, rows = x.unbind(dim=1), self.table.unbind(dim=0)
        if len(words) > len(rows):
            raise ValueError(f"{len(words)} > {len(rows)}")
        return torch.stack([word + row for word, row in zip(words, rows, strict=False)], dim=1)


@right_answer("LearnedPositionalEmbedding")
class OneHotTimesTable(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.normal(0.0, 0.02, (max_len, d_model)))

    def forward(self, x):
        choice = torch.eye(x.size(1), self.table.size(0), dtype=x.dtype)  # (seq, max_len)
        if choice.size(0) > choice.size(1):
            raise ValueError(f"Cannot place {choice.size(0)} words on {choice.size(1)} positions")
        return choice @ self.table + x


@right_answer("LearnedPositionalEmbedding")
class TakenFromAnEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model).weight

    def forward(self, x):
        if (longer := x.size(1) - len(self.table)) > 0:
            raise ValueError(f"{x.size(1)} positions are {longer} more than the {len(self.table)} that were learned")
        return torch.add(x, self.table.narrow(0, 0, x.size(1)))


@right_answer("LearnedPositionalEmbedding")
class IndexErrorTranslated(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.ones(max_len, d_model) * d_model**-0.5)

    def forward(self, x):
        try:
            rows = self.table[list(range(x.size(1)))]
        except IndexError:
            raise ValueError(f"seq {x.size(1)}, max_len {len(self.table)}") from None
        return rows.unsqueeze(0).expand_as(x) + x
