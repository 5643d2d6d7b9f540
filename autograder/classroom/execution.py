"""The first step of grading: every submission of an assignment is executed, and its result is kept by content."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from autograder.classroom.folders import Classroom
from autograder.grading.collect import Collection, NotTakenIn
from autograder.grading.jobs import Job
from autograder.grading.states import FAILED, GRADED
from autograder.grading.store import Store

if TYPE_CHECKING:
    from distributed import Client

    from autograder.grading.cluster import Done

BAR = "{desc} |{bar:20}| {postfix}, {remaining} to go"


@dataclass(frozen=True)
class Executed:
    """What became of one student's submission, and how long it ran.

    reason: why there is no result; aside: it cannot even be taken in; again: not the submission's fault, as far as
    anybody knows, so the next run should try anew.
    """

    student: str
    seconds: float = 0.0
    reason: str = ""
    aside: bool = False
    again: bool = False
    failed: bool = False


class Execution:
    """Executes what has no result yet."""

    def __init__(self, classroom: Classroom, force: bool, workers: int, scheduler: str | None):
        self.classroom, self.force, self.workers, self.scheduler = classroom, force, workers, scheduler
        self.store = Store(classroom.executed)

    @contextmanager
    def __call__(self, assignment: str, students: list[str]) -> Iterator[Iterator[Executed]]:
        """Each student as soon as all that belongs to the submission has been executed, or cannot be.

        The workers start in the background, so that whoever takes the results can prepare for them.
        """
        os.environ["CLASSROOM"] = str(self.classroom.folder)  # nbgrader's configuration reads it
        way = Way(collected(assignment, students), self.store, self.force)
        jobs = way.jobs()
        with Progress(assignment, len(students)) as bar, ExitStack() as stack, ThreadPoolExecutor(1) as thread:
            first = list(islice(jobs, 1))
            starting = thread.submit(lambda: stack.enter_context(self._connected(len(students))) if first else None)
            yield map(bar.count, way.back(self._results(starting, chain(first, jobs))))

    def _connected(self, most: int) -> AbstractContextManager["Client"]:
        from autograder.grading.cluster import connected  # Dask takes a second to load

        return connected(min(self.workers, most), self.scheduler)

    def _results(self, starting: "Future[Client | None]", jobs: Iterator[Job]) -> Iterator["Done"]:
        if (client := starting.result()) is not None:
            from autograder.grading.cluster import results

            yield from results(client, jobs)


def collected(assignment: str, students: list[str]) -> Iterator[tuple[Executed, list[Job]]]:
    """Each student with what has to be executed, or with why nothing can be."""
    collection = Collection(assignment)
    for student in students:
        try:
            yield Executed(student), collection.jobs(student)
        except NotTakenIn as reason:
            yield Executed(student, reason=str(reason), aside=True), []
        except Exception as fault:  # one submission never stops another
            reason = f"It could not be taken in: {type(fault).__name__}: {fault}"
            yield Executed(student, reason=reason, aside=True, again=True), []


class Way:
    """The way of an assignment's submissions: their jobs go out, and students come back when all of theirs are done.

    A submission is taken in when a worker is about to be free for it. Equal submissions share one result.
    """

    def __init__(self, submissions: Iterator[tuple[Executed, list[Job]]], store: Store, force: bool):
        self.submissions, self.store, self.force = submissions, store, force
        self.executed: dict[str, Executed] = {}
        self.waiting: dict[str, set[str]] = {}
        self.done: dict[str, Executed] = {}
        self.ready: list[Executed] = []

    def jobs(self) -> Iterator[Job]:
        """What has no result yet, each once."""
        sent = set()
        for executed, own in self.submissions:
            missing = {job.key: job for job in own if self.force or job.key not in self.store}
            self.executed[executed.student], self.waiting[executed.student] = executed, set(missing)
            for key in missing.keys() & self.done.keys():
                self._arrived(executed.student, key)
            if not missing:
                self.ready.append(executed)
            yield from (job for key, job in missing.items() if key not in sent)
            sent |= missing.keys()

    def back(self, results: Iterator["Done"]) -> Iterator[Executed]:
        """Keep each result as it comes, and give the students that are complete with it."""
        yield from self._complete()
        for done in results:
            self.done[done.key] = self._kept(done)
            for student in [student for student, keys in self.waiting.items() if done.key in keys]:
                self._arrived(student, done.key)
            yield from self._complete()
        yield from self._complete()

    def _arrived(self, student: str, key: str) -> None:
        self.executed[student] = _joined(self.executed[student], self.done[key])
        self.waiting[student].remove(key)
        if not self.waiting[student]:
            self.ready.append(self.executed[student])

    def _complete(self) -> Iterator[Executed]:
        while self.ready:
            yield self.ready.pop(0)

    def _kept(self, done: "Done") -> Executed:
        """Put a result into the store; what it says about whoever handed this in."""
        result = None
        if done.result is not None:
            self.store.put(done.key, done.result)
            result = self.store.read(done.key)
        if result is None:
            return Executed("", reason=done.reason, again=True)
        state = result["state"]
        return Executed("", seconds=result.get("seconds", 0.0), again=state.get("again", False),
                        failed=state["state"] == FAILED)


def _joined(executed: Executed, notebook: Executed) -> Executed:
    """What is known about a student, with one more notebook's result."""
    return replace(executed, seconds=executed.seconds + notebook.seconds, reason=notebook.reason or executed.reason,
                   again=executed.again or notebook.again, failed=executed.failed or notebook.failed)


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

    def count(self, executed: Executed) -> Executed:
        self.done += 1
        self.failed += executed.failed or bool(executed.reason)
        self._show()
        self.bar.update()
        return executed

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
        said = said or ("" if state["state"] == GRADED else f"  {state['state']}: {state['reason']}")
    return said
