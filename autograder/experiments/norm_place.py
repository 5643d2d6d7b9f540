"""`autograder experiments norm_place`: Post-LN and Pre-LN at several depths, with and without warm-up.

The task is to copy: a mark, eight random digits, and the same eight digits again. Only the second half counts; guessing
costs ln 10 = 2.303 a digit.
"""

import time
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.experiments import results
from autograder.experiments.setting import SEEDS
from autograder.experiments.small_transformer import SmallTransformer, averages, train
from autograder.reference.transformer import EncoderLayer

NAME = "norm_place"
DIGITS, HALF = 10, 8
"""The mark is the token DIGITS."""
SIZES = {"d_model": 32, "num_heads": 4, "d_ff": 128, "dropout": 0.0}
TRAINING = {"steps": 400, "batch_size": 32}
WARMUP = 100
EVERY = 20
"""Steps of which one point of a curve is the mean."""

PLACES = {"Post-LN": False, "Pre-LN": True}
CASES = ((12, 1e-3, (0, WARMUP)), (2, 1e-3, (0, WARMUP)), (12, 3e-4, (0,)), (18, 1e-3, (0, WARMUP)))
"""Depth, learning rate, and the warm-ups that are tried with them."""
VARIANTS = [{"norm": norm, "depth": depth, "warmup": warmup, "learning_rate": rate}
            for depth, rate, warmups in CASES for norm in PLACES for warmup in warmups]


def plan() -> list[dict]:
    """All runs as {"seed", "norm", "depth", "warmup", "learning_rate"}; first seeds first."""
    return [{"seed": seed} | variant for seed in SEEDS for variant in VARIANTS]


def settings() -> dict:
    return {"digits": HALF, **SIZES, **TRAINING, "every": EVERY}


def make_model(norm: str, depth: int, seed: int) -> SmallTransformer:
    """The untrained model; its seed decides the first weights. Pre-LN has one norm more, at the end."""
    torch.manual_seed(seed)
    layers = (EncoderLayer(**SIZES, norm_first=PLACES[norm]) for _ in range(depth))
    return SmallTransformer(DIGITS + 1, SIZES["d_model"], layers, final_norm=PLACES[norm])


def draw(batch: int, generator: torch.Generator) -> Tensor:
    """The mark, eight digits, the same eight digits: int64 (batch, 17)."""
    digits = torch.randint(DIGITS, (batch, HALF), generator=generator)
    return torch.cat([torch.full((batch, 1), DIGITS), digits, digits], dim=1)


def copy_loss(model: SmallTransformer, tokens: Tensor) -> Tensor:
    """Mean cross-entropy of the digits of the second half."""
    logits = model(tokens[:, :-1])[:, HALF:]
    return F.cross_entropy(logits.transpose(1, 2), tokens[:, 1 + HALF:])


def learn(norm: str, depth: int, warmup: int, learning_rate: float, seed: int, steps: int = TRAINING["steps"],
          progress: bool = True) -> list[float]:
    """Make and train one model; the loss of every step. The seed decides the weights and the digits."""
    model = make_model(norm, depth, seed)
    generator = torch.Generator().manual_seed(seed)
    return train(model, lambda m: copy_loss(m, draw(TRAINING["batch_size"], generator)), steps, learning_rate, warmup,
                 progress=progress)


def gradients(norm: str, depth: int, seed: int) -> list[float]:
    """The norm of the first gradient in every layer, from the input to the output, before any step."""
    model = make_model(norm, depth, seed)
    copy_loss(model, draw(256, torch.Generator().manual_seed(seed))).backward()
    return [float(f"{torch.cat([p.grad.flatten() for p in layer.parameters()]).norm():.3g}") for layer in model.layers]


def carry_out(run: dict, progress: bool = True) -> dict:
    """Train one model: the run, with its curve and the gradients before the first step."""
    start = time.process_time()
    losses = learn(**run, progress=progress)
    return run | {"loss": round(sum(losses[-EVERY:]) / EVERY, 4), "curve": averages(losses, EVERY),
                  "gradients": gradients(run["norm"], run["depth"], run["seed"]),
                  "cpu_seconds": round(time.process_time() - start)}


def experiment(progress: bool = True) -> dict:
    """Carry out the runs that the file does not have yet."""
    return results.complete(NAME, plan(), settings(), partial(carry_out, progress=progress))


def summary(run: dict) -> str:
    return (f"{NAME}: {run['norm']} depth {run['depth']} warmup {run['warmup']} rate {run['learning_rate']} "
            f"seed {run['seed']}: {run['loss']}")
