"""`autograder outputs [NAMES]`: run chapters and solutions top to bottom in fresh kernels; store what they print.

What the reader sees is what was stored here, and nbval runs every chapter again to compare.
A chapter is written back only when all of its cells ran; ids, metadata and all else stay as they were.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from tqdm import tqdm

from autograder.book.chapters import BOOK, CHAPTERS
from autograder.writing import write_whole

IGNORED = "nbval-ignore-output"
"""Tag of cells whose output nobody compares: training with its progress bar."""

LOOKS_BACK = CHAPTERS[-1].id
"""This chapter reads what the others have stored, so it runs after them."""

LANGUAGE = {"name": "python", "pygments_lexer": "ipython3", "file_extension": ".py"}
"""No version: a chapter run with another Python 3 must not look changed."""


class ChapterError(Exception):
    """A chapter that could not be run to its end; the message says which cell and why."""


def find(names: list[str], book: Path = BOOK) -> list[Path]:
    """Chapters and the solutions beside them: by an id, a file name or a beginning such as "05"; all for no names."""
    solutions = sorted((book.parent / "solutions").glob("[0-9][0-9]_*/*.ipynb"))
    ids = {path: path.stem for path in sorted(book.glob("[0-9][0-9]_*.ipynb"))}
    ids |= {path: path.parent.name for path in solutions}
    if not names:
        return list(ids)
    found = []
    for name in names:
        stem = Path(name).stem
        matching = [path for path, chapter in ids.items() if chapter.startswith(stem) or path.stem == stem]
        if not matching:
            known = ", ".join(dict.fromkeys(ids.values())) or "none"
            raise ChapterError(f"There is no chapter {name!r} in {book}; the written ones are: {known}.")
        found += [path for path in matching if path not in found]
    return found


def run(path: Path, timeout: int, progress=lambda done, cells: None) -> nbformat.NotebookNode:
    """Execute a copy of the notebook and return it; the file is not touched."""
    notebook = nbformat.read(path, as_version=4)
    metadata = deepcopy(notebook.metadata)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,  # no timestamps: running twice must give the same file
        coalesce_streams=True,
        extra_arguments=["--log-level=40"],  # errors only; the kernel warns about its local sockets
        resources={"metadata": {"path": str(path.parent)}},
        on_notebook_start=lambda notebook: progress(0, len(notebook.cells)),
        on_cell_complete=lambda cell, cell_index: progress(cell_index + 1, len(notebook.cells)),
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, RuntimeError) as error:
        raise ChapterError(failure(path, notebook, error, timeout)) from error
    notebook.metadata = metadata
    notebook.metadata["language_info"] = dict(LANGUAGE)
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            without_progress_bars(path, index, cell)
    nbformat.validate(notebook)
    return notebook


def without_progress_bars(path: Path, index: int, cell) -> None:
    """Drop stderr where it is a progress bar; anywhere else it is a warning that somebody must see."""
    errors = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr")
    if errors and IGNORED not in cell.metadata.get("tags", []):
        last = errors.strip().splitlines()[-1]
        raise ChapterError(
            f"{path.stem}, cell {index} ({cell.id}) wrote to stderr: {last}\n"
            f"  Remove the cause, or tag the cell {IGNORED} if it shows a progress bar."
        )
    cell.outputs = [o for o in cell.outputs if not (o.output_type == "stream" and o.name == "stderr")]


def failure(path: Path, notebook, error: Exception, timeout: int) -> str:
    """Chapter, cell and cause in a few lines."""
    broken = next((i for i, c in enumerate(notebook.cells) if has_error(c)), None)
    if broken is None:  # a time-out or a dead kernel leaves no error output: take the cell that did not finish
        pending = (i for i, c in enumerate(notebook.cells) if c.cell_type == "code" and c.source.strip())
        broken = next((i for i in pending if notebook.cells[i].execution_count is None), 0)
    cell = notebook.cells[broken]
    errors = [o for o in cell.get("outputs", []) if o.output_type == "error"]
    cause = f"{errors[0].ename}: {errors[0].evalue}" if errors else summary(error)
    if isinstance(error, CellTimeoutError):
        cause = f"took longer than {timeout} seconds"
    first = next((line for line in cell.source.splitlines() if line.strip()), "")
    return f"{path.stem}, cell {broken} ({cell.id}): {cause}\n  The cell begins: {first}"


def has_error(cell) -> bool:
    return cell.cell_type == "code" and any(o.output_type == "error" for o in cell.outputs)


def summary(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0]}"


def store(path: Path, notebook) -> bool:
    """Write the notebook if it differs from the file; True if it did."""
    text = nbformat.writes(notebook, version=4) + "\n"
    if path.read_text(encoding="utf-8") == text:
        return False
    write_whole(path, text)
    return True


def update(path: Path, timeout: int, position: int = 0) -> bool:
    """Run one chapter with a progress bar and store it; True if the file changed."""
    with tqdm(total=1, desc=f"{path.stem:<24}", unit="cell", position=position, mininterval=0.5) as bar:

        def progress(done: int, cells: int) -> None:
            bar.total, bar.n = cells, done
            bar.refresh()

        notebook = run(path, timeout, progress)
        progress(len(notebook.cells), len(notebook.cells))
    return store(path, notebook)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="autograder outputs",
        description="Run chapters and solutions top to bottom in fresh kernels and store their outputs.",
    )
    parser.add_argument("names", nargs="*", help='chapters, for example "05_scaling" or "05"; all if none')
    parser.add_argument("--jobs", type=int, default=2, help="chapters that run at the same time (default 2)")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one cell (default 300)")
    options = parser.parse_args(argv)
    try:
        paths = find(options.names)
    except ChapterError as error:
        print(error, file=sys.stderr)
        return 2
    lines, failed = [], False
    last = [path for path in paths if path.stem == LOOKS_BACK]
    for part in ([path for path in paths if path not in last], last):
        with ThreadPoolExecutor(max(1, options.jobs)) as pool:
            jobs = {pool.submit(update, path, options.timeout, i): path for i, path in enumerate(part)}
            for job in as_completed(jobs):
                try:
                    lines.append(f"{jobs[job].stem}: {'stored' if job.result() else 'nothing changed'}")
                except ChapterError as error:
                    failed = True
                    lines.append(f"{error}\n  The stored notebook is as it was.")
    print("\n".join(lines) if lines else "There are no chapters to run.")
    return 1 if failed else 0
