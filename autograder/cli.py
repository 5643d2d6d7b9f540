"""The command line: `autograder COMMAND ...`, one line a command."""

import os
import sys
from importlib import import_module
from pathlib import Path

import autograder.light  # noqa: F401 - for what importing it does
from autograder.settings import Unusable

COMMANDS = {
    "exercises": ("autograder.classroom.release", "make exercises/ from solutions/, or check that it is up to date"),
    "grade": ("autograder.classroom.pipeline", "grade a class: marks, feedback pages and the marks file"),
    "sample-class": ("autograder.classroom.sample", "make a class of submissions to try the grading with"),
    "benchmark": ("autograder.benchmark", "measure how long grading takes, against stock nbgrader"),
    "marks": ("autograder.classroom.marks", "show the marks and the diagnosed misconceptions of a class"),
    "report": ("autograder.classroom.report", "write what a class has understood: a page and a table"),
    "outputs": ("autograder.book.outputs", "run the chapters top to bottom and store their outputs"),
    "road": ("autograder.book.road", "draw the map of the course on the book's first page"),
    "claims": ("autograder.book.claims", "write book/claims.md from the claims list and the chapters"),
    "corpus": ("autograder.corpus.storing", "write the training pairs that a class's sandbox holds"),
    "experiments": ("autograder.experiments.run", "train the models whose measurements the book shows"),
    "lab": ("autograder.lab", "open JupyterLab on your own copies of the exercises"),
    "serve": ("autograder.serve", "serve the built book on a port of this computer"),
}


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
    return "usage: autograder COMMAND [options]\n\n" + "\n".join(lines) + "\n\n`autograder COMMAND --help` tells more."


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code is 0 for success, 1 for failure, 2 for a call that cannot be understood, 130 for
    Ctrl-C."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("-h", "--help"):
        print(usage())
        return 0 if argv else 2
    command, *rest = argv
    if command not in COMMANDS:
        print(f"autograder: there is no command {command!r}.\n\n{usage()}", file=sys.stderr)
        return 2
    find_own_programs()
    try:
        return import_module(COMMANDS[command][0]).main(rest)
    except Unusable as reason:
        print(f"{command}: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{command}: stopped.", file=sys.stderr)
        return 130


def find_own_programs() -> None:
    """nbgrader and others start programs by name (`alembic`, `jupyter-book`): those of this environment come first."""
    here, path = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    if path.split(os.pathsep)[0] != here:
        os.environ["PATH"] = f"{here}{os.pathsep}{path}"
