"""A small Transformer for the experiments of chapter 11, and one way to train it: only its layers differ.

Shape letters as in book/conventions.md: batch, seq, d_model, vocab.
"""

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from tqdm import tqdm

from autograder.experiments.training import schedule_of
from autograder.reference.multi_head import causal_mask
from autograder.reference.positional_encoding import PositionalEncoding
from autograder.reference.transformer import LayerNorm

LONGEST = 64
"""Rows of the table of positions."""


class SmallTransformer(nn.Module):
    """Embeddings times sqrt(d_model) plus positions, the given layers, a projection.

    tokens int64 (batch, seq) -> logits (batch, seq, vocab). final_norm: a LayerNorm before the projection, which
    Pre-LN layers need. causal: a position reads no later one, as in a decoder. Every parameter of more than one
    dimension starts Xavier-uniform, as in the reference's Transformer.
    """

    def __init__(self, vocab: int, d_model: int, layers: Iterable[nn.Module], final_norm: bool, causal: bool = True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = PositionalEncoding(d_model, LONGEST)
        self.layers = nn.ModuleList(layers)
        self.norm = LayerNorm(d_model) if final_norm else nn.Identity()
        self.proj = nn.Linear(d_model, vocab)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.position(self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim))
        mask = causal_mask(tokens.size(1)) if self.causal else None
        for layer in self.layers:
            x = layer(x, mask)
        return self.proj(self.norm(x))


def train(model: SmallTransformer, loss_of: Callable[[SmallTransformer], Tensor], steps: int, learning_rate: float,
          warmup: int = 0, fall: bool = False, progress: bool = True) -> list[float]:
    """Adam without clipping, the same for all models; the loss of every step.

    loss_of draws a batch and gives its loss. The rate climbs for `warmup` steps on a straight line; then it stays, or
    falls on a straight line to 0.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    schedule = schedule_of(optimizer, steps, warmup, fall)
    losses = []
    for _ in tqdm(range(steps), unit="step", disable=not progress):
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def averages(losses: list[float], every: int) -> list[float]:
    """Means over `every` steps, with three decimals: a curve that a figure can draw."""
    return [round(sum(losses[i:i + every]) / every, 3) for i in range(0, len(losses), every)]
