"""Turns the messages of a kernel that is not believed into a cell's outputs: harmless, and not too many."""

from typing import Any

from nbformat import NotebookNode
from nbformat.notebooknode import from_dict

from autograder.sandbox.inert import inert_bundle, printable

CUT = "\n[output too long: the rest was not kept]\n"


class Collector:
    """Collects outputs up to a number of characters."""

    def __init__(self, limit: int):
        self.outputs: list[NotebookNode] = []
        self.limit, self.taken = limit, 0

    def take(self, kind: Any, content: dict) -> bool:
        """Take one message; True when it says that the cell is done."""
        if kind == "status":
            return content.get("execution_state") == "idle"
        if kind == "clear_output":
            self.outputs.clear()
        elif (output := _output(kind, content)) is not None:
            self._add(output)
        return False

    def lost(self) -> None:
        """Say that messages were too large, or too many, to arrive."""
        self._append(_stream("stdout", CUT))

    def _add(self, output: NotebookNode) -> None:
        left = self.limit - self.taken
        if left <= 0:
            return
        size = len(str(output))
        self.taken += min(size, left)
        if size > left:
            kept = output.text[:left] if output.output_type == "stream" else ""
            output = _stream("stdout", kept + CUT)
        self._append(output)

    def _append(self, output: NotebookNode) -> None:
        """Streams of one name grow together, as they do on screen."""
        last = self.outputs[-1] if self.outputs else None
        if output.output_type == "stream" and last and last.output_type == "stream" and last.name == output.name:
            last.text += output.text
        else:
            self.outputs.append(output)


def new_output(kind: str, **facts: Any) -> NotebookNode:
    """As nbformat's own, but not looked over by a grammar of notebooks: what is put in here is of the right kind."""
    more = {} if kind in ("stream", "error") else {"metadata": {}}
    return from_dict({"output_type": kind, **more, **facts})


def error_output(name: str, text: str) -> NotebookNode:
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def _stream(name: str, text: str) -> NotebookNode:
    return new_output("stream", name=name, text=text)


def _output(kind: Any, content: dict) -> NotebookNode | None:
    """One output; None for a message that is none or that is malformed."""
    if kind == "stream":
        text, name = content.get("text"), content.get("name")
        return _stream("stderr" if name == "stderr" else "stdout", printable(text)) if isinstance(text, str) else None
    if kind == "error":
        name, value, lines = content.get("ename"), content.get("evalue"), content.get("traceback")
        lines = [printable(line) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        return new_output("error", ename=printable(str(name)), evalue=printable(str(value)), traceback=lines)
    if kind not in ("display_data", "execute_result"):
        return None
    data = inert_bundle(content.get("data"))
    if not data:
        return None
    count = content.get("execution_count")
    more = {"execution_count": count if type(count) is int else None} if kind == "execute_result" else {}
    return new_output(kind, data=data, **more)
