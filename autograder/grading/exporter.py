"""How a submission enters `nbgrader autograde`: the converter's exporter is the one place that reads the file.

Set as `Autograde.exporter_class`. For each submission it also, before nbgrader copies anything,
- recognises a notebook that was renamed ("scaling (1).ipynb"), and
- keeps links out of the copying, which would follow them.
A file that cannot be read becomes the released exercise with the reason in its metadata, so that the submission ends
as "failed" with marks of its own, and not with an older mark or with a stopped class.
"""

import difflib
import glob
import re
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder.grading.intake import Refused, read_submission, rebuild

REFUSED = "autograder_refused"
"""Notebook metadata: why the submission was not read."""


class IntakeExporter(NotebookExporter):
    """Reads submissions with suspicion; everything else as nbconvert does."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.renamed: dict[str, Path] = {}
        if hasattr(self.parent, "sanitize_preprocessors"):
            self.ignored = list(self.parent.coursedir.ignore)
            self.parent.pre_convert_hook = self.prepare

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
            if any(part.is_symlink() for part in (path.parent, path.parent.parent)):
                raise Refused(f"{path.parent} is a link; hand in the files themselves.")
            return rebuild(original, read_submission(self.renamed.get(str(path), path)))
        except Refused as reason:
            self.log.warning("Refused %s: %s", path, reason)
            notebook = rebuild(original, [])
            notebook.metadata[REFUSED] = str(reason)
            return notebook

    def original(self, names: dict[str, str]) -> NotebookNode:
        """The exercise as the gradebook knows it: cells of the source notebook, with the released text."""
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
        """nbgrader's hook before a submission is copied; `notebooks` is its own list, changed in place."""
        if not notebooks:
            return
        folder = Path(notebooks[0]).parent
        links = ["*"] if folder.is_symlink() else [glob.escape(p.name) for p in folder.rglob("*") if p.is_symlink()]
        self.parent.coursedir.ignore = self.ignored + links
        expected = self.expected(folder.name)
        present = {Path(path).stem: path for path in notebooks}
        strangers = [Path(path) for name, path in present.items() if name not in expected]
        for name in expected - present.keys():
            match = recognised(name, strangers, alone=len(expected) == 1)
            if match is not None:
                canonical = str(folder / f"{name}.ipynb")
                self.renamed[canonical] = match
                notebooks[notebooks.index(str(match))] = canonical

    def expected(self, assignment: str) -> set[str]:
        """The notebooks of an assignment, by name."""
        coursedir = self.parent.coursedir
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            try:
                return {notebook.name for notebook in gradebook.find_assignment(assignment).notebooks}
            except MissingEntry:
                return set()


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
