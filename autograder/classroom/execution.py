"""The first step of grading: every submission of an assignment is executed, and its result is kept by content."""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from autograder.classroom.folders import Classroom
from autograder.grading.collect import Collection, NotTakenIn
from autograder.grading.jobs import Job
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
        with Progress(assignment, len(students)) as bar, ExitStack() as stack, ThreadPoolExecutor(1) as thread:
            client = cache(lambda: thread.submit(lambda: stack.enter_context(self._connected(len(students)))))
            jobs, missing, aside = {}, {}, []
            for student, own in self._collect(assignment, students):
                if isinstance(own, Executed):
                    aside.append(own)
                    continue
                jobs[student] = own
                new = {job.key: job for job in own if self.force or job.key not in self.store}
                missing |= new
                new and client()
            yield map(bar.count, chain(aside, self._unfold(jobs, missing, lambda: client().result())))

    def _connected(self, most: int) -> AbstractContextManager["Client"]:
        from autograder.grading.cluster import connected  # Dask takes a second to load

        return connected(min(self.workers, most), self.scheduler)

    def _collect(self, assignment: str, students: list[str]) -> Iterator[tuple[str, list[Job] | Executed]]:
        """What has to be executed for each student, or why nothing can be."""
        os.environ["CLASSROOM"] = str(self.classroom.folder)  # nbgrader's configuration reads it
        collection = Collection(assignment)
        for student in students:
            try:
                yield student, collection.jobs(student)
            except NotTakenIn as reason:
                yield student, Executed(student, reason=str(reason), aside=True)
            except Exception as fault:  # one submission never stops another
                reason = f"It could not be taken in: {type(fault).__name__}: {fault}"
                yield student, Executed(student, reason=reason, aside=True, again=True)

    def _unfold(self, jobs: dict[str, list[Job]], missing: dict[str, Job],
                client: Callable[[], "Client"]) -> Iterator[Executed]:
        """Keep each result as it comes. Equal submissions share one."""
        waiting = {student: {job.key for job in own} & missing.keys() for student, own in jobs.items()}
        executed = {student: Executed(student) for student in jobs}
        yield from (executed[student] for student, keys in waiting.items() if not keys)
        for done in self._results(missing, client):
            result = self._kept(done)
            for student in [student for student, keys in waiting.items() if done.key in keys]:
                executed[student] = _joined(executed[student], done, result)
                waiting[student].remove(done.key)
                if not waiting[student]:
                    yield executed[student]

    def _results(self, missing: dict[str, Job], client: Callable[[], "Client"]) -> Iterator["Done"]:
        if missing:
            from autograder.grading.cluster import results

            yield from results(client(), missing.values())

    def _kept(self, done: "Done") -> dict | None:
        if done.result is None:
            return None
        self.store.put(done.key, done.result)
        return self.store.read(done.key)


def _joined(executed: Executed, done: "Done", result: dict | None) -> Executed:
    """What is known about a student, with one more notebook's result."""
    if result is None:
        return replace(executed, reason=done.reason, again=True)
    return replace(executed, seconds=executed.seconds + result.get("seconds", 0.0),
                   failed=executed.failed or result["state"]["state"] == "failed")


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
        said = said or ("" if state["state"] == "graded" else f"  {state['state']}: {state['reason']}")
    return said
