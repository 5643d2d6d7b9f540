"""Every misconception loses marks and is named as itself, and as nothing else."""

import re

import pytest

from autograder.book.chapters import CHAPTERS
from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge

EXERCISES = all_exercises()
SEEDS = [pytest.param([None, *range(10)], id="seeds_0_to_9"),
         pytest.param(range(50), id="seeds_0_to_49", marks=pytest.mark.deep)]
MISCONCEPTIONS = [pytest.param(name, m, id=f"{name}-{m.name}")
                  for name, exercise in EXERCISES.items() for m in exercise.misconceptions]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name, misconception", MISCONCEPTIONS)
def test_a_misconception_loses_marks_and_is_named(name, misconception, seeds):
    for seed in seeds:
        report = judge(misconception.implementation, seed=seed, exercise=name)
        assert report.score < report.points
        assert report.diagnoses == (misconception.name,), f"seed {seed}"
        failed = [outcome for outcome in report.outcomes if outcome.status != "passed"]
        assert {outcome.diagnosis for outcome in failed} == {misconception.name}


@pytest.mark.parametrize("name", EXERCISES)
def test_there_are_enough_of_them_and_names_are_unique(name):
    names = [m.name for m in EXERCISES[name].misconceptions]
    assert len(set(names)) == len(names) >= 5


@pytest.mark.parametrize("name, misconception", MISCONCEPTIONS)
def test_it_is_one_sentence_and_points_into_the_book(name, misconception):
    assert misconception.sentence[0].isupper() and misconception.sentence.endswith(".")
    assert len(misconception.sentence) <= 140
    page, _, anchor = misconception.see.partition("#")
    assert page in {chapter.id for chapter in CHAPTERS} and re.fullmatch(r"mistake-[a-z-]+", anchor)
