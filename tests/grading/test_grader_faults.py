"""Where the grader itself is to blame, or no sandbox came up, the next run tries again and nobody keeps the 0."""

import errno
import os
import shutil
import tempfile
from copy import deepcopy
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.classroom.execution import Executed, Way
from autograder.grading import run
from autograder.grading.cluster import Done
from autograder.grading.jobs import Job, execute
from autograder.grading.plugin import SandboxedExecute
from autograder.grading.store import Store
from autograder.sandbox import provisioner
from autograder.sandbox.answering import NotStarted, OutOfTime
from autograder.sandbox.kernel import Sandbox
from autograder.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
SUM = "def weighted_sum(weights, v):\n    return weights @ v"


def check(source):
    facts = {"grade": True, "solution": False, "locked": True, "points": 4, "grade_id": source}
    return new_code_cell(source, metadata={"nbgrader": facts})


HANDED_IN = new_notebook(cells=[new_code_cell(SUM), check("check(weighted_sum)")])


@pytest.fixture
def full_once(monkeypatch):
    """The disk is full when the first sandbox is built."""
    left = [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))]

    def mkdtemp(**arguments):
        if left:
            raise left.pop()
        return tempfile.mkdtemp(**arguments)

    monkeypatch.setattr(provisioner, "tempfile", SimpleNamespace(mkdtemp=mkdtemp))
    return left


def graded_by(store: Store) -> tuple[list[Executed], int]:
    """What becomes of one student in a run, and how many submissions were executed for it."""
    way = Way(iter([(Executed("ada"), [Job(deepcopy(HANDED_IN), {}, 7, Limits(), True)])]), store, force=False)
    ran = []

    def results():
        for job in way.jobs():
            ran.append(job.key)
            yield Done(job.key, execute(job.to_bytes()))

    return list(way.back(results())), len(ran)


def test_a_full_disk_costs_nobody_the_mark(full_once, tmp_path):
    store = Store(tmp_path)
    [ada], ran = graded_by(store)
    assert (ada.failed, ada.again, ran) == (True, True, 1) and not full_once
    [ada], ran = graded_by(store)
    assert (ada.failed, ada.again, ran) == (False, False, 1)
    assert graded_by(store)[1] == 0


def test_nbgrader_alone_tries_again_and_the_grading_takes_what_it_has_just_tried(full_once, tmp_path, monkeypatch):
    monkeypatch.setenv("CLASSROOM", str(tmp_path))

    def state(**options):
        notebook = SandboxedExecute(**options).preprocess(deepcopy(HANDED_IN), {})[0]
        return notebook.metadata["autograder"]["state"]

    assert [state(), state(again=False), state(), state(again=False)] == ["failed", "failed", "graded", "graded"]


def test_a_sandbox_that_does_not_start_is_no_fault_of_the_submission(monkeypatch):
    def silent(*arguments):
        raise OutOfTime("The code gave no answer within 60 seconds.")

    monkeypatch.setattr(Sandbox, "_wait_for_reply", silent)
    state = run.Run(deepcopy(HANDED_IN), None, 7)().metadata["autograder"]
    assert (state["state"], state["again"]) == ("failed", True) and "did not start" in state["reason"]


def test_nor_is_one_that_does_not_come_back_after_a_crash(monkeypatch):
    started = []

    def second_fails(*arguments):
        started.append(arguments)
        if len(started) == 2:
            raise NotStarted("The sandbox did not start.")
        return Sandbox(*arguments)

    notebook = deepcopy(HANDED_IN)
    notebook.cells.append(new_code_cell("import os; os._exit(1)"))
    monkeypatch.setattr(run, "Sandbox", second_fails)
    state = run.Run(notebook, None, 7)().metadata["autograder"]
    assert (state["state"], state["again"]) == ("partly graded", True)
    assert notebook.cells[1].outputs[-1].data["text/plain"] == "4.0"
