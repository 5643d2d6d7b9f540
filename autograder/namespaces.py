"""Two Dask workers that share nothing but a network with this computer's scheduler, for the benchmark. Needs root."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

BRIDGE, NETWORK, PORT = "nss-bridge", "10.77.0", 18786
SCHEDULER = f"tcp://{NETWORK}.254:{PORT}"
DASK = [sys.executable, "-m", "dask"]


class NoNamespaces(RuntimeError):
    """Network namespaces cannot be made here; the message says why."""


def ip(*words: str) -> None:
    result = subprocess.run(["ip", *words], capture_output=True, text=True)
    if result.returncode != 0:
        raise NoNamespaces(f"`ip {' '.join(words)}`: {result.stderr.strip()}")


@contextmanager
def two_workers() -> Iterator[str]:
    """The address of a scheduler here with a worker in each of two network namespaces.

    Raises NoNamespaces where there is no `ip`, or no right to use it.
    """
    if shutil.which("ip") is None:
        raise NoNamespaces("There is no `ip` here: install iproute2.")
    with ExitStack() as stack:
        ip("link", "add", BRIDGE, "type", "bridge")
        stack.callback(ip, "link", "delete", BRIDGE)
        ip("address", "add", f"{NETWORK}.254/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        stack.enter_context(running([*DASK, "scheduler", "--host", f"{NETWORK}.254", "--port", str(PORT),
                                     "--no-dashboard"]))
        time.sleep(3)
        for number in (1, 2):
            name = namespace(stack, number)
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nss-"))
            stack.enter_context(running(["ip", "netns", "exec", name, *DASK, "worker", SCHEDULER, "--nthreads", "1",
                                         "--no-dashboard", "--local-directory", folder, "--memory-limit", "0"]))
        yield SCHEDULER


def namespace(stack: ExitStack, number: int) -> str:
    """A network namespace with one cable to the bridge."""
    name, cable = f"nss-worker{number}", f"nss-cable{number}"
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
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
