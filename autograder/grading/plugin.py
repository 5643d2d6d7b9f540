"""nbgrader's plug-in: takes the place of its `Execute` in `Autograde.autograde_preprocessors`.

Plain `nbgrader autograde`, formgrader's button and `autograder grade` all come through here. What has been executed
already (by `autograder grade`, on whatever machine) is taken from the classroom's store.
"""

import os
import tempfile
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float

from autograder.classroom.folders import Classroom
from autograder.grading.exporter import REFUSED
from autograder.grading.run import Run, State, not_run
from autograder.grading.store import Store, fingerprint
from autograder.sandbox.bubblewrap import bubblewrap
from autograder.sandbox.limits import Limits

LEFT_OUT = {".ipynb", ".db", ".pyc"}
LARGEST_FILE = 16 * 2**20


class SandboxedExecute(NbGraderPreprocessor):
    """Runs a submission in the sandbox and judges it here, with the classroom's secret seed."""

    cell_seconds = Float(30, help="wall time of one cell").tag(config=True)
    notebook_seconds = Float(180, help="wall time of one submission").tag(config=True)
    protected = Bool(True, help="False runs the code unprotected: for your own code only").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        if reason := nb.metadata.pop(REFUSED, None):
            return not_run(nb, State("failed", reason)), resources
        path = resources.get("metadata", {}).get("path")
        job = Job(nb, files_beside(Path(path)) if path else {}, Classroom.at().grading_seed(),
                  Limits(cell_seconds=self.cell_seconds, notebook_seconds=self.notebook_seconds),
                  self.protected and not os.environ.get("AUTOGRADER_NO_SANDBOX"))
        store = Store(Classroom.at().executed)
        if not store.apply(job.key, nb):
            store.put(job.key, job.run())
        return nb, resources


class Job:
    """One submission to execute: all that a worker needs, on this machine or on another."""

    def __init__(self, notebook: NotebookNode, files: dict[str, bytes], seed: int, limits: Limits, protected: bool):
        self.notebook, self.files, self.seed, self.limits, self.protected = notebook, files, seed, limits, protected
        self.key = fingerprint(notebook, files, seed, limits, protected)

    def run(self) -> NotebookNode:
        """Execute. Raises NoSandbox where there is no bubblewrap: nothing is graded, rather than unprotected."""
        if self.protected:
            bubblewrap()
        with tempfile.TemporaryDirectory(prefix="nss-given-") as folder:
            for name, content in self.files.items():
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            return Run(self.notebook, Path(folder), self.seed, self.limits, self.protected)()


def files_beside(folder: Path) -> dict[str, bytes]:
    """The files that lie beside a submission, by relative path; without notebooks, databases, links and giants."""
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*")) if _is_material(path, folder)}


def _is_material(path: Path, folder: Path) -> bool:
    if path.suffix in LEFT_OUT or path.name.startswith(".") or path.name == "timestamp.txt":
        return False
    linked = any(part.is_symlink() for part in (path, *path.parents) if part.is_relative_to(folder))
    return not linked and path.is_file() and path.stat().st_size <= LARGEST_FILE
