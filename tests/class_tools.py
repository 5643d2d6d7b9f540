"""What the tests of the classroom share: a graded class, and nbgrader's command line."""

import os
import random
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import opened
from autograder.settings import REPOSITORY

ASSIGNMENT = "04_self_attention"
NOTEBOOK = "self_attention"


@dataclass
class GradedClass:
    """The classroom, and what the grading said each time."""

    classroom: Classroom
    first: list[str] = field(default_factory=list)
    second: list[str] = field(default_factory=list)
    third: list[str] = field(default_factory=list)

    def autograded(self, student: str) -> nbformat.NotebookNode:
        return nbformat.read(self.classroom.autograded / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb", 4)

    def page(self, student: str) -> Path:
        return self.classroom.feedback / student / ASSIGNMENT / f"{NOTEBOOK}.html"


def mark_by_hand(classroom: Classroom, student: str, score: float, comment: str) -> None:
    """What an instructor does in formgrader."""
    with opened(classroom) as gradebook:
        where = ("why_three_projections", NOTEBOOK, ASSIGNMENT, student)
        gradebook.find_grade(*where).manual_score = score
        gradebook.find_grade(*where).needs_manual_grade = False
        gradebook.find_comment(*where).manual_comment = comment
        gradebook.db.commit()


def free_port() -> int:
    """A port of this machine, below those that the system itself gives to whoever asks for any."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def nbgrader(*arguments: str, cwd: Path = REPOSITORY, check: bool = True, **environment: str) -> str:
    """Run nbgrader's command line; its output."""
    result = subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=cwd, env=os.environ | environment,
                            capture_output=True, text=True, timeout=900)
    said = result.stdout + result.stderr
    assert not check or result.returncode == 0, said
    return said
