"""What a judgement says."""

from dataclasses import dataclass, field
from typing import Any

PASSED, FAILED, NOT_LOOKED_AT, COULD_NOT_RUN = "passed", "failed", "not_looked_at", "could_not_run"


@dataclass(frozen=True)
class Example:
    """A counter-example small enough to read: the arguments by name, and for each result yours and the right one.

    whole: False where a result is long and only its first wrong rows stand here.
    """

    arguments: dict[str, Any]
    results: dict[str, tuple[Any, Any]]
    whole: bool = True


@dataclass(frozen=True)
class Outcome:
    """One criterion's result: `points` were available, `earned` were given.

    status is "passed", "failed" (the answer is at fault), "not_looked_at" (the result is wrong already where the
    criterion asks nothing special) or "could_not_run" (it is not known, a person should look). diagnosis is the name
    of the misconception that computes the same as the answer, or None.
    """

    criterion: str
    sentence: str
    status: str
    points: float
    earned: float
    message: str = ""
    diagnosis: str | None = None
    example: Example | None = None


@dataclass(frozen=True)
class Report:
    """All outcomes for one answer; `diagnoses` are misconception names, most likely first.

    broken: parts of the answer that are wrong by themselves, {attribute: the exercise that asks for such a part}.
    """

    exercise: str
    chapter: str
    outcomes: tuple[Outcome, ...]
    diagnoses: tuple[str, ...] = ()
    explanations: dict[str, tuple[str, str]] = field(default_factory=dict)
    printed: str = ""
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def score(self) -> float:
        return float(sum(outcome.earned for outcome in self.outcomes))

    @property
    def points(self) -> float:
        return float(sum(outcome.points for outcome in self.outcomes))

    @property
    def attempted(self) -> bool:
        return any(outcome.message != NOT_ATTEMPTED for outcome in self.outcomes)

    @property
    def needs_a_person(self) -> bool:
        return any(outcome.status == COULD_NOT_RUN for outcome in self.outcomes)


NOT_ATTEMPTED = "not attempted"
RESULT_FIRST = "This is judged as soon as the result is right."
