"""Full marks for whatever is right, however it is written; "not attempted" for a stub."""

import inspect

import pytest
from notebook_cells import CHAPTERS, definitions

from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge
from autograder.judging.report import FAILED, NOT_ATTEMPTED
from autograder.right_answers import right_answers

EXERCISES = all_exercises()
SEEDS = [pytest.param([None, *range(10)], id="seeds_0_to_9"),
         pytest.param(range(50), id="seeds_0_to_49", marks=pytest.mark.deep)]
RIGHT = [(name, "reference", exercise.reference) for name, exercise in EXERCISES.items()]
RIGHT += [(name, "solution", definitions("solutions", chapter)[name])
          for chapter in CHAPTERS for name, exercise in EXERCISES.items() if exercise.chapter == chapter]
RIGHT += [(name, answer.__name__, answer) for name in EXERCISES for answer in right_answers(name)]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name, answer", [pytest.param(n, a, id=f"{n}-{how}") for n, how, a in RIGHT])
def test_a_right_answer_gets_full_marks(name, answer, seeds):
    for seed in seeds:
        report = judge(answer, seed=seed, exercise=name)
        lost = [(outcome.criterion, outcome.message) for outcome in report.outcomes if outcome.earned < outcome.points]
        assert not lost, f"seed {seed}"
        assert report.score == report.points == EXERCISES[name].points


@pytest.mark.parametrize("name", EXERCISES)
def test_there_are_at_least_six_right_answers_and_none_is_a_copy_of_another(name):
    bodies = [inspect.getsource(answer).partition("\n")[2].partition("\n")[2] for answer in right_answers(name)]
    assert len(set(bodies)) == len(bodies) >= 6


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_stub_is_not_attempted(chapter):
    released = definitions("exercises", chapter)
    for name in (name for name, exercise in EXERCISES.items() if exercise.chapter == chapter):
        report = judge(released[name], exercise=name)
        assert {(o.status, o.message, o.earned) for o in report.outcomes} == {(FAILED, NOT_ATTEMPTED, 0.0)}
        assert report.diagnoses == () and not report.attempted
