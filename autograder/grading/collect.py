"""Takes a class's submissions in before nbgrader does, in the same way, so that they can be executed beforehand.

The course's own nbgrader configuration decides: its folders, what it ignores, its exporter, its limits. So what a
worker executes is, cell by cell and file by file, what the plug-in will ask for.
"""

import glob
import logging
from pathlib import Path

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import find_all_files
from traitlets.config import Config, PyFileConfigLoader

from autograder.grading.exporter import REFUSED, IntakeExporter
from autograder.grading.jobs import Job, materials
from autograder.grading.plugin import SandboxedExecute
from autograder.settings import REPOSITORY


class NotTakenIn(Exception):
    """A submission that nbgrader would pass over; the message says why, for the learner and the instructor."""


class Collection:
    """The submissions of one assignment, in the classroom that the environment's CLASSROOM names."""

    def __init__(self, assignment: str):
        config: Config = PyFileConfigLoader("nbgrader_config.py", path=str(REPOSITORY)).load_config()
        self.assignment = assignment
        coursedir = CourseDirectory(config=config, assignment_id=assignment)
        self.converter = Autograde(coursedir=coursedir, config=config)
        self.converter.log = logging.getLogger("autograder.quiet")
        self.converter.log.setLevel(logging.CRITICAL)  # nbgrader will say it again, into its own log
        folders = glob.glob(self.converter._format_source(assignment, "*"))
        self.converter.assignments = {folder: glob.glob(f"{glob.escape(folder)}/*.ipynb") for folder in folders}
        self.exporter = IntakeExporter(parent=self.converter, config=config)
        self.plugin = SandboxedExecute(parent=self.exporter)

    def jobs(self, student: str) -> list[Job]:
        """What has to be executed. Raises NotTakenIn where nbgrader would not even begin."""
        place = Path(self.converter._format_source(self.assignment, student))
        notebooks = list(self.converter.assignments.get(str(place), []))
        self.exporter.prepare(self.assignment, student, notebooks)
        expected = self.exporter.expected(self.assignment)
        known = [path for path in map(Path, notebooks) if path.stem in expected]
        if not known:
            raise NotTakenIn(f"There is no {' or '.join(f'{name}.ipynb' for name in sorted(expected))} "
                             "in what was handed in.")
        files = self.files(place)
        taken = [self.exporter.taken_in(path, {"student": student, "assignment": self.assignment,
                                               "notebook": path.stem}) for path in known]
        return [self.plugin.job(notebook, files) for notebook in taken if REFUSED not in notebook.metadata]

    def files(self, place: Path) -> dict[str, bytes]:
        """What will lie beside the notebook: the learner's files, under the instructor's of the same name."""
        coursedir = self.converter.coursedir
        source = coursedir.format_path(coursedir.source_directory, ".", self.assignment)
        own = {Path(source) / name for name in self.converter.exclude_overwriting.get(self.assignment, [])}
        found = {Path(name).relative_to(top).as_posix(): Path(name) for top in (str(place), source)
                 for name in find_all_files(top, [*coursedir.ignore, "*.ipynb"]) if Path(name) not in own}
        return materials(found.items())

