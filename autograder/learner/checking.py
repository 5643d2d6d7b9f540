"""`check` and `hint`, as notebooks call them."""

from collections import Counter
from typing import Any

HINTS_SHOWN: Counter[str] = Counter()


def check(answer: Any, exercise: str | None = None) -> float:
    """Judge an answer, show the report, and return the score as a plain float (nbgrader takes it as the mark).

    exercise: the exercise's name, where it is not the answer's own `__name__`.
    Raises LookupError, with the nearest names, where there is no such exercise.
    """
    try:
        from autograder.judging.judge import judge
    except ModuleNotFoundError:  # this copy of the package holds the learner's side only
        print("The criteria are not on this machine; your answer is judged elsewhere.")
        return 0.0
    from autograder.reporting.display import show
    from autograder.settings import grading_seed

    report = judge(answer, seed=grading_seed(), exercise=exercise)
    show(report)
    return report.score


def hint(exercise: Any) -> None:
    """Show the next hint for an exercise, given as the function, the class, or its name."""
    try:
        from autograder.judging.catalogue import find_exercise
    except ModuleNotFoundError:
        print("The hints are not on this machine.")
        return
    from autograder.reporting.display import show_hint

    found = find_exercise(exercise)
    number = min(HINTS_SHOWN[found.name] + 1, len(found.hints))
    HINTS_SHOWN[found.name] = number
    show_hint(found, number)
