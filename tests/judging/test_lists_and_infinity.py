"""Results that are lists, or that hold infinity where it is right."""

import pytest
import torch

from autograder.judging.exercise import Exercise
from autograder.judging.judge import judge_answer
from autograder.judging.standard import add_standard_criteria
from autograder.learner.calls import Call
from autograder.learner.runner import run


def judged(answer, exercise):
    return judge_answer(exercise, lambda call, seed: run(answer, call, seed))


def ends() -> Exercise:
    """Two lists, of which the first may have any length."""
    exercise = Exercise("ends", "00_test", lambda words: (words[:2], [len(words)]), lambda given: Call(([7, 8, 9],)),
                        returns=("start", "count"), hints=("h",))
    add_standard_criteria(exercise, values=1)
    return exercise


@pytest.mark.parametrize("answer, message", [
    (lambda words: (words, [3]), "`start` is wrong. Yours is [7, 8, 9], right is [7, 8]."),
    (lambda words: (words[:2], []), "`count` is wrong. Yours is [], right is [3]."),
    (lambda words: (words[:2], [torch.tensor(3)]), "`count` is wrong. Yours is [tensor(3)], right is [3]."),
    (lambda words: (words[:2], [True + 2.0]), "`count` is wrong. Yours is [3.0], right is [3]."),
    (lambda words: (words[:2], torch.tensor([3])), "`count` should be a list; yours is a tensor."),
    (lambda words: (words[:2], "3"), "`count` should be a list; yours is a str."),
    (lambda words: words[:2], "`start` should be a list; yours is an int."),
])
def test_lists_are_compared_whole_and_a_wrong_length_is_shown(answer, message):
    assert judged(lambda words: (tuple(words[:2]), [3]), ends()).score == 1
    assert judged(answer, ends()).outcomes[0].message == message


def test_where_infinity_is_right_elsewhere_too_much_of_it_is_a_wrong_value():
    exercise = Exercise("cut", "00_test", lambda x: x.masked_fill(x < 0, -torch.inf),
                        lambda given: Call((torch.tensor([-1.0, 2.0]),)), returns=("y",), hints=("h",))
    add_standard_criteria(exercise, values=1)
    outcome = judged(lambda x: x - torch.inf, exercise).outcomes[0]
    assert outcome.message == "50 % of the values of `y` differ from the right ones." and outcome.example
    outcome = judged(lambda x: x * torch.nan, exercise).outcomes[0]
    assert outcome.message == "The result contains NaN. All values of it are NaN. Called with `x` (2,)."
