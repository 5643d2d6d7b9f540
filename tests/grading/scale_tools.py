"""What the tests of grading a class share: small classes, runs that are ended, and everything that a grading leaves."""

import atexit
import csv
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import nbformat
import psutil

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import opened
from autograder.classroom.sample import GRADING_SEED, SEED, Material, write_class
from autograder.settings import REPOSITORY

ASSIGNMENT, NOTEBOOK = "05_scaling", "scaling.ipynb"
GRADE = [sys.executable, "-m", "autograder", "grade"]


def sample_class(folder: Path, students: int) -> Classroom:
    room = Classroom(folder)
    write_class(room, students, SEED, [ASSIGNMENT])
    return room


def hand_in(room: Classroom, student: str, *cells: str, text: str | None = None) -> Path:
    """A submission with the given answers before the released cells; or any text at all under the notebook's name."""
    room.write_seed(GRADING_SEED)
    place = room.submitted / student / ASSIGNMENT / NOTEBOOK
    place.parent.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(Material(ASSIGNMENT).released, 4)
    notebook.cells[1:1] = [nbformat.v4.new_code_cell(cell) for cell in cells]
    place.write_text(nbformat.writes(notebook) if text is None else text, encoding="utf-8")
    return place


def grade(room: Classroom, *options: str, check: bool = True, **more) -> str:
    """Run `autograder grade` in a process of its own; what it said."""
    result = subprocess.run([*GRADE, "--classroom", str(room.folder), *options], cwd=REPOSITORY, capture_output=True,
                            text=True, timeout=600, **more)
    assert not check or result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def begin(room: Classroom, *options: str) -> subprocess.Popen:
    """The same, not waited for; it leads a process group of its own, as a shell's job does."""
    return subprocess.Popen([*GRADE, "--classroom", str(room.folder), *options], cwd=REPOSITORY, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def marks(room: Classroom) -> list[tuple]:
    """Every mark and comment in the gradebook."""
    with opened(room) as gradebook:
        found = [(s.student.id, g.name, g.auto_score, g.manual_score, g.needs_manual_grade)
                 for s in gradebook.assignment_submissions(ASSIGNMENT) for n in s.notebooks for g in n.grades]
        found += [(s.student.id, c.name, c.auto_comment, c.manual_comment)
                  for s in gradebook.assignment_submissions(ASSIGNMENT) for n in s.notebooks for c in n.comments]
    return sorted(found, key=repr)


def left_by(room: Classroom) -> dict:
    """Marks, exports, graded notebooks and pages: all that must be the same whatever happened on the way.

    Only the time that a submission ran may differ.
    """
    files = [path for folder in (room.autograded, room.feedback) for path in sorted(folder.rglob("*"))
             if path.is_file()]
    return {"marks": marks(room), "export": room.marks.read_bytes()} | {
        str(path.relative_to(room.folder)): hashlib.sha256(
            re.sub(rb'"seconds": [0-9.]+', b"", path.read_bytes())).hexdigest() for path in files}


def scores(room: Classroom) -> dict[str, float]:
    with room.marks.open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: float(row["score"] or 0) for row in csv.DictReader(file)}


def states(room: Classroom) -> dict[str, tuple[str, str]]:
    """For each student the state in the graded notebook, and its reason."""
    found = {path.parent.parent.name: json.loads(path.read_text())["metadata"]["autograder"]
             for path in room.autograded.glob(f"*/*/{NOTEBOOK}")}
    return {student: (state["state"], state["reason"]) for student, state in sorted(found.items())}


def copied(room: Classroom, folder: Path, results: bool = True) -> Classroom:
    """The same class before it was graded; with what was executed already, if wanted."""
    target = Classroom(folder)
    shutil.copytree(room.submitted, target.submitted, symlinks=True)
    for path in (room.seed_file, room.roster):
        if path.exists():
            shutil.copy(path, target.folder)
    if results:
        shutil.copytree(room.executed, target.executed)
    return target


def strays(room: Classroom) -> list[str]:
    """Processes that still work for this classroom."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (process / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if int(process.name) != os.getpid() and f"CLASSROOM={room.folder}" in re.split("\0", environment):
            found.append(words)
    return found


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["autograder.light", "autograder.classroom.pipeline", "autograder.grading.cluster",
                              "nbgrader.apps.nbgraderapp"])


def autograder_grade(room: Classroom, *options: str) -> int:
    from autograder.classroom.pipeline import main

    return main([ASSIGNMENT, "--classroom", str(room.folder), *options])


def nbgrader(room: Classroom, *arguments: str) -> None:
    from nbgrader.apps.nbgraderapp import main

    os.environ["CLASSROOM"], sys.argv = str(room.folder), ["nbgrader", *arguments]
    main()


TEMPORARY: dict[Path, Path] = {}


def temporary_of(room: Classroom) -> Path:
    """TMPDIR of all that grades this class. Sockets lie below it, and pytest's own folders are too deep for them."""
    if room.folder not in TEMPORARY:
        TEMPORARY[room.folder] = Path(tempfile.mkdtemp(prefix="k-"))
    return TEMPORARY[room.folder]


def remove_temporary() -> None:
    while TEMPORARY:
        shutil.rmtree(TEMPORARY.popitem()[1], ignore_errors=True)


class Child:
    """Runs one of the two above in a process that was forked with the libraries loaded, and leads a session."""

    def __init__(self, what, room: Classroom, *arguments: str):
        self.temporary, self.log = temporary_of(room), room.folder.parent / "said.log"
        self.process = FORKS.Process(target=_in_child, args=(what, room, arguments, self.temporary, self.log))
        self.process.start()

    def ends(self, seconds: float) -> int | None:
        """The exit code; None while it is at work after so many seconds."""
        self.process.join(seconds)
        return self.process.exitcode

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def descendants(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> bool:
        """`kill -9`, after which all that it had started must end by itself; whether that met it at work."""
        started = self.descendants()
        self.process.kill()
        self.process.join()
        end = time.monotonic() + 60
        while (left := [*filter(_runs, started), *_mentioning(str(self.temporary))]) and time.monotonic() < end:
            time.sleep(0.05)
        assert left == [], left
        return self.process.exitcode == -signal.SIGKILL


def _in_child(what, room: Classroom, arguments: tuple[str, ...], temporary: Path, log: Path) -> None:
    os.setsid()
    os.environ |= {"TMPDIR": str(temporary), "OMP_NUM_THREADS": "1"}
    os.chdir(REPOSITORY)
    with log.open("a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        for standard in (1, 2):
            os.dup2(file.fileno(), standard)
        try:
            sys.exit(what(room, *arguments))
        finally:
            atexit._run_exitfuncs()  # multiprocessing leaves them out


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE  # whoever has to bury it
    except psutil.NoSuchProcess:
        return False


def _mentioning(word: str) -> list[str]:
    """Command lines in which a word appears: bubblewrap's name the folders that it builds walls around."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found
