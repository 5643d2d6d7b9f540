"""The sandbox's end of the wire: the trusted side has `answer` called here and reads the text that comes back."""

from typing import Any

from autograder.learner.calls import CodeError, Reply
from autograder.learner.runner import run
from autograder.learner.wire import WireError, dumps, loads


def answer(namespace: dict[str, Any], name: str, text: str) -> str:
    """Carry out the call in `text`, (call, rng_seed), on the learner's object `name`; the reply as text.

    What the learner's code returned may be too large to cross; then the reply is an exception that says so.
    """
    call, rng_seed = loads(text)
    reply = run(namespace[name], call, rng_seed)
    try:
        return dumps(reply)
    except WireError as error:
        return dumps(Reply("raised", error=CodeError("ValueError", f"The result could not be sent: {error}")))


def defined(namespace: dict[str, Any], name: str) -> str:
    """The name itself if the learner has defined it, else nothing."""
    return name if name in namespace else ""
