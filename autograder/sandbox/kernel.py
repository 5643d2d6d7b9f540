"""One kernel inside the walls, and the trusted side's way to talk to it.

Every message that arrives is from a stranger: it may be forged, malformed, endless, or never come. So nothing here
waits without a deadline, keeps more than a limit, or believes a type.
"""

import ast
import contextlib
import re
import time
from pathlib import Path
from queue import Empty

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.channels import ZMQSocketChannel
from jupyter_client.manager import KernelManager
from jupyter_client.utils import run_sync
from nbformat import NotebookNode

from autograder.learner.copies import LEFT
from autograder.sandbox.answering import ANSWER_SECONDS, Answering, NotStarted, OutOfTime, Stopped
from autograder.sandbox.copies import Copy, Door
from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.outputs import Collector, error_output
from autograder.sandbox.provisioner import sandboxed

START_SECONDS = 60
GRACE_SECONDS = 5
MODULES = {"answer": "remote", "defined": "remote", "operate": "objects", "leave": "copies"}
"""Where on the learner's side the functions are that the kernel is asked to call."""
CHANNELS = {"iopub": (16 * MIB, 20), "shell": (24 * MIB, 4)}
"""Bytes of one message, and how many may wait: a flood ends in the sandbox and not in the grader's memory."""
RECONNECT_MILLISECONDS = 2
"""We connect before the kernel listens, so this is how late it is heard. ZeroMQ's own 100 would be most of a start."""
QUIET_KERNEL = ["--HistoryManager.enabled=False", "--IPKernelApp.capture_fd_output=False"]
LIBRARIES_FIRST = ["--IPKernelApp.ignore_cwd=True", "--IPKernelApp.exec_lines=import sys; sys.path.append('')"]
"""A learner's own modules can be imported, and none takes the place of a library's."""


class Sandbox(Answering):
    """A kernel for one submission. Use it as a context: it ends with everything that it started."""

    def __init__(self, given: Path | None = None, limits: Limits | None = None, protected: bool = True):
        self.limits = limits or Limits()
        self.manager = sandboxed(KernelManager, given, self.limits) if protected else KernelManager()
        self.output_left = 4 * self.limits.output_bytes
        self.door: Door | None = None
        self.manager.start_kernel(extra_arguments=[*QUIET_KERNEL, *LIBRARIES_FIRST])
        self.client = self.manager.blocking_client()
        for channel in CHANNELS:
            _connect(self.client, channel)
        self.client.start_channels(stdin=False, hb=False, control=False)
        try:
            self._wait_for_reply(self.client.kernel_info(), START_SECONDS)
            self._wait_for_outputs(START_SECONDS)
        except Stopped as reason:
            self.close()
            raise NotStarted(f"The sandbox did not start. {reason}") from None

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def close(self) -> None:
        for channel in CHANNELS:
            getattr(self.client, f"{channel}_channel").stop()
        if self.door is not None:
            self.door.close()
        with contextlib.suppress(Exception):
            self._end()
        self.manager.cleanup_resources()

    def _end(self) -> None:
        """End the kernel at once; jupyter_client's own way asks it first, and waits for the question to arrive."""
        for step in (self.manager.provisioner.kill, self.manager.provisioner.wait):
            run_sync(step)()

    def execute(self, code: str) -> list[NotebookNode]:
        """Run a cell; its outputs, cut at the limit. An error of the code is an output like any other.

        Raises Stopped where the cell ended the process, or went on when it was told to stop.
        """
        collector = Collector(min(self.limits.output_bytes, self.output_left))
        request = self.client.execute(code, allow_stdin=False, stop_on_error=False)
        if not self._collect(request, collector, self.limits.cell_seconds):
            self._interrupt(request, collector)
        self.output_left -= collector.taken
        return collector.outputs

    def copy(self) -> Copy | None:
        """The process as it is now, to be asked later; None where it cannot be copied. Raises Stopped."""
        folder = getattr(self.manager.provisioner, "sockets", None)
        if folder is None:  # without walls: not every system can copy a process
            return None
        self.door = self.door or Door(folder)
        left = self._call("leave", (self.door.address,), ANSWER_SECONDS) == LEFT
        connection = self.door.next() if left else None
        return Copy(connection, self.limits, self._end) if connection else None

    def grant(self, seconds: float) -> None:
        """Let it live for so long from now, in place of what its limits said."""
        if watchdog := getattr(self.manager.provisioner, "watchdog", None):
            watchdog.end = time.monotonic() + seconds

    @property
    def alive(self) -> bool:
        return self.manager.is_alive()

    @property
    def verdict(self) -> str | None:
        """Why the sandbox was ended from outside, or None."""
        return getattr(self.manager.provisioner, "verdict", None)

    def _call(self, function: str, arguments: tuple[str, ...], seconds: float) -> str:
        module = f"__import__('autograder.learner.{MODULES[function]}', fromlist=['{function}'])"
        return self._evaluate(f"{module}.{function}(globals(), {', '.join(map(repr, arguments))})", seconds)

    def _evaluate(self, expression: str, seconds: float) -> str:
        """The text that an expression gives; "" where the kernel gives nothing of that kind."""
        request = self.client.execute("", silent=True, store_history=False, allow_stdin=False, stop_on_error=False,
                                      user_expressions={"value": expression})
        reply = self._wait_for_reply(request, seconds)
        try:
            text = reply["user_expressions"]["value"]["data"]["text/plain"]
            return ast.literal_eval(text) if _is_one_text(text) else ""
        except (KeyError, TypeError, ValueError, SyntaxError, MemoryError):
            return ""

    def _wait_for_reply(self, request: str, seconds: float) -> dict:
        """The shell's reply. A kernel that gives none in time is ended: raises OutOfTime."""
        end = time.monotonic() + seconds
        while (reply := self._reply(request)) is None:
            self._require_alive()
            if time.monotonic() > end:
                self._end()
                raise OutOfTime(f"The code gave no answer within {seconds:g} seconds.")
        return reply

    def _wait_for_outputs(self, seconds: float) -> None:
        """Ask until something is heard on the channel of the outputs: what was said before it stood is lost."""
        end = time.monotonic() + seconds
        while self._message("iopub", "", 0.02) is None and time.monotonic() < end:
            self._wait_for_reply(self.client.kernel_info(), seconds)

    def _reply(self, request: str, wait: float = 0.1) -> dict | None:
        """The content of the shell's reply to a request, if it arrives within `wait` seconds."""
        found = self._message("shell", request, wait)
        return found[1] or None if found else None

    def _message(self, channel: str, request: str, wait: float) -> tuple[str, dict] | None:
        """Kind and content of the channel's next message, both empty if it belongs to another request; None for none.

        Raises Stopped where a message cannot be read: code broke its own kernel, which goes no further.
        """
        try:
            message = getattr(self.client, f"{channel}_channel").get_msg(timeout=wait)
            parent, kind, content = message["parent_header"], message["msg_type"], message["content"]
            mine = parent.get("msg_id") == request
            return (kind, content) if mine and isinstance(content, dict) else ("", {})
        except Empty:
            return None
        except Exception:  # whatever a forged message makes the deserialiser raise
            self._end()
            raise Stopped("The code broke the messages of its own kernel.") from None

    def _collect(self, request: str, collector: "Collector", seconds: float) -> bool:
        """Collect outputs until the cell is done; False when the time is over."""
        end, replied = time.monotonic() + seconds, None
        while time.monotonic() < end:
            message = self._message("iopub", request, 0.05 if replied is None else GRACE_SECONDS)
            if message is not None:
                if collector.take(*message):
                    _require_no_exit(replied or self._reply(request, wait=GRACE_SECONDS))
                    return True
                continue
            if replied is not None:  # the reply came, its end was lost in a flood of output
                collector.lost()
                self._listen_again()
                _require_no_exit(replied)
                return True
            replied = self._reply(request, wait=0)
            self._require_alive()
        return False

    def _listen_again(self) -> None:
        """Connect the outputs anew: ZeroMQ ends a connection over which a message came that is too long."""
        self.client.iopub_channel.stop()
        self.client._iopub_channel = None
        _connect(self.client, "iopub").start()
        self._wait_for_outputs(GRACE_SECONDS)

    def _interrupt(self, request: str, collector: "Collector") -> None:
        seconds = f"{self.limits.cell_seconds:g} seconds"
        self.manager.interrupt_kernel()
        if not self._collect(request, collector, GRACE_SECONDS):
            reason = self.verdict or f"A cell ran longer than {seconds} and could not be interrupted."
            self._end()
            raise Stopped(reason)
        collector.outputs.append(error_output("TimeoutError", f"This cell ran longer than {seconds} and was stopped."))

    def _require_alive(self) -> None:
        if not self.alive:
            raise Stopped(self.verdict or "The code ended the Python process.")


def _require_no_exit(reply: dict | None) -> None:
    """`exit()` in a notebook ends the kernel a moment after its cell."""
    payload = (reply or {}).get("payload")
    if isinstance(payload, list) and any(isinstance(p, dict) and p.get("source") == "ask_exit" for p in payload):
        raise Stopped("The code ended the Python process.")


def _connect(client: BlockingKernelClient, channel: str) -> ZMQSocketChannel:
    """A channel with its limits: its socket takes those that the context has at this moment."""
    size, count = CHANNELS[channel]
    client.context.setsockopt(zmq.MAXMSGSIZE, size)
    client.context.setsockopt(zmq.RCVHWM, count)
    client.context.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MILLISECONDS)
    return getattr(client, f"{channel}_channel")


def _is_one_text(text: str) -> bool:
    """Whether it is one text as Python writes it; anything else (endless lists, sums) is not even parsed."""
    quote = text[:1]
    return quote in ("'", '"') and text[-1] == quote and quote not in re.sub(r"\\.", "", text[1:-1])
