"""Copies of the learner's process: each is as the process was at one place of the notebook, and answers later.

The trusted side has the kernel call `leave` where a check stands, goes on with the cells behind it, and asks the copy
when the notebook has been run. So what a check sends reaches no cell that shows anything.
"""

import gc
import os
import signal
import sys
import threading
from multiprocessing.connection import Client, Connection
from typing import Any

import torch

from autograder.learner.objects import operate
from autograder.learner.remote import answer, defined

FUNCTIONS = {function.__name__: function for function in (answer, defined, operate)}
LEFT = "left"


def leave(namespace: dict[str, Any], address: str) -> str:
    """Fork. The copy connects to the Unix socket `address` and answers there; `LEFT` for whoever called.

    A process with threads of the learner's own is not copied, because a copy would be without them: the answer is "".
    """
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if not all(thread.daemon for thread in others):  # the kernel's own are daemons
        return ""
    if os.fork():
        return LEFT
    try:
        _settle()
        with Client(address, "AF_UNIX") as connection:
            _serve(namespace, connection)
    finally:
        os._exit(0)


def _settle() -> None:
    """Leave to the kernel what is the kernel's: its outputs, its event loop, its pool of threads."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as it lives
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a cell that takes too long is interrupted with all that it started
    gc.freeze()  # looking for garbage would copy every page that is shared with the kernel
    torch.set_num_threads(1)  # a pool that was started before a fork hangs after it


def _serve(namespace: dict[str, Any], connection: Connection) -> None:
    """Each request is the function's name and its arguments, as texts; each reply is one text."""
    while True:
        try:
            function, *arguments = (connection.recv_bytes().decode() for _ in range(int(connection.recv_bytes())))
        except EOFError:
            return
        connection.send_bytes(FUNCTIONS[function](namespace, *arguments).encode(errors="replace"))
