"""What both files about the library's own functions ask of an answer that calls them."""

from autograder.judging.judge import judge
from autograder.learner.guard import SPELLINGS


def loses_exactly_the_values(name, family, answer):
    for seed in (None, 0):
        report = judge(answer, seed=seed, exercise=name)
        lost = {outcome.criterion: outcome.message for outcome in report.outcomes if outcome.status != "passed"}
        assert lost.keys() == {"values"}, lost
        assert SPELLINGS[family] in lost["values"]
        assert report.diagnoses == ()
        assert report.score <= report.points / 2
