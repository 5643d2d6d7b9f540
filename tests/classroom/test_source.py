"""Misconceptions and right variants as somebody could have typed them."""

import pytest

from autograder.classroom.source import global_names, renamed, standalone_source, undecorated
from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge
from autograder.right_answers import right_answers

EXERCISES = list(all_exercises().values())


def defined(source: str, name: str):
    namespace = {}
    exec(compile(source, "<answer>", "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_every_answer_stands_alone_and_gives_nothing_away(exercise):
    answers = [m.implementation for m in exercise.misconceptions] + right_answers(exercise.name)
    for answer in answers:
        source = standalone_source(answer, exercise.name)
        assert defined(source, exercise.name).__name__ == exercise.name
        assert not {"misconception", "right_answer", "autograder"} & global_names(source)
        assert not answer.__doc__ or answer.__doc__.strip() not in source


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_a_typed_misconception_is_judged_like_the_original(exercise):
    misconception = exercise.misconceptions[-1]
    typed = defined(standalone_source(misconception.implementation, exercise.name), exercise.name)
    original = judge(misconception.implementation, seed=3, exercise=exercise.name)
    report = judge(typed, seed=3)
    assert report.diagnoses == original.diagnoses == (misconception.name,)
    assert report.score == original.score < report.points


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_a_typed_right_answer_gets_full_marks(exercise):
    typed = defined(standalone_source(right_answers(exercise.name)[0], exercise.name), exercise.name)
    assert judge(typed, seed=3).score == exercise.points


def test_decorators_and_docstring_go_and_the_body_stays():
    source = '@mark(see="x")\ndef f(a):\n    """Says why."""\n\n    # a comment\n    return a'
    assert undecorated(source) == "def f(a):\n    # a comment\n    return a"
    assert undecorated('class A(B):\n    """Only this."""') == "class A(B):\n    pass"


def test_names_are_replaced_and_text_is_not():
    assert renamed('def f(x):\n    # f of x\n    return f(x) + "f" + fx', "f", "attend") == (
        'def attend(x):\n    # f of x\n    return attend(x) + "f" + fx')


def test_a_closure_is_refused():
    number = 3

    def closure(x):
        return x + number

    with pytest.raises(ValueError, match="closure is a closure"):
        standalone_source(closure, "answer")
