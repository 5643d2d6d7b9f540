"""The ten names of the clinic: points for each right one, and nothing in a report that gives another away."""

import pytest

from autograder.judging.catalogue import all_exercises
from autograder.judging.judge import judge
from autograder.judging.report import NOT_ATTEMPTED
from autograder.reference.clinic import NAMES, OTHERS, TWENTY
from autograder.reporting.html import as_html
from autograder.reporting.text import as_text

EXERCISE = all_exercises()["clinic_names"]
WRONG_NAMES = {patient: [name for name in TWENTY if name != right] for patient, right in NAMES.items()}


def judged(answer, seed=None):
    return judge(answer, seed=seed, exercise="clinic_names")


def test_each_right_name_earns_half_a_point():
    known = {}
    for number, (patient, name) in enumerate(NAMES.items(), start=1):
        known[patient] = name
        report = judged(known)
        assert report.score == number / 2
        assert {o.criterion for o in report.outcomes if o.earned} == known.keys()
    assert report.score == report.points == EXERCISE.points == 5


@pytest.mark.parametrize("patient", NAMES)
def test_a_wrong_name_does_not_give_the_right_one_away(patient):
    spelt = (NAMES[patient], NAMES[patient].replace("_", " "), NAMES[patient].replace("_", "-"))
    for wrong in WRONG_NAMES[patient]:
        only = {patient: wrong}
        report = judged(NAMES | only)
        assert report.score == report.points - 0.5
        for alone in (report, judged(only)):
            said = as_text(alone) + as_html(alone)
            assert not any(words in said for words in spelt), wrong
        assert len(report.diagnoses) <= 1


def test_what_is_explained_leads_to_one_paragraph_for_all():
    assert {m.see.partition("#")[2] for m in EXERCISE.misconceptions} == {"mistake-look-alikes"}


def test_a_name_that_is_missing_is_not_attempted():
    report = judged({**NAMES, "clinic_3": None})
    assert report.score == 4.5 and report.diagnoses == ()
    assert [o.message for o in report.outcomes if not o.earned] == [NOT_ATTEMPTED]
    assert not judged({}).attempted


@pytest.mark.parametrize("answer, words", [
    (dict.fromkeys(NAMES, "seven"), "not on the list of twenty"), (dict.fromkeys(NAMES, OTHERS[0]), "suffers from"),
    (dict.fromkeys(NAMES, 7), "an int"), (list(NAMES.values()), "should be a dict"), (None, "should be a dict")])
def test_what_is_no_name_is_told(answer, words):
    for seed in (None, 7):
        report = judged(answer, seed)
        assert report.score == 0 and all(words in o.message for o in report.outcomes)


def test_the_hints_name_no_fault():
    assert not any(name in hint or name.replace("_", " ") in hint for hint in EXERCISE.hints for name in TWENTY)
