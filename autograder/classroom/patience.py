"""Importing this makes every use of a gradebook wait for another program that holds it, instead of giving up.

nbgrader's configuration imports it, so that its commands and formgrader wait too: a formgrader page that is open while
a class is graded ("database is locked") must not end the grading.
"""

from sqlalchemy import event
from sqlalchemy.engine import Engine

SECONDS = 60
"""How long another program may hold it."""


@event.listens_for(Engine, "connect")
def wait_for_locks(connection, record) -> None:
    if "sqlite" in type(connection).__module__:
        connection.execute(f"PRAGMA busy_timeout = {SECONDS * 1000}")
