"""One way to train for all models: the same data in the same order, the same optimiser, the same number of steps."""

from collections.abc import Sequence

import torch
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from autograder.corpus import SentencePair
from autograder.experiments.batches import batches
from autograder.experiments.models import Translator

CLIP = 1.0
"""The largest norm of a gradient; longer ones are shortened to it (Pascanu et al. 2013)."""


def schedule_of(optimizer: torch.optim.Optimizer, steps: int, warmup: int = 0,
                fall: bool = True) -> torch.optim.lr_scheduler.LambdaLR:
    """The learning rate falls linearly to zero, or stays; over `warmup` steps it first climbs from near zero."""
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (warmup + 1)) * (1 - fall * step / steps))


def train(model: Translator, pairs: Sequence[SentencePair], epochs: int = 3, batch_size: int = 64,
          learning_rate: float = 3e-3, seed: int = 0, progress: bool = True, warmup: int = 0) -> list[float]:
    """Adam with gradient clipping and a learning rate that falls linearly to zero; the mean loss of every epoch.

    warmup: over so many steps the learning rate first climbs from near zero (Vaswani et al. 2017, section 5.3). The
    model's first weights are the caller's: call `torch.manual_seed` before making it. The seed decides the order
    of the sentences.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    steps = epochs * -(-len(pairs) // batch_size)
    schedule = schedule_of(optimizer, steps, warmup)
    model.train()
    losses = []
    with tqdm(total=steps, unit="batch", disable=not progress) as bar:
        for epoch in range(epochs):
            total = 0.0
            for batch in batches(pairs, model.source_words, model.target_words, batch_size, seed * 1000 + epoch):
                optimizer.zero_grad()
                loss = model.loss(batch)
                loss.backward()
                clip_grad_norm_(model.parameters(), CLIP)
                optimizer.step()
                schedule.step()
                total += loss.item() * len(batch.source)
                bar.update()
            losses.append(total / len(pairs))
            bar.set_postfix(epoch=epoch + 1, loss=f"{losses[-1]:.3f}")
    model.eval()
    return losses
