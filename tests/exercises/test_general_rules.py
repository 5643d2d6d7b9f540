"""The course's general rules, for every exercise: its reference is made to break one, and exactly that is noticed."""

import inspect
import re
import time

import pytest
import torch

from autograder.judging.catalogue import all_exercises
from autograder.judging.inputs import ONES, Inputs
from autograder.judging.judge import judge
from autograder.learner.calls import tensors_in
from autograder.learner.runner import PRINTED_LIMIT, run

EXERCISES = {name: e for name, e in all_exercises().items() if not isinstance(e.reference, dict)}
"""All that are code; the one answer that is a dict of names has rules of its own, in test_clinic_names.py."""
SECRET = 7


def asking(criterion):
    """The exercises that have this standard criterion."""
    return [name for name, exercise in EXERCISES.items() if criterion in {c.name for c in exercise.criteria}]


DIFFERENTIABLE, DOUBLE, UNCHANGED = asking("gradients"), asking("double_precision"), asking("arguments_unchanged")
TOLERANT = {"attention_entropy", "PositionalEncoding", "rotary"}
"""There a tiny constant in the logarithm is allowed, or sines and cosines that are float32."""
REFUSAL = {"LuongAttention": {"what_cannot_work_is_refused"}, "MultiHeadAttention": {"uneven_split_is_refused"},
           "Transformer": {"encode_and_decode", "mask_makers"}}
"""Criteria about the constructor or other methods alone: what `forward` does is not asked there."""


def typical(name):
    """The exercise's typical call."""
    return EXERCISES[name].case(Inputs(1, name))


def returned(name):
    """All tensors that the reference returns for the typical call."""
    return tensors_in(run(EXERCISES[name].reference, typical(name)).output)


WITH_GRADIENTS = {"gradients", "nothing_real", "a_row_with_nothing_real", "with_nothing_real", "dot_and_concat",
                  "nothing_allowed", "a_query_with_nothing_allowed", "never_the_whole_matrix"}
"""The criteria that compare gradients."""
FLOATS = [name for name in EXERCISES if any(t.is_floating_point() for t in returned(name))]
"""The exercises that return tensors of floating numbers."""
WHOLE_NUMBERS = {"operations", "path_length", "span_corruption", "translate"}
"""These return an int, lists of them, or words, which cannot be NaN."""


def altered(exercise, change):
    """The reference, called through `change(function, *arguments)`; a module keeps its parameters."""
    if inspect.isclass(exercise.reference):
        class Altered(exercise.reference):
            def forward(self, *args):
                return change(super().forward, *args)

        return Altered
    return lambda *args: change(exercise.reference, *args)


def each(change, result):
    """`change` on every value of a result, also on those of a tuple in a tuple."""
    return tuple(each(change, part) for part in result) if isinstance(result, tuple) else change(result)


def each_float(change, result):
    """`change` on every value that has a fraction: a mask or a list of tokens stays as it is."""
    return each(lambda value: change(value) if torch.is_tensor(value) and value.is_floating_point() else value, result)


def judged(name, change, seed=None):
    return judge(altered(EXERCISES[name], change), seed=seed, exercise=name)


def lost(report):
    return {outcome.criterion: outcome.message for outcome in report.outcomes if outcome.status != "passed"}


def assert_all_fail(report, words):
    asked = [outcome for outcome in report.outcomes if outcome.criterion not in REFUSAL.get(report.exercise, ())]
    assert sum(outcome.earned for outcome in asked) == 0.0 and asked[0].status == "failed"
    assert {outcome.status for outcome in asked} <= {"failed", "not_looked_at"}  # what the first has told, or its own
    failed = [outcome.message for outcome in asked if outcome.status == "failed"]
    assert all(words in message for message in failed), failed


@pytest.mark.parametrize("name", EXERCISES)
def test_unaltered_it_is_right(name):
    assert lost(judged(name, lambda function, *args: function(*args))) == {}


@pytest.mark.parametrize("name", [name for name in asking("sizes_of_one") if name != "greedy_decode"])
def test_sizes_of_one_are_what_the_sentence_says(name):
    """Batch, length and width are 1, in all but greedy_decode, where a state has two numbers."""
    arguments = EXERCISES[name].case(Inputs(1, name, size=ONES)).args
    first = [a for a in arguments if isinstance(a, torch.Tensor)][:1]
    assert all(a.numel() == 1 for a in first), "the criterion needs a sentence of its own"


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_detached_result_loses_the_gradients(name):
    report = judged(name, lambda function, *args: each(torch.Tensor.detach, function(*args)))
    assert "gradients" in lost(report) and lost(report).keys() <= WITH_GRADIENTS
    assert all("No gradient reaches" in message for message in lost(report).values())


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_each_input_needs_its_gradient(name):
    args = typical(name).args
    floats = [i for i, arg in enumerate(args) if torch.is_tensor(arg) and arg.is_floating_point()]
    for position in floats:
        def cut(function, *args, position=position):
            return function(*(arg.detach() if i == position and torch.is_tensor(arg) else arg
                              for i, arg in enumerate(args)))

        names = lost(judged(name, cut)).keys()
        assert "gradients" in names and names <= WITH_GRADIENTS, EXERCISES[name].arguments[position]


MODULES = [name for name in DIFFERENTIABLE if inspect.isclass(EXERCISES[name].reference)]


@pytest.mark.parametrize("name", MODULES)
def test_a_frozen_parameter_loses_the_gradients(name):
    reference = EXERCISES[name].reference
    elsewhere = ("attention.",) if EXERCISES[name].beside else ()  # the part that another exercise judges
    kinds = {re.sub(r"\.\d+\.", ".", p): p for p in typical(name).weights}  # the layers of a stack are alike
    for parameter in (p for p in kinds.values() if not p.startswith(elsewhere)):
        class Frozen(reference):
            def __init__(self, *sizes, parameter=parameter):
                super().__init__(*sizes)
                if parameter in dict(self.named_parameters()):
                    self.get_parameter(parameter).requires_grad_(False)

        found = lost(judge(Frozen, exercise=name))
        assert "gradients" in found and found.keys() <= WITH_GRADIENTS and parameter in found["gradients"], found


@pytest.mark.parametrize("name", DOUBLE)
def test_a_result_of_always_float32_loses_double_precision(name):
    report = judged(name, lambda function, *args: each_float(torch.Tensor.float, function(*args)))
    assert "double_precision" in lost(report) and "values" not in lost(report)
    assert all("torch.float64" in message for message in lost(report).values())


@pytest.mark.parametrize("name", DOUBLE)
def test_float32_on_the_way_loses_double_precision(name):
    def rounded(tensor):
        return tensor.float().to(tensor.dtype)

    report = judged(name, lambda function, *args: each_float(rounded, function(*args)))
    assert lost(report).keys() - {"large_scores"} == (set() if name in TOLERANT else {"double_precision"})


@pytest.mark.parametrize("name", DOUBLE)
def test_exactness_is_promised_where_it_is_looked_at(name):
    sentence = next(c.sentence for c in EXERCISES[name].criteria if c.name == "double_precision")
    assert ("as exact as float64 allows" in sentence) == (name not in TOLERANT)
    assert ("right to about" in sentence) == (name in TOLERANT)


@pytest.mark.parametrize("name", FLOATS)
def test_half_precision_is_a_wrong_dtype(name):
    assert_all_fail(judged(name, lambda function, *args: each(torch.Tensor.half, function(*args))), "float16")


def spoiled(value):
    """Changes an argument in place; whether it can be."""
    if isinstance(value, list):
        value.append(value[0])
        return True
    if torch.is_tensor(value):
        value.data.logical_not_() if value.dtype == torch.bool else value.data.add_(1)
        return True
    return False


@pytest.mark.parametrize("name", UNCHANGED)
def test_an_argument_changed_in_place_is_noticed(name):
    changeable = [i for i, value in enumerate(typical(name).args) if isinstance(value, torch.Tensor | list)]
    assert changeable
    for position in changeable:
        def spoil(function, *args, position=position):
            result = function(*args)
            assert spoiled(args[position])
            return result

        told = [message for message in lost(judged(name, spoil)).values() if "changed its argument" in message]
        assert len(told) == 1 and f"`{EXERCISES[name].arguments[position]}`" in told[0]


@pytest.mark.parametrize("name", UNCHANGED)
def test_an_argument_that_is_put_back_is_nobodys_business(name):
    def borrow(function, *args):
        for value in (value for value in args if torch.is_tensor(value) and value.is_floating_point()):
            with torch.no_grad():
                kept = value.clone()
                value.add_(1.0)
                value.copy_(kept)
        for value in (value for value in args if isinstance(value, list)):
            value.append(None)
            value.pop()
        return function(*args)

    assert lost(judged(name, borrow)) == {}


@pytest.mark.parametrize("name", EXERCISES)
def test_the_default_dtype_and_the_gradient_mode_are_put_back(name):
    def rude(function, *args):
        result = function(*args)
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        return result

    assert lost(judged(name, rude)) == {}
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()


@pytest.mark.parametrize("seed", [None, SECRET])
@pytest.mark.parametrize("name", EXERCISES)
def test_what_is_no_result_fails_with_a_message(name, seed):
    assert_all_fail(judged(name, lambda function, *args: None, seed), "None")
    assert_all_fail(judged(name, lambda function, *args: object(), seed), "object")
    assert_all_fail(judged(name, lambda function, *args: "seven", seed), "str")
    if name in FLOATS or (not returned(name) and name not in WHOLE_NUMBERS):
        assert_all_fail(judged(name, lambda function, *args: each(lambda x: x * float("nan"), function(*args)), seed),
                        "NaN")
    several = judged(name, lambda function, *args: (function(*args), 1), seed)
    assert_all_fail(several, "")


@pytest.mark.parametrize("name", EXERCISES)
def test_the_wrong_number_of_values_is_said(name):
    wanted = EXERCISES[name].returns
    report = judged(name, lambda function, *args: (1.0,) * (len(wanted) + 1))
    assert_all_fail(report, f"{len(wanted)} values" if len(wanted) > 1 else "tuple")


@pytest.mark.parametrize("name", EXERCISES)
def test_the_wrong_number_of_arguments_is_the_learners_error(name):
    module = inspect.isclass(EXERCISES[name].reference)
    answer = type("Wrong", (torch.nn.Module,), {}) if module else lambda: None
    assert_all_fail(judge(answer, exercise=name), "TypeError")


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exception_fails_and_a_secret_seed_keeps_its_text(name):
    def fail(function, *args):
        raise ValueError(f"secret {args[0]}")

    assert_all_fail(judged(name, fail), "ValueError")
    hidden = judged(name, fail, SECRET)
    assert_all_fail(hidden, "Your code raised ValueError.")
    assert all("secret" not in outcome.message for outcome in hidden.outcomes)


@pytest.mark.parametrize("name", EXERCISES)
def test_ending_the_process_does_not_end_the_grader(name):
    def leave(function, *args):
        raise SystemExit

    assert_all_fail(judged(name, leave), "SystemExit")


@pytest.mark.parametrize("name", EXERCISES)
def test_ten_megabytes_of_printing_cost_nothing(name, capsys):
    line = "x" * 10_000_000

    def talk(function, *args):
        print(line)
        return function(*args)

    began = time.process_time()
    report = judged(name, talk)
    assert lost(report) == {} and len(report.printed) <= PRINTED_LIMIT
    assert capsys.readouterr().out == ""
    assert time.process_time() - began < 20  # far from it; a stream that keeps everything takes minutes


@pytest.mark.parametrize("name", EXERCISES)
def test_writing_to_stderr_and_warnings_stay_inside(name, capsys):
    import sys
    import warnings

    def complain(function, *args):
        print("oh", file=sys.stderr)
        warnings.warn("no", stacklevel=1)
        return function(*args)

    assert lost(judged(name, complain)) == {}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", EXERCISES)
def test_with_a_secret_seed_nothing_of_the_inputs_is_shown(name):
    report = judged(name, lambda function, *args: each(lambda x: x * 1.5 + 0.1, function(*args)), SECRET)
    assert report.score < report.points
    assert all(outcome.example is None for outcome in report.outcomes) and report.printed == ""
