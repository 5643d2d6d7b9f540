"""Grades a class with nbgrader: `autograder grade`.

Runs nbgrader's own commands with the project's configuration: generate_assignment (into the classroom's own gradebook
and `release` folder), autograde, generate_feedback, export. Says one line a student. What was graded with the same
submission, exercise, criteria and seed is not graded again; `--force` does.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from autograder.classroom.columns import padded, width
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import fingerprint_of_marks, forget, full_names, mark_of
from autograder.grading.store import JUDGES
from autograder.sandbox.bubblewrap import NoSandbox, bubblewrap
from autograder.settings import REPOSITORY, book_url

STATE = "graded.json"
LOG = "nbgrader.log"
GRADES_DEPEND_ON = JUDGES
PAGES_DEPEND_ON = ("exercises", "classroom/feedback.py", "classroom/markup.py", "classroom/reports.py",
                   "classroom/feedback_template")

BEGINS = re.compile(r"\] (?:Sanitizing|Converting notebook) .*/([^/]+)/([^/]+)/[^/]+\.ipynb$")
FAILED = re.compile(r"\] There was an error processing assignment: .*/([^/]+)/([^/]+)$")
ENDS = re.compile(r"\] Setting destination file permissions")


class Failure(Exception):
    """nbgrader could not do a step at all."""


class Course:
    """One run over one classroom."""

    def __init__(self, classroom: Classroom, force: bool = False, say: Callable[[str], None] = print):
        self.classroom, self.force, self.say = classroom, force, say
        self.state_file = classroom.folder / STATE
        self.state = json.loads(self.state_file.read_text()) if self.state_file.exists() and not force else {}

    def grade(self, assignments: list[str]) -> bool:
        """All steps for the given assignments; whether every submission went through."""
        self.classroom.make()
        self._once("roster", self.classroom.roster, "db", "student", "import", str(self.classroom.roster))
        self.names = full_names(self.classroom)
        incomplete = [assignment for assignment in assignments if not self._assignment(assignment)]
        if not self.classroom.marks.exists():
            self.state.pop("exported", None)
        self._once("exported", self.classroom.gradebook, "export", "--to", str(self.classroom.marks))
        return not incomplete

    def _once(self, step: str, what: Path, *arguments: str) -> None:
        """Run a command that depends on one file, unless the file is as it was the last time."""
        if what.exists() and (now := digest(what)) != self.state.get(step):
            self.nbgrader(*arguments)
            self.state[step] = now
            self._save()

    def _assignment(self, assignment: str) -> bool:
        self._register(assignment)
        students = self.classroom.students(assignment)
        seen = self.state.setdefault(assignment, {})
        grading = digest_of_code(GRADES_DEPEND_ON) + str(self.classroom.grading_seed())
        wanted = {s: digest(self.classroom.submitted / s / assignment, self.classroom.release / assignment, grading)
                  for s in students}
        todo = [s for s in students if seen.get(s, {}).get("graded") != wanted[s]
                or not list((self.classroom.autograded / s / assignment).glob("*.ipynb"))]
        if len(todo) < len(students):
            self.say(f"{assignment}: {len(students) - len(todo)} of {len(students)} submissions are graded already")
        failed = self._autograde(assignment, todo, wanted)
        self._feedback(assignment, [s for s in students if s not in failed])
        return not failed

    def _register(self, assignment: str) -> None:
        """Bring the exercise as it is now into the gradebook."""
        source = digest(REPOSITORY / "solutions" / assignment, REPOSITORY / "nbgrader_config.py")
        if self.state.get("registered", {}).get(assignment) == source and self.classroom.gradebook.exists():
            return
        self.nbgrader("generate_assignment", assignment, "--force",
                      f"--CourseDirectory.release_directory={self.classroom.release}")
        self.state.setdefault("registered", {})[assignment] = source
        self._save()

    def _autograde(self, assignment: str, todo: list[str], wanted: dict[str, str]) -> set[str]:
        """Grade these students; the set of those whose submission could not be graded."""
        failed, columns = set(), max((width(self.names.get(s, s)) for s in todo), default=0)
        for number, (student, well, seconds) in enumerate(self.steps("autograde", assignment, todo), start=1):
            if well:
                self.state[assignment][student] = {"graded": wanted[student]}
                earned, available = mark_of(self.classroom, assignment, student)
                result = f"{earned:g} of {available:g}"
            else:
                failed.add(student)
                self.state[assignment].pop(student, None)
                forget(self.classroom, assignment, student)  # an older mark must not stand for this submission
                result = f"could not be graded, see {self.classroom.folder / LOG}"
            self._save()
            name = self.names.get(student, student)
            self.say(f"{assignment}  {number:>3}/{len(todo)}  {padded(name, columns)}  {result}  ({seconds:.1f} s)")
        return failed

    def _feedback(self, assignment: str, students: list[str]) -> None:
        code = digest_of_code(PAGES_DEPEND_ON) + book_url()
        wanted = {s: digest(self.classroom.autograded / s / assignment,
                            code + fingerprint_of_marks(self.classroom, assignment, s)) for s in students}
        todo = [s for s in students if self.state[assignment].get(s, {}).get("feedback") != wanted[s]
                or not list((self.classroom.feedback / s / assignment).glob("*.html"))]
        done = 0
        for student, well, _ in self.steps("generate_feedback", assignment, todo):
            if well:
                done += 1
                self.state[assignment][student]["feedback"] = wanted[student]
                self._save()
        if todo:
            self.say(f"{assignment}  feedback: {done} of {len(todo)} pages written")

    def steps(self, command: str, assignment: str, students: list[str]) -> Iterator[tuple[str, bool, float]]:
        """Run one nbgrader command over some students and tell, as it goes on, who is done and how it went."""
        if not students:
            return
        others = {path.parent.name for folder in (self.classroom.submitted, self.classroom.autograded)
                  for path in folder.glob(f"*/{assignment}")} - set(students)
        arguments = [command, assignment, "--force", f"--CourseDirectory.student_id_exclude={','.join(sorted(others))}"]
        waiting, current, began = set(students), None, time.monotonic()
        with self.start(arguments) as process, (self.classroom.folder / LOG).open("a", encoding="utf-8") as log:
            for line in process.stdout:
                log.write(line)
                line = line.rstrip()
                if match := BEGINS.search(line):
                    if match[1] != current:
                        current, began = match[1], time.monotonic()
                elif (match := FAILED.search(line)) or (ENDS.search(line) and current):
                    student = match[1] if match else current
                    if student in waiting:
                        waiting.discard(student)
                        yield student, match is None, time.monotonic() - began
                    current = None
        for student in sorted(waiting):
            yield student, False, 0.0

    def start(self, arguments: list[str]) -> subprocess.Popen:
        environment = os.environ | {"CLASSROOM": str(self.classroom.folder), "PYTHONUNBUFFERED": "1"}
        environment.setdefault("OMP_NUM_THREADS", "1")  # tensors are tiny: more threads only get in each other's way
        return subprocess.Popen([sys.executable, "-m", "nbgrader", *arguments], cwd=REPOSITORY, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")

    def nbgrader(self, *arguments: str) -> None:
        """Run one command that concerns nobody in particular. Raises Failure with what it said."""
        with self.start(list(arguments)) as process:
            said = process.stdout.read()
        if process.returncode != 0:
            raise Failure(f"`nbgrader {' '.join(arguments)}` failed:\n{said.strip()}")

    def _save(self) -> None:
        draft = self.state_file.with_suffix(".part")
        draft.write_text(json.dumps(self.state, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(self.state_file)


def digest(*things: Path | str) -> str:
    """A hash of files, of folders with all their files, and of texts."""
    total = hashlib.sha256()
    for thing in things:
        if isinstance(thing, str):
            total.update(thing.encode())
            continue
        for path in sorted(thing.rglob("*")) if thing.is_dir() else [thing]:
            if path.is_file() and "__pycache__" not in path.parts:
                total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()


@cache
def digest_of_code(parts: tuple[str, ...]) -> str:
    """A hash of some parts of this package, as they are when first asked for."""
    return digest(*(Path(__file__).parent.parent / part for part in parts))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder grade", description=__doc__)
    parser.add_argument("assignment", nargs="*", help="which (default: all that were handed in)")
    parser.add_argument("--classroom", help="its folder (default: the environment's CLASSROOM, else classroom)")
    parser.add_argument("--force", action="store_true", help="grade again what is graded already")
    parser.add_argument("--no-sandbox", action="store_true",
                        help="run the submissions' code unprotected: for code that you wrote yourself only")
    options = parser.parse_args(argv)
    if options.no_sandbox:
        os.environ["AUTOGRADER_NO_SANDBOX"] = "1"
        print("grade: WITHOUT A SANDBOX. The submissions' code runs with all your rights.", file=sys.stderr)
    classroom = Classroom.at(options.classroom)
    assignments = options.assignment or classroom.assignments()
    if not assignments:
        print(f"grade: nothing was handed in under {classroom.submitted}.", file=sys.stderr)
        return 1
    try:
        if not options.no_sandbox:
            bubblewrap()
        return 0 if Course(classroom, options.force).grade(assignments) else 1
    except (Failure, NoSandbox) as failure:
        print(f"grade: {failure}", file=sys.stderr)
        return 1
