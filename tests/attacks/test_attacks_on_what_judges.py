"""Every attack on the judging leaves the honest mark, says how the grading ended, and leaves nothing running."""

import shutil

import pytest
from arena import fight, honest_marks
from attacks import ATTACKS, JUDGES

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")


@pytest.mark.parametrize("name", [a.name for a in ATTACKS.values() if a.where == JUDGES])
def test_the_honest_mark_stands(name, record_property):
    record_property("attack", fight(ATTACKS[name]))


def test_honest_marks_can_be_raised_and_lowered():
    marks = honest_marks()
    assert marks["attention_scores"] == 4 and 0 < marks["attention_weights"] < 8 and marks["weighted_sum"] == 0
    assert len(ATTACKS) >= 60
