"""nbgrader's plug-in: takes the place of its `Execute` in `Autograde.autograde_preprocessors`.

Plain `nbgrader autograde`, formgrader's button and `autograder grade` all come through here.
"""

import os
import shutil
import tempfile
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float

from autograder.classroom.folders import Classroom
from autograder.grading.exporter import REFUSED
from autograder.grading.run import Run, State, not_run
from autograder.sandbox.bubblewrap import bubblewrap
from autograder.sandbox.limits import Limits

LEFT_OUT = shutil.ignore_patterns("*.ipynb", "*.db", "*.db-*", "grading_seed")


class SandboxedExecute(NbGraderPreprocessor):
    """Runs a submission in the sandbox and judges it here, with the classroom's secret seed."""

    cell_seconds = Float(30, help="wall time of one cell").tag(config=True)
    notebook_seconds = Float(180, help="wall time of one submission").tag(config=True)
    protected = Bool(True, help="False runs the code unprotected: for your own code only").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        protected = self.protected and not os.environ.get("AUTOGRADER_NO_SANDBOX")
        if protected:
            bubblewrap()  # without it nothing is graded at all, rather than graded unprotected
        limits = Limits(cell_seconds=self.cell_seconds, notebook_seconds=self.notebook_seconds)
        if reason := nb.metadata.pop(REFUSED, None):
            return not_run(nb, State("failed", reason)), resources
        with tempfile.TemporaryDirectory(prefix="nss-given-") as folder:
            given = Path(folder) / "given"
            copy_files(Path(resources.get("metadata", {}).get("path") or folder), given)
            return Run(nb, given, Classroom.at().grading_seed(), limits, protected)(), resources


def copy_files(source: Path, target: Path) -> None:
    """The files that lie beside a submission, without notebooks, databases and links."""
    def ignore(folder: str, names: list[str]) -> set[str]:
        links = {name for name in names if (Path(folder) / name).is_symlink()}
        return LEFT_OUT(folder, names) | links

    shutil.copytree(source, target, ignore=ignore)
