"""An instructor's own test cells (`assert f(x) == y`), run here with stand-ins for what the learner defined.

Names that a test reads and that neither it nor the locked set-up cells define are looked up in the sandbox. Plain
data arrive as copies. Functions, classes and other objects arrive as stand-ins: calling one sends the arguments into
the sandbox and brings the result back as data. Tensors keep their gradients across the wall.
"""

import ast
import builtins
import contextlib
import io
import traceback
from collections.abc import Callable
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.grading.standins import stand_in
from autograder.sandbox.kernel import Sandbox


def names_read(source: str) -> list[str]:
    """Names that a cell uses and does not define itself (coarse, and enough for tests)."""
    read, bound = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return sorted(name for name in read - bound if not hasattr(builtins, name))


class Assertions:
    """The trusted namespace of one submission's test cells."""

    def __init__(self, sandbox: Callable[[], Sandbox], seed: int | None):
        self.sandbox = sandbox
        self.setups: list[str] = []
        self.namespace: dict[str, Any] | None = None

    def setup(self, source: str) -> None:
        """Remember a locked cell; it is run here only if there is a test cell of this kind."""
        self.setups.append(source)

    def run(self, source: str) -> list[NotebookNode]:
        """Run a test cell; its outputs, with the value of a last expression as the result."""
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            try:
                namespace = self._namespace()
                unknown = [name for name in names_read(source) if name not in namespace]
                borrowed = {name: stand_in(self.sandbox(), name) for name in unknown if self.sandbox().defines(name)}
                value = _execute(source, namespace | borrowed)
            except Exception as error:
                return [*_printed(shown), _error(error)]
        result = new_output("execute_result", data={"text/plain": repr(value)}, execution_count=1)
        return [*_printed(shown), *([] if value is None else [result])]

    def _namespace(self) -> dict[str, Any]:
        if self.namespace is None:
            self.namespace = {"__name__": "__main__"}
            for source in self.setups:
                _execute(source, self.namespace)
        return self.namespace


def _execute(source: str, namespace: dict[str, Any]) -> Any:
    """Run a cell's code; the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<test>", "exec"), namespace)
    return eval(compile(last, "<test>", "eval"), namespace) if last is not None else None


def _printed(shown: io.StringIO) -> list[NotebookNode]:
    return [new_output("stream", name="stdout", text=shown.getvalue())] if shown.getvalue() else []


def _error(error: Exception) -> NotebookNode:
    """The error alone: the lines of a test may be hidden from the learner."""
    text = "".join(traceback.format_exception_only(error)).strip()
    return new_output("error", ename=type(error).__name__, evalue=str(error), traceback=[text])
