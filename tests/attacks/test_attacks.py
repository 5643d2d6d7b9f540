"""Every attack leaves the honest mark, says how the grading ended, and leaves nothing running.

The marks are read with nbgrader's own function, the way its gradebook gets them.
"""

import json
import shutil
from dataclasses import replace

import psutil
import pytest
from attacks import ATTACKS
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade

from autograder import judge
from autograder.grading.run import Run
from autograder.sandbox.limits import MIB, Limits

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
SEED = 20_261
LIMITS = replace(Limits(), cell_seconds=20, notebook_seconds=120, memory=900 * MIB)
SETUP = "import torch\nfrom torch import nn\nfrom autograder import check, hint"
WRONG = "def attention_scores(q, k):\n    return k @ q.transpose(-2, -1)"
NAMES = ("attention_scores", "weighted_sum")

STOPS_ITSELF = {"os._exit", "kill everything", "segmentation fault", "memory bomb", "fork bomb", "signals ignored",
                "endless answer", "an answer that ends the process", "exit"}
"""Attacks that may cost the attacker marks: their own process ends, or their own answer never comes."""


@pytest.fixture(scope="module")
def honest() -> dict[str, float]:
    """What the submission is worth without an attack."""
    def attention_scores(q, k):
        return k @ q.transpose(-2, -1)

    return {"attention_scores": judge(attention_scores, seed=SEED).score, "weighted_sum": 0.0}


def submission(code: str):
    def check(name):
        facts = {"grade": True, "solution": False, "locked": True, "points": 4, "grade_id": f"check_{name}"}
        return new_code_cell(f"check({name})", metadata={"nbgrader": facts})

    locked = {"grade": False, "solution": False, "locked": True, "grade_id": "imports"}
    return new_notebook(cells=[new_code_cell(SETUP, metadata={"nbgrader": locked}), new_code_cell(WRONG),
                               new_code_cell(code), *map(check, NAMES)])


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_the_honest_mark(name, honest, record_property):
    notebook = Run(submission(ATTACKS[name]), None, SEED, LIMITS)()
    cells = notebook.cells[-len(NAMES):]
    given = {n: determine_grade(cell)[0] for n, cell in zip(NAMES, cells, strict=True)}
    record_property("marks", f"{name}: honest {sum(honest.values()):g}, given {sum(given.values()):g}")
    assert all(given[n] <= honest[n] for n in NAMES), given
    if name not in STOPS_ITSELF and not any(f"{n} = " in ATTACKS[name] for n in NAMES):
        assert given == honest
    assert notebook.metadata["autograder"]["state"] in ("graded", "partly graded")
    assert not stopped_by_an_assertion(notebook), "the attack found what it looked for"
    assert len(json.dumps(notebook)) < 2_000_000
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "4711"]]


def stopped_by_an_assertion(notebook) -> bool:
    """Attack code says by an assertion or by SystemExit that it got out."""
    return any(o.output_type == "error" and o.ename in ("AssertionError", "SystemExit")
               for o in notebook.cells[2].outputs)


def test_there_are_more_attacks_than_anybody_asked_for():
    assert len(ATTACKS) >= 50
