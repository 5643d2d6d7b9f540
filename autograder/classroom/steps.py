"""nbgrader's own steps over a classroom, in this process and one submission at a time.

The converters are nbgrader's, with the course's configuration, and are made ready once for a whole class. Its command
line would take seconds to start for each step, and has no way to be asked for one submission and then the next.
"""

import contextlib
import csv
import glob
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Student
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader
from traitlets.utils.importstring import import_item

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import opened
from autograder.settings import REPOSITORY

LOG = "nbgrader.log"


class Failure(Exception):
    """nbgrader could not do a step at all."""


class Log(logging.Handler):
    """What nbgrader says, in a file; `fault` is the exception that it last said something about."""

    def __init__(self, file: Path):
        super().__init__()
        self.file, self.fault = file, None

    def emit(self, record: logging.LogRecord) -> None:
        self.fault = sys.exc_info()[1] or self.fault
        with contextlib.suppress(OSError), self.file.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"[{record.levelname}] {record.getMessage()}\n")


class OneByOne:
    """A converter that is made ready by `start`, and then converts a student's submission when it is asked to."""

    def init_notebooks(self) -> None:
        places = glob.glob(self._format_source(self.coursedir.assignment_id, "*"))
        self.assignments, self.notebooks = {place: [] for place in places}, []

    def convert_notebooks(self) -> None:
        """nbgrader's `start` ends with this: nobody yet. An exporter may have said where the submissions are."""
        self.places = self.assignments

    def convert(self, student: str) -> None:
        """Raises NbGraderException; what nbgrader had written for this student is then gone again."""
        place = self._format_source(self.coursedir.assignment_id, student)
        self.assignments = {place: self.places.get(place) or glob.glob(f"{glob.escape(place)}/*.ipynb")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries about each other, nothing about this submission
            super().convert_notebooks()


class Autograding(OneByOne, Autograde):
    """Grades into the gradebook and the folder `autograded`."""

    failed = ""

    def start(self) -> None:
        self.made: dict[bool, list] = {}
        super().start()

    def grade(self, student: str, failed: str = "") -> None:
        """failed: why this submission is not to be run."""
        if failed != self.failed:
            self.exporter.update_config(Config(SandboxedExecute={"failed": failed}))
            self.failed, self.made = failed, {}
        self.convert(student)

    def _init_preprocessors(self) -> None:
        """nbgrader makes them anew for each notebook."""
        if self._sanitizing not in self.made:
            super()._init_preprocessors()
            self.made[self._sanitizing] = self.exporter._preprocessors
        self.exporter._preprocessors = self.made[self._sanitizing]


class Feedback(OneByOne, GenerateFeedback):
    """Writes feedback pages."""


class Steps:
    """nbgrader, for one classroom."""

    def __init__(self, classroom: Classroom):
        self.classroom = classroom
        os.environ["CLASSROOM"] = str(classroom.folder)  # nbgrader's configuration reads it
        self.config: Config = PyFileConfigLoader("nbgrader_config.py", path=str(REPOSITORY)).load_config()
        self.config.SandboxedExecute.again = False  # whoever takes these steps has just tried
        self.said = Log(classroom.folder / LOG)
        self.log = logging.Logger("nbgrader", logging.INFO)
        self.log.addHandler(self.said)

    def autograding(self, assignment: str, submitted: Path | None = None) -> Autograding:
        return self._started(Autograding, assignment, submitted_directory=str(submitted or self.classroom.submitted))

    def feedback(self, assignment: str) -> Feedback:
        return self._started(Feedback, assignment)

    def register(self, assignment: str) -> None:
        """Bring the exercise as it is now into the gradebook, and what is released of it into the classroom."""
        with self._explained(f"nbgrader generate_assignment {assignment}"):
            self._started(GenerateAssignment, assignment, release_directory=str(self.classroom.release))

    def enrol(self) -> None:
        """Bring everybody's name into the gradebook, as `nbgrader db student import` does."""
        with (self._explained("nbgrader db student import"), opened(self.classroom) as gradebook,
              self.classroom.roster.open(encoding="utf-8-sig", newline="") as file):
            for row in csv.DictReader(file):
                known = {key.strip(): value or None for key, value in row.items() if isinstance(key, str)}
                facts = {key: value for key, value in known.items() if key in Student.__table__.c}
                gradebook.update_or_create_student(facts.pop("id"), **facts)

    def export(self) -> None:
        """Write the file of marks, with the configured plug-in."""
        with self._explained("nbgrader export"), opened(self.classroom) as gradebook:
            parent = self._made(GenerateFeedback, "")
            plugin = import_item(self.config.ExportApp.plugin_class)(parent=parent)
            plugin.to = str(self.classroom.marks)
            plugin.export(gradebook)

    def _started(self, kind: type, assignment: str, **folders: str) -> Any:
        converter = self._made(kind, assignment, **folders)
        converter.start()
        return converter

    def _made(self, kind: type, assignment: str, **folders: str) -> Any:
        self.said.fault = None
        coursedir = CourseDirectory(config=self.config, assignment_id=assignment, **folders)
        return kind(coursedir=coursedir, config=self.config, log=self.log, force=True)

    @contextlib.contextmanager
    def _explained(self, command: str) -> Iterator[None]:
        """Raises Failure for whatever goes wrong, but OSError for the disk's own troubles."""
        try:
            yield
        except OSError:
            raise
        except Exception as error:
            fault = self.said.fault or error
            raise Failure(f"`{command}` failed: {type(fault).__name__}: {fault}") from None
