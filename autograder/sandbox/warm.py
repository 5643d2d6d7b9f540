"""Starts the fork server of this process, and asks it for kernels (`forkserver` is what runs there)."""

import atexit
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from autograder.sandbox.bubblewrap import WORK, inner_environment
from autograder.sandbox.limits import Limits
from autograder.sandbox.seccomp import program

SCRIPT = Path(__file__).with_name("forkserver.py")
HOLD = ["/bin/cat"]
"""What waits inside the walls for the kernel, then beside it: it reads from a pipe that ends when its owner does."""
START_SECONDS, FORK_SECONDS = 120, 20
COLD = "AUTOGRADER_COLD"
"""Environment: set, every kernel is a process that starts from nothing."""


class Cold(Exception):
    """No kernel can be forked here; one has to be started from nothing."""


class ForkServer:
    """A process with the libraries loaded. It ends when this object, or this process, does."""

    def __init__(self):
        self.lock = threading.Lock()
        self.socket, other = socket.socketpair()
        with other:
            self.process = subprocess.Popen([sys.executable, "-P", str(SCRIPT)], stdin=other, cwd="/",
                                            env=inner_environment(), stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL, start_new_session=True)
        self.ready: bool | None = None  # until it has said so

    def close(self) -> None:
        self.socket.close()
        self.process.kill()
        self.process.wait()

    def fork(self, walls: int, arguments: list[str], limits: Limits) -> int:
        """A kernel inside the walls that the bubblewrap process `walls` has built, as a process descriptor.

        Raises Cold where that does not work.
        """
        seccomp = program()
        request = {"process": inside(walls, HOLD), "folder": WORK, "environment": inner_environment(),
                   "arguments": arguments, "limits": list(limits.resources().items()),
                   "seccomp": seccomp.hex() if seccomp else ""}
        try:
            with self.lock:
                if self.ready is None:
                    self.socket.settimeout(START_SECONDS)
                    self.ready = self.socket.recv(1) == b"+"
                if not self.ready:
                    raise Cold("The fork server has several threads.")
                self.socket.settimeout(FORK_SECONDS)
                self.socket.sendall(json.dumps(request).encode() + b"\n")
                answer, descriptors, _, _ = socket.recv_fds(self.socket, 1, 1)
        except OSError as error:
            if self.ready:
                self.close()  # an answer that came now would be taken for the next request's
            raise Cold(str(error)) from None
        if answer != b"+" or not descriptors:
            raise Cold("The fork server could not enter the sandbox.")
        return descriptors[0]


def inside(walls: int, command: list[str]) -> int:
    """The process that runs a command inside what the bubblewrap process `walls` builds. Raises Cold if none comes."""
    end, wanted = time.monotonic() + FORK_SECONDS, b"".join(os.fsencode(word) + b"\0" for word in command)
    while time.monotonic() < end:
        process = str(walls)
        with contextlib.suppress(OSError, IndexError):
            while Path(f"/proc/{process}/cmdline").read_bytes() != wanted:
                process = Path(f"/proc/{process}/task/{process}/children").read_text().split()[0]
            return int(process)
        time.sleep(0.004)
    raise Cold("The sandbox was not built.")


def ended(descriptor: int) -> bool:
    """Whether the process of a process descriptor is gone."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


_servers: dict[int, ForkServer] = {}
_lock = threading.Lock()


def fork_server() -> ForkServer | None:
    """The server of this process, started when first asked for; None where forking is switched off or impossible."""
    if os.environ.get(COLD) or sys.platform != "linux":
        return None
    with _lock:
        server = _servers.get(os.getpid())
        if server is None or server.process.poll() is not None:
            server = _servers[os.getpid()] = ForkServer()
            atexit.register(server.close)
        return server

