"""Judges an answer: runs every criterion, names the mistake, adds up the points."""

from functools import partial
from typing import Any

from autograder.judging.catalogue import find_exercise
from autograder.judging.diagnosis import diagnose
from autograder.judging.exercise import Criterion, Exercise
from autograder.judging.report import COULD_NOT_RUN, FAILED, NOT_ATTEMPTED, PASSED, Outcome, Report
from autograder.judging.trial import Answer, CouldNotRun, Failed, NotAttempted, Trial
from autograder.learner.runner import run

PUBLIC_SEED = 2017
LOOK = " A person should look at this."


def judge(answer: Any, seed: int | None = None, exercise: str | None = None) -> Report:
    """Judge a learner's function or class, without display.

    seed: None is the public seed, whose inputs may be shown; any number is secret and nothing of it is shown.
    exercise: the exercise's name, where it is not the answer's own `__name__`.
    Raises LookupError where there is no such exercise.
    """
    return judge_answer(find_exercise(answer, exercise), partial(run, answer), seed)


def judge_answer(exercise: Exercise, answer: Answer, seed: int | None = None) -> Report:
    """Judge through the learner interface: `answer(call, rng_seed)` gives a reply, here or from a sandbox."""
    trials, outcomes = [], []
    for criterion in exercise.criteria:
        trial = Trial(exercise, criterion.name, answer, PUBLIC_SEED if seed is None else seed, seed is None)
        silent = next((t for t in trials if t.replies and t.replies[-1].status in ("timed_out", "died")), None)
        outcomes.append(_decide(criterion, trial) if silent is None else _result(
            criterion, COULD_NOT_RUN, f"Not run, because the code gave no answer to `{silent.criterion}`." + LOOK))
        trials.append(trial)
    return _with_diagnoses(exercise, trials, outcomes)


def _decide(criterion: Criterion, trial: Trial) -> Outcome:
    try:
        criterion.check(trial)
    except NotAttempted:
        return _result(criterion, FAILED, NOT_ATTEMPTED)
    except Failed as failure:
        detail = failure.difference.detail if trial.public else ""
        message = f"{failure.difference.message} {detail}".strip()
        return _result(criterion, FAILED, message, failure.example)
    except CouldNotRun as reason:
        return _result(criterion, COULD_NOT_RUN, str(reason) + LOOK)
    except Exception as bug:
        reason = f"This check itself failed ({type(bug).__name__}): a fault of the course, not of your answer."
        return _result(criterion, COULD_NOT_RUN, reason + LOOK)
    return _result(criterion, PASSED)


def _result(criterion: Criterion, status: str, message: str = "", example=None) -> Outcome:
    earned = criterion.points if status == PASSED else 0.0
    return Outcome(criterion.name, criterion.sentence, status, float(criterion.points), float(earned), message,
                   example=example)


def _with_diagnoses(exercise: Exercise, trials: list[Trial], outcomes: list[Outcome]) -> Report:
    failed = [outcome.status == FAILED and outcome.message != NOT_ATTEMPTED for outcome in outcomes]
    names = diagnose(exercise, trials, failed) if any(failed) else [None] * len(outcomes)
    found = [name for name in names if name]
    ranked = tuple(sorted(dict.fromkeys(found), key=lambda name: -found.count(name)))
    known = {m.name: (m.sentence, m.see) for m in exercise.misconceptions}
    printed = next((r.printed for t in trials for r in t.replies if r.printed), "") if trials[0].public else ""
    return Report(
        exercise=exercise.name, chapter=exercise.chapter, diagnoses=ranked, printed=printed,
        outcomes=tuple(Outcome(**{**vars(o), "diagnosis": n}) for o, n in zip(outcomes, names, strict=True)),
        explanations={name: known[name] for name in ranked})
