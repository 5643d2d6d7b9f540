"""Folders for the moment. Each process has one, below the system's, and everything temporary in it.

It goes when the process ends. What a process that was killed has left goes when the next one asks for its own: beside
each folder lies a lock, and one that nobody holds says that the owner is gone. The lock comes before the folder and
goes after it, so there is no moment at which a process that is killed leaves a folder without one.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

PREFIX, LOCK = "nss-", ".lock"
DEEPEST = 107 - len("/nss-12345678/12345678/s/k-5")


def scratch() -> Path:
    """This process's folder. Raises OSError where it would lie too deep: a socket's path has at most 107 bytes."""
    return _scratch(os.getpid())


@cache
def _scratch(process: int) -> Path:
    if len(os.fsencode(tempfile.gettempdir())) > DEEPEST:
        raise OSError(f"{tempfile.gettempdir()} is too long a path for temporary files; "
                      f"set TMPDIR to one of at most {DEEPEST} bytes, such as /tmp.")
    remove_stale()
    lock = _held_lock()
    folder = lock.with_suffix("")
    folder.mkdir(mode=0o700)
    atexit.register(_at_exit, lock, process)
    return folder


def _held_lock() -> Path:
    """A new lock, which this process holds as long as it runs."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=LOCK)  # open until the process ends
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:  # or another process saw it before it was held, and removed it as stale
            return Path(name)
        os.close(descriptor)


def _at_exit(lock: Path, process: int) -> None:
    if os.getpid() == process:
        _remove(lock)


def _remove(lock: Path) -> None:
    folder = lock.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():  # what could not be removed is tried again by the next
        lock.unlink(missing_ok=True)


def remove_stale() -> None:
    """Remove the folders of processes that ended without doing so."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*{LOCK}"):
        with contextlib.suppress(OSError), lock.open("r+b") as file:  # held, or another user's: not ours to end
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(lock)
