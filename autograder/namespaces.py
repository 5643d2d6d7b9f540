"""Two Dask workers that share nothing but a network with this computer's scheduler, for the benchmark. Needs root."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from autograder.sandbox.scratch import scratch

BRIDGE, NETWORK, PORT = "nss-bridge", "10.77.0", 18786
SCHEDULER = f"tcp://{NETWORK}.254:{PORT}"
WORKERS = {1: ("nss-worker1", "nss-cable1"), 2: ("nss-worker2", "nss-cable2")}
"""The number of each, its network namespace, and its cable to the bridge."""
DASK = [sys.executable, "-m", "dask"]
TIED = ["setpriv", "--pdeathsig", "TERM"]
"""Begins a command that ends when the benchmark is killed: the next one needs the scheduler's port."""


class NoNamespaces(RuntimeError):
    """Network namespaces cannot be made here; the message says why."""


def ip(*words: str) -> None:
    result = subprocess.run(["ip", *words], capture_output=True, text=True)
    if result.returncode != 0:
        raise NoNamespaces(f"`ip {' '.join(words)}`: {result.stderr.strip()}")


@contextmanager
def two_workers() -> Iterator[str]:
    """The address of a scheduler here with a worker in each of two network namespaces.

    Raises NoNamespaces where there is no `ip`, or no right to use it, and where the scheduler does not answer.
    """
    for program, package in (("ip", "iproute2"), ("setpriv", "util-linux")):
        if shutil.which(program) is None:
            raise NoNamespaces(f"There is no `{program}` here: install {package}.")
    remove_leftovers()
    with ExitStack() as stack:
        ip("link", "add", BRIDGE, "type", "bridge")
        stack.callback(ip, "link", "delete", BRIDGE)
        ip("address", "add", f"{NETWORK}.254/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        scheduler = stack.enter_context(running([
            *DASK, "scheduler", "--host", f"{NETWORK}.254", "--port", str(PORT), "--no-dashboard"]))
        wait_for(scheduler, f"{NETWORK}.254", PORT)
        for number in WORKERS:
            name = namespace(stack, number)
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=scratch()))
            stack.enter_context(running(["ip", "netns", "exec", name, *DASK, "worker", SCHEDULER, "--nthreads", "1",
                                         "--no-dashboard", "--local-directory", folder, "--memory-limit", "0"]))
        yield SCHEDULER


def remove_leftovers() -> None:
    """What a benchmark that was killed has left."""
    for kind, name in [*(("netns", name) for name, _ in WORKERS.values()),
                       *(("link", cable) for _, cable in WORKERS.values()), ("link", BRIDGE)]:
        with suppress(NoNamespaces):
            ip(kind, "delete", name)


def wait_for(process: subprocess.Popen, host: str, port: int, seconds: float = 60) -> None:
    """Return as soon as the process answers there. Raises NoNamespaces where it has ended, or takes too long."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            return
        time.sleep(0.1)
    raise NoNamespaces(f"Dask's scheduler does not answer at {host}:{port}; look what else listens there.")


def namespace(stack: ExitStack, number: int) -> str:
    """A network namespace with one cable to the bridge."""
    name, cable = WORKERS[number]
    ip("netns", "add", name)
    stack.callback(ip, "netns", "delete", name)
    ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
    ip("link", "set", cable, "master", BRIDGE, "up")
    ip("-n", name, "address", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
    ip("-n", name, "link", "set", "eth0", "up")
    ip("-n", name, "link", "set", "lo", "up")
    return name


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen([*TIED, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
