"""What the trusted side asks of the learner's objects, wherever they are: in a kernel, or in a copy of its process."""

from abc import ABC, abstractmethod

from autograder.learner.calls import PATIENCE, Call, CodeError, Reply
from autograder.learner.wire import WireError, dumps, loads
from autograder.sandbox.limits import Limits

ANSWER_SECONDS = 20
"""What a busy machine may take to answer on top of the time that the code itself has."""
ENDED = "The code ended the Python process while it was checked."


class Stopped(Exception):
    """The process is gone; the message says why in one sentence."""


class NotStarted(Stopped):
    """None came up, so that nothing is known about the code."""


class OutOfTime(Stopped):
    """It was ended because it gave no answer in time."""


class Answering(ABC):
    """Something inside the walls that calls functions of the learner's side, with texts for arguments and result.

    What comes back is from a stranger: it may be forged, malformed, endless, or never come.
    """

    limits: Limits

    @abstractmethod
    def _call(self, function: str, arguments: tuple[str, ...], seconds: float) -> str:
        """The text that `answer`, `operate` or `defined` gives. Raises Stopped where none comes."""

    def ask(self, name: str, call: Call, rng_seed: int) -> Reply:
        """Carry out a call on the learner's object `name`. A process that ends is a reply too: "died"."""
        return self._request("answer", (name, dumps((call, rng_seed))), PATIENCE * call.seconds)

    def operate(self, request: tuple) -> Reply:
        """Carry out one operation on the objects of the sandbox (`learner.objects`), for an instructor's own test."""
        return self._request("operate", (dumps(request),), self.limits.cell_seconds)

    def defines(self, name: str) -> bool:
        """Whether the learner has defined `name`. Raises Stopped where the process has ended."""
        return self._call("defined", (name,), ANSWER_SECONDS) == name

    def _request(self, function: str, arguments: tuple[str, ...], seconds: float) -> Reply:
        try:
            reply = loads(self._call(function, arguments, seconds + ANSWER_SECONDS))
        except OutOfTime:
            return Reply("timed_out")
        except Stopped:
            return Reply("died")
        except WireError as error:
            return _unreadable(str(error))
        return reply if isinstance(reply, Reply) else _unreadable("It was no reply.")


def _unreadable(why: str) -> Reply:
    return Reply("raised", error=CodeError("RuntimeError", f"The sandbox's reply could not be read. {why}"))
