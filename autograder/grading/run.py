"""Runs one submission: the learner's cells in the sandbox, the check cells here, where the learner's code never is.

A check cell `check(name)` is not executed at all. Its exercise is judged through the sandbox's wire, and its outputs
(the report, then the score) are made here.

The learner's cells are run without a check between them: that is what they show. Where a check stands, a copy of the
process stays behind; when all has been shown, the checks are judged on these copies. So nothing that a check sends,
which the learner's code may keep, can be in what is shown, and a check sees nothing that came after it. Where a process
cannot be copied, or a sandbox ended, the cells are run again in a fresh one and the checks are judged in their places.

A submission always ends in a state, written into the notebook's metadata: "graded"; "partly graded", with the cell that
ended the process; or "failed", with the reason.
"""

import ast
import time
import traceback
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.grading.assertions import Assertions
from autograder.grading.intake import only_comments
from autograder.grading.states import FAILED, GRADED, PARTLY
from autograder.judging.catalogue import find_exercise
from autograder.judging.judge import judge_answer
from autograder.reporting.display import as_bundle
from autograder.sandbox.answering import ENDED, Answering, NotStarted, Stopped
from autograder.sandbox.copies import Copy
from autograder.sandbox.inert import printable_throughout
from autograder.sandbox.kernel import Sandbox
from autograder.sandbox.limits import Limits
from autograder.sandbox.outputs import error_output

RESTARTS = 3
"""How often a kernel that a submission ended is started again, so that one bad answer does not cost the others."""


@dataclass(frozen=True)
class State:
    """How a submission's grading ended. `cell` counts all cells of the notebook from 1.

    again: the grader is to blame and not the submission, so the next run should try anew.
    """

    state: str
    reason: str = ""
    cell: int | None = None
    again: bool = False


@dataclass(frozen=True)
class CheckCall:
    """What a check cell asks: `check(variable)` or `check(variable, exercise="name")`."""

    variable: str
    exercise: str


def check_call(source: str) -> CheckCall | None:
    """The call in a cell that is one call of `check`, or None for any other cell."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return None
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"
            and len(call.args) == 1 and isinstance(call.args[0], ast.Name)):
        return None
    named = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
    return CheckCall(call.args[0].id, named.get("exercise", call.args[0].id))


def is_check(cell: NotebookNode) -> bool:
    """A cell that the instructor wrote and that earns points."""
    facts = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and facts.get("grade", False) and not facts.get("solution", False)


def is_locked(cell: NotebookNode) -> bool:
    facts = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and facts.get("locked", False) and not facts.get("solution", False)


def mark_as_not_run(notebook: NotebookNode, reason: str) -> None:
    """Every check without a result says so: an empty check cell would be worth full marks to nbgrader."""
    for cell in notebook.cells:
        if is_check(cell) and not cell.outputs:
            cell.outputs = [error_output("NotGraded", f"{reason} A person should look.")]


def not_run(notebook: NotebookNode, state: State) -> NotebookNode:
    """A submission that is not run at all."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    mark_as_not_run(notebook, state.reason)
    notebook.metadata["autograder"] = asdict(state)
    return notebook


class Run:
    """One submission on its way through the sandbox.

    Its instructor's cells must have been put back already: what is marked as a check or as locked is trusted.
    """

    def __init__(self, notebook: NotebookNode, given: Path | None, seed: int | None, limits: Limits | None = None,
                 protected: bool = True):
        self.notebook, self.seed = notebook, seed
        self.given, self.limits, self.protected = given, limits or Limits(), protected
        self.end = time.monotonic() + self.limits.notebook_seconds
        self.state = State(GRADED)
        self.done: list[int] = []
        self.copies: dict[int, Copy | None] = {}
        self.restarts = 0
        self.sandbox: Sandbox | None = None

    def start(self) -> Sandbox:
        """A fresh sandbox for the time that is left. Raises Stopped when none is."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise Stopped(f"The notebook took longer than {self.limits.notebook_seconds:g} seconds.")
        return Sandbox(self.given, replace(self.limits, notebook_seconds=left), self.protected)

    def __call__(self) -> NotebookNode:
        """Run every code cell; the notebook with outputs and with the state in its metadata."""
        try:
            for cell in self.notebook.cells:
                if cell.cell_type == "code":
                    cell.outputs, cell.execution_count = [], None
            self.sandbox = self.start()
            self.assertions = Assertions()
            over = self._show()
            self.end = time.monotonic() + self.limits.notebook_seconds
            if over or None in self.copies.values() or not self._judge_copies():
                self._judge_in_place(over)
        except Stopped as reason:
            self._give_up(str(reason), again=isinstance(reason, NotStarted))
        except Exception as bug:
            traceback.print_exc()
            self._give_up(f"A fault of the grader, not of the submission: {type(bug).__name__}: {bug}", again=True)
        finally:
            if self.sandbox is not None:
                self.sandbox.close()
        self.notebook.metadata["autograder"] = asdict(self.state)
        return self.notebook

    def _give_up(self, reason: str, again: bool) -> None:
        """Nothing more can be run. What was judged before stays judged."""
        judged = any(cell.outputs for cell in self.notebook.cells if is_check(cell))
        self.state = State(PARTLY if judged else FAILED, reason, self.state.cell, again)
        mark_as_not_run(self.notebook, reason)

    def _show(self) -> tuple[int, Stopped] | None:
        """Run the cells that are no checks, and keep what they show; at which cell it was over before the end, and why.
        """
        for number, cell in enumerate(self.notebook.cells, start=1):
            if cell.cell_type != "code":
                continue
            cell.execution_count = number
            cell.metadata.pop("tags", None)  # skip-execution, raises-exception: not the learner's to say
            if is_locked(cell) and not is_check(cell):
                self.assertions.setup(cell.source)
            try:
                cell.outputs = self._pass(number)
                self.done.append(number)
            except Stopped as reason:
                cell.outputs = [] if is_check(cell) else [*cell.outputs, error_output("Stopped", str(reason))]
                try:
                    self._go_on(number, str(reason))
                except Stopped as end:
                    return number, end
        return None

    def _pass(self, number: int) -> list[NotebookNode]:
        """Run a cell; at a check, leave a copy of the process as it is there."""
        cell = self.notebook.cells[number - 1]
        if not is_check(cell):
            return self.sandbox.execute(cell.source) if not only_comments(cell.source) else []
        self.copies[number] = None  # as long as there is none
        self.copies[number] = self.sandbox.copy()
        return []

    def _judge_copies(self) -> bool:
        """Judge each check on the copy that was left at its place; False where the sandbox ended before all were."""
        self.sandbox.grant(self.limits.notebook_seconds)
        for number, copy in self.copies.items():
            cell = self.notebook.cells[number - 1]
            try:
                self._check(cell, copy)
            except Stopped as reason:
                cell.outputs = [error_output("Stopped", str(reason))]
            if not copy.alive:  # the code ended it while it was judged; the report says so
                self.state = State(PARTLY, self.sandbox.verdict or ENDED, self.state.cell or number)
                if not self.sandbox.alive:
                    self.restarts += 1
                    return False
            copy.close()
        return True

    def _judge_in_place(self, over: tuple[int, Stopped] | None) -> None:
        """Run the cells again, from the beginning, and judge the checks in their places, up to where it was over."""
        again, self.done = set(self.done), []
        self.sandbox.close()
        self.sandbox = self.start()
        for number, cell in enumerate(self.notebook.cells, start=1):
            if over and number == over[0]:
                raise over[1]
            try:
                if cell.cell_type == "code" and is_check(cell):
                    if not cell.outputs:
                        self._check(cell, self.sandbox)
                elif number in again:
                    self._pass(number)
                    self.done.append(number)
            except Stopped as reason:
                cell.outputs = [*cell.outputs, error_output("Stopped", str(reason))]
                self._go_on(number, str(reason))
                continue
            if not self.sandbox.alive:
                self._go_on(number, self.sandbox.verdict or ENDED)

    def _check(self, cell: NotebookNode, place: Answering) -> None:
        """Judge the exercise, as it is in that place, and write what `check` would have shown."""
        call = check_call(cell.source)
        if call is None:
            cell.outputs = self.assertions.run(cell.source, cell.metadata["nbgrader"].get("points") or 0, place)
        elif not place.defines(call.variable):
            cell.outputs = [error_output("NameError", f"name '{call.variable}' is not defined")]
        else:
            report = judge_answer(find_exercise(call.exercise), partial(place.ask, call.variable), self.seed)
            cell.outputs = [new_output("display_data", data=printable_throughout(as_bundle(report))),
                            new_output("execute_result", data={"text/plain": repr(report.score)},
                                       execution_count=cell.execution_count)]

    def _go_on(self, number: int, reason: str) -> None:
        """Start again without the cell that ended the process, so that the other answers are still judged."""
        self.state = State(PARTLY, reason, self.state.cell or number)
        self.sandbox.close()
        self.restarts += 1
        if self.restarts > RESTARTS:
            raise Stopped(f"{reason} It happened {self.restarts} times, so the rest was not run.")
        self.sandbox = self.start()
        for earlier in list(self.done):
            try:
                self._pass(earlier)
            except Stopped as again:  # it went well the first time; now it is left out
                self.done.remove(earlier)
                return self._go_on(earlier, str(again))
