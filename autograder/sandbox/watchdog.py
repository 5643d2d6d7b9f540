"""Watches a sandbox from outside and ends it when it takes too much.

The kernel's own limits are per process, and the one on processes does not bind root; the sum over all processes, the
wall time and the shared folder are watched here.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from autograder.sandbox.limits import Limits

STRAY_BYTES = 1_000_000


class Watchdog:
    """A thread that looks at a process and its descendants a few times a second.

    `verdict` says why it ended them, and is None while all is well.
    """

    def __init__(self, pid: int, limits: Limits, sockets: Path, kill: Callable[[], None], interval: float = 0.2):
        self.root, self.limits, self.sockets, self.kill = psutil.Process(pid), limits, sockets, kill
        self.interval = interval
        self.verdict: str | None = None
        self.end = time.monotonic() + limits.notebook_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def _watch(self) -> None:
        while not self._stop.wait(self.interval):
            self.verdict = self._look()
            if self.verdict:
                self.kill()
                return

    def _look(self) -> str | None:
        """What is too much, in one sentence, or None."""
        limits = self.limits
        if time.monotonic() > self.end:
            return f"The notebook took longer than {limits.notebook_seconds:g} seconds."
        try:
            processes = [self.root, *self.root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return None
        if len(processes) > limits.processes:
            return f"The code started more than {limits.processes} processes."
        if sum(map(_memory, processes)) > limits.memory:
            return f"The code used more than {limits.memory // 2**20} MiB of memory."
        if _file_bytes(self.sockets) > STRAY_BYTES:
            return "The code wrote files where only the kernel's sockets belong."
        return None


def _memory(process: psutil.Process) -> int:
    """Resident bytes that no file stands behind: torch's libraries are shared by all and do not count."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def _file_bytes(folder: Path) -> int:
    try:
        return sum(entry.stat(follow_symlinks=False).st_blocks * 512 for entry in os.scandir(folder)
                   if entry.is_file(follow_symlinks=False))
    except FileNotFoundError:
        return 0
