"""Makes `exercises/` from `solutions/`: `autograder exercises`, with nbgrader's own generate_assignment.

Nothing here touches a gradebook; `--check` changes nothing and fails where the committed folder is not what the
solutions give.
"""

import argparse
import filecmp
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from nbconvert.preprocessors import Preprocessor
from traitlets import Bool

from autograder.classroom.folders import course_assignments
from autograder.settings import REPOSITORY

README = """\
# Exercises

This folder is generated from `solutions/` by `make exercises`: edits here are overwritten, and CI refuses them.
To work on the exercises, run `make lab`: it copies what is missing into `work/` and opens that.
To change an exercise, edit its notebook in `solutions/` and run `make exercises`.
"""


class MarkGenerated(Preprocessor):
    """Writes into a released notebook where it comes from, and leaves out what depends on who ran the source.

    Files that learners are to make themselves (`Autograde.exclude_overwriting`) are taken out of the release.
    """

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb, resources):
        names = resources["nbgrader"]
        nb.metadata["generated_from"] = f"solutions/{names['assignment']}/{names['notebook']}.ipynb"
        nb.metadata.pop("language_info", None)
        for cell in nb.cells:
            cell.metadata.pop("execution", None)
        released = Path(self.parent.parent._format_dest(names["assignment"], names["student"]))
        for name in self.config.Autograde.exclude_overwriting.get(names["assignment"], ()):
            (released / name).unlink(missing_ok=True)
        return nb, resources


def generate(assignment: str, release: Path, root: Path = REPOSITORY) -> None:
    """Write the released form of one assignment into the folder `release`.

    Raises RuntimeError with nbgrader's own words when it refuses.
    """
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", assignment, "--no-db", "--force",
               f"--CourseDirectory.release_directory={release}"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if result.returncode != 0 or not list((release / assignment).glob("*.ipynb")):
        raise RuntimeError(f"nbgrader could not generate {assignment}:\n{result.stdout}{result.stderr}")


def files_in(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")
            if path.is_file() and ".ipynb_checkpoints" not in path.parts}


def differences(fresh: Path, committed: Path) -> list[Path]:
    """The files that are not byte for byte the same in both folders."""
    names = files_in(fresh) | (files_in(committed) if committed.exists() else set())
    return sorted(name for name in names
                  if not ((fresh / name).is_file() and (committed / name).is_file()
                          and filecmp.cmp(fresh / name, committed / name, shallow=False)))


def update(fresh: Path, committed: Path, changed: list[Path]) -> None:
    """Bring the changed files over; what is the same keeps its time stamp."""
    for name in changed:
        target = committed / name
        if (fresh / name).exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fresh / name, target)
        else:
            target.unlink()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder exercises", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where something would change")
    check = parser.parse_args(argv).check
    with tempfile.TemporaryDirectory() as folder:
        fresh, committed = Path(folder) / "exercises", REPOSITORY / "exercises"
        fresh.mkdir()
        for assignment in course_assignments():
            print(f"exercises: {assignment}", flush=True)
            generate(assignment, fresh)
        (fresh / "README.md").write_text(README, encoding="utf-8")
        changed = differences(fresh, committed)
        if not check:
            update(fresh, committed, changed)
    for name in changed:
        print(f"exercises/{name} {'is not what solutions/ gives' if check else 'written'}")
    if check and changed:
        print("Run `make exercises` and commit the result; exercises/ is never edited by hand.", file=sys.stderr)
    return 1 if check and changed else 0
