"""`autograder experiments extrapolation`: trained at lengths up to 32, tested up to 128, with five ways to say where.

A run is one scheme on one task with one seed. Every place of a training sequence asks for an answer and sees what is
before it, so sequences of 32 tokens train all lengths from 1 to 32.
"""

import time
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from autograder.experiments import results
from autograder.experiments.order_tasks import NO_ANSWER, SIZES, draw
from autograder.experiments.position_models import PositionModel, with_untrained_rows
from autograder.experiments.setting import SEEDS
from autograder.experiments.training import CLIP, schedule_of

NAME = "extrapolation"
TRAINED = 32
LENGTHS = (8, 16, 24, 32, 40, 48, 64, 96, 128)
TRAINING = {"steps": 1000, "batch_size": 32, "learning_rate": 3e-3}
TESTS = 1000
"""Test sequences of every length, the same for all models; asked is the last place."""
NARROW = 16
"""A width at which content and position have to share."""

VARIANTS = [*({"task": task, "scheme": scheme, "d_model": 64} for task in SIZES
              for scheme in ("none", "sinusoidal", "learned", "rope", "alibi", "joined")),
            *({"task": task, "scheme": scheme, "d_model": NARROW} for task in SIZES
              for scheme in ("sinusoidal", "joined"))]


def plan() -> list[dict]:
    """All runs as {"seed", "task", "scheme", "d_model"}; first seeds first."""
    return [{"seed": seed} | variant for seed in SEEDS for variant in VARIANTS]


def settings() -> dict:
    return {"trained_length": TRAINED, "lengths": list(LENGTHS), "tests": TESTS, **TRAINING}


def make_model(task: str, scheme: str, d_model: int = 64, seed: int = 0) -> PositionModel:
    """The untrained model; its seed decides the first weights."""
    torch.manual_seed(seed)
    return PositionModel(*SIZES[task], scheme, d_model=d_model, max_len=TRAINED)


def loss_of(model: PositionModel, tokens: Tensor, answers: Tensor) -> Tensor:
    """Mean cross-entropy over the places that have an answer."""
    return F.cross_entropy(model(tokens).flatten(0, 1), answers.flatten(), ignore_index=NO_ANSWER)


def train(model: PositionModel, task: str, seed: int = 0, steps: int = 1000, batch_size: int = 32,
          learning_rate: float = 3e-3, progress: bool = True) -> list[float]:
    """Adam on new sequences in every step, its rate rising for 100 steps and then falling to 0; the loss of each step.

    Gradients longer than `CLIP` are shortened to it. The seed decides the sequences.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = schedule_of(optimizer, steps, warmup=99)
    losses = []
    for _ in tqdm(range(steps), unit="step", disable=not progress):
        optimizer.zero_grad()
        loss = loss_of(model, *draw(task, batch_size, TRAINED, generator))
        loss.backward()
        clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def accuracy(model: PositionModel, task: str, length: int) -> float:
    """In percent: how often the answer at the last place of a sequence of this length is right."""
    tokens, answers = draw(task, TESTS, length, torch.Generator().manual_seed(1_000_000 + length))
    asked = answers[:, -1] != NO_ANSWER
    right = model(tokens[asked])[:, -1].argmax(dim=-1) == answers[asked, -1]
    return round(100 * right.double().mean().item(), 1)


def by_length(model: PositionModel, task: str, scheme: str) -> list[float | None]:
    """The accuracy at each of `LENGTHS`; None where a learned table has no row."""
    return [None if scheme == "learned" and length > TRAINED else accuracy(model, task, length) for length in LENGTHS]


def carry_out(run: dict, progress: bool = True) -> dict:
    """Train and measure: the run, with what came out.

    untrained_rows: the accuracy of a learned table that was made long enough, but not trained beyond `TRAINED`.
    """
    start = time.process_time()
    model = make_model(run["task"], run["scheme"], run["d_model"], run["seed"])
    losses = train(model, run["task"], run["seed"], **TRAINING, progress=progress)
    outcome = {"parameters": sum(p.numel() for p in model.parameters()),
               "loss": round(sum(losses[-20:]) / 20, 4), "accuracy": by_length(model, run["task"], run["scheme"])}
    if run["scheme"] == "learned":
        longer = with_untrained_rows(model, LENGTHS[-1])
        outcome["untrained_rows"] = [accuracy(longer, run["task"], length) for length in LENGTHS]
    return run | outcome | {"cpu_seconds": round(time.process_time() - start)}


def experiment(progress: bool = True) -> dict:
    """Carry out the runs that the file does not have yet."""
    return results.complete(NAME, plan(), settings(), partial(carry_out, progress=progress))


def summary(run: dict) -> str:
    return f"{NAME}: {run['task']} {run['scheme']} d_model {run['d_model']} seed {run['seed']}: {run['accuracy']}"
