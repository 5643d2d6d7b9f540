"""The patients of chapter 11's clinic: one small decoder, made of ten parts, of which one may be broken.

All of them learn the same: six random digits, then the same six digits again. That has a floor that can be
computed. The first six cannot be guessed, so no honest loss there is below ln 10 = 2.303; the second six can be
copied, so there the loss can go to 0. With `padded`, two to six digits, and pads behind the sentence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.judging.catalogue import all_exercises
from autograder.reference import clinic
from autograder.reference.multi_head import causal_mask, split_heads
from autograder.reference.positional_encoding import sinusoidal_encoding

DIGITS, HALF, PAD, BOS, EOS = 10, 6, 10, 11, 12
VOCAB, D_MODEL, HEADS, D_FF, LAYERS, MAX_LEN, DROPOUT = 13, 32, 4, 128, 2, 128, 0.1
STEPS, BATCH, RATE = 200, 32, 5e-3
FLOOR = torch.tensor(DIGITS).log().item()
"""What a guess among ten equally likely digits costs: 2.303."""

Parts = Mapping[str, Callable]
"""A function or a class for each exercise's name."""

HEALTHY: Parts = {name: getattr(clinic, name) for name in clinic.NAMES}


def broken(number: int) -> Callable:
    """The part of patient `number` with the fault that it is shown with."""
    name = f"clinic_{number}"
    return next(m.implementation for m in all_exercises()[name].misconceptions if m.name == clinic.NAMES[name])


def sentences(rows: int, generator: torch.Generator, padded: bool = False) -> Tensor:
    """(rows, 14) tokens: bos, digits, the same digits, eos; with `padded` (rows, 22), shorter ones and pads."""
    digits = torch.randint(0, DIGITS, (rows, HALF), generator=generator)
    tokens = F.pad(F.pad(torch.cat([digits, digits], dim=1), (1, 0), value=BOS), (0, 1), value=EOS)
    if not padded:
        return tokens
    lengths = torch.randint(2, HALF + 1, (rows, 1), generator=generator)
    absent = (torch.arange(HALF) >= lengths).repeat(1, 2)
    tokens[:, 1:-1] = tokens[:, 1:-1].masked_fill(absent, EOS)  # a copy begins at the same place in every sentence
    ends = HALF + 1 + lengths
    tokens = tokens.masked_fill(torch.arange(tokens.size(1)) > ends, PAD)
    return F.pad(tokens, (0, 8), value=PAD)


class Layer(nn.Module):
    """A Pre-LN layer whose parts come from outside."""

    def __init__(self, parts: Parts):
        super().__init__()
        self.attend, self.merge = parts["clinic_2"], parts["clinic_5"]
        self.norm1, self.norm2 = parts["clinic_6"](D_MODEL), parts["clinic_6"](D_MODEL)
        self.project, self.back = nn.Linear(D_MODEL, 3 * D_MODEL), nn.Linear(D_MODEL, D_MODEL)
        self.ffn = parts["clinic_9"](D_MODEL, D_FF, DROPOUT)

    def heads(self, x: Tensor) -> list[Tensor]:
        return [split_heads(part, HEADS) for part in self.project(self.norm1(x)).chunk(3, dim=-1)]

    def weights(self, x: Tensor, mask: Tensor) -> Tensor:
        """The map: attention over an identity matrix gives the weights themselves."""
        query, key, _ = self.heads(x)
        identity = torch.eye(key.size(-2)).expand(*key.shape[:-1], -1)
        return self._attended(query, key, identity, mask)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self.back(self.merge(self._attended(*self.heads(x), mask)))
        return x + self.ffn(self.norm2(x))

    def _attended(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        nothing = ~mask.any(dim=-1, keepdim=True)  # as everywhere in the course, a row with no key gives zeros
        return self.attend(query, key, value, mask | nothing).masked_fill(nothing, 0.0)


class Patient(nn.Module):
    """A decoder of ten parts: tokens (batch, seq) -> logits (batch, seq, 13). `stacked`: its layers are clinic_7's."""

    def __init__(self, parts: Parts, stacked: bool = False):
        super().__init__()
        self.parts, self.stacked = parts, stacked
        self.embedding, self.positions = nn.Embedding(VOCAB, D_MODEL), parts["clinic_4"](D_MODEL, MAX_LEN)
        self.body = (parts["clinic_7"](LAYERS, D_MODEL, HEADS, D_FF) if stacked
                     else nn.ModuleList(Layer(parts) for _ in range(LAYERS)))
        self.norm, self.to_logits = parts["clinic_6"](D_MODEL), nn.Linear(D_MODEL, VOCAB)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.read(self.positions(self.embedding(tokens)), tokens)

    def read(self, x: Tensor, tokens: Tensor) -> Tensor:
        """Logits of embedded tokens that have their positions already."""
        mask = self.mask(tokens)
        if self.stacked:
            return self.to_logits(self.norm(self.body(x, mask)))
        for layer in self.body:
            x = layer(x, mask)
        return self.to_logits(self.norm(x))

    def mask(self, tokens: Tensor) -> Tensor:
        """(batch, 1, seq, seq): nothing from the future, and no pads."""
        return causal_mask(tokens.size(1)) & self.parts["clinic_3"](tokens, PAD)

    def map(self, tokens: Tensor) -> Tensor:
        """The weights of the first layer, (batch, heads, seq, seq)."""
        first = self.body.layers[0] if self.stacked else self.body[0]
        x, mask = self.positions(self.embedding(tokens)), self.mask(tokens)
        return first.self_attn(x, x, x, mask)[1] if self.stacked else first.weights(x, mask)

    @torch.no_grad()
    def speak(self, prompt: Tensor, steps: int = HALF) -> Tensor:
        """What it says after the prompt by itself, word by word: (batch, steps)."""
        tokens = prompt
        for _ in range(steps):
            tokens = torch.cat([tokens, self(tokens)[:, -1:].argmax(dim=-1)], dim=1)
        return tokens[:, prompt.size(1):]

    @torch.no_grad()
    def speak_with_cache(self, prompt: Tensor, steps: int = HALF) -> Tensor:
        """The same, with new tokens alone given their positions, as where a cache holds the past.

        What a cache keeps of earlier tokens is computed anew here, which changes nothing but the time.
        """
        add, rows = self.parts["clinic_10"], sinusoidal_encoding(MAX_LEN, D_MODEL)
        tokens, x = prompt, add(self.embedding(prompt), 0, rows)
        for _ in range(steps):
            new = self.read(x, tokens)[:, -1:].argmax(dim=-1)
            x = torch.cat([x, add(self.embedding(new), tokens.size(1), rows)], dim=1)
            tokens = torch.cat([tokens, new], dim=1)
        return tokens[:, prompt.size(1):]


@dataclass
class Course:
    """How the training went: the loss that was reported, and those of words in either half, step by step."""

    reported: list[float]
    first: list[float]
    second: list[float]


def losses_by_place(patient: Patient, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Reported loss, mean loss of the words of the first half, and of the second."""
    logits = patient(inputs)
    each = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    digits, early = targets < DIGITS, torch.arange(targets.size(1)) < HALF
    return (patient.parts["clinic_8"](logits, targets, PAD), each[digits & early].mean(), each[digits & ~early].mean())


def treat(parts: Parts = HEALTHY, seed: int = 0, padded: bool = False,
          stacked: bool = False) -> tuple[Patient, Course]:
    """A patient with these parts, trained with Adam, in eval mode; and the course that its training took."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed)
        patient, course = Patient(HEALTHY | dict(parts), stacked), Course([], [], [])
        optimizer = torch.optim.Adam(patient.parameters(), lr=RATE)
        for _ in range(STEPS):
            inputs, targets = patient.parts["clinic_1"](sentences(BATCH, generator, padded))
            losses = losses_by_place(patient, inputs, targets)
            optimizer.zero_grad()
            losses[0].backward()
            optimizer.step()
            for kept, loss in zip((course.reported, course.first, course.second), losses, strict=True):
                kept.append(loss.item())
    return patient.eval(), course
