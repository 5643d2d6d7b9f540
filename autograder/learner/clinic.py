"""`examine`, as the notebook of chapter 11 calls it."""

from collections.abc import Callable


def examine(number: int, part: Callable | None = None) -> None:
    """Train patient `number` of the clinic, a few seconds long, and show what is measured beside a healthy one.

    part: a function or class to put in the place of the broken one. Raises ValueError for a number that is no patient.
    """
    if number not in range(1, 11):
        raise ValueError(f"There is no patient {number}; their numbers are 1 to 10.")
    try:
        from autograder.experiments.clinic_chart import show_patient
    except ModuleNotFoundError:  # this copy of the package holds the learner's side only
        print("The patients are not on this machine; your answers are judged without them.")
        return
    show_patient(number, part)
