"""Watches a sandbox from outside and ends it when it takes too much.

The kernel's own limits are per process, and the one on processes does not bind root; the sum over all processes, the
wall time and the shared folder are watched here.
"""

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

from autograder.sandbox.limits import Limits

MOST_SOCKETS = 20
CONNECTION_FILE, CONNECTION_BYTES = "c.json", 64_000


class Watchdog:
    """A thread that looks at a sandbox a few times a second.

    processes: the sandbox's own /proc, which lists all that runs inside and nothing else.
    `verdict` says why it ended them, and is None while all is well.
    """

    def __init__(self, processes: Path, limits: Limits, sockets: Path, kill: Callable[[], None], interval: float = 0.2):
        self.processes, self.limits, self.sockets, self.kill = processes, limits, sockets, kill
        self.interval = interval
        self.verdict: str | None = None
        self.seen, self.own, self.look_again = 0, 0, 0.0
        self.end = time.monotonic() + limits.notebook_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def _watch(self) -> None:
        with contextlib.suppress(OSError):  # root may: no crowd of processes keeps this thread from looking
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)
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
            processes = self._inside()
        except PermissionError:
            return "The sandbox could not be watched."
        except OSError:  # it has ended
            return None
        if len(processes) > limits.processes:
            return self._crowded()
        if self._occupied(processes) > limits.memory:
            return f"The code used more than {limits.memory // 2**20} MiB of memory."
        if _holds_strays(self.sockets):
            return "The code wrote files where only the kernel's sockets belong."
        return None

    def verdict_now(self) -> str | None:
        """The verdict; a crowd is seen though the thread may still be looking at the memory of each in it."""
        if self.verdict is None:
            with contextlib.suppress(OSError):  # it has ended
                return self._crowded() if len(self._inside()) > self.limits.processes else None
        return self.verdict

    def _inside(self) -> list[Path]:
        return [self.processes / name for name in os.listdir(self.processes) if name.isdigit()]

    def _crowded(self) -> str:
        return f"The code started more than {self.limits.processes} processes."

    def _occupied(self, processes: list[Path]) -> int:
        """Bytes that the sandbox occupies, or a bound below its limit.

        Copies of a process share most of their pages, and finding out how many takes time: a twentieth of ours at most,
        unless what can be seen at once has grown by so much that it must be known.
        """
        resident, now = sum(map(_resident, processes)), time.monotonic()
        bound = self.own + max(0, resident - self.seen)
        if resident <= self.limits.memory or (bound <= self.limits.memory and now < self.look_again):
            return min(resident, self.limits.memory)
        self.seen, self.own = resident, sum(map(_proportional, processes))
        self.look_again = now + 20 * (time.monotonic() - now)
        return self.own


def _resident(process: Path) -> int:
    """Resident bytes that no file stands behind: torch's libraries are shared by all and do not count."""
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def _proportional(process: Path) -> int:
    """The same, where a page that several processes share counts once in all; slower to find out."""
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))


def _holds_strays(folder: Path) -> bool:
    """Whether anything but a few sockets and the kernel's connection file lies in the folder, which is on our disk."""
    try:
        for number, entry in enumerate(os.scandir(folder)):
            facts = entry.stat(follow_symlinks=False)
            known = entry.name.startswith(CONNECTION_FILE) and facts.st_size <= CONNECTION_BYTES
            expected = stat.S_ISREG(facts.st_mode) if known else stat.S_ISSOCK(facts.st_mode)
            if number >= MOST_SOCKETS or not expected:
                return True
    except FileNotFoundError:  # a file that went away while we looked, or the whole folder
        pass
    return False
