"""Copies what was handed in, and is safe to copy, into a private folder, where nbgrader then finds it.

nbgrader follows links, waits at pipes, and copies without a limit. It sees only these copies: regular files, of
moderate size and number, under names that can be printed, and none in the place of a file of the instructor's.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import find_all_files, parse_utc

from autograder.classroom.folders import STAMP
from autograder.settings import LARGEST_FILE

LARGEST_TOTAL, MOST_FILES, DEEPEST = 64 * 2**20, 1_000, 16


def private_copy(coursedir: CourseDirectory, submitted: Path) -> CourseDirectory:
    """The same course with another folder of submissions; the original, which others may share, stays as it is."""
    copy = CourseDirectory(parent=coursedir.parent, config=coursedir.config)
    for name in coursedir.trait_names(config=True):
        setattr(copy, name, getattr(coursedir, name))
    copy.submitted_directory = str(submitted)
    return copy


def is_linked(folder: Path) -> bool:
    """Whether a submission's folder, or its student's, is a link to somebody else's."""
    return folder.is_symlink() or folder.parent.is_symlink()


def stage_time(folder: Path, target: Path) -> None:
    """Copy the time of handing in if it is one: nbgrader would stop at any other text, and wait at a pipe."""
    try:
        if is_linked(folder) or not _is_small(folder / STAMP, 200):
            return
        text = (folder / STAMP).read_text(encoding="utf-8").strip()
        parse_utc(text)
    except (OSError, ValueError, OverflowError):
        return
    (target / STAMP).write_text(text, encoding="utf-8")


def stage_files(folder: Path, target: Path, reserved: set[str]) -> list[str]:
    """Copy the files beside the notebooks; the names of those that were left out."""
    left_out, total, count = [], 0, 0
    for path in _everything(folder):
        name = path.relative_to(folder).as_posix()
        size = path.lstat().st_size if _is_small(path, LARGEST_FILE) else LARGEST_TOTAL + 1
        if count == MOST_FILES or total + size > LARGEST_TOTAL or not name.isprintable() or _collides(name, reserved):
            left_out.append(name)
            continue
        total, count = total + size, count + 1
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name, follow_symlinks=False)
    return left_out


def instructors_files(coursedir: CourseDirectory, assignment: str, students_own: list[str]) -> set[str]:
    """Files that nbgrader will put beside the submission, by relative path."""
    source = coursedir.format_path(coursedir.source_directory, ".", assignment)
    found = {os.path.relpath(name, source) for name in find_all_files(source, [*coursedir.ignore, "*.ipynb"])}
    return found - set(students_own)


def _everything(folder: Path) -> Iterator[Path]:
    """All files but notebooks and the time of handing in; links are listed and not followed."""
    for place, folders, files in os.walk(folder):
        here = Path(place)
        deep = len(here.relative_to(folder).parts) >= DEEPEST
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links and not deep and not _is_notebook(name))
        yield from (here / name for name in sorted([*files, *links]) if not _is_notebook(name) and name != STAMP)


def _is_notebook(name: str) -> bool:
    return name.endswith(".ipynb") or name in ("__pycache__", ".ipynb_checkpoints")


def _is_small(path: Path, largest: int) -> bool:
    facts = path.lstat()
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= largest and os.access(path, os.R_OK)


def _collides(name: str, reserved: set[str]) -> bool:
    """Whether it would stand in the place of an instructor's file, or of a folder with one in it, or the reverse."""
    return any(name == theirs or theirs.startswith(f"{name}/") or name.startswith(f"{theirs}/") for theirs in reserved)
