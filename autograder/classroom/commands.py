"""Runs nbgrader's own commands over a classroom, and tells which submissions they have brought to an end.

What nbgrader prints is shown to nobody unasked and never believed: a submission's file names are part of it. A
submission is done when its result lies in the step's folder.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.classroom.folders import Classroom
from autograder.settings import REPOSITORY

LOG = "nbgrader.log"
NBGRADER = "import autograder.light; from nbgrader.apps.nbgraderapp import main; main()"
MENTIONED = re.compile(r"\] (?:Sanitizing|Converting notebook|Setting destination)")
PLACE = re.compile(r"/([^/]+)/[^/]+/[^/]+\.ipynb$")


class Failure(Exception):
    """nbgrader could not do a step at all."""


class Commands:
    """nbgrader, for one classroom."""

    def __init__(self, classroom: Classroom):
        self.classroom = classroom
        self.last = ""

    def start(self, arguments: list[str], **environment: str) -> subprocess.Popen:
        environment = os.environ | {"CLASSROOM": str(self.classroom.folder), "PYTHONUNBUFFERED": "1"} | environment
        environment.setdefault("OMP_NUM_THREADS", "1")  # tensors are tiny: more threads only get in each other's way
        return subprocess.Popen([sys.executable, "-c", NBGRADER, *arguments], cwd=REPOSITORY, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                                errors="replace", preexec_fn=end_with_parent if sys.platform == "linux" else None)

    def run(self, *arguments: str) -> None:
        """Run one command that concerns nobody in particular. Raises Failure with what it said."""
        with self.start(list(arguments)) as process:
            said = process.stdout.read()
        if process.returncode != 0:
            raise Failure(f"`nbgrader {' '.join(arguments)}` failed:\n{said.strip()}")

    def steps(self, command: str, assignment: str, students: list[str], finished: Callable[[str], bool],
              submitted: Path | None = None, **environment: str) -> Iterator[str]:
        """Run one command over some students; each who is finished, as soon as possible."""
        if not students:
            return
        submitted = submitted or self.classroom.submitted
        others = {path.parent.name for folder in (submitted, self.classroom.autograded)
                  for path in folder.glob(f"*/{assignment}")} - set(students)
        arguments = [command, assignment, "--force", f"--CourseDirectory.submitted_directory={submitted}",
                     f"--CourseDirectory.student_id_exclude={','.join(sorted(others))}"]
        waiting, current = dict.fromkeys(students), None
        for line in self._lines(arguments, environment):
            if not MENTIONED.search(line):
                continue
            found = PLACE.search(line)
            if (found is None or found[1] != current) and current in waiting and finished(current):
                del waiting[current]
                yield current
            current = found[1] if found else None
        yield from filter(finished, waiting)

    def _lines(self, arguments: list[str], environment: dict[str, str]) -> Iterator[str]:
        """What the command prints, also kept in the log; `last` is the last line that says more than "failed"."""
        log = (self.classroom.folder / LOG).open("a", encoding="utf-8")
        process = self.start(arguments, **environment)
        try:
            for line in process.stdout:
                log.write(line)
                line = line.rstrip()
                if line and "App | " not in line:
                    self.last = line
                yield line
        finally:
            process.kill() if sys.exc_info()[0] else None
            process.stdout.close()
            process.wait()
            log.close()


def end_with_parent() -> None:
    """Linux: a grader that is killed takes its nbgrader with it, so that a new run finds the classroom still."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
