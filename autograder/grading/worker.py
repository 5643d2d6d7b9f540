"""What a local Dask worker does before its first task (Dask's `preload`)."""

import gc
import os
import signal

import autograder.light  # noqa: F401 - for what importing it does
from autograder.sandbox.warm import fork_server


def dask_setup(worker) -> None:
    """Ctrl-C is for the driver, which ends its workers itself; torch is loaded while the driver is still reading."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # as it must be in what the worker starts
    if not os.environ.get("AUTOGRADER_NO_SANDBOX"):
        fork_server()
    import autograder.grading.run  # noqa: F401 - torch and the exercises are loaded while the fork server starts too

    gc.freeze()  # they stay: looking through them for garbage would be a good part of the work
