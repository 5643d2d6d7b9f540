"""The cells of the exercise notebooks, for the tests beside this file."""

import linecache
from pathlib import Path

import nbformat

REPOSITORY = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.name for path in (REPOSITORY / "solutions").iterdir() if path.is_dir())


def notebook(folder: str, chapter: str) -> nbformat.NotebookNode:
    """The one notebook of a chapter in `solutions` or `exercises`."""
    (path,) = (REPOSITORY / folder / chapter).glob("*.ipynb")
    return nbformat.read(path, as_version=4)


def by_grade_id(folder: str, chapter: str) -> dict:
    return {cell.metadata.nbgrader.grade_id: cell for cell in notebook(folder, chapter).cells
            if "nbgrader" in cell.metadata}


def definitions(folder: str, chapter: str) -> dict:
    """The names that a notebook's import cell and answer cells define, as its kernel would have them."""
    names = {}
    for grade_id, cell in by_grade_id(folder, chapter).items():
        if cell.cell_type == "code" and not cell.metadata.nbgrader.grade:
            file = f"<{folder}/{chapter}/{grade_id}>"
            linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(True), file)
            exec(compile(cell.source, file, "exec"), names)
    return names
