"""nbgrader's plug-in: takes the place of its `Execute` in `Autograde.autograde_preprocessors`.

Plain `nbgrader autograde`, formgrader's button and `autograder grade` all come through here. What has been executed
already (by `autograder grade`, on whatever machine) is taken from the classroom's store.
"""

import os
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Unicode

from autograder.classroom.folders import Classroom
from autograder.grading.exporter import REFUSED
from autograder.grading.jobs import Job, execute, files_beside
from autograder.grading.states import FAILED
from autograder.grading.store import Store
from autograder.sandbox.limits import Limits


class SandboxedExecute(NbGraderPreprocessor):
    """Runs a submission in the sandbox and judges it here, with the classroom's secret seed."""

    cell_seconds = Float(30, help="wall time of one cell").tag(config=True)
    notebook_seconds = Float(180, help="wall time of one submission").tag(config=True)
    failed = Unicode("", help="why the submission is not run at all").tag(config=True)
    again = Bool(True, help="whether what the grader could not run is tried again").tag(config=True)
    protected = Bool(True, help="False runs the code unprotected: for your own code only").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        if reason := self.failed or nb.metadata.pop(REFUSED, None):
            from autograder.grading.run import State, not_run  # loads torch

            return not_run(nb, State(FAILED, reason)), resources
        path = resources.get("metadata", {}).get("path")
        job = self.job(nb, files_beside(Path(path)) if path else {})
        store = Store(Classroom.at().executed)
        if (self.again and job.key not in store) or not store.apply(job.key, nb):
            store.put(job.key, execute(job.to_bytes()))
            store.apply(job.key, nb)
        return nb, resources

    def job(self, notebook: NotebookNode, files: dict[str, bytes]) -> Job:
        """A submission as it is run here: with this class's seed, and the configured limits."""
        return Job(notebook, files, Classroom.at().grading_seed(),
                   Limits(cell_seconds=self.cell_seconds, notebook_seconds=self.notebook_seconds),
                   self.protected and not os.environ.get("AUTOGRADER_NO_SANDBOX"))
