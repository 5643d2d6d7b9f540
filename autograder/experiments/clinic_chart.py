"""What is measured on a patient of the clinic, and how it is shown: the course of its training, a map, a table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import matplotlib.pyplot as plt
import torch
from torch import Tensor

from autograder.book.style import INK, PALETTE, heat_map, use_course_style
from autograder.experiments import clinic
from autograder.experiments.clinic import DIGITS, FLOOR, HALF, PAD, Course, Patient, sentences

KINDS = {3: {"padded": True}, 7: {"stacked": True}, 8: {"padded": True}}
"""Patients 3 and 8 are seen on sentences with padding, patient 7 as a stack of layers."""


@dataclass(frozen=True)
class Chart:
    """Measured on a batch that the training never saw, in eval mode. Differences are between probabilities."""

    parameters: int
    reported: float
    first: float
    second: float
    spoken: float
    cached: float
    lowest_row: float
    ahead: float
    on_words: float
    leak: float
    twice: float
    moved: float
    alone: int


LABELS = {
    "parameters": "parameters",
    "reported": "loss as it is reported",
    "first": f"loss of the first {HALF} digits (no honest one is below {FLOOR:.2f})",
    "second": f"loss of the second {HALF} digits",
    "spoken": "copied rightly, when it writes by itself",
    "cached": "the same, with new tokens after a cache",
    "lowest_row": "smallest sum of a row of weights",
    "ahead": "largest weight on a later token",
    "on_words": "weight of a word on words (the rest is on padding)",
    "leak": f"first {HALF} answers, when a later token is changed: largest difference",
    "twice": "the same batch twice: largest difference",
    "moved": "a sentence in row 0 and in row 3: largest difference",
    "alone": "different answers to the ten digits, each as the only token",
}


@dataclass(frozen=True)
class Case:
    """A patient after its training, with the course that the training took and the chart."""

    patient: Patient
    course: Course
    chart: Chart


def case(number: int, part: Callable | None = None, seed: int = 0) -> Case:
    """Patient `number` with this part, or with the broken one."""
    kind = KINDS.get(number, {})
    patient, course = clinic.treat({f"clinic_{number}": part or clinic.broken(number)}, seed, **kind)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # for dropout that should be off
        return Case(patient, course, examined(patient, "padded" in kind))


@cache
def healthy(number: int, seed: int = 0) -> Case:
    """What patient `number` is compared with: the same, with all parts right."""
    alike = next(n for n in range(1, 11) if KINDS.get(n) == KINDS.get(number))
    return case(number, clinic.HEALTHY[f"clinic_{number}"], seed) if alike == number else healthy(alike, seed)


@torch.no_grad()
def examined(patient: Patient, padded: bool = False) -> Chart:
    """Every measure, on the same test batch of 128 for all patients."""
    tokens = sentences(128, torch.Generator().manual_seed(99), padded)
    inputs, targets = patient.parts["clinic_1"](tokens)
    reported, first, second = (loss.item() for loss in clinic.losses_by_place(patient, inputs, targets))
    plain = sentences(128, torch.Generator().manual_seed(98))
    prompt, wanted = plain[:, : HALF + 1], plain[:, HALF + 1 : -1]
    weights, word = patient.map(inputs), inputs != PAD
    return Chart(
        parameters=sum(p.numel() for p in patient.parameters()), reported=reported, first=first, second=second,
        spoken=_share(patient.speak(prompt) == wanted), cached=_share(patient.speak_with_cache(prompt) == wanted),
        lowest_row=weights.sum(-1).min().item(), ahead=weights.triu(1).max().item(),
        on_words=(weights * word[:, None, None]).sum(-1).mean(1)[word].mean().item(), **_perturbed(patient, inputs))


def _share(right: Tensor) -> float:
    return right.float().mean().item()


def _probabilities(patient: Patient, tokens: Tensor) -> Tensor:
    return torch.softmax(patient(tokens), dim=-1)


def _perturbed(patient: Patient, inputs: Tensor) -> dict[str, float | int]:
    """What changes when nothing that matters does."""
    later, digits = inputs.clone(), torch.arange(DIGITS).unsqueeze(1)
    later[:, HALF:] = (later[:, HALF:] + 1) % DIGITS
    firsts = []
    for tokens in (inputs, later):
        torch.manual_seed(0)  # dropout that should be off drops the same in both: only the later token differs
        firsts.append(_probabilities(patient, tokens)[:, :HALF])
    one, other = (_probabilities(patient, inputs) for _ in range(2))
    rows = _probabilities(patient, inputs[:1].repeat(4, 1))
    alone = (_probabilities(patient, digits)[:, 0] * 1e4).round()
    return {"leak": (firsts[0] - firsts[1]).abs().max().item(), "twice": (one - other).abs().max().item(),
            "moved": (rows[0] - rows[3]).abs().max().item(), "alone": len(torch.unique(alone, dim=0))}


# --- what is shown ---------------------------------------------------------------------------------------------


def show_patient(number: int, part: Callable | None = None) -> None:
    """Curves, a map, a table and a sample of patient `number`, beside a healthy one."""
    use_course_style()
    mine, other = case(number, part), healthy(number)
    padded = "padded" in KINDS.get(number, {})
    sample = sentences(128, torch.Generator().manual_seed(99), padded)
    _draw(number, mine, other, mine.patient.parts["clinic_1"](sample[:1])[0])
    print(_table(number, mine.chart, other.chart, padded))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        print(_sample(mine.patient, sample))


def _draw(number: int, mine: Case, other: Case, inputs: Tensor) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), dpi=64, gridspec_kw={"width_ratios": [3, 2]})
    for name, colour in (("first", "orange"), ("second", "blue")):
        for one, label, style in ((mine, f"patient {number}", "-"), (other, "healthy", ":")):
            left.plot(_smooth(getattr(one.course, name)), style, color=PALETTE[colour], label=f"{label}, {name} half")
    left.axhline(FLOOR, color=INK, linewidth=0.8)
    left.set(title="Loss while it is trained", xlabel="step", ylim=(0, 3))
    left.legend(fontsize=8)
    with torch.no_grad():
        weights = mine.patient.map(inputs)[0].mean(0)
    words = [WORDS.get(token, str(token)) for token in inputs[0].tolist()]
    heat_map(right, weights, words, words, vmin=0, vmax=1)
    right.set(title="Weights, first layer", ylabel="query", xlabel="key")
    right.tick_params(labelsize=7)
    plt.show()


WORDS = {clinic.PAD: "_", clinic.BOS: "<", clinic.EOS: ">"}


def _smooth(losses: list[float], window: int = 5) -> list[float]:
    """Means over five steps, so that the curves can be told apart."""
    return torch.tensor(losses).unfold(0, window, 1).mean(dim=1).tolist()


def _table(number: int, mine: Chart, other: Chart, padded: bool) -> str:
    lines = [f"{'':72}{'healthy':>9}{f'patient {number}':>12}"]
    for name, label in LABELS.items():
        if padded or name != "on_words":
            lines.append(f"{label:72}{_number(getattr(other, name)):>9}{_number(getattr(mine, name)):>12}")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value + 0.0:.2f}"


def _sample(patient: Patient, sample: Tensor) -> str:
    """One sentence: what is fed, what is asked for, what it says by itself after the first half."""
    inputs, targets = patient.parts["clinic_1"](sample[:1])
    said = torch.cat([sample[:1, : HALF + 1], patient.speak(sample[:1, : HALF + 1])], dim=1)
    rows = {"fed": inputs, "asked for": targets, "writes by itself": said}
    return "\n".join(f"{name + ':':18}{' '.join(WORDS.get(t, str(t)) for t in row[0].tolist())}"
                     for name, row in rows.items())
