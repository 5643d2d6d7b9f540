"""The course's general rules, for every exercise: its reference is made to break one, and exactly that is noticed."""

import inspect
import time

import pytest
import torch

from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge
from autograder.learner.runner import PRINTED_LIMIT

EXERCISES = all_exercises()
WITH_TENSORS = [name for name in EXERCISES if name != "dot_product_std"]
SECRET = 7


def altered(exercise, change):
    """The reference, called through `change(function, *arguments)`; a module keeps its parameters."""
    if inspect.isclass(exercise.reference):
        class Altered(exercise.reference):
            def forward(self, *args):
                return change(super().forward, *args)

        return Altered
    return lambda *args: change(exercise.reference, *args)


def each(change, result):
    """`change` on every value of a result."""
    return tuple(map(change, result)) if isinstance(result, tuple) else change(result)


def judged(name, change, seed=None):
    return judge(altered(EXERCISES[name], change), seed=seed, exercise=name)


def lost(report):
    return {outcome.criterion: outcome.message for outcome in report.outcomes if outcome.status != "passed"}


def assert_all_fail(report, words):
    assert report.score == 0.0 and {outcome.status for outcome in report.outcomes} == {"failed"}
    assert all(words in outcome.message for outcome in report.outcomes), report.outcomes[0].message


@pytest.mark.parametrize("name", EXERCISES)
def test_unaltered_it_is_right(name):
    assert lost(judged(name, lambda function, *args: function(*args))) == {}


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_a_detached_result_loses_the_gradients(name):
    report = judged(name, lambda function, *args: each(torch.Tensor.detach, function(*args)))
    assert lost(report).keys() == {"gradients"}
    assert "No gradient reaches" in lost(report)["gradients"]


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_each_input_and_parameter_needs_its_gradient(name):
    exercise = EXERCISES[name]
    for position in range(len(exercise.arguments)):
        def cut(function, *args, position=position):
            return function(*(arg.detach() if i == position else arg for i, arg in enumerate(args)))

        assert lost(judged(name, cut)).keys() == {"gradients"}, exercise.arguments[position]


@pytest.mark.parametrize("parameter", ["W_q", "W_k", "W_v"])
def test_a_frozen_parameter_loses_the_gradients(parameter):
    class Frozen(EXERCISES["SelfAttention"].reference):
        def __init__(self, d_model, d_k):
            super().__init__(d_model, d_k)
            getattr(self, parameter).weight.requires_grad_(False)

    report = judge(Frozen, exercise="SelfAttention")
    assert lost(report).keys() == {"gradients"} and parameter in lost(report)["gradients"]


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_a_result_of_always_float32_loses_double_precision(name):
    report = judged(name, lambda function, *args: each(torch.Tensor.float, function(*args)))
    assert "double_precision" in lost(report) and "values" not in lost(report)
    assert all("torch.float64" in message for message in lost(report).values())


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_float32_on_the_way_loses_double_precision(name):
    def rounded(tensor):
        return tensor.float().to(tensor.dtype)

    report = judged(name, lambda function, *args: each(rounded, function(*args)))
    tolerant = name == "attention_entropy"  # there a tiny constant in the logarithm is allowed
    assert tolerant or lost(report).keys() - {"large_scores"} == {"double_precision"}


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_half_precision_is_a_wrong_dtype(name):
    assert_all_fail(judged(name, lambda function, *args: each(torch.Tensor.half, function(*args))), "float16")


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_an_argument_changed_in_place_is_noticed(name):
    for position, argument in enumerate(EXERCISES[name].arguments):
        def spoil(function, *args, position=position):
            result = function(*args)
            args[position].data.add_(1.0)
            return result

        told = [message for message in lost(judged(name, spoil)).values() if "changed its argument" in message]
        assert len(told) == 1 and f"`{argument}`" in told[0]


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_an_argument_that_is_put_back_is_nobodys_business(name):
    def borrow(function, *args):
        with torch.no_grad():
            kept = args[0].clone()
            args[0].add_(1.0)
            args[0].copy_(kept)
        return function(*args)

    assert lost(judged(name, borrow)) == {}


@pytest.mark.parametrize("name", WITH_TENSORS)
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
    answer = type("Wrong", (torch.nn.Module,), {}) if name == "SelfAttention" else lambda: None
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

    began = time.monotonic()
    report = judged(name, talk)
    assert lost(report) == {} and len(report.printed) <= PRINTED_LIMIT
    assert capsys.readouterr().out == ""
    assert time.monotonic() - began < 20  # far from it; a stream that keeps everything takes minutes


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
