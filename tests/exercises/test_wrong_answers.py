"""No plausible wrong answer gets full marks, whatever the seed."""

import pytest
from wrong_answers import NAMED, WRONG

from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge
from autograder.reporting.html import as_html
from autograder.reporting.text import as_text

SEEDS = [pytest.param([None, 0, 1], id="few_seeds"),
         pytest.param(range(2, 50), id="seeds_2_to_49", marks=pytest.mark.deep)]


def test_every_exercise_has_more_than_ten():
    assert WRONG.keys() == all_exercises().keys()
    assert all(len(answers) > 10 for answers in WRONG.values())


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name, slip", [(name, slip) for name, answers in WRONG.items() for slip in answers])
def test_a_wrong_answer_loses_marks_and_gets_no_wrong_name(name, slip, seeds):
    for seed in seeds:
        report = judge(WRONG[name][slip], seed=seed, exercise=name)
        assert not report.needs_a_person, [outcome.message for outcome in report.outcomes]
        assert report.score < report.points, f"seed {seed}"
        assert not any("NameError" in outcome.message for outcome in report.outcomes), "the slip itself is broken"
        assert set(report.diagnoses) <= {NAMED.get((name, slip))}, f"seed {seed}"


@pytest.mark.parametrize("name", ["sinusoidal_encoding", "shift_matrix", "alibi_bias", "Encoder",
                                  "Transformer"])
def test_every_report_is_short_enough_to_read(name):
    """Of a long result, such as a table of 600 rows, the first wrong rows are shown and no more."""
    for slip, answer in WRONG[name].items():
        report = judge(answer, exercise=name)
        assert len(as_html(report)) < 60_000, slip
        assert max(map(len, as_text(report).splitlines())) < 2_500, slip
