"""Measures how long grading takes, and the course's Transformer beside torch's: `autograder benchmark`.

A class of generated submissions is graded by `autograder grade`, with every protection, and by stock `nbgrader
autograde`, with none, one after the other on the same machine. The tables are Markdown, for the README.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from nbgrader.utils import is_solution

from autograder import speed
from autograder.classroom.folders import Classroom
from autograder.classroom.sample import SEED, write_class
from autograder.namespaces import NoNamespaces, two_workers
from autograder.sandbox.scratch import scratch
from autograder.settings import REPOSITORY

ASSIGNMENT = "05_scaling"
STOCK = """\
c = get_config()
c.CourseDirectory.root = {home!r}
c.CourseDirectory.source_directory = {solutions!r}
c.CourseDirectory.submitted_directory = {submitted!r}
c.Execute.timeout = 60
c.Execute.shutdown_kernel = "immediate"
"""
"""nbgrader as it comes. Kernels are ended at once, as by the course's own grading: without it stock is slower.

It has a root of its own: nbgrader reads the configuration that lies in the root last, and the course's would undo this.
"""
ONE_JUDGEMENT = """
import time
began = time.perf_counter()
from autograder import check, judge
imported = time.perf_counter()
import contextlib, io, torch
from autograder.reference.scaling import softmax_jacobian
from autograder.reference.attention import scaled_dot_product_attention
for name in (softmax_jacobian, scaled_dot_product_attention):
    judge(name)
def median(function):
    times = []
    for _ in range(21):
        start = time.perf_counter()
        function(scaled_dot_product_attention)
        times.append(time.perf_counter() - start)
    return sorted(times)[10]
with contextlib.redirect_stdout(io.StringIO()):
    shown = median(check)
print(imported - began, median(judge), shown)
"""


@dataclass
class Measured:
    """Seconds from nothing to the end, and bytes of memory at the peak."""

    seconds: float
    memory: int


class Memory(threading.Thread):
    """Looks every five seconds at what this process's descendants occupy; shared pages count once.

    More often, the looking itself would take a good part of what is measured.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.stopped = 0, threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(5):
            self.peak = max(self.peak, sum(map(proportional, psutil.Process().children(recursive=True))))


def proportional(process: psutil.Process) -> int:
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


@contextmanager
def watched() -> Iterator[Memory]:
    memory = Memory()
    memory.start()
    try:
        yield memory
    finally:
        memory.stopped.set()
        memory.join()


def run(command: list[str], cwd: Path, **environment: str) -> Measured:
    """Run a grading command. Raises RuntimeError with what it said where it fails."""
    began = time.monotonic()
    with watched() as memory:
        done = subprocess.run(command, cwd=cwd, env=os.environ | {"OMP_NUM_THREADS": "1"} | environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-3_000:]}")
    return Measured(time.monotonic() - began, memory.peak)


def new_class(folder: Path, students: int) -> Classroom:
    """A class in which no two submissions are equal: equal ones are executed once, which stock nbgrader cannot."""
    room = Classroom(folder)
    write_class(room, students, SEED, [ASSIGNMENT])
    for path in room.submitted.glob(f"*/{ASSIGNMENT}/*.ipynb"):
        notebook = nbformat.read(path, 4)
        answer = next(cell for cell in notebook.cells if cell.cell_type == "code" and is_solution(cell))
        answer.source += f"\n# {path.parent.parent.name}"
        nbformat.write(notebook, path)
    return room


def ours(folder: Path, students: int, *options: str) -> Measured:
    """`autograder grade`, from nothing to the exported marks."""
    room = new_class(folder, students)
    return run([sys.executable, "-m", "autograder", "grade", ASSIGNMENT, "--classroom", str(room.folder), *options],
               REPOSITORY)


def stock(folder: Path, students: int) -> Measured:
    """`nbgrader autograde` alone, without a sandbox; preparing the gradebook is not counted.

    Raises RuntimeError where it was not stock nbgrader that graded, or where it left somebody out.
    """
    room, home = new_class(folder / "class", students), folder / "home"
    home.mkdir()
    (home / "nbgrader_config.py").write_text(STOCK.format(
        home=str(home), solutions=str(REPOSITORY / "solutions"), submitted=str(room.submitted)), encoding="utf-8")
    nbgrader = [sys.executable, "-m", "nbgrader"]
    run([*nbgrader, "generate_assignment", ASSIGNMENT], home)
    measured = run([*nbgrader, "autograde", ASSIGNMENT], home, AUTOGRADER_SEED=str(room.grading_seed()))
    require_stock(home / "autograded", students)
    return measured


def require_stock(autograded: Path, students: int) -> None:
    """The course's own grading notes a state in every notebook."""
    notebooks = [nbformat.read(path, 4) for path in autograded.glob(f"*/{ASSIGNMENT}/*.ipynb")]
    if len(notebooks) != students:
        raise RuntimeError(f"Stock nbgrader graded {len(notebooks)} of {students} submissions.")
    if any("autograder" in notebook.metadata for notebook in notebooks):
        raise RuntimeError("What should be stock nbgrader graded with the course's plug-in; look at its configuration.")


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return (f"{model}, {os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB, "
            f"Linux {platform.release()}, Python {platform.python_version()}")


def row(name: str, measured: Measured, students: int) -> str:
    return (f"| {name} | {measured.seconds:.0f} s | {measured.seconds / students:.2f} s "
            f"| {measured.memory / 2**30:.1f} GiB |")


HEAD = "| | time | for each submission | memory at the peak |\n|---|---|---|---|"


def compare(folder: Path, students: int, workers: int) -> Iterator[str]:
    """The same class, both ways, and their ratio."""
    yield f"{students} submissions of {ASSIGNMENT}, {workers} workers:\n\n{HEAD}"
    mine = ours(folder / "ours", students, "--workers", str(workers))
    yield row("`autograder grade`: sandboxes, marks, pages, export", mine, students)
    theirs = stock(folder / "stock", students)
    yield row("stock `nbgrader autograde`: no sandbox, marks alone", theirs, students)
    yield f"\nRatio: {mine.seconds / theirs.seconds:.2f}."


def growth(folder: Path, sizes: list[int], workers: list[int]) -> Iterator[str]:
    yield f"\nHow it grows:\n\n{HEAD}"
    for count in sizes:
        for number in workers:
            measured = ours(folder / f"grow-{count}-{number}", count, "--workers", str(number))
            yield row(f"{count} submissions, {number} worker{'s' * (number > 1)}", measured, count)
            shutil.rmtree(folder / f"grow-{count}-{number}")


def one_of_each() -> str:
    """Import, one judgement, one check: what a learner waits for."""
    result = subprocess.run([sys.executable, "-c", ONE_JUDGEMENT], capture_output=True, text=True, check=True,
                            env=os.environ | {"OMP_NUM_THREADS": "1"})
    imported, judged, shown = (1000 * float(word) for word in result.stdout.split()[-3:])
    return (f"\n`from autograder import check, judge`: {imported:.0f} ms; one judgement: {judged:.0f} ms; "
            f"one `check`, with its report: {shown:.0f} ms.")


def elsewhere(folder: Path, students: int) -> Iterator[str]:
    """A scheduler here and two workers in network namespaces of their own, as on two other computers."""
    try:
        with two_workers() as scheduler:
            measured = ours(folder / "elsewhere", students, "--scheduler", scheduler)
    except NoNamespaces as reason:
        yield f"\nWorkers in network namespaces of their own were not measured. {reason}"
        return
    yield f"\nA scheduler with two workers in separate network namespaces:\n\n{HEAD}"
    yield row(f"{students} submissions", measured, students)


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder benchmark", description=__doc__)
    parser.add_argument("--students", type=int, default=200, help="submissions to compare with (default 200)")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="default: one a core")
    parser.add_argument("--growth", type=numbers, default=[], help="also measure these numbers of submissions: 25,50")
    parser.add_argument("--growth-workers", type=numbers, default=[1, 2, 4], help="with these numbers of workers")
    parser.add_argument("--namespaces", action="store_true", help="also through a scheduler, with workers elsewhere")
    options = parser.parse_args(argv)
    print(f"Measured on: {machine()}.\n", flush=True)
    with tempfile.TemporaryDirectory(dir=scratch()) as name:
        folder = Path(name).resolve()
        print(one_of_each().strip() + "\n", flush=True)
        print(f"The course's Transformer and `nn.Transformer`:\n\n{speed.table()}\n", flush=True)
        for line in compare(folder, options.students, options.workers):
            print(line, flush=True)
        if options.growth:
            for line in growth(folder, options.growth, options.growth_workers):
                print(line, flush=True)
        if options.namespaces:
            for line in elsewhere(folder, options.students):
                print(line, flush=True)
    return 0
