"""How a submission enters `nbgrader autograde`: the converter's exporter is the one place that reads the file.

Set as `Autograde.exporter_class`. Before nbgrader looks at any submission, the exporter gives it a private folder in
place of the submitted one (`staging`). There every submission has the notebooks that were asked for, under their own
names, even if what was handed in was renamed ("scaling (1).ipynb"), a link, or nothing at all. A file that cannot be
read becomes the released exercise with the reason in its metadata, so that the submission ends as "failed" with marks
of its own, and not with an older mark or with a stopped class.
"""

import difflib
import glob
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder.grading.intake import Refused, read_submission, rebuild
from autograder.grading.staging import instructors_files, is_linked, private_copy, stage_files, stage_time
from autograder.sandbox.scratch import scratch

REFUSED = "autograder_refused"
"""Notebook metadata: why the submission was not read."""


class InPlace:
    """Lets preprocessors work on the notebook itself, which was read for this one conversion.

    nbconvert's own makes two copies more before they begin.
    """

    def _preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        self._validate_preprocessor(nb, preprocessor)
        return nb, resources


class IntakeExporter(InPlace, NotebookExporter):
    """Reads submissions with suspicion; everything else as nbconvert does."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.sources: dict[str, Path | Refused] = {}
        self.exercises: dict[tuple[str, str], NotebookNode] = {}
        self.names: dict[str, set[str]] = {}
        self.staged: dict[Path, Path] = {}
        if hasattr(self.parent, "sanitize_preprocessors"):
            self.parent.pre_convert_hook = self.prepare
            if self.parent.assignments:
                self.stage()

    def stage(self) -> None:
        """Give the converter a private folder of submissions, with a place in it for each that was handed in."""
        parent, original = self.parent, self.parent.coursedir
        self.folder = tempfile.TemporaryDirectory(prefix="intake-", dir=scratch())
        handed_in = glob.glob(parent._format_source(original.assignment_id, original.student_id))
        pattern = parent._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        parent.coursedir, assignments = private_copy(original, Path(self.folder.name)), {}
        for folder in sorted(handed_in):
            found = re.fullmatch(pattern, folder, re.DOTALL)
            if found is None or not found["student"].isprintable() or not Path(folder).is_dir():
                self.log.warning("Not a submission: %r", folder)
                continue
            place = Path(parent._format_source(found["assignment"], found["student"]))
            place.mkdir(parents=True)
            stage_time(Path(folder), place)
            names = self.expected(found["assignment"]) or {path.stem for path in Path(folder).glob("*.ipynb")}
            if original.notebook_id != "*":
                names &= {original.notebook_id}
            assignments[str(place)] = [str(place / f"{name}.ipynb") for name in sorted(names)]
            self.staged[place] = Path(folder)
        parent.assignments = assignments

    def from_filename(self, filename: str, resources: dict | None = None, **kwargs: Any) -> tuple[Any, dict]:
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources=resources, **kwargs)
        notebook = self.taken_in(Path(filename), resources["nbgrader"])
        resources.setdefault("metadata", {})["path"] = str(Path(filename).parent)
        return self.from_notebook_node(notebook, resources=resources, **kwargs)

    def taken_in(self, path: Path, names: dict[str, str]) -> NotebookNode:
        """The notebook that will be graded, in place of the submitted file."""
        original = self.original(names)
        try:
            source = self.sources.get(str(path), Refused(f"{path.name} could not be taken in."))
            if isinstance(source, Refused):
                raise source
            return rebuild(original, read_submission(source))
        except Refused as reason:
            self.log.warning("Refused %s: %s", path, reason)
            notebook = rebuild(original, [])
            notebook.metadata[REFUSED] = str(reason)
            return notebook

    def original(self, names: dict[str, str]) -> NotebookNode:
        """The exercise as the gradebook knows it, looked up once for the whole class; `rebuild` leaves it as it is."""
        key = names["assignment"], names["notebook"]
        if key not in self.exercises:
            self.exercises[key] = self.in_gradebook(names)
        return self.exercises[key]

    def in_gradebook(self, names: dict[str, str]) -> NotebookNode:
        """Cells of the source notebook, with the text that was released."""
        coursedir = self.parent.coursedir
        source = Path(coursedir.format_path(coursedir.source_directory, ".", names["assignment"]))
        notebook = nbformat.read(source / f"{names['notebook']}.ipynb", as_version=4)
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            for cell in notebook.cells:
                grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
                if grade_id:
                    known = gradebook.find_source_cell(grade_id, names["notebook"], names["assignment"])
                    cell.source = known.source
        return notebook

    def prepare(self, assignment: str, student: str, notebooks: list[str]) -> None:
        """nbgrader's hook before a submission is copied; `notebooks` is its own list, changed in place.

        Finds the file that each notebook of the assignment was handed in as, and copies the files beside them.
        """
        if not notebooks:
            return
        place = Path(notebooks[0]).parent
        folder = self.staged.get(place, place)
        expected = self.expected(place.name)
        notebooks[:] = [str(place / f"{name}.ipynb") for name in sorted(expected)] or notebooks
        if is_linked(folder):
            self.sources.update(dict.fromkeys(notebooks, Refused(f"{folder} is a link; hand in the files themselves.")))
        else:
            self.sources |= {str(place / f"{name}.ipynb"): found for name, found in find(expected, folder).items()}
        if place in self.staged:
            for notebook in notebooks:
                Path(notebook).touch()  # nbgrader asks whether it is there, and leaves the reading to the exporter
            if not is_linked(folder):
                self.copy_files(folder, place)

    def copy_files(self, folder: Path, place: Path) -> None:
        own = self.parent.exclude_overwriting.get(place.name, [])
        left_out = stage_files(folder, place, instructors_files(self.parent.coursedir, place.name, own))
        if left_out:
            self.log.warning("Left out of %s: %s", folder, ", ".join(map(repr, left_out[:10])))

    def expected(self, assignment: str) -> set[str]:
        """The notebooks of an assignment, by name; looked up once."""
        if assignment not in self.names:
            coursedir = self.parent.coursedir
            with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
                try:
                    found = {notebook.name for notebook in gradebook.find_assignment(assignment).notebooks}
                except MissingEntry:
                    found = set()
            self.names[assignment] = found
        return set(self.names[assignment])


def find(expected: set[str], folder: Path) -> dict[str, Path | Refused]:
    """For each notebook that was asked for, the file that it was handed in as, or why there is none."""
    present = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".ipynb")
    strangers = [path for path in present if path.name not in {f"{name}.ipynb" for name in expected}]
    found: dict[str, Path | Refused] = {}
    for name in sorted(expected):
        path = folder / f"{name}.ipynb"
        if path not in present:
            path = recognised(name, strangers, alone=len(expected) == 1)
        if path in strangers:
            strangers.remove(path)
        found[name] = path or Refused(f"There is no {name}.ipynb in what was handed in.")
    return found


def recognised(name: str, strangers: list[Path], alone: bool) -> Path | None:
    """The file that was once called `name`: "name (1)", "name-Copy2", "ada_name_final"; or the only file there is."""
    def plain(text: str) -> str:
        return re.sub(r"(\s*\(\d+\)|[-_ ]?copy\s?\d*|[-_ ]final|[-_ ]?v?\d+)$", "", text.lower()).strip(" -_")

    exact = [path for path in strangers if plain(path.stem) == plain(name) or name.lower() in path.stem.lower()]
    if exact:
        return exact[0]
    if alone and len(strangers) == 1:
        return strangers[0]
    near = difflib.get_close_matches(name, [path.stem for path in strangers], n=1, cutoff=0.8)
    return next((path for path in strangers if near and path.stem == near[0]), None)
