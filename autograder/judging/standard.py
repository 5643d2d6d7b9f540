"""Criteria that hold for every exercise: the course's general rules, checked on the exercise's typical case."""

import math
from dataclasses import replace

import torch

from autograder.judging.compare import Difference
from autograder.judging.exercise import Criterion, Exercise, sentence_of
from autograder.judging.inputs import EDGES, EXACT_ROOT, SMALL
from autograder.judging.trial import Trial, WrongValues
from autograder.learner.calls import Call, tensors_in
from autograder.learner.guard import SPELLINGS


def values(trial: Trial) -> None:
    """The result equals the formula on random input."""
    call = replace(trial.case(), watch=trial.exercise.off_limits)
    try:
        trial.must_agree(call)
    except WrongValues:
        _nothing_off_limits(trial)
        if trial.public:  # the same fault on a case that can be read is worth more than on a large one
            trial.must_agree(trial.case("small", size=SMALL))
        raise
    _nothing_off_limits(trial)


def _nothing_off_limits(trial: Trial) -> None:
    for family in trial.replies[0].used:
        trial.require(False, f"Your code calls {SPELLINGS[family]}; this exercise asks you to write that yourself.")


def gradients(trial: Trial) -> None:
    """Gradients flow to every floating input and parameter, and are right."""
    trial.must_agree(trial.with_cotangents(trial.case()), GRADIENT_TOLERANCES)


def double_precision(trial: Trial) -> None:
    """With float64 input the result is float64, and as exact as float64 allows."""
    call = trial.case(dtype=torch.float64, size=EXACT_ROOT)
    trial.must_agree(call)
    if sum(tensor.numel() for tensor in tensors_in(trial.expected(call).output)) == 1:
        for name in "abcdefg":  # a single number in float32 is as exact by chance, once in four times
            trial.must_agree(trial.case(name, dtype=torch.float64, size=EXACT_ROOT))


def arguments_unchanged(trial: Trial) -> None:
    """The arguments are the same after the call as before it."""
    call = trial.case()
    reply = trial.well_formed(call)
    for position in reply.changed:
        trial.require(False, f"Your code changed its argument `{trial.exercise.arguments[position]}`; "
                             "work on a new tensor, without in-place operations on what you are given.")
    with trial.beforehand():  # otherwise an answer that does nothing would have earned this
        trial.must_agree(call)


def any_memory_layout(trial: Trial) -> None:
    """Inputs that are not contiguous in memory (a transposed tensor, say) give the right result."""
    trial.must_agree(trial.case(strided=True))


def nothing_dropped(trial: Trial, call: Call) -> None:
    """A call in train mode with every dropout rate 0 gives what the reference gives."""
    try:
        trial.must_agree(call)
    except WrongValues as wrong:
        told = wrong.difference
        if trial.asked_again_differs(call):
            told = Difference("Two calls gave different results, so some part drops at a rate of its own; pass "
                              "`dropout` on to every part.")
        told = replace(told, message=f"In train mode with dropout 0: {told.message}")
        raise WrongValues(told, wrong.example, wrong.typical) from None


def sizes_of_one(trial: Trial) -> None:
    """It works at the edge too: batch 1, length 1, width 1."""
    trial.must_agree(trial.case())  # first, because at size 1 too many mistakes look alike to be named
    for label, size in EDGES.items():
        trial.must_agree(trial.case(label, size=size))


def train_and_eval(trial: Trial) -> None:
    """In train mode and in eval mode the result is the same."""
    for training in (True, False):
        trial.must_agree(replace(trial.case(), training=training))


GRADIENT_TOLERANCES = {torch.float32: (1e-4, 1e-3)}
"""A gradient adds up many terms that cancel, so in float32 another order of the sums shows more than in a value."""

STANDARD = {check.__name__: check for check in (
    values, gradients, double_precision, arguments_unchanged, any_memory_layout, sizes_of_one, train_and_eval)}


def add_standard_criteria(exercise: Exercise, *, sentence: str | None = None, **points: float) -> None:
    """Adds the named criteria with their points; `sentence` says what `values` means in this exercise."""
    for name, available in points.items():
        text = sentence if name == "values" and sentence else _sentence(exercise, name)
        exercise.criteria.append(Criterion(name, text, available, STANDARD[name]))


def _sentence(exercise: Exercise, name: str) -> str:
    """That of the check; where float64 has a wide tolerance of its own, it promises no more than is looked at."""
    if name == "double_precision" and torch.float64 in (exercise.tolerance or {}):
        _, relative = exercise.tolerance[torch.float64]
        return f"With float64 input the result is float64, and right to about {-math.log10(relative):.0f} digits."
    return sentence_of(STANDARD[name])
