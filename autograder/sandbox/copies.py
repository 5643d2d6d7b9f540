"""The trusted side's way to a copy of the learner's process (`learner.copies` is what answers in it)."""

import contextlib
import socket
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.learner.wire import LIMIT
from autograder.sandbox.answering import ENDED, Answering, OutOfTime, Stopped
from autograder.sandbox.limits import Limits

DOOR, WAITING = "d", 4
CONNECT_SECONDS = 10


class Door:
    """The socket, in the folder that both sides see, at which the copies of one sandbox report."""

    def __init__(self, folder: Path):
        self.address = str(folder / DOOR)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.address)
        self.socket.listen(WAITING)
        self.socket.settimeout(CONNECT_SECONDS)

    def next(self) -> Connection | None:
        """The next that reports; None where nobody does."""
        try:
            return Connection(self.socket.accept()[0].detach())
        except OSError:
            return None

    def close(self) -> None:
        self.socket.close()


class Copy(Answering):
    """The learner's process as it was when it was copied. `alive`: it has answered everything so far.

    end: ends the whole sandbox, for a copy that does not answer in time.
    """

    def __init__(self, connection: Connection, limits: Limits, end: Callable[[], None]):
        self.connection, self.limits, self.end = connection, limits, end
        self.alive = True

    def close(self) -> None:
        """It ends when nobody can ask any more."""
        self.alive = False
        self.connection.close()

    def _call(self, function: str, arguments: tuple[str, ...], seconds: float) -> str:
        try:
            for part in (str(1 + len(arguments)), function, *arguments):
                self.connection.send_bytes(part.encode())
            answered = self.connection.poll(seconds)
            text = self.connection.recv_bytes(LIMIT).decode() if answered else ""
        except (OSError, EOFError, ValueError):  # it ended, or sent what is too long or no text
            self.close()
            raise Stopped(ENDED) from None
        if not answered:
            self.close()
            with contextlib.suppress(Exception):
                self.end()
            raise OutOfTime(f"The code gave no answer within {seconds:g} seconds.")
        return text
