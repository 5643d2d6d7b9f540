"""All exercises of the course, found by name."""

import difflib
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import autograder.exercises
import autograder.misconceptions
from autograder.judging.exercise import Exercise


@cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise by its name, chapter by chapter, with its misconceptions."""
    found = {}
    for module in iter_modules(autograder.exercises.__path__):
        for thing in vars(import_module(f"autograder.exercises.{module.name}")).values():
            if isinstance(thing, Exercise):
                found[thing.name] = thing
    for module in iter_modules(autograder.misconceptions.__path__):
        import_module(f"autograder.misconceptions.{module.name}")  # they add themselves to the exercises
    return dict(sorted(found.items(), key=lambda item: item[1].chapter))


def find_exercise(thing: object, exercise: str | None = None) -> Exercise:
    """The exercise called `exercise`, or named like the function or class (or string) `thing`.

    Raises LookupError, with the nearest names, where there is none.
    """
    name = exercise or (thing if isinstance(thing, str) else getattr(thing, "__name__", None))
    if name in all_exercises():
        return all_exercises()[name]
    if name is None:
        raise LookupError(f"An object of type {type(thing).__name__} has no name; pass the function or the class "
                          'itself, or say which exercise it answers: check(answer, exercise="attention_weights").')
    nearest = difflib.get_close_matches(name, all_exercises(), n=3, cutoff=0.4) or list(all_exercises())
    raise LookupError(f"There is no exercise called {name!r}; the nearest names are {', '.join(nearest)}. "
                      'An answer with another name is checked with check(answer, exercise="name").')
