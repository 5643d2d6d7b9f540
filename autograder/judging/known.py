"""What the course's own code gives for a call: worked out once for a class, which is asked the same calls again."""

import os
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

from autograder.learner import wire
from autograder.learner.calls import Call, Reply
from autograder.learner.runner import run

REMEMBERED = int(os.environ.get("AUTOGRADER_REMEMBERED", 10_000))
"""Replies of a few thousand bytes each; one exercise with one seed has some hundreds. Fifty seeds want more of them."""


class Asked:
    """A call that equals every call with the same content, tensors and their memory layout too."""

    def __init__(self, call: Call):
        self.call = call

    @cached_property
    def content(self) -> bytes:
        return sha256(wire.dumps(self.call).encode()).digest()

    def __hash__(self) -> int:
        return hash(self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asked) and self.content == other.content


class _Ours:
    """Code of the course, which is itself and nothing else: not every function (`{...}.get`) has a hash."""

    def __init__(self, code: Any):
        self.code = code

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ours) and self.code is other.code


class _TookTooLong(Exception):
    """Leaves `_remembered` without a reply to keep: on another day the machine is less busy."""


def reply_of(ours: Any, asked: Asked, rng_seed: int = 0) -> Reply:
    """What `ours`, a reference or a misconception, gives for the call. Read it only: others get the same object."""
    try:
        return _remembered(_Ours(ours), asked, rng_seed)
    except _TookTooLong:
        return Reply("timed_out")


@lru_cache(maxsize=REMEMBERED)
def _remembered(ours: _Ours, asked: Asked, rng_seed: int) -> Reply:
    reply = run(ours.code, asked.call, rng_seed)
    if reply.status == "timed_out":
        raise _TookTooLong
    return reply
