"""Where a course and a class lie on disk.

A *course* is what is the same for everybody: solutions and exercises, in the repository. A *classroom* is one class:
submissions, graded notebooks, feedback, the exchange folder and a gradebook of its own. Classrooms never mix.
"""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from autograder.settings import REPOSITORY, Unusable
from autograder.writing import write_whole

DEFAULT_CLASSROOM = "classroom"
STAMP = "timestamp.txt"
"""nbgrader's file in a submission: when it was handed in."""


@dataclass(frozen=True)
class Classroom:
    """The folder of one class; the paths in it are nbgrader's steps.

    Raises Unusable for a path that nbgrader would read as a pattern.
    """

    folder: Path

    def __post_init__(self):
        if strange := re.search(r"[*?+\[\](){}|^$\\]", str(self.folder)):
            raise Unusable(
                f"The classroom's path {str(self.folder)!r} contains {strange[0]!r}, which nbgrader would read as part "
                "of a pattern; choose a path of letters, digits, dots, dashes and underscores."
            )

    @classmethod
    def at(cls, folder: str | Path | None = None) -> "Classroom":
        """The given folder, else the environment's CLASSROOM, else `classroom`; relative to the repository."""
        return cls((REPOSITORY / (folder or os.environ.get("CLASSROOM") or DEFAULT_CLASSROOM)).resolve())

    @property
    def submitted(self) -> Path:
        return self.folder / "submitted"

    @property
    def autograded(self) -> Path:
        return self.folder / "autograded"

    @property
    def feedback(self) -> Path:
        return self.folder / "feedback"

    @property
    def release(self) -> Path:
        """What was released to this class; `exercises/` in the repository stays as it is committed."""
        return self.folder / "release"

    @property
    def executed(self) -> Path:
        """Results of what was executed, by content (`grading.store`)."""
        return self.folder / "executed"

    @property
    def exchange(self) -> Path:
        return self.folder / "exchange"

    @property
    def gradebook(self) -> Path:
        return self.folder / "gradebook.db"

    @property
    def db_url(self) -> str:
        return f"sqlite:///{self.gradebook}"

    @property
    def roster(self) -> Path:
        """The students' names, in the form that `nbgrader db student import` reads; may be missing."""
        return self.folder / "students.csv"

    @property
    def marks(self) -> Path:
        return self.folder / "marks.csv"

    @property
    def seed_file(self) -> Path:
        return self.folder / "grading_seed"

    def make(self) -> None:
        """Create the folder, readable by its owner alone (it holds marks and the secret seed), and the exchange in it.

        A class whose students have accounts of their own needs an exchange outside: set `c.Exchange.root`.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.exchange.mkdir(exist_ok=True)

    def grading_seed(self) -> int:
        """The secret seed with which this class is judged; made at random where there is none yet.

        Raises Unusable where the file holds no whole number.
        """
        if not self.seed_file.exists():
            self.write_seed(secrets.randbelow(2**31), replace=False)
        text = self.seed_file.read_text(encoding="utf-8").strip()
        if not text.isdecimal():
            raise Unusable(f"{self.seed_file} holds {text!r}; it must be a whole number, or be deleted.")
        return int(text)

    def write_seed(self, seed: int, replace: bool = True) -> None:
        """replace=False: of two processes that make a seed at the same time, both use the first one's."""
        self.make()
        write_whole(self.seed_file, f"{seed}\n", mode=0o600, replace=replace)

    def assignments(self) -> list[str]:
        """The assignments for which anybody has handed something in, in order."""
        return sorted({path.name for path in self.submitted.glob("*/*") if path.is_dir()})

    def students(self, assignment: str) -> list[str]:
        """Who handed in this assignment, in order."""
        return sorted(path.parent.name for path in self.submitted.glob(f"*/{assignment}") if path.is_dir())


def course_assignments(root: Path = REPOSITORY) -> list[str]:
    """Every assignment that has a solution notebook, in order."""
    return sorted({path.parent.name for path in (root / "solutions").glob("*/*.ipynb")})
