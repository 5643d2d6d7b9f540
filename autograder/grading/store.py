"""What was executed once is not executed again: results by the content of what was run.

The key covers everything that a result depends on: the cells in their order, the files beside them, the seed, the
limits, and the code that judges. A result is one file, written whole or not at all, so that a grader that is killed
leaves nothing half done, and whoever finds the file may believe it. It lies in the classroom, where no sandbox sees it.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.digests import digest_of_code
from autograder.sandbox.limits import Limits
from autograder.settings import book_url
from autograder.writing import write_whole

JUDGES = ("learner", "sandbox", "judging", "exercises", "misconceptions", "reference", "reporting", "grading", "corpus")
"""The parts of this package that a result depends on."""


def fingerprint(notebook: NotebookNode, files: dict[str, bytes], seed: int | None, limits: Limits,
                protected: bool) -> str:
    """The key of a submission's result."""
    cells = [(cell.cell_type, cell.source, _role(cell)) for cell in notebook.cells]
    facts = [cells, seed, asdict(limits), protected, digest_of_code(JUDGES), book_url(),
             {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _role(cell: NotebookNode) -> list:
    facts = cell.metadata.get("nbgrader", {})
    return [facts.get("grade_id"), bool(facts.get("grade")), bool(facts.get("solution")), bool(facts.get("locked"))]


def packed(notebook: NotebookNode, seconds: float = 0.0) -> bytes:
    """The outputs and the state of an executed notebook, and how long it took."""
    return json.dumps({"outputs": [[c.execution_count, c.outputs] if c.cell_type == "code" else None
                                   for c in notebook.cells],
                       "state": notebook.metadata["autograder"], "seconds": round(seconds, 2)}).encode()


class Store:
    """Results in a folder, each in a file named by its key."""

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def __contains__(self, key: str) -> bool:
        """Whether there is a result that may stay: not one for which the grader is to blame."""
        result = self.read(key)
        return result is not None and not result["state"].get("again", False)

    def read(self, key: str) -> dict | None:
        """A kept result; None where there is none, or none that can be read."""
        try:
            return json.loads(self.path(key).read_bytes())
        except (OSError, ValueError):
            return None

    def put(self, key: str, result: bytes) -> None:
        """Keep what `packed` gave."""
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, result)

    def apply(self, key: str, notebook: NotebookNode) -> bool:
        """Write a kept result into the notebook; False where there is none."""
        result = self.read(key)
        if result is None:
            return False
        for cell, kept in zip(notebook.cells, result["outputs"], strict=True):
            if kept is not None:
                cell.execution_count, cell.outputs = kept[0], [nbformat.from_dict(output) for output in kept[1]]
        notebook.metadata["autograder"] = result["state"] | {"seconds": result.get("seconds", 0.0)}
        return True
