"""Names the mistake: which misconception computes the same as the answer, on the same inputs?

An answer that equals one misconception on every call of every criterion is that misconception. Otherwise (two
mistakes at once, say) each failed criterion is compared by itself, and only a single match counts; not where the
exercise says that this proves too little (`named_whole`), and not a misconception that fails where the answer holds.
The same exception is no proof: then both are run once more, on inputs where every shape fits every other.
"""

import re
from collections.abc import Sequence
from contextlib import suppress

from autograder.judging.compare import same_data
from autograder.judging.exercise import Exercise, Misconception
from autograder.judging.known import Asked, reply_of
from autograder.judging.trial import CouldNotRun, Failed, NotAttempted, ResultFirst, Trial
from autograder.learner.calls import Call, Reply


def diagnose(exercise: Exercise, trials: Sequence[Trial], failed: Sequence[bool],
             held: Sequence[bool]) -> list[str | None]:
    """For each criterion's trial the misconception's name, or None."""
    replay = _Replay(exercise)
    asked = [trial for trial in trials if trial.calls]
    lost = [trial for trial, wrong in zip(trials, failed, strict=True) if wrong and trial.calls]
    won = [trial for trial, right in zip(trials, held, strict=True) if right]
    for m in exercise.misconceptions:
        if all(replay.agrees(m, trial) for trial in asked) and replay.runs_alike(m, lost):
            return [m.name if wrong else None for wrong in failed]
    return [_only_match(exercise, replay, trial, won) if wrong else None
            for trial, wrong in zip(trials, failed, strict=True)]


def _only_match(exercise: Exercise, replay: "_Replay", trial: Trial, won: Sequence[Trial]) -> str | None:
    if exercise.named_whole or not trial.calls or any(reply.used for reply in trial.replies):
        return None
    matches = [m for m in exercise.misconceptions if replay.agrees(m, trial) and replay.runs_alike(m, [trial])]
    single = len(matches) == 1 and not any(replay.fails(matches[0], other) for other in won)
    return matches[0].name if single else None


class _Replay:
    """What misconceptions give for the calls that an answer was asked."""

    def __init__(self, exercise: Exercise):
        self.exercise = exercise
        self.seen: dict[tuple[str, str], bool] = {}
        self.asked: dict[str, list[Asked]] = {}
        self.even: Trial | None = None

    def agrees(self, misconception: Misconception, trial: Trial) -> bool:
        key = misconception.name, trial.criterion
        if key not in self.seen:
            asked = self.asked.setdefault(trial.criterion, [Asked(call) for call in trial.calls])
            theirs = (reply_of(misconception.implementation, call, i) for i, call in enumerate(asked))
            if self.exercise.agreement is None:
                self.seen[key] = all(map(same_reply, trial.replies, theirs))  # which stops at the first that differs
            else:
                self.seen[key] = self.exercise.agreement(trial.calls, trial.replies, list(theirs))
        return self.seen[key]

    def runs_alike(self, misconception: Misconception, lost: Sequence[Trial]) -> bool:
        """Whether both agree where shapes do not matter either, if all that they share is how each criterion ended."""
        if not lost or any(trial.replies[-1].status != "raised" for trial in lost):
            return True
        if self.even is None:
            trial = lost[0]
            self.even = Trial(trial.exercise, "even sizes", trial.answer, trial.seed, public=False)
            with suppress(CouldNotRun, NotAttempted):
                self.even.ask_where_shapes_fit()
        return self.agrees(misconception, self.even)

    def fails(self, misconception: Misconception, trial: Trial) -> bool:
        """Whether the misconception does not pass the trial's criterion."""
        theirs = Trial(trial.exercise, trial.criterion, lambda call, i: reply_of(misconception.implementation,
                                                                                 Asked(call), i), trial.seed, False)
        criterion = next(c for c in self.exercise.criteria if c.name == trial.criterion)
        try:
            criterion.check(theirs)
        except (Failed, ResultFirst):
            return True
        except (CouldNotRun, NotAttempted):
            pass
        return False


def all_the_same(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """Whether each reply equals its counterpart: outcome, values, gradients, side effects."""
    return all(same_reply(a, b) for a, b in zip(mine, theirs, strict=True))


def same_reply(a: Reply, b: Reply) -> bool:
    if (a.status, a.parameters, a.changed) != (b.status, b.parameters, b.changed):
        return False
    if a.status == "raised":
        refused = a.error.kind == "AssertionError"  # then the text, if there is one, is the learner's own
        return a.error.kind == b.error.kind and (refused or _of_any_class(a.error.text) == _of_any_class(b.error.text))
    return (same_data(a.output, b.output) and same_data(a.gradients, b.gradients)
            and same_data(a.parameter_gradients, b.parameter_gradients))


def _of_any_class(text: str) -> str:
    """The text of an exception without the class's name in front of a method: `forward() missing 1 required ...`."""
    return re.sub(r"[\w.<>]+\.(\w+\(\))", r"\1", text)
