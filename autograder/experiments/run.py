"""`autograder experiments NAME`: train the models of an experiment, measure them, write results/NAME.json.

A run is one model with one seed. Runs that the file has already, with the same settings, are kept, so a long
experiment may be stopped and started again.
"""

import argparse
import time
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from autograder.corpus import SentencePair, article_pair
from autograder.experiments import extrapolation, feed_forward, norm_place, results
from autograder.experiments.batches import vocabularies
from autograder.experiments.both_ways import BothWaysTranslator
from autograder.experiments.local import LocalTranslator, MonotonicTranslator
from autograder.experiments.measuring import LENGTHS, alignment_quality, evaluate
from autograder.experiments.models import AttentionTranslator, BahdanauTranslator, LuongTranslator, Seq2Seq, Translator
from autograder.experiments.setting import LONG, SEEDS, SHORT, TEST, TRAINING, test_pairs, training_pairs
from autograder.experiments.training import train
from autograder.experiments.transformer import TransformerTranslator, alignment_by_head

MODELS = {
    "plain": (Seq2Seq, {}),
    "bahdanau": (BahdanauTranslator, {}),
    "both-ways": (BothWaysTranslator, {}),
    "dot": (LuongTranslator, {"method": "dot"}),
    "general": (LuongTranslator, {"method": "general"}),
    "concat": (LuongTranslator, {"method": "concat"}),
    "local-p": (LocalTranslator, {"half_width": 5}),
    "local-m": (MonotonicTranslator, {"half_width": 5}),
    "transformer": (TransformerTranslator, {"dropout": 0.0}),
}
DEFAULTS = {"direction": "en-fr", "hidden_dim": 128, "deepest": 7}
EXPERIMENTS: dict[str, list[dict]] = {
    "bottleneck": [*({"model": "plain", "hidden_dim": size} for size in (128, 64, 256)),
                   {"model": "plain", "deepest": 5}],
    "longer": [{"model": "plain", "epochs": 3 * TRAINING["epochs"], "seeds": SEEDS[:1]}],
    "attention": [{"model": "bahdanau"}, {"model": "bahdanau", "direction": "zh-en", "seeds": SEEDS[:1]},
                  {"model": "both-ways"}, {"model": "both-ways", "direction": "zh-en"}],
    "luong": [{"model": name} for name in ("dot", "general", "concat", "local-p")],
    "local": [{"model": "local-m", "seeds": SEEDS[:1]},
              *({"model": name, "direction": "zh-en", "seeds": SEEDS[:1]} for name in ("dot", "local-m", "local-p"))],
    "transformer": [{"model": "transformer", "learning_rate": 2e-3, "warmup": 400}],
    "transformer_longer": [{"model": "transformer", "learning_rate": 2e-3, "warmup": 400,
                            "epochs": 3 * TRAINING["epochs"]}],
}
"""For every experiment the models that it trains, each with what differs from `DEFAULTS` and from `TRAINING`.

seeds: fewer than `SEEDS`, where the spread is not the point.
"""

EXAMPLES = 3
"""Translations that are kept for each bucket of lengths, of the first seed."""

ELSEWHERE = {module.NAME: module for module in (extrapolation, norm_place, feed_forward)}
"""Experiments without translators: modules with a plan, settings and tasks of their own."""


def plan(name: str) -> list[dict]:
    """All runs of an experiment, as {"model", "seed", "direction", "hidden_dim", "deepest"}; first seeds first."""
    variants = [DEFAULTS | {"seeds": SEEDS} | variant for variant in EXPERIMENTS[name]]
    return [{"seed": seed} | {key: value for key, value in variant.items() if key != "seeds"}
            for seed in SEEDS for variant in variants if seed in variant["seeds"]]


def settings() -> dict:
    """What all runs share that do not say otherwise."""
    return {"train_sentences": LONG + SHORT, "test_sentences": TEST, **TRAINING}


def make_model(run: dict, train_pairs: Sequence[SentencePair]) -> Translator:
    """The untrained model of a run; its seed decides the first weights."""
    kind, arguments = MODELS[run["model"]]
    torch.manual_seed(run["seed"])
    return kind(*vocabularies(train_pairs), hidden_dim=run["hidden_dim"], **arguments)


def training_of(run: dict) -> dict:
    """How the model of a run is trained: epochs, batch size, learning rate, steps of warm-up."""
    return {name: run.get(name, value) for name, value in ({"warmup": 0} | TRAINING).items()}


def carry_out(run: dict, progress: bool = True) -> dict:
    """Train and measure: the run, with what came out."""
    train_pairs, tests = training_pairs(run["direction"], run["deepest"]), test_pairs(run["direction"])
    model = make_model(run, train_pairs)
    start = time.process_time()
    losses = train(model, train_pairs, **training_of(run), seed=run["seed"], progress=progress)
    outcome = {"parameters": sum(p.numel() for p in model.parameters()),
               "cpu_seconds": round(time.process_time() - start),
               "losses": [round(loss, 4) for loss in losses], **evaluate(model, tests)}
    if isinstance(model, AttentionTranslator):
        outcome["alignment"] = alignment_quality(model, tests)
        outcome["article"] = article(model, run["direction"])
    if isinstance(model, TransformerTranslator):
        outcome["heads"] = alignment_by_head(model, tests)
        outcome["article"]["heads"] = rounded(model.cross_attention([article_pair(run["direction"])])[0])
    if run["seed"] == SEEDS[0]:
        outcome["examples"] = examples(model, tests)
    return run | outcome


def article(model: AttentionTranslator, direction: str) -> dict:
    """The article's sentence, with the weights (target words, source words) for a heat map."""
    pair = article_pair(direction)
    return {"source": pair.source, "target": pair.target, "weights": rounded(model.alignment(pair))}


def rounded(weights: Tensor) -> list:
    """Nested lists, with three decimals."""
    return [rounded(row) if row.dim() else round(row.item(), 3) for row in weights]


def examples(model: Translator, pairs: Sequence[SentencePair]) -> list[dict]:
    """The first sentences of every bucket of lengths with their translations."""
    chosen = []
    for low, high in LENGTHS:
        inside = [pair for pair in pairs if low <= len(pair.source) <= high][:EXAMPLES]
        chosen += [{"low": low, "words": len(pair.source), "source": " ".join(pair.source),
                    "target": " ".join(pair.target), "translation": " ".join(words)}
                   for pair, words in zip(inside, model.translate(inside), strict=True)]
    return chosen


def experiment(name: str, progress: bool = True) -> dict:
    """Carry out the runs that results/NAME.json does not have yet."""
    return results.complete(name, plan(name), settings(), partial(carry_out, progress=progress))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="autograder experiments",
        description="Train the models of an experiment and store what was measured, for the figures of the book. "
                    "Runs that are stored already are not repeated: remove the file to start again.",
    )
    parser.add_argument("names", nargs="+", choices=[*EXPERIMENTS, *ELSEWHERE], metavar="NAME",
                        help=", ".join([*EXPERIMENTS, *ELSEWHERE]))
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # the same sums in the same order on every machine of a kind
    for name in options.names:
        module = ELSEWHERE.get(name)
        done = module.experiment(not options.quiet) if module else experiment(name, progress=not options.quiet)
        for run in done["runs"]:
            print(module.summary(run) if module else summary(name, run))
    return 0


def summary(name: str, run: dict) -> str:
    return (f"{name}: {run['model']} {run['direction']} hidden {run['hidden_dim']} depth {run['deepest']} "
            f"seed {run['seed']}: BLEU {run['bleu']}, exact {run['exact']} %")
