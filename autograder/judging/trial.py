"""One criterion at work on one answer: it asks, compares, and says what does not hold."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from autograder.judging import compare
from autograder.judging.compare import Difference
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import EVEN, Inputs
from autograder.judging.known import Asked, reply_of
from autograder.judging.report import Example
from autograder.learner.calls import Call, Reply, tensors_in

Answer = Callable[[Call, int], Reply]
"""The learner interface: carries out a call with a random seed, here or in a sandbox."""


class Failed(Exception):
    """The criterion does not hold; `detail` and `example` are for the public seed only."""

    def __init__(self, difference: Difference, example: Example | None = None):
        super().__init__(difference.message)
        self.difference = difference
        self.example = example


class WrongResult(Failed):
    """Not what the reference gives; `typical`: on the exercise's typical case, which many criteria ask."""

    def __init__(self, difference: Difference, example: Example | None = None, typical: bool = False):
        super().__init__(difference, example)
        self.typical = typical


class WrongForm(WrongResult):
    """An exception, or another type, number of values, shape or dtype; or, in eval mode, another result each time."""


class WrongValues(WrongResult):
    """The form is right, the numbers are not."""


class ResultFirst(Exception):
    """The result is wrong where the criterion asks nothing special, so it is not known whether the criterion holds."""


class NotAttempted(Exception):
    """The stub is still there."""


class CouldNotRun(Exception):
    """It cannot be known whether the criterion holds."""


class Trial:
    """What a criterion may use.

    `inputs` draws, `ask` runs the learner's code, `expected` the reference; `well_formed` and `must_agree` do both
    and compare; `require` states a property. `calls` and `replies` are kept for the diagnosis.
    """

    def __init__(self, exercise: Exercise, criterion: str, answer: Answer, seed: int, public: bool):
        self.exercise, self.criterion, self.answer = exercise, criterion, answer
        self.seed, self.public = seed, public
        self.calls: list[Call] = []
        self.replies: list[Reply] = []
        self.drawn: list[Any] = []

    def inputs(self, case: str = "", **options) -> Inputs:
        """Random inputs of this criterion; options as in `Inputs` (dtype, size, strided)."""
        return Inputs(self.seed, f"{self.exercise.name}/{self.criterion}/{case}", **options)

    def case(self, name: str = "", **options) -> Call:
        """The exercise's typical call on random inputs."""
        given = self.inputs(name, **options)
        call = replace(self.exercise.case(given), dtype=given.dtype)
        self.drawn += call.args
        return call

    def ask(self, call: Call) -> Reply:
        """Run the learner's code. Raises NotAttempted for a stub, CouldNotRun where there is no result to judge."""
        reply = self.answer(call, len(self.calls))
        self.calls.append(call)
        self.replies.append(reply)
        if reply.status == "timed_out":
            raise CouldNotRun(f"Your code gave no answer within {call.seconds:g} seconds.")
        if reply.status == "died":
            raise CouldNotRun("The Python process that ran your code died.")
        if reply.status == "not_attempted":
            raise NotAttempted
        return reply

    def ask_where_shapes_fit(self) -> Reply:
        """Run the learner's code on the typical case with every size the same."""
        return self.ask(self._beside(self.case(size=EVEN)))

    def expected(self, call: Call) -> Reply:
        """What the reference gives."""
        reply = reply_of(self.exercise.reference, Asked(replace(call, watch=())))
        if reply.status != "returned":
            raise CouldNotRun(f"The reference itself failed: {reply.error}")
        return reply

    def with_cotangents(self, call: Call) -> Call:
        """The same call, asking for gradients of a random combination of all outputs."""
        draw = self.inputs("cotangents", dtype=call.dtype)
        outputs = tensors_in(self.expected(call).output)
        return replace(call, cotangents=tuple(draw.normal(*t.shape) for t in outputs))

    def well_formed(self, call: Call) -> Reply:
        """The learner's reply, after its type, number of values, shape, dtype and finiteness were found right."""
        call = self._beside(call)
        return self._formed(call, self.expected(call))

    def must_agree(self, call: Call, tolerance: dict | None = None) -> Reply:
        """The learner's reply, after it was found equal to the reference's, gradients too if the call asks."""
        call = self._beside(call)
        right = self.expected(call)
        reply = self._formed(call, right)
        tolerance = tolerance or self.exercise.tolerance
        names = self.exercise.returns_of(call.part)
        if problem := compare.value_problem(reply.output, right.output, names, tolerance):
            example, typical = self._example(call, reply, right, tolerance), self._is_typical(call)
            if call.init is not None and not call.training and self.asked_again_differs(call):
                raise WrongForm(DROPS_IN_EVAL_MODE, typical=typical)
            told = _told_of(call, problem)
            raise WrongValues(told if example or typical else self._with_arguments(call, told), example, typical)
        if call.cotangents is not None:
            arguments = self.exercise.arguments_of(call.part)
            tensors = [n for n, v in zip(arguments, call.args, strict=False) if torch.is_tensor(v)]
            if problem := compare.gradient_problem(reply, right, tensors, tolerance):
                raise WrongValues(_told_of(call, problem), self._example(call, reply, right, tolerance))
        return reply

    def asked_again_differs(self, call: Call) -> bool:
        """Whether the learner's code gives another result than just now, for the same call."""
        before = self.replies[-1]
        return not compare.same_data(before.output, self.ask(call).output)

    @contextmanager
    def beforehand(self) -> Iterator[None]:
        """For what has to be right before the criterion's question means anything: what fails there is not its own."""
        try:
            yield
        except Failed as wrong:
            raise ResultFirst from wrong

    def must_raise(self, call: Call, kind: str, words: Sequence[str]) -> None:
        """The learner's code raises an exception of this kind, whose text holds all of these words."""
        reply = self.ask(call)
        self.require(reply.status == "raised", f"Your code raised nothing where {kind} is asked for.",
                     asked_with(self.exercise, call))
        self.require(reply.error.kind == kind, f"Your code raised {reply.error.kind} where {kind} is asked for.",
                     reply.error.text)
        missing = [word for word in words if word not in reply.error.text]
        self.require(not missing, f"The text of your {kind} should name {', '.join(words)}.",
                     f"Yours is {reply.error.text!r}.")

    def require(self, holds: bool, message: str, detail: str = "") -> None:
        """Fail with `message` unless `holds`; `detail` may name values."""
        if not holds:
            raise Failed(Difference(message, detail))

    def _is_typical(self, call: Call) -> bool:
        """Whether all arguments are as the typical case has drawn them, in whatever mode the module is."""
        return not call.part and bool(call.args) and all(any(a is one for one in self.drawn) for a in call.args)

    def _is_static(self, part: str) -> bool:
        return isinstance(inspect.getattr_static(self.exercise.reference, part, None), staticmethod)

    def _beside(self, call: Call) -> Call:
        return call if self.exercise.beside is None else self.exercise.beside(self.answer, call)

    def _formed(self, call: Call, right: Reply) -> Reply:
        reply = self.ask(call)
        floating = any(tensor.is_floating_point() for tensor in tensors_in(call.args))
        names, source = self.exercise.returns_of(call.part), ", like the input" if floating else ""
        if self._is_static(call.part):  # what the module holds is nothing to it
            right = replace(right, parameters=reply.parameters)
        if problem := compare.form_problem(reply, right, names, source):
            built_wrong = reply.status == "returned" and reply.parameters != right.parameters
            asked = replace(call, args=(), part="") if built_wrong else call  # it is wrong whatever is called
            raise WrongForm(self._with_arguments(asked, _told_of(asked, problem)), typical=self._is_typical(call))
        return reply

    def _with_arguments(self, call: Call, problem: Difference) -> Difference:
        end = "." if problem.detail and problem.detail[-1] not in ".!?" else ""
        return replace(problem, detail=f"{problem.detail}{end} {asked_with(self.exercise, call)}".strip())

    def _example(self, call: Call, reply: Reply, right: Reply, tolerance: dict | None) -> Example | None:
        if not self.public or sum(t.numel() for t in tensors_in(call.args)) > 40:
            return None
        yours, expected = (r.output if isinstance(r.output, tuple) else (r.output,) for r in (reply, right))
        names = self.exercise.returns_of(call.part)
        yours, expected = (_taken_apart(names, outputs, expected) for outputs in (yours, expected))
        results, tolerance = {}, tolerance or self.exercise.tolerance
        for name, right in expected.items():
            pair = yours[name], right
            results |= first_wrong_rows(name, *pair, tolerance) if _is_long(right) else {name: pair}
        return Example(_taken_apart(self.exercise.arguments_of(call.part), call.args, call.args), results,
                       whole=not any(map(_is_long, expected.values())))


DROPS_IN_EVAL_MODE = Difference(
    "In eval mode two calls with the same input gave different results, so dropout, or other randomness, acts where "
    "it should not: `F.dropout` needs `training=self.training`.")


def asked_with(exercise: Exercise, call: Call) -> str:
    """Shapes and plain values: "Constructed with d_model 8. Called with x (2, 5, 8)."; other arguments are left out."""
    init = inspect.signature(exercise.reference).parameters if call.init else ()
    told = (("Constructed", init, call.init or ()), ("Called", exercise.arguments_of(call.part), call.args))
    listed = ((verb, [f"`{n}` {size}" for n, value in zip(names, values, strict=False) if (size := _size(value))])
              for verb, names, values in told)
    return " ".join(f"{verb} with {', '.join(values)}." for verb, values in listed if values)


def _size(value: Any) -> str:
    if torch.is_tensor(value):
        return str(tuple(value.shape))
    return repr(value) if value is None or type(value) in (bool, int, float, str) else ""


def _told_of(call: Call, problem: Difference) -> Difference:
    """The same, with the name of the method that was called, where it is not the answer itself."""
    return replace(problem, message=f"In `{call.part}`: {problem.message}") if call.part else problem


def _taken_apart(names: Sequence[str], values: Sequence, like: Sequence) -> dict[str, Any]:
    """Values by their names; where `like` has a tuple of tensors, its parts. Another tuple was a list once."""
    shown = {}
    for name, value, right in zip(names, values, like, strict=False):
        if isinstance(right, tuple) and tensors_in(right):
            shown |= dict(zip(compare.parts_of(name, value), value, strict=True))
        else:
            shown[name] = list(value) if isinstance(value, tuple) else value
    return shown


def _is_long(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() > 100


def first_wrong_rows(name: str, yours: torch.Tensor, right: torch.Tensor, tolerance: dict | None) -> dict:
    """Of a table that is too long to read the first rows that differ, as a result each: {"table, row 7": (..)}."""
    wrong = ~compare.close(yours, right, tolerance).all(dim=-1)
    places = wrong.nonzero()[:3].tolist()
    return {f"{name}, row {', '.join(map(str, place))}": (yours[tuple(place)], right[tuple(place)]) for place in places}
