"""The benchmark's two workers elsewhere: a benchmark that was killed is not in the way of the next."""

import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder import namespaces
from autograder.namespaces import BRIDGE, NoNamespaces, two_workers, wait_for
from autograder.sandbox.scratch import scratch


class Network(set):
    """Stands for the kernel: the names of the links and namespaces that there are."""

    def ip(self, *words: str) -> None:
        if words[1] in ("add", "delete") and words[0] in ("link", "netns"):
            if (words[2] in self) != (words[1] == "delete"):
                raise NoNamespaces(f"`ip {' '.join(words)}`: RTNETLINK answers")
            (self.add if words[1] == "add" else self.remove)(words[2])
            if words[:2] == ("netns", "delete"):  # takes its end of the cable, and so the cable
                self.discard(words[2].replace("worker", "cable"))


@pytest.fixture
def commands(monkeypatch):
    """What would be started, in a network that is no more than its names."""
    found = []

    @contextmanager
    def running(command):
        found.append(command)
        yield

    monkeypatch.setattr(namespaces.shutil, "which", lambda name: name)
    monkeypatch.setattr(namespaces, "running", running)
    monkeypatch.setattr(namespaces, "wait_for", lambda *place: None)
    return found


@pytest.mark.parametrize("left", [[], [BRIDGE], ["nss-cable1"], [BRIDGE, "nss-worker1", "nss-cable1", "nss-worker2"]])
def test_what_a_killed_benchmark_left_is_removed_first(commands, monkeypatch, left):
    network = Network(left)
    monkeypatch.setattr(namespaces, "ip", network.ip)
    with two_workers():
        assert network == {BRIDGE, "nss-worker1", "nss-cable1", "nss-worker2", "nss-cable2"}
        folders = [Path(command[command.index("--local-directory") + 1]) for command in commands[1:]]
        assert all(folder.is_dir() and folder.parent == scratch() for folder in folders)
    assert network == set() and not any(folder.exists() for folder in folders)


def test_it_waits_until_the_scheduler_answers_and_no_longer():
    with socket.socket() as listener, subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as it:
        listener.bind(("127.0.0.1", 0))
        threading.Timer(0.5, listener.listen).start()
        began = time.monotonic()
        wait_for(it, *listener.getsockname())
        assert 0.4 < time.monotonic() - began < 30
        it.communicate(b"\n")
        listener.close()
        with pytest.raises(NoNamespaces, match="Dask's scheduler does not answer at 127"):
            wait_for(it, "127.0.0.1", 1)
