"""One submission as a piece of work: what a worker needs to execute it, as bytes, and what comes back, as bytes."""

import base64
import json
import os
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.classroom.folders import STAMP
from autograder.grading.store import fingerprint, packed
from autograder.sandbox.bubblewrap import bubblewrap
from autograder.sandbox.limits import Limits
from autograder.sandbox.scratch import scratch
from autograder.settings import LARGEST_FILE, book_url

LEFT_OUT = {".ipynb", ".db", ".pyc"}


class NoWorkers(RuntimeError):
    """There is nobody to do the work; the message says what to do."""


class OtherVersion(RuntimeError):
    """A worker would judge with other code, or with other links, than the driver."""


class Job:
    """One submission to execute: all that a worker needs, on this machine or on another."""

    def __init__(self, notebook: NotebookNode, files: dict[str, bytes], seed: int, limits: Limits, protected: bool):
        self.notebook, self.files, self.seed, self.limits, self.protected = notebook, files, seed, limits, protected
        self.key = fingerprint(notebook, files, seed, limits, protected)

    def run(self) -> NotebookNode:
        """Execute. Raises NoSandbox where there is no bubblewrap: nothing is graded, rather than unprotected."""
        from autograder.grading.run import Run  # loads torch, which only those need who execute

        if self.protected:
            bubblewrap()
        with tempfile.TemporaryDirectory(prefix="given-", dir=scratch()) as folder:
            for name, content in self.files.items():
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            return Run(self.notebook, Path(folder), self.seed, self.limits, self.protected)()

    def to_bytes(self) -> bytes:
        files = {name: base64.b64encode(content).decode() for name, content in self.files.items()}
        return json.dumps({"notebook": self.notebook, "files": files, "seed": self.seed, "key": self.key,
                           "limits": asdict(self.limits), "protected": self.protected, "book": book_url()}).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Job":
        """Raises OtherVersion where this side would come to another result."""
        facts = json.loads(content)
        if book_url() != facts["book"]:
            os.environ["BOOK_URL"] = facts["book"]  # reports link to the driver's book, not to the worker's
        files = {name: base64.b64decode(text) for name, text in facts["files"].items()}
        job = cls(nbformat.from_dict(facts["notebook"]), files, facts["seed"], Limits(**facts["limits"]),
                  facts["protected"])
        if job.key != facts["key"]:
            raise OtherVersion("This worker has another version of the autograder; install the same one everywhere.")
        return job


def execute(content: bytes) -> bytes:
    """What a worker does: a job in, its result out. Nothing is pickled, because the learner's code made parts of it."""
    began = time.monotonic()
    return packed(Job.from_bytes(content).run(), time.monotonic() - began)


def materials(files: Iterable[tuple[str, Path]]) -> dict[str, bytes]:
    """What the code finds beside it, by relative path: no notebooks, databases, links or giants."""
    return {name: path.read_bytes() for name, path in sorted(files) if _is_material(path)}


def files_beside(folder: Path) -> dict[str, bytes]:
    """The materials among all files of a folder."""
    return materials((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*")
                     if not any(part.is_symlink() for part in path.parents if part.is_relative_to(folder)))


def _is_material(path: Path) -> bool:
    if path.suffix in LEFT_OUT or path.name.startswith(".") or path.name == STAMP:
        return False
    return not path.is_symlink() and path.is_file() and path.stat().st_size <= LARGEST_FILE
