"""The first step of grading: every submission of an assignment is executed, and its result is kept by content."""

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from autograder.classroom.folders import Classroom
from autograder.grading.collect import Collection, NotTakenIn
from autograder.grading.jobs import Job
from autograder.grading.store import Store

BAR = "{desc} |{bar:20}| {postfix}, {remaining} to go"


@dataclass
class Found:
    """What became of an assignment's submissions, by student.

    aside: why one cannot even be taken in; stopped: why it could not be run; again: whom the next run should try anew;
    seconds: how long it ran. The folder holds what is written down for nbgrader, and goes with `close`.
    """

    folder: Path
    aside: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def give_up(self, student: str, reason: str) -> None:
        """Not the submission's fault, as far as anybody knows."""
        self.aside[student] = reason
        self.again.add(student)

    def reasons_file(self) -> Path:
        self.folder.mkdir(exist_ok=True)
        file = self.folder / "reasons.json"
        file.write_text(json.dumps(self.aside | self.stopped), encoding="utf-8")
        return file

    def hand_in_for(self, assignment: str, release: Path) -> Path:
        """Submissions that stand for those which cannot be taken in: the exercise as it was released."""
        for student in self.aside:
            place = self.folder / "submitted" / student / assignment
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            for notebook in release.glob("*.ipynb"):
                shutil.copyfile(notebook, place / notebook.name)
            stamp = self.folder.parent / "submitted" / student / assignment / "timestamp.txt"
            if stamp.is_file() and not stamp.is_symlink():
                shutil.copyfile(stamp, place / stamp.name)
        return self.folder / "submitted"

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Execution:
    """Executes what has no result yet."""

    def __init__(self, classroom: Classroom, force: bool, workers: int, scheduler: str | None):
        self.classroom, self.force, self.workers, self.scheduler = classroom, force, workers, scheduler
        self.store = Store(classroom.executed)

    def __call__(self, assignment: str, students: list[str]) -> Found:
        found = Found(self.classroom.folder / "failed")
        found.close()  # of a run that was ended
        jobs = self._collect(assignment, students, found)
        owners = defaultdict(set)
        for student, own in jobs.items():
            for job in own:
                owners[job.key].add(student)
        missing = {job.key: job for own in jobs.values() for job in own if self.force or job.key not in self.store}
        if missing:
            self._execute(assignment, missing, owners, found)
        return found

    def _collect(self, assignment: str, students: list[str], found: Found) -> dict[str, list[Job]]:
        os.environ["CLASSROOM"] = str(self.classroom.folder)  # nbgrader's configuration reads it
        collection, jobs = Collection(assignment), {}
        for student in students:
            try:
                jobs[student] = collection.jobs(student)
            except NotTakenIn as reason:
                found.aside[student] = str(reason)
            except Exception as fault:  # one submission never stops another
                found.give_up(student, f"It could not be taken in: {type(fault).__name__}: {fault}")
        return jobs

    def _execute(self, assignment: str, missing: dict[str, Job], owners: dict[str, set[str]], found: Found) -> None:
        """Keep each result as it comes. Equal submissions share one."""
        left = {student: 0 for key in missing for student in owners[key]}
        for key in missing:
            for student in owners[key]:
                left[student] += 1
        with Progress(assignment, len(left)) as bar:
            for done in self._results(missing):
                if done.result is not None:
                    self.store.put(done.key, done.result)
                result = self.store.read(done.key) if done.result is not None else None
                for student in owners[done.key]:
                    left[student] -= 1
                    if result is None:
                        found.stopped[student] = done.reason
                        found.again.add(student)
                    else:
                        found.seconds[student] += result.get("seconds", 0.0)
                    bar.advance(failed=result is None or result["state"]["state"] == "failed",
                                students=int(left[student] == 0))

    def _results(self, missing: dict[str, Job]) -> Iterator:
        from autograder.grading.cluster import connected, results  # Dask takes a second to load

        with connected(min(self.workers, len(missing)), self.scheduler) as client:
            yield from results(client, missing.values())


class Progress:
    """One line: students done, failed, left, and the time left."""

    def __init__(self, assignment: str, total: int):
        self.bar = tqdm(total=total, desc=assignment, bar_format=BAR, disable=None)
        self.total, self.done, self.failed = total, 0, 0

    def __enter__(self) -> "Progress":
        self._show()
        return self

    def __exit__(self, *error) -> None:
        self.bar.close()

    def advance(self, failed: bool, students: int) -> None:
        self.done += students
        self.failed += failed
        self._show()
        self.bar.update(students)

    def _show(self) -> None:
        self.bar.set_postfix_str(f"{self.done} done, {self.failed} failed, {self.total - self.done} left",
                                 refresh=False)


def outcome(folder: Path) -> str | None:
    """How the grading of a submission ended, in words that follow its mark; "" for well, None for not at all."""
    said = None
    for path in sorted(folder.glob("*.ipynb")):
        try:
            state = json.loads(path.read_text(encoding="utf-8"))["metadata"]["autograder"]
        except (OSError, ValueError, KeyError):
            return None
        said = said or ("" if state["state"] == "graded" else f"  {state['state']}: {state['reason']}")
    return said
