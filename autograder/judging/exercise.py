"""What an exercise is made of: a reference, criteria with points, misconceptions, hints."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.inputs import Inputs
from autograder.learner.calls import Call, Reply


@dataclass(frozen=True)
class Criterion:
    """Something that must hold. `sentence` is what the learner reads, `check(trial)` raises where it does not."""

    name: str
    sentence: str
    points: float
    check: Callable


@dataclass(frozen=True)
class Misconception:
    """A wrong implementation, one sentence about what is going on, and the place in the book that explains it."""

    name: str
    sentence: str
    see: str
    implementation: Any


Agreement = Callable[[Sequence[Call], Sequence[Reply], Sequence[Reply]], bool]


@dataclass
class Exercise:
    """One name that the learner defines.

    case: makes a typical call from random inputs (`Inputs`); the standard criteria are built on it.
    returns: names of the returned values, for messages; `part_returns` likewise, by method, where a method is asked.
    off_limits: families of library functions (`learner.guard.FAMILIES`) that the answer is meant to replace.
    tolerance: by dtype, where the exercise needs another than `compare.TOLERANCES`.
    beside: where the answer uses what is judged in another exercise: given the learner interface and a call, the
        call that is asked in its place, so that a fault there is not counted here again.
    parts: where the answer is made of what other exercises judge: by attribute the exercise's name, and what the part
        is called with, made of the typical call. A part that is wrong is told before anything else.
    agreement: tells whether two answers computed the same on a list of calls, where that is not equality of
        each result (an exercise with random results).
    named_whole: a misconception is named only where it gives the same in every criterion: results are one number or
        a few words, which are equal by chance too often for one criterion to be a proof, or two formulas agree for
        some of the sizes that are asked.
    """

    name: str
    chapter: str
    reference: Any
    case: Callable[[Inputs], Call]
    returns: tuple[str, ...]
    hints: tuple[str, ...]
    off_limits: tuple[str, ...] = ()
    tolerance: dict | None = None
    beside: Callable[[Callable[[Call, int], Reply], Call], Call] | None = None
    agreement: Agreement | None = None
    named_whole: bool = False
    part_returns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    parts: dict[str, tuple[str, Callable[[Call], tuple]]] = field(default_factory=dict)
    criteria: list[Criterion] = field(default_factory=list)
    misconceptions: list[Misconception] = field(default_factory=list)

    @property
    def points(self) -> float:
        return float(sum(criterion.points for criterion in self.criteria))

    @property
    def arguments(self) -> list[str]:
        """Names of the arguments, as the reference calls them; of a dict those of its `get`."""
        return self.arguments_of("")

    def arguments_of(self, part: str) -> list[str]:
        """Names of the arguments of a method that stands in `part_returns`, otherwise of the answer itself."""
        method = part if part in self.part_returns else "forward"
        target = getattr(self.reference, method) if inspect.isclass(self.reference) else self.reference
        target = target.get if isinstance(target, dict) else target
        return [name for name in inspect.signature(target).parameters if name != "self"]

    def returns_of(self, part: str) -> tuple[str, ...]:
        """Names of the values that a method returns, likewise."""
        return self.part_returns.get(part, self.returns)

    def criterion(self, points: float) -> Callable:
        """Decorator: adds a criterion; the function's name is its id and its docstring what the learner reads."""
        def add(check: Callable) -> Callable:
            self.criteria.append(Criterion(check.__name__, sentence_of(check), points, check))
            return check
        return add

    def misconception(self, see: str) -> Callable:
        """Decorator: adds a wrong implementation; its name is the misconception's, its docstring the sentence."""
        def add(implementation: Any) -> Any:
            self.misconceptions.append(
                Misconception(implementation.__name__, sentence_of(implementation), see, implementation))
            return implementation
        return add


def sentence_of(thing: Any) -> str:
    """The docstring as one line; an error where there is none, because a learner would read nothing."""
    text = inspect.cleandoc(thing.__doc__ or "")
    if not text:
        raise ValueError(f"{thing.__name__} has no docstring; write the sentence that the learner reads.")
    return " ".join(text.split())
