"""Takes a submission in: what is trusted comes from the instructor, only the answers come from the learner.

`rebuild` makes the notebook that is graded out of two: the instructor's cells, in the instructor's order, and the
learner's cells, found by grade id, by cell id or by what they define. So a deleted, moved, duplicated or edited check
cell changes nothing, and a notebook that lost all its metadata on the way is still understood.
"""

import ast
import json
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.sandbox.inert import inert_markdown, printable

LARGEST, MOST_CELLS, LONGEST_CELL = 50 * 2**20, 2_000, 200_000
"""Bytes of a notebook that is still read, its cells, and the characters of one."""

KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


class Refused(Exception):
    """A submission that cannot be read; the message says why, for the learner and the instructor."""


@dataclass
class Answer:
    """A learner's cell: its text, and what might tell which cell of the exercise it is."""

    cell_type: str
    source: str
    grade_id: str = ""
    cell_id: str = ""
    extras: list["Answer"] = field(default_factory=list)


def read_submission(path: Path) -> list[Answer]:
    """The learner's cells, whatever wrote the file. Raises Refused for a link, a giant, or what is no notebook."""
    try:
        facts = path.lstat()
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}.") from None
    if not stat.S_ISREG(facts.st_mode):
        raise Refused(f"{path.name} is not a regular file (a link, say); hand in the notebook itself.")
    if facts.st_size > LARGEST:
        raise Refused(f"{path.name} has {facts.st_size / 2**20:.0f} MiB; the limit is {LARGEST // 2**20}. "
                      "Clear the outputs and hand in again.")
    return [answer for cell in _cells(path) if (answer := _answer(cell)) is not None]


def _cells(path: Path) -> list:
    """The raw cells of a notebook of format 3 or 4, taken without validation: only a few fields are used."""
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8-sig"))
        if "worksheets" in notebook:
            notebook = nbformat.convert(nbformat.from_dict(notebook), 4)
        cells = notebook["cells"]
    except RecursionError:
        raise Refused(f"{path.name} is nested too deeply to be a notebook.") from None
    except Exception as error:
        raise Refused(f"{path.name} is not a notebook that can be read ({type(error).__name__}); "
                      "save it again in JupyterLab and hand in again.") from None
    if not isinstance(cells, list):
        raise Refused(f"{path.name} has no cells.")
    if len(cells) > MOST_CELLS:
        raise Refused(f"{path.name} has {len(cells):,} cells; the limit is {MOST_CELLS:,}.")
    return cells


def _answer(cell: object) -> Answer | None:
    """One raw cell, or None for something that is no cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or len(source) > LONGEST_CELL:
        return None
    source = printable(source) if cell["cell_type"] == "code" else inert_markdown(source)
    metadata = cell.get("metadata")
    facts = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = facts.get("grade_id") if isinstance(facts, dict) else None
    return Answer(cell["cell_type"], source, grade_id if isinstance(grade_id, str) else "",
                  cell["id"] if isinstance(cell.get("id"), str) else "")


def rebuild(original: NotebookNode, answers: Iterable[Answer]) -> NotebookNode:
    """The notebook to be graded: `original` (the released exercise) with the learner's cells in their places.

    A cell that belongs to none of the original's stays after the cell that it followed.
    """
    cells = original.cells
    found, first = _matched(cells, answers)
    rebuilt = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
    rebuilt.cells = [_extra(answer, f"first-{i}") for i, answer in enumerate(first)]
    for index, cell in enumerate(cells):
        answer = found.get(index)
        if answer is not None and not _locked(cell):
            cell = NotebookNode(cell | {"source": answer.source})
        rebuilt.cells.append(_clean(cell))
        extras = answer.extras if answer else []
        rebuilt.cells += [_extra(extra, f"extra-{index}-{i}") for i, extra in enumerate(extras)]
    return rebuilt


def _matched(cells: list, answers: Iterable[Answer]) -> tuple[dict[int, Answer], list[Answer]]:
    """For each original cell the learner's; and the cells that stand before the first that was matched."""
    answers = [answer for answer in answers if answer.source.strip() or answer.grade_id]
    found: dict[int, Answer] = {}
    owner = {}
    for rule in (_same_grade_id, _same_id, _same_text, _defines_the_same):
        for answer in answers:
            if id(answer) not in owner:
                index = next((i for i, c in enumerate(cells) if i not in found and rule(c, answer)), None)
                if index is not None:
                    found[index], owner[id(answer)] = answer, index
    _match_written_answers(cells, answers, found, owner)
    first, last = [], None
    for answer in answers:
        if id(answer) in owner:
            last = answer
        else:
            (last.extras if last else first).append(answer)
    return found, first


def _same_grade_id(cell: NotebookNode, answer: Answer) -> bool:
    return bool(answer.grade_id) and cell.metadata.get("nbgrader", {}).get("grade_id") == answer.grade_id


def _same_id(cell: NotebookNode, answer: Answer) -> bool:
    return bool(answer.cell_id) and cell.get("id") == answer.cell_id


def _same_text(cell: NotebookNode, answer: Answer) -> bool:
    released = inert_markdown(cell.source) if cell.cell_type == "markdown" else cell.source
    return released.strip() == answer.source.strip()


def _defines_the_same(cell: NotebookNode, answer: Answer) -> bool:
    """An answer cell whose function or class the learner's cell defines."""
    if answer.cell_type != "code" or not cell.metadata.get("nbgrader", {}).get("solution"):
        return False
    return cell.cell_type == "code" and bool(defined_names(cell.source) & defined_names(answer.source))


def _match_written_answers(cells: list, answers: list[Answer], found: dict, owner: dict) -> None:
    """A written answer has no name: it is the text cell after the cell that asks for it."""
    for index, cell in enumerate(cells):
        written = cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution")
        if not written or index in found or index - 1 not in found:
            continue
        place = next(i for i, answer in enumerate(answers) if answer is found[index - 1])
        after = next((a for a in answers[place + 1:] if a.cell_type == "markdown" and id(a) not in owner), None)
        if after is not None:
            found[index], owner[id(after)] = after, index


@lru_cache(maxsize=4_096)
def defined_names(source: str) -> frozenset[str]:
    """Functions and classes that a cell defines at its top level; none where it is no Python."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    kinds = ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef
    return frozenset(node.name for node in body if isinstance(node, kinds))


def only_comments(source: str) -> bool:
    """Whether there is nothing to run, as in a cell whose hint is still commented out."""
    return all(line.lstrip().startswith("#") or not line.strip() for line in source.splitlines())


def _locked(cell: NotebookNode) -> bool:
    """A cell whose text is the instructor's: set-up, checks, tasks."""
    facts = cell.metadata.get("nbgrader", {})
    if facts.get("solution") or facts.get("task"):
        return False
    return bool(facts.get("locked") or facts.get("grade")) or (not facts and cell.cell_type == "markdown")


def _clean(cell: NotebookNode) -> NotebookNode:
    """A cell with what nbgrader needs, and nothing else that travelled with it."""
    facts = cell.metadata.get("nbgrader")
    ran = {"outputs": [], "execution_count": None} if cell.cell_type == "code" else {}
    return nbformat.from_dict({"cell_type": cell.cell_type, "id": cell.get("id"), "source": cell.source,
                               "metadata": {"nbgrader": facts} if facts else {}, **ran})


def _extra(answer: Answer, name: str) -> NotebookNode:
    make = new_code_cell if answer.cell_type == "code" else new_markdown_cell
    return make(answer.source, id=name)
