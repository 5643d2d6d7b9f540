"""Where attacks meet the grader: a submission with honest answers and an attack in it, and what it is worth."""

import json
import time
from dataclasses import replace
from functools import cache

import psutil
from attacks import DETACHED, Attack
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade

from autograder import judge
from autograder.grading.run import Run
from autograder.sandbox.limits import MIB, Limits

SEED = 20_261
LIMITS = replace(Limits(), notebook_seconds=120, memory=900 * MIB)
SETUP = "import torch\nfrom torch import nn\nfrom autograder import check, hint"
ANSWERS = {
    "attention_scores": "def attention_scores(q, k):\n    return q @ k.transpose(-2, -1)",
    "attention_weights": "def attention_weights(scores):\n    return scores.exp() / scores.exp().sum(-1, keepdim=True)",
}
POINTS = {"attention_scores": 4, "attention_weights": 8, "weighted_sum": 4}
ATTACK_CELL = 1 + len(ANSWERS)


@cache
def honest_marks() -> dict[str, float]:
    """What the answers are worth, judged on this side of the wall."""
    import torch

    defined: dict = {"torch": torch}
    for source in ANSWERS.values():
        exec(source, defined)
    return {name: judge(defined[name], seed=SEED).score if name in defined else 0.0 for name in POINTS}


def submission(attack: Attack) -> NotebookNode:
    def check(name):
        facts = {"grade": True, "solution": False, "locked": True, "points": POINTS[name], "grade_id": f"check_{name}"}
        return new_code_cell(f"check({name})", metadata={"nbgrader": facts})

    locked = {"grade": False, "solution": False, "locked": True, "grade_id": "imports"}
    code = [new_code_cell(source) for source in (*ANSWERS.values(), attack.code)]
    return new_notebook(cells=[new_code_cell(SETUP, metadata={"nbgrader": locked}), *code, *map(check, POINTS)])


def graded(attack: Attack) -> NotebookNode:
    limits = replace(LIMITS, cell_seconds=attack.seconds, notebook_seconds=LIMITS.notebook_seconds + attack.seconds)
    return Run(submission(attack), None, SEED, limits)()


def marks_given(notebook: NotebookNode) -> dict[str, float]:
    """The marks as nbgrader's own function reads them from the check cells."""
    checks = notebook.cells[-len(POINTS):]
    return {name: determine_grade(cell)[0] for name, cell in zip(POINTS, checks, strict=True)}


def fight(attack: Attack) -> str:
    """Grade the attack and hold the result to what is promised; a line for the table."""
    notebook = graded(attack)
    honest, given = honest_marks(), marks_given(notebook)
    line = f"{attack.name:<45} honest {sum(honest.values()):>4g}   given {sum(given.values()):>4g}"
    assert all(given[name] <= honest[name] for name in POINTS), f"stolen: {line}"
    assert attack.harms_itself or given == honest, f"an honest answer lost marks: {line}"
    assert notebook.metadata["autograder"]["state"] in ("graded", "partly graded")
    escaped = [o for o in notebook.cells[ATTACK_CELL].outputs
               if o.output_type == "error" and o.ename in ("AssertionError", "SystemExit")]
    assert not escaped, escaped
    text = json.dumps(notebook, ensure_ascii=False).encode("utf-8")  # it can be written
    assert len(text) < 2_000_000 and str(SEED) not in text.decode()
    end = time.monotonic() + 20
    while (left := running(DETACHED)) and time.monotonic() < end:
        time.sleep(0.05)
    assert left == 0
    return line + ("   (harms itself)" if given != honest else "")


def running(command: list[str]) -> int:
    """How many processes run just this."""
    return sum(process.info["cmdline"] == command for process in psutil.process_iter(["cmdline"]))
