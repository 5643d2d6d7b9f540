"""Executes submissions as Dask tasks: on a cluster of this computer's own, or on any that is there already.

Tasks carry bytes and give bytes, so workers need no shared disk, and nothing that a learner's code made is unpickled.
"""

import logging
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, wait

from autograder.grading.jobs import Job, NoWorkers, OtherVersion, execute
from autograder.sandbox.bubblewrap import NoSandbox
from autograder.sandbox.scratch import remove_stale, scratch

ALLOWED_DEATHS = 2
"""A worker that dies may not have died of the submission; one that outlives no worker is given up."""
LOOK_SECONDS, WITHOUT_WORKERS = 10, 300
"""How often it is looked whether there are workers, and how long there may be none: a new one takes some seconds."""
SETTINGS = {
    "distributed.scheduler.allowed-failures": ALLOWED_DEATHS,
    "distributed.scheduler.worker-saturation": 1.0,  # no submission waits on a worker that another one may end
    "distributed.worker.memory.terminate": False,  # the sandbox has a limit of its own
    "distributed.deploy.lost-worker-timeout": "1000 days",  # or one that is slow to come back is given up for good
    "distributed.scheduler.http.routes": [], "distributed.worker.http.routes": [],  # no web pages about the class
}


@dataclass(frozen=True)
class Done:
    """What became of one job: a result, or the reason why there is none."""

    key: str
    result: bytes | None
    reason: str = ""


@contextmanager
def connected(workers: int, scheduler: str | None = None, patience: float = 60) -> Iterator[Client]:
    """A client of the given scheduler, or of a new local cluster that ends with the context."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if scheduler:
        try:
            client = Client(scheduler, timeout=patience, set_as_default=False)
        except (OSError, ValueError) as error:
            raise NoWorkers(f"No scheduler answers at {scheduler} ({error}); "
                            "start one with `dask scheduler`.") from None
        with client:
            _wait_for_workers(client, scheduler, patience)
            yield client
        return
    try:
        with (tempfile.TemporaryDirectory(dir=scratch(), ignore_cleanup_errors=True) as folder,
              dask.config.set(SETTINGS), _local(workers, folder) as cluster,
              Client(cluster, set_as_default=False) as client):
            yield client
    finally:
        remove_stale()  # a worker is ended more often than it ends


def _local(workers: int, folder: str) -> LocalCluster:
    """Processes of this computer that talk encrypted, and that Ctrl-C does not reach: it is for the driver."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is started now inherits it
    try:
        return LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit=0,
            security=True, silence_logs=logging.CRITICAL, local_directory=folder,
            env={"OMP_NUM_THREADS": "1"}, preload="autograder.grading.worker")
    except RuntimeError as error:
        raise NoWorkers(f"The processes that run submissions did not start ({error}); run the same command again."
                        ) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait_for_workers(client: Client, scheduler: str, patience: float) -> None:
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise NoWorkers(f"The scheduler at {scheduler} has no workers; start one with `dask worker {scheduler} "
                        "--nthreads 1` where this package is installed.") from None


def results(client: Client, jobs: Iterable[Job], task: Callable[[bytes], bytes] = execute) -> Iterator[Done]:
    """Execute the jobs; each result as soon as it is there, in no particular order.

    Only a few jobs at a time are given away, so that a large class does not fill anybody's memory.
    Raises NoWorkers where the workers have gone and none comes back.
    """
    waiting = iter(jobs)
    window = 4 * max(1, sum(client.nthreads().values()))

    def send(job: Job) -> Future:
        return client.submit(task, job.to_bytes(), key=f"grade-{job.key}", pure=False)

    running = {send(job) for job in islice(waiting, window)}
    while running:
        for future in _ended(client, running):
            if (done := _done(future)) is not None:
                yield done
                running.remove(future)
                future.release()
                running |= {send(job) for job in islice(waiting, 1)}


def _ended(client: Client, running: set[Future]) -> set[Future]:
    """Those that have ended, as soon as there is one."""
    last = time.monotonic()  # when there was a worker
    while True:
        try:
            with client.as_current():
                return wait(running, timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            last = time.monotonic() if client.nthreads() else last
            if time.monotonic() - last > WITHOUT_WORKERS:
                raise NoWorkers(f"The processes that run submissions have ended, and for {WITHOUT_WORKERS} seconds "
                                "none has come back. What is done is kept: run the same command again.") from None


def _done(future: Future) -> Done | None:
    """None where the result is still on its way, or was lost with its worker and is being made again.

    Raises NoSandbox and OtherVersion: no other submission would fare better.
    """
    key = future.key.removeprefix("grade-")
    try:
        return Done(key, future.result(timeout=LOOK_SECONDS))
    except (NoSandbox, OtherVersion):
        raise
    except KilledWorker:
        return Done(key, None, f"The grader's process died {ALLOWED_DEATHS + 1} times while it ran this submission.")
    except Exception as error:
        if isinstance(error, TimeoutError) and future.status != "error":  # ours, not the task's
            return None
        return Done(key, None, f"A fault of the grader, not of the submission: {type(error).__name__}: {error}")
