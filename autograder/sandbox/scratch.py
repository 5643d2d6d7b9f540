"""Folders for the moment. Each process has one, below the system's, and everything temporary in it.

It goes when the process ends. What a process that was killed has left goes when the next one asks for its own: a lock
that nobody holds says that the owner is gone.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

PREFIX, LOCK = "nss-", "lock"
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
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    descriptor = os.open(folder / "new", os.O_CREAT | os.O_RDWR, 0o600)  # open, and locked, as long as the process is
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (folder / "new").rename(folder / LOCK)  # from now on others may look whether it is locked
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale() -> None:
    """Remove the folders of processes that ended without doing so."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (folder / LOCK).open("rb") as lock:  # without one, or held: not ours to end
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
