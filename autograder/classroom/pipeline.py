"""Grades a class: `autograder grade`.

Submissions are taken in and executed side by side, in sandboxes, by Dask workers; the results are kept by content.
As they come, this one process writes: nbgrader autogrades, and its plug-in finds the result; then the feedback page. At
the end the file of marks. What was graded with the same submission, exercise, criteria and seed is not graded again;
`--force` does. A run that was ended in the middle, however rudely, is gone on with by the next.
"""

import argparse
import gc
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from filelock import FileLock, Timeout
from nbgrader.converters import NbGraderException
from tqdm import tqdm

from autograder.classroom import patience
from autograder.classroom.brake import Brake
from autograder.classroom.columns import padded, width
from autograder.classroom.execution import Executed, Execution, outcome
from autograder.classroom.folders import STAMP, Classroom, course_assignments
from autograder.classroom.gradebook import fingerprint_of_marks, full_names, mark_of, one_engine, opened
from autograder.classroom.roster import strangers_named
from autograder.classroom.steps import LOG, Autograding, Failure, Feedback, Steps
from autograder.digests import digest, digest_of_code
from autograder.grading.jobs import NoWorkers, OtherVersion
from autograder.grading.store import JUDGES
from autograder.sandbox.bubblewrap import NoSandbox, bubblewrap
from autograder.sandbox.scratch import remove_stale, scratch
from autograder.settings import REPOSITORY, book_url
from autograder.writing import write_whole

STATE = "graded.json"
PAGES_DEPEND_ON = ("exercises", "misconceptions", "grading/states.py", *(f"classroom/{part}" for part in (
    "feedback.py", "markup.py", "reports.py", "state.py", "feedback_template")))


class Course:
    """One run over one classroom.

    students: only these; workers: how many processes execute; scheduler: the address of a Dask cluster instead.
    """

    def __init__(self, classroom: Classroom, force: bool = False, say: Callable[[str], None] = tqdm.write,
                 students: list[str] | None = None, workers: int | None = None, scheduler: str | None = None):
        self.classroom, self.force, self.say, self.only = classroom, force, say, students
        self.brake = Brake(say)
        self.execution = Execution(classroom, force, workers or os.cpu_count() or 1, scheduler)
        self.state_file = classroom.folder / STATE
        self.state = {}

    def grade(self, assignments: list[str]) -> bool:
        """All steps for the given assignments; whether every submission was brought to its end."""
        self.classroom.make()
        with alone(self.classroom), one_engine():
            remove_stale()  # of a run that was ended; this one may have nothing to do
            self.steps = Steps(self.classroom)
            self.state = {} if self.force else self._kept_state()
            self._once("roster", self.classroom.roster, self.steps.enrol)
            self.names = full_names(self.classroom)
            gc.freeze()  # what is loaded stays, and is not looked through for garbage again
            incomplete = [name for name in self.brake.between(assignments) if not self._assignment(name)]
            if not self.classroom.marks.exists():
                self.state.pop("exported", None)
            self._once("exported", self.classroom.gradebook, self.steps.export)
        return not incomplete

    def _kept_state(self) -> dict:
        try:
            return json.loads(self.state_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _once(self, step: str, what: Path, take: Callable[[], None]) -> None:
        """Take a step that depends on one file, unless the file is as it was the last time."""
        if what.exists() and (now := digest(what)) != self.state.get(step):
            take()
            self.state[step] = now
            self._save()

    def _assignment(self, assignment: str) -> bool:
        self._register(assignment)
        students = self._students(assignment)
        seen = self.state.setdefault(assignment, {})
        grading = digest_of_code(JUDGES) + str(self.classroom.grading_seed()) + book_url()
        wanted = {s: digest(self.classroom.submitted / s / assignment, self.classroom.release / assignment, grading)
                  for s in students}
        known = self._in_gradebook(assignment)
        todo = [s for s in students if seen.get(s, {}).get("graded") != wanted[s] or s not in known
                or not self._written(assignment, s)]
        if len(todo) < len(students):
            self.say(f"{assignment}: {len(students) - len(todo)} of {len(students)} submissions are graded already")
        for student in todo:  # what is there afterwards is of this run
            seen.pop(student, None)
            shutil.rmtree(self.classroom.autograded / student / assignment, ignore_errors=True)
        self._save()
        pages = Pages(self.classroom, assignment, partial(self.steps.feedback, assignment), seen)
        again = self._grade(assignment, todo, wanted, pages)
        for student in self.brake.between(sorted(set(students) - set(todo))):  # a person may have changed a mark
            pages.write(student) and self._save()
        if pages.wanted:
            self.say(f"{assignment}  feedback: {pages.written} of {pages.wanted} pages written")
        return not again

    def _students(self, assignment: str) -> list[str]:
        students = self.classroom.students(assignment)
        if missing := sorted(set(self.only or ()) - set(students)):
            raise Failure(f"{', '.join(missing)} handed in nothing for {assignment}; see {self.classroom.submitted}.")
        return students if self.only is None else sorted(self.only)

    def _register(self, assignment: str) -> None:
        """Bring the exercise as it is now into the gradebook."""
        source = digest(REPOSITORY / "solutions" / assignment, REPOSITORY / "nbgrader_config.py")
        if self.state.get("registered", {}).get(assignment) == source and self.classroom.gradebook.exists():
            return
        self.steps.register(assignment)
        self.state.setdefault("registered", {})[assignment] = source
        self._save()

    def _grade(self, assignment: str, todo: list[str], wanted: dict[str, str], pages: "Pages") -> set[str]:
        """Grade these students; the set of those for whom the next run should try again."""
        again: set[str] = set()
        if not todo:
            return again
        columns = max(width(self.names.get(s, s)) for s in todo)
        with self.execution(assignment, todo) as executions:
            writer = self.steps.autograding(assignment)
            pages.writer  # noqa: B018 - made while the workers start
            for number, executed in enumerate(self.brake.between(executions), start=1):
                executed = self._write(writer, assignment, executed)
                student = executed.student
                again |= {student} if executed.again else set()
                self.state[assignment][student] = {} if executed.again else {"graded": wanted[student]}
                pages.write(student)
                self._save()
                earned, available = mark_of(self.classroom, assignment, student)
                name = padded(self.names.get(student, student), columns)
                said = outcome(self.classroom.autograded / student / assignment)
                self.say(f"{assignment}  {number:>3}/{len(todo)}  {name}  {earned:g} of {available:g}  "
                         f"({executed.seconds:.1f} s){said}")
        return again

    def _write(self, writer: Autograding, assignment: str, executed: Executed) -> Executed:
        """Bring a result into the gradebook and the folder `autograded`.

        Whatever nbgrader cannot grade is handed in again in its name, as an empty exercise that says why.
        """
        student = executed.student
        if not executed.aside:
            try:
                writer.grade(student, executed.reason)
                if self._written(assignment, student):
                    return executed
                reason = "it wrote nothing"
            except Exception:
                reason = self.steps.said.fault
            self._require_working_order()
            executed = replace(executed, reason=f"nbgrader could not process it: {reason}", again=True)
        with handed_in_for(self.classroom, student, assignment) as folder:
            try:
                self.steps.autograding(assignment, folder).grade(student, executed.reason)
            except Exception as fault:
                self._require_working_order()
                raise Failure(f"nbgrader can note nothing about {student}: {fault} "
                              f"({self.classroom.folder / LOG} tells more)") from None
        return executed

    def _written(self, assignment: str, student: str) -> bool:
        """Whether a graded notebook lies there, with its end stated."""
        return outcome(self.classroom.autograded / student / assignment) is not None

    def _in_gradebook(self, assignment: str) -> set[str]:
        with opened(self.classroom) as gradebook:
            return {submission.student.id for submission in gradebook.assignment_submissions(assignment)}

    def _require_working_order(self) -> None:
        """Raises OSError for a full disk, Failure for a locked gradebook: no submission is to blame then."""
        probe = self.classroom.folder / "room.part"
        try:
            probe.write_bytes(b"0" * 2**20)
        finally:
            probe.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(self.classroom.gradebook, timeout=patience.SECONDS)) as database:
                database.execute("BEGIN IMMEDIATE")
                database.rollback()
        except sqlite3.OperationalError as error:
            raise Failure(f"{self.classroom.gradebook}: {error}. Close what uses it and run the same command again; "
                          "what is done is kept.") from None

    def _save(self) -> None:
        write_whole(self.state_file, json.dumps(self.state, sort_keys=True) + "\n")


class Pages:
    """The feedback pages of one assignment; `seen` says what each showed when it was written."""

    def __init__(self, classroom: Classroom, assignment: str, start: Callable[[], Feedback], seen: dict):
        self.classroom, self.assignment, self.start, self.seen = classroom, assignment, start, seen
        self.wanted = self.written = 0
        self.code = digest_of_code(PAGES_DEPEND_ON) + book_url()

    @cached_property
    def writer(self) -> Feedback:
        return self.start()

    def write(self, student: str) -> bool:
        """Write a student's page, unless it is there and shows what it would show now; whether it was written."""
        page = self.classroom.feedback / student / self.assignment
        shown = digest(self.classroom.autograded / student / self.assignment,
                       self.code + fingerprint_of_marks(self.classroom, self.assignment, student))
        seen = self.seen.setdefault(student, {})
        if seen.get("feedback") == shown and has_page(page):
            return False
        self.wanted += 1
        shutil.rmtree(page, ignore_errors=True)
        with suppress(NbGraderException):  # the log says why, the count that it is missing, and the next run tries anew
            self.writer.convert(student)
        if not has_page(page):
            return False
        self.written += 1
        seen["feedback"] = shown
        return True


@contextmanager
def handed_in_for(classroom: Classroom, student: str, assignment: str) -> Iterator[Path]:
    """A folder of submissions with one that stands for a student's own: the exercise as it was released."""
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        place = Path(folder) / student / assignment
        place.mkdir(parents=True)
        stamp = classroom.submitted / student / assignment / STAMP
        stamps = [stamp] if stamp.is_file() and not stamp.is_symlink() else []
        for path in (*(classroom.release / assignment).glob("*.ipynb"), *stamps):
            shutil.copyfile(path, place / path.name)
        yield Path(folder)


def has_page(folder: Path) -> bool:
    return any(folder.glob("*.html"))


@contextmanager
def alone(classroom: Classroom) -> Iterator[None]:
    """One grading at a time in a classroom. The lock ends with its process, however that ends."""
    try:
        with FileLock(classroom.folder / "grading.lock", timeout=10):
            yield
    except Timeout:
        raise Failure(f"Another `autograder grade` is at work in {classroom.folder}; wait for it, or end it.") from None


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="autograder grade", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignment", nargs="*", help="which (default: all that were handed in)")
    parser.add_argument("--classroom", help="its folder (default: the environment's CLASSROOM, else classroom)")
    parser.add_argument("--students", help="only these, by id: ada,bao")
    parser.add_argument("--workers", type=int, help="how many submissions are run at a time (default: one a core)")
    parser.add_argument("--scheduler", help="the address of a running Dask scheduler (tcp://...) that does the work")
    parser.add_argument("--force", action="store_true", help="grade again what is graded already")
    parser.add_argument("--no-sandbox", action="store_true",
                        help="run the submissions' code unprotected: for code that you wrote yourself only")
    return parser.parse_args(argv)


def chosen(asked: list[str], classroom: Classroom) -> list[str]:
    """The assignments to grade: what was asked for, else all that were handed in; a folder that is none is named.

    Raises Failure where an assignment is asked for that the course has not, or where nothing was handed in.
    """
    known, handed_in = course_assignments(), classroom.assignments()
    listed = f"the course has {', '.join(known)}"
    if unknown := [assignment for assignment in asked if assignment not in known]:
        raise Failure(f"There is no assignment {', '.join(unknown)}; {listed}.")
    if asked:
        return asked
    if strange := [name for name in handed_in if name not in known]:
        folders = sorted(str(path) for name in strange for path in classroom.submitted.glob(f"*/{name}"))
        print(f"grade: passed over {', '.join(folders)}: no assignment has this name; {listed}. "
              "Give the folder its right name and run the same command again.", file=sys.stderr)
    if wanted := [name for name in handed_in if name in known]:
        return wanted
    raise Failure(f"nothing was handed in under {classroom.submitted}.")


def main(argv: list[str]) -> int:
    options = arguments(argv)
    if options.no_sandbox:
        os.environ["AUTOGRADER_NO_SANDBOX"] = "1"
        print("grade: WITHOUT A SANDBOX. The submissions' code runs with all your rights.", file=sys.stderr)
    classroom = Classroom.at(options.classroom)
    students = options.students.split(",") if options.students else None
    try:
        assignments = chosen(options.assignment, classroom)
        if not options.no_sandbox:
            bubblewrap()
        course = Course(classroom, options.force, students=students, workers=options.workers,
                        scheduler=options.scheduler)
        with course.brake:
            complete = course.grade(assignments)
        if strangers := strangers_named(classroom):
            print(f"grade: {strangers}", file=sys.stderr)
        return 0 if complete else 1
    except (Failure, NoSandbox, NoWorkers, OtherVersion) as failure:
        print(f"grade: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"grade: {error}. What is done is kept: put it right and run the same command again.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ngrade: stopped. What is done is kept: the same command goes on from here.", file=sys.stderr)
        return 130
