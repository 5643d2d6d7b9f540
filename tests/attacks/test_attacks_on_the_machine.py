"""Every attack on the machine and on the people in front of it stays inside, and leaves the honest mark."""

import json
import re
import shutil

import pytest
from arena import fight, graded
from attacks import ATTACKS, MACHINE

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")


@pytest.mark.parametrize("name", [a.name for a in ATTACKS.values() if a.where == MACHINE])
def test_the_honest_mark_stands(name, record_property):
    record_property("attack", fight(ATTACKS[name]))


def test_scripts_do_not_reach_the_graded_notebook():
    cells = graded(ATTACKS["scripts in outputs"]).cells
    data = json.dumps([output for cell in cells for output in cell.outputs])
    assert not re.search(r"<script|onerror|srcdoc|javascript:|application/javascript|<svg", data)
