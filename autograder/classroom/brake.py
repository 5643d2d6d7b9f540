"""Ctrl-C that takes effect between two submissions, not in the middle of one.

A KeyboardInterrupt can come up at any line, also in a database's own tidying up, which prints it or swallows it. Here
it waits for the end of what is being written. Where there is nothing to write yet, it takes effect at once.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
END = object()


class Brake:
    """While entered, the first Ctrl-C stops at the next good moment, a second one at once, with KeyboardInterrupt."""

    def __init__(self, say: Callable[[str], None]):
        self.say = say
        self.pressed = self.waiting = False

    def __enter__(self) -> "Brake":
        self.before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, kind: type | None, *error) -> None:
        signal.signal(signal.SIGINT, self.before)
        if self.pressed and kind is None:  # what it came too late to stop is done; what the caller does next is not
            raise KeyboardInterrupt

    def between(self, items: Iterable[T]) -> Iterator[T]:
        """The items; whoever waits for one can be stopped, and whoever works on one is stopped before the next."""
        iterator = iter(items)
        while True:
            with self._good_moment():
                item = next(iterator, END)
            if item is END:
                return
            yield item

    @contextmanager
    def _good_moment(self) -> Iterator[None]:
        self.waiting = True  # first: a Ctrl-C that comes now is not overlooked
        try:
            if self.pressed:
                raise KeyboardInterrupt
            yield
        finally:
            self.waiting = False

    def _press(self, number: int, frame: object) -> None:
        again, self.pressed = self.pressed, True
        if again or self.waiting:
            raise KeyboardInterrupt
        self.say("Stopping as soon as this step is done; Ctrl-C once more stops at once.")
