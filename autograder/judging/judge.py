"""Judges an answer: runs every criterion, names the mistake, adds up the points."""

from dataclasses import replace
from functools import partial
from typing import Any

from autograder.judging.catalogue import find_exercise
from autograder.judging.compare import same_data
from autograder.judging.diagnosis import diagnose
from autograder.judging.exercise import Criterion, Exercise
from autograder.judging.report import (
    COULD_NOT_RUN,
    FAILED,
    NOT_ATTEMPTED,
    NOT_LOOKED_AT,
    PASSED,
    RESULT_FIRST,
    Outcome,
    Report,
)
from autograder.judging.trial import (
    Answer,
    CouldNotRun,
    Failed,
    NotAttempted,
    ResultFirst,
    Trial,
    WrongForm,
    WrongResult,
)
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
        outcomes.append(_decide(criterion, trial, outcomes[:1]) if silent is None else _result(
            criterion, COULD_NOT_RUN, f"Not run, because the code gave no answer to `{silent.criterion}`." + LOOK))
        trials.append(trial)
    report = _with_diagnoses(exercise, trials, outcomes)
    ask = exercise.parts and report.attempted and outcomes[0].status == FAILED
    return replace(report, broken=broken_parts(trials[0])) if ask else report


def broken_parts(trial: Trial) -> dict[str, str]:
    """The parts that give something else than a right part with the same weights, by the exercise that asks for them.

    Nothing is said of an answer that lacks such a part or its weights: then its form is what is wrong.
    """
    typical, found = replace(trial.exercise.case(trial.inputs("parts")), watch=()), {}
    for part, (exercise, arguments) in trial.exercise.parts.items():
        call = replace(typical, part=part, args=arguments(typical))
        reply, right = trial.answer(call, 0), trial.expected(call)
        if reply.status != "returned" or reply.parameters != right.parameters:
            return {}
        if not same_data(reply.output, right.output):
            found[part] = exercise
    return found


def _decide(criterion: Criterion, trial: Trial, first: list[Outcome]) -> Outcome:
    """What the criterion says. A wrong result on the typical case is told once, by the exercise's first criterion."""
    try:
        criterion.check(trial)
    except NotAttempted:
        return _result(criterion, FAILED, NOT_ATTEMPTED)
    except ResultFirst:
        return _result(criterion, NOT_LOOKED_AT, RESULT_FIRST)
    except Failed as failure:
        if any(told.status == FAILED and _said_before(failure, told) for told in first):
            return _result(criterion, NOT_LOOKED_AT, RESULT_FIRST)
        detail = failure.difference.detail if trial.public else ""
        message = f"{failure.difference.message} {detail}".strip()
        return _result(criterion, FAILED, message, failure.example)
    except CouldNotRun as reason:
        return _result(criterion, COULD_NOT_RUN, str(reason) + LOOK)
    except Exception as bug:
        reason = f"This check itself failed ({type(bug).__name__}): a fault of the course, not of your answer."
        return _result(criterion, COULD_NOT_RUN, reason + LOOK)
    return _result(criterion, PASSED)


def _said_before(failure: Failed, told: Outcome) -> bool:
    """Whether the criterion met what the first one has told, and came to no question of its own."""
    if isinstance(failure, WrongForm) and told.message.startswith(failure.difference.message):
        return True
    return isinstance(failure, WrongResult) and failure.typical


def _result(criterion: Criterion, status: str, message: str = "", example=None) -> Outcome:
    earned = criterion.points if status == PASSED else 0.0
    return Outcome(criterion.name, criterion.sentence, status, float(criterion.points), float(earned), message,
                   example=example)


def _with_diagnoses(exercise: Exercise, trials: list[Trial], outcomes: list[Outcome]) -> Report:
    failed = [o.status in (FAILED, NOT_LOOKED_AT) and o.message != NOT_ATTEMPTED for o in outcomes]
    held = [o.status == PASSED for o in outcomes]
    names = diagnose(exercise, trials, failed, held) if any(failed) else [None] * len(outcomes)
    found = [name for name in names if name]
    ranked = tuple(sorted(dict.fromkeys(found), key=lambda name: -found.count(name)))
    known = {m.name: (m.sentence, m.see) for m in exercise.misconceptions}
    printed = next((r.printed for t in trials for r in t.replies if r.printed), "") if trials[0].public else ""
    return Report(
        exercise=exercise.name, chapter=exercise.chapter, diagnoses=ranked, printed=printed,
        outcomes=tuple(Outcome(**{**vars(o), "diagnosis": n}) for o, n in zip(outcomes, names, strict=True)),
        explanations={name: known[name] for name in ranked})
