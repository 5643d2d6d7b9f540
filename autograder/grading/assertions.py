"""An instructor's own test cells (`assert f(x) == y`), run here with stand-ins for what the learner defined.

Names that a test reads and that neither it nor the locked set-up cells define are looked up in the sandbox. Plain
data arrive as copies. Functions, classes and other objects arrive as stand-ins: calling one sends the arguments into
the sandbox and brings the result back as data. Tensors keep their gradients across the wall.

What stands between `### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS` is run like the rest and never shown: not its
lines, not what it prints, not what its errors say.
"""

import ast
import builtins
import contextlib
import io
import traceback
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.grading.hidden import hidden_lines
from autograder.grading.standins import stand_in
from autograder.sandbox.answering import Answering
from autograder.sandbox.inert import printable
from autograder.sandbox.outputs import error_output

TEST_FILE = "<test>"
HIDDEN_FAILURE = error_output("HiddenTest", "A hidden test does not hold.")


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

    def __init__(self):
        self.setups: list[str] = []
        self.namespace: dict[str, Any] | None = None

    def setup(self, source: str) -> None:
        """Remember a locked cell; it is run here only if there is a test cell of this kind."""
        self.setups.append(source)

    def run(self, source: str, points: float, place: Answering) -> list[NotebookNode]:
        """Run a test cell on what is defined in `place`; its outputs. A last expression that is a number is the mark.
        """
        shown = io.StringIO()
        test = Statements(source, shown)
        try:
            value = test.run(self._known(source, place))
        except Exception as error:
            return [*_printed(shown), HIDDEN_FAILURE if test.in_hidden(error) else _error(error)]
        if type(value) not in (int, float):
            return _printed(shown)
        if not 0 <= value <= points:  # NaN is neither
            return [*_printed(shown), error_output("NotGraded", f"The test gave {value!r}, which is no mark between 0 "
                                                                f"and {points:g}. A person should look.")]
        return [*_printed(shown), new_output("execute_result", data={"text/plain": repr(value)}, execution_count=1)]

    def _known(self, source: str, place: Answering) -> dict[str, Any]:
        """What the test can name: its own set-up, and stand-ins for what the learner defined."""
        namespace = self._namespace()
        unknown = [name for name in names_read(source) if name not in namespace]
        return namespace | {name: stand_in(place, name) for name in unknown if place.defines(name)}

    def _namespace(self) -> dict[str, Any]:
        if self.namespace is None:
            self.namespace = {"__name__": "__main__"}
            for source in self.setups:
                Statements(source, io.StringIO()).run(self.namespace)
        return self.namespace


class Statements:
    """One test cell, run statement by statement, so that hidden ones stay silent."""

    def __init__(self, source: str, shown: io.StringIO):
        self.body, self.shown = ast.parse(source).body, shown
        self.hidden = hidden_lines(source)

    def run(self, namespace: dict[str, Any]) -> Any:
        """Run it all; the value of the last statement if that is an expression."""
        value = None
        for statement in self.body:
            lines = range(statement.lineno, statement.end_lineno + 1)
            heard = io.StringIO() if self.hidden.intersection(lines) else self.shown
            with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
                if statement is self.body[-1] and isinstance(statement, ast.Expr):
                    value = eval(compile(ast.Expression(statement.value), TEST_FILE, "eval"), namespace)
                else:
                    exec(compile(ast.Module([statement], []), TEST_FILE, "exec"), namespace)
        return value

    def in_hidden(self, error: Exception) -> bool:
        """Whether a hidden line has a part in an error."""
        frames = traceback.walk_tb(error.__traceback__)
        return any(f.f_code.co_filename == TEST_FILE and line in self.hidden for f, line in frames)


def _printed(shown: io.StringIO) -> list[NotebookNode]:
    return [new_output("stream", name="stdout", text=shown.getvalue())] if shown.getvalue() else []


def _error(error: Exception) -> NotebookNode:
    """The error alone, as text that can be stored: a learner's exception may say anything."""
    text = "".join(traceback.format_exception_only(error)).strip()[:2_000]
    name, value = type(error).__name__, str(error)[:2_000]
    return new_output("error", ename=printable(name), evalue=printable(value), traceback=[printable(text)])
