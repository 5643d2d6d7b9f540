"""One class, graded once with nbgrader's own commands, for all tests of the classroom."""

import json
import os
from pathlib import Path
from unittest.mock import patch

import pytest
from class_tools import ASSIGNMENT, GradedClass, mark_by_hand
from filelock import FileLock
from hypothesis import settings

from autograder.classroom import sample
from autograder.classroom.folders import Classroom
from autograder.classroom.pipeline import Course

settings.register_profile("course", deadline=None, derandomize=True)
settings.load_profile("course")  # no test depends on the day, nor on how busy the machine is
COMMENT = "Good: you saw that $S_{ij} = S_{ji}$. <script>alert(1)</script>"


TRANSLATOR = Path(__file__).parent / "translator"
"""Holds `translator.pt`, as the solution of chapter 8 trains it: trained anew, it would be another on each machine."""


@pytest.fixture(autouse=True)
def beside(request, monkeypatch):
    """What answers `translate` finds the trained file beside it, as if it had been handed in."""
    if "translate" in request.node.name:
        monkeypatch.chdir(TRANSLATOR)


@pytest.fixture(autouse=True)
def own_environment():
    """What a command sets for its own process (`--no-sandbox`, CLASSROOM) does not reach the next test."""
    with patch.dict(os.environ):
        yield


@pytest.fixture(scope="session")
def graded(tmp_path_factory) -> GradedClass:
    """Eight students of chapter 4, graded; graded again; and a third time after a person marked a written answer.

    Processes that test side by side (pytest-xdist) share the class: the first one grades it, the others wait.
    """
    folder = tmp_path_factory.getbasetemp().resolve()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    result, said = GradedClass(Classroom(folder / "class")), folder / "said.json"
    with FileLock(folder / "class.lock"):
        if not said.exists():
            said.write_text(json.dumps(grade_three_times(result.classroom)))
    result.first, result.second, result.third = json.loads(said.read_text())
    return result


def grade_three_times(classroom: Classroom) -> list[list[str]]:
    """What the grading says each time."""
    said = [[], [], []]
    sample.write_class(classroom, 8, sample.SEED, [ASSIGNMENT])
    assert Course(classroom, say=said[0].append).grade([ASSIGNMENT])
    assert Course(classroom, say=said[1].append).grade([ASSIGNMENT])
    mark_by_hand(classroom, "ada", 3.5, COMMENT)
    assert Course(classroom, say=said[2].append).grade([ASSIGNMENT])
    return said


def pytest_terminal_summary(terminalreporter):
    """The corpus of attacks, a line each, from whichever process ran them."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    lines = [str(value) for report in reports for name, value in report.user_properties if name == "attack"]
    if lines:
        terminalreporter.write_sep("=", f"{len(lines)} attacks kept to the honest mark")
        for line in sorted(lines):
            terminalreporter.write_line(line)
