"""A class in which honest students sit between attackers: what each hands in, and what it is worth.

A pupil is a function that gets the folder to fill and the class; its docstring says what it does. Honest ones have the
course's own solutions, attackers leave the last two exercises open, and what cannot be read is worth nothing.
"""

import copy
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.folders import Classroom
from autograder.classroom.sample import Material

ASSIGNMENT, NOTEBOOK = "05_scaling", "scaling.ipynb"
OPEN = ("softmax_jacobian", "scaled_dot_product_attention")
FULL, ATTACKER, UNREADABLE = "full", "attacker", "unreadable"


@dataclass
class World:
    """What pupils need: the released exercise, the solutions, and where the class lies."""

    room: Classroom
    material: Material

    def answered(self, without: tuple[str, ...] = ()) -> dict:
        """The released notebook as raw JSON, with solutions in all answer cells but some."""
        notebook = json.loads(self.material.released.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            facts = cell["metadata"].get("nbgrader", {})
            if facts.get("solution") and facts["grade_id"] not in without:
                cell["source"] = self.material.solutions[facts["grade_id"]]
        return notebook


PUPILS: dict[str, tuple[str, Callable[[Path, World], None]]] = {}


def pupil(student: str, worth: str) -> Callable:
    def enlist(hand_in: Callable[[Path, World], None]) -> Callable:
        assert student not in PUPILS
        PUPILS[student] = (worth, hand_in)
        return hand_in

    return enlist


def write(path: Path, notebook: dict, **how) -> None:
    path.write_text(json.dumps(notebook, ensure_ascii=False), encoding=how.get("encoding", "utf-8"))


def variant(student: str, worth: str, change: Callable[[dict], object], name: str = NOTEBOOK) -> None:
    """A pupil whose notebook differs by one change."""
    def hand_in(folder: Path, world: World) -> None:
        notebook = world.answered(OPEN if worth == ATTACKER else ())
        write(folder / name, change(notebook) or notebook)

    pupil(student, worth)(hand_in)


def each_cell(change: Callable[[dict], object]) -> Callable[[dict], None]:
    def all_cells(notebook: dict) -> None:
        for cell in notebook["cells"]:
            change(cell)

    return all_cells


def checks(notebook: dict) -> list[dict]:
    return [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id", "").startswith("check_")]


def code(source: str) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


# --- honest, and unlucky with tools ------------------------------------------------------------------------------
def without_metadata(notebook: dict) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {"id": "q3Xk0_colab"}
        cell.pop("id", None)
    notebook.update(metadata={"colab": {"provenance": []}}, nbformat_minor=0)


def old_format(notebook: dict) -> dict:
    def old(cell: dict) -> dict:
        if cell["cell_type"] != "code":
            return {"cell_type": cell["cell_type"], "source": cell["source"], "metadata": cell["metadata"]}
        return {"cell_type": "code", "input": cell["source"], "language": "python", "outputs": [], "collapsed": False,
                "metadata": cell["metadata"]}

    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0,
            "worksheets": [{"metadata": {}, "cells": [old(cell) for cell in notebook["cells"]]}]}


def stored_outputs(notebook: dict) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 500_000}]


NOISE = """import sys, warnings
größe = "注意力 λ"
warnings.warn("careful")
print("careful", größe, file=sys.stderr)"""

for name in ("abel", "anna maria", "c++", "o[1]", "p(2)", "zoë", "李雷"):
    variant(name, FULL, lambda notebook: None)
variant("colab", FULL, without_metadata)
variant("vscode", FULL, each_cell(lambda cell: (cell["metadata"].update(vscode={"languageId": "python"}),
                                                cell.update(id=f"#vscode-{id(cell)}"))))
variant("conda", FULL, lambda notebook: notebook["metadata"].update(
    kernelspec={"name": "conda-env-mine-py", "display_name": "mine", "language": "python"}))
variant("minor 99", FULL, lambda notebook: notebook.update(nbformat_minor=99))
variant("format 3", FULL, old_format)
variant("format 4.0", FULL, lambda notebook: notebook.update(nbformat_minor=0))
variant("format 5", FULL, lambda notebook: notebook.update(nbformat=5, nbformat_minor=0))
variant("download", FULL, lambda notebook: None, "scaling (1).ipynb")
variant("copy", FULL, lambda notebook: None, "scaling-Copy1.ipynb")
variant("named", FULL, lambda notebook: None, "ada_scaling.ipynb")
variant("renamed", FULL, lambda notebook: None, "Übung [5] + (final).ipynb")
variant("outputs", FULL, stored_outputs)
variant("noise", FULL, lambda notebook: notebook["cells"].insert(2, code(NOISE)))


@pupil("windows", FULL)
def windows(folder: Path, world: World) -> None:
    """A byte order mark, and lines that end as on Windows."""
    text = json.dumps(world.answered(), indent=1).replace("\n", "\r\n")
    (folder / NOTEBOOK).write_bytes(b"\xef\xbb\xbf" + text.encode())


@pupil("librarian", FULL)
def librarian(folder: Path, world: World) -> None:
    """A file of their own beside the notebook, which the code reads."""
    notebook = world.answered()
    notebook["cells"].insert(1, code("assert open('data/übung.txt').read() == 'mine'"))
    (folder / "data").mkdir()
    (folder / "data" / "übung.txt").write_text("mine")
    write(folder / NOTEBOOK, notebook)


# --- attackers with metadata and cells -----------------------------------------------------------------------------
def facts(**changes) -> Callable[[dict], None]:
    return each_cell(lambda cell: cell["metadata"].get("nbgrader", {}).update(changes))


variant("points", ATTACKER, facts(points=99))
variant("unlocked", ATTACKER, facts(locked=False, solution=True, grade=False))
variant("schema 99", ATTACKER, facts(schema_version=99))
variant("schema 1", ATTACKER, facts(schema_version=1))
variant("checksum", ATTACKER, facts(checksum="0" * 32, cell_type="markdown"))
variant("same id", ATTACKER, facts(grade_id="check_dot_product_std"))
variant("odd ids", ATTACKER, each_cell(lambda cell: cell["metadata"].get("nbgrader", {}).update(grade_id=["x"])))
variant("tags", ATTACKER, each_cell(lambda cell: cell["metadata"].update(tags=["skip-execution", "raises-exception"])))
variant("refuser", ATTACKER, lambda notebook: notebook["metadata"].update(
    autograder_refused="no", autograder={"state": "graded"}, kernelspec={"name": "../../evil", "display_name": "x"}))
variant("deleted", ATTACKER, lambda notebook: notebook.update(
    cells=[cell for cell in notebook["cells"] if cell not in checks(notebook)]))
variant("doubled", ATTACKER, lambda notebook: notebook["cells"].extend(
    copy.deepcopy(cell) | {"source": "8.0"} for cell in checks(notebook)))
variant("edited", ATTACKER, lambda notebook: [cell.update(source="8.0") for cell in checks(notebook)] and None)
variant("reordered", ATTACKER, lambda notebook: notebook["cells"].sort(key=lambda cell: cell not in checks(notebook)))
variant("raw cells", ATTACKER, lambda notebook: [cell.update(cell_type="raw") for cell in checks(notebook)] and None)


# --- attackers with files --------------------------------------------------------------------------------------------
PEEK = """import os
for name in os.listdir('.'):
    text = open(name, 'rb').read(100_000_000) if os.path.isfile(name) else b''
    if b'def softmax_jacobian' in text: exec(json.loads(text)['cells'][9]['source'])
    if b'SQLite' in text: raise SystemExit('the gradebook')
assert not [n for n in os.listdir('.') if n.startswith('peek')]"""


@pupil("links", ATTACKER)
def links(folder: Path, world: World) -> None:
    """Links beside the notebook: to the gradebook, the seed, a classmate's notebook, a folder of everything."""
    notebook = world.answered(OPEN)
    notebook["cells"].insert(1, code(PEEK))
    write(folder / NOTEBOOK, notebook)
    for number, target in enumerate((world.room.gradebook, world.room.seed_file, world.room.submitted,
                                     world.room.submitted / "abel" / ASSIGNMENT / NOTEBOOK)):
        (folder / f"peek{number}").symlink_to(target)


@pupil("shadows", ATTACKER)
def shadows(folder: Path, world: World) -> None:
    """Modules that would take the place of the real ones."""
    write(folder / NOTEBOOK, world.answered(OPEN))
    for name in ("torch.py", "sitecustomize.py", "usercustomize.py", "nbgrader_config.py", "ipykernel_launcher.py",
                 "autograder/__init__.py", "IPython/__init__.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("import os; check = hint = judge = lambda *a, **k: 8.0\n")


@pupil("giants", ATTACKER)
def giants(folder: Path, world: World) -> None:
    """Too large, too many, too deep, and with names that nobody would choose."""
    write(folder / NOTEBOOK, world.answered(OPEN))
    with (folder / "giant.bin").open("wb") as giant:
        giant.truncate(2**33)
    (folder / "many").mkdir()
    for number in range(1_500):
        (folder / "many" / str(number)).touch()
    deep = folder.joinpath(*["deep"] * 60)
    deep.mkdir(parents=True)
    for name in ("new\nline", "..evil", "back\\slash", "[a-z]*", "-rf", "$(id)", os.fsdecode(b"\xff\xfe")):
        (deep / name).touch()
        (folder / name).touch()
    os.mkfifo(folder / "pipe")


@pupil("time", ATTACKER)
def time(folder: Path, world: World) -> None:
    """A time of handing in that nobody will ever write."""
    write(folder / NOTEBOOK, world.answered(OPEN))
    os.mkfifo(folder / "timestamp.txt")


@pupil("no time", ATTACKER)
def no_time(folder: Path, world: World) -> None:
    """A time of handing in that is none."""
    write(folder / NOTEBOOK, world.answered(OPEN))
    (folder / "timestamp.txt").write_text("the day before yesterday \x00")


@pupil("surrogate", ATTACKER)
def surrogate(folder: Path, world: World) -> None:
    """Half a surrogate pair, which cannot be written as UTF-8."""
    notebook = world.answered(OPEN)
    notebook["cells"].append(code("print('\ud800')"))
    (folder / NOTEBOOK).write_text(json.dumps(notebook))


# --- what cannot be read ---------------------------------------------------------------------------------------------
def contents(student: str, content: bytes) -> None:
    pupil(student, UNREADABLE)(lambda folder, world: (folder / NOTEBOOK).write_bytes(content) and None)


contents("json", b'{"cells": [')
contents("empty", b"")
contents("binary", bytes(range(256)) * 100)
contents("deep", b"[" * 200_000 + b"]" * 200_000)
contents("list", b"[]")
contents("cells", b'{"cells": {"0": 1}}')
contents("a million cells", b'{"cells": [' + b"{}," * 100_000 + b"{}]}")
contents("no cells", b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')


@pupil("link", UNREADABLE)
def link(folder: Path, world: World) -> None:
    """The notebook is a link to a classmate's."""
    (folder / NOTEBOOK).symlink_to(world.room.submitted / "abel" / ASSIGNMENT / NOTEBOOK)


@pupil("linked folder", UNREADABLE)
def linked_folder(folder: Path, world: World) -> None:
    """The folder is a link to a classmate's."""
    folder.rmdir()
    folder.symlink_to(world.room.submitted / "abel" / ASSIGNMENT)


@pupil("linked student", UNREADABLE)
def linked_student(folder: Path, world: World) -> None:
    """The student is a link to a classmate."""
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to(world.room.submitted / "abel")


@pupil("folder", UNREADABLE)
def notebook_is_a_folder(folder: Path, world: World) -> None:
    """The notebook is a folder with a classmate's notebook in it."""
    (folder / NOTEBOOK).mkdir()
    (folder / NOTEBOOK / NOTEBOOK).symlink_to(world.room.submitted / "abel" / ASSIGNMENT / NOTEBOOK)


@pupil("pipe", UNREADABLE)
def pipe(folder: Path, world: World) -> None:
    """The notebook is a pipe, at which a reader would wait for ever."""
    os.mkfifo(folder / NOTEBOOK)


@pupil("nothing", UNREADABLE)
def nothing(folder: Path, world: World) -> None:
    """An empty folder."""


@pupil("essay", UNREADABLE)
def essay(folder: Path, world: World) -> None:
    """Something else than a notebook."""
    (folder / "essay.docx").write_bytes(b"PK")
