"""Dask's part: results come as bytes, workers that die cost nothing but time, and a cluster may be anybody's."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import dask
import psutil
import pytest
from dask.utils import parse_timedelta

import autograder.grading.cluster as cluster_module
from autograder.grading.cluster import connected, results
from autograder.grading.jobs import NoWorkers, OtherVersion
from autograder.sandbox.bubblewrap import NoSandbox


@dataclass(frozen=True)
class Task:
    """In place of a job: what it carries is the name of what is to happen."""

    key: str
    content: bytes = b""

    def to_bytes(self) -> bytes:
        return self.content or self.key.encode()


@pytest.fixture(scope="module")
def client():
    with connected(2) as client:
        yield client


def happen(content: bytes) -> bytes:
    if content == b"kills":
        os.kill(os.getpid(), signal.SIGKILL)
    if content.startswith(b"once:"):
        mark = Path(content[5:].decode())
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if content == b"fails":
        raise ValueError("a bug")
    if content == b"bare":
        raise NoSandbox("apt install bubblewrap")
    if content == b"old":
        raise OtherVersion("another version")
    return b"done " + content


def outcome(client, *tasks: Task) -> dict:
    def task(content, happen=happen):
        return happen(content)

    return {done.key: done.result or done.reason for done in results(client, tasks, task)}


def test_many_results_come_back_as_bytes(client):
    found = outcome(client, *(Task(f"n{i}") for i in range(25)))
    assert found == {f"n{i}": f"done n{i}".encode() for i in range(25)}


def test_a_worker_that_dies_once_costs_nothing(client, tmp_path):
    mark = tmp_path / "mark"
    found = outcome(client, Task("a", f"once:{mark}".encode()), *(Task(f"m{i}") for i in range(5)))
    assert mark.exists() and len(found) == 6 and all(isinstance(result, bytes) for result in found.values())


def test_what_kills_every_worker_is_given_up_and_the_others_go_on(client):
    found = outcome(client, Task("kills"), *(Task(f"o{i}") for i in range(5)))
    assert "died 3 times" in found.pop("kills")
    assert all(isinstance(result, bytes) for result in found.values())


def test_a_fault_of_the_grader_is_called_so(client):
    found = outcome(client, Task("fails"))
    assert found == {"fails": "A fault of the grader, not of the submission: ValueError: a bug"}


@pytest.mark.parametrize("name, error", [("bare", NoSandbox), ("old", OtherVersion)])
def test_what_would_befall_everybody_stops_the_run(client, name, error):
    with pytest.raises(error):
        outcome(client, Task(name))


def test_a_cluster_that_is_there_already_is_used_and_left_alone():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False) as cluster:
        for _ in range(2):
            with connected(5, cluster.scheduler_address) as client:
                assert outcome(client, Task("a"), Task("b")) == {"a": b"done a", "b": b"done b"}


def test_without_a_scheduler_or_without_workers_the_remedy_is_said():
    from distributed import LocalCluster

    with pytest.raises(NoWorkers, match="dask scheduler"), connected(1, "tcp://127.0.0.1:1", patience=2):
        pass
    with LocalCluster(n_workers=0, dashboard_address=None, processes=False) as cluster, \
            pytest.raises(NoWorkers, match="dask worker"), connected(1, cluster.scheduler_address, patience=5):
        pass


def test_workers_that_have_gone_for_good_end_the_run(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(cluster_module, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(cluster_module, "WITHOUT_WORKERS", 1)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False) as cluster, \
            connected(1, cluster.scheduler_address) as client:
        cluster.scale(0)
        while client.nthreads():
            time.sleep(0.05)
        with pytest.raises(NoWorkers, match="for 1 seconds none has come back"):
            outcome(client, Task("a"))


@dataclass
class SlowToArrive:
    """A future whose `result` takes longer than anybody waits."""

    status: str
    key: str = "grade-a"

    def result(self, timeout: float) -> bytes:
        raise TimeoutError("too late")


def test_a_result_that_is_slow_to_arrive_is_asked_for_again():
    assert cluster_module._done(SlowToArrive("finished")) is None
    assert cluster_module._done(SlowToArrive("pending")) is None
    assert cluster_module._done(SlowToArrive("error")).reason.endswith("TimeoutError: too late")


def test_a_worker_that_takes_long_to_come_back_is_waited_for(client):
    """Dask gives one up after 15 seconds; on a busy machine, loading torch alone takes longer."""
    seconds = parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout"))
    assert seconds > cluster_module.WITHOUT_WORKERS


def test_the_local_cluster_listens_to_nobody_without_its_certificate_and_leaves_nothing():
    with connected(1) as client:
        [number] = client.run(os.getpid).values()
        worker = psutil.Process(number)
        started = [worker, *worker.children(recursive=True)]  # and nobody else's: another cluster may be at work
        assert client.scheduler.address.startswith("tls://127.0.0.1") and len(started) > 1
    assert psutil.wait_procs(started, timeout=60)[1] == []
