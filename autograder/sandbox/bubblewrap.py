"""The walls: one bubblewrap command line.

What is inside: the operating system and Python read-only, the learner's side of this package, a private work folder in
memory, and the folder of the kernel's sockets. What is not: the network, other processes, the criteria, the
references, the grammar of the corpus, the gradebook, other submissions, the home folder. Nothing of it outlives the
process.
"""

import importlib.util
import os
import shutil
import sys
import sysconfig
from functools import cache
from pathlib import Path

import autograder
from autograder.sandbox.limits import Limits

PACKAGE = Path(autograder.__file__).resolve().parent
LEARNERS_SIDE = {name: name for name in (
    "__init__.py", "settings.py", "learner", "corpus/__init__.py", "corpus/sentences.py", "corpus/vocabulary.py",
    "corpus/handed_out.txt.gz")} | {"corpus/pairs.py": "corpus/handed_out.py"}
"""All of this package that a sandbox holds: each name inside, and what lies there."""

SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime",
          "/etc/fonts", "/etc/ssl/certs")
COURSE, WORK, GIVEN = "/course", "/submission", "/given"
REMEDY = ("bubblewrap is needed to run untrusted code and was not found. On Debian and Ubuntu: "
          "`apt install bubblewrap`. On macOS and Windows grade inside a Linux machine or container. "
          "`--no-sandbox` runs the code unprotected: for your own code only.")


class NoSandbox(RuntimeError):
    """There is no bubblewrap here; the message says what to do."""


def bubblewrap() -> str:
    """The path of the program. Raises NoSandbox where there is none."""
    found = shutil.which("bwrap")
    if found is None:
        raise NoSandbox(REMEDY)
    return found


def sandbox_command(command: list[str], given: Path, sockets: Path, limits: Limits,
                    environment: dict[str, str], seccomp: int | None = None) -> list[str]:
    """The command line that runs `command` inside the walls.

    given: the submission's files; they are copied into the work folder, so the originals stay as they are.
    sockets: the only folder that both sides see; the kernel's sockets lie in it.
    seccomp: an open file descriptor with the filter for system calls, which the new process must inherit.
    """
    return [
        bubblewrap(), "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
        "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--clearenv",
        "--proc", "/proc", "--dev", "/dev",
        *(part for path in ("/tmp", "/home/learner", "/dev/shm", WORK) for part in _memory_folder(path, limits)),
        *_read_only(), *_hidden_packages(), *_learners_side(),
        "--ro-bind", str(given), GIVEN, "--bind", str(sockets), str(sockets),
        "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK,
        *(part for name, value in environment.items() for part in ("--setenv", name, value)),
        *(("--seccomp", str(seccomp)) if seccomp is not None else ()),
        "--", "/bin/sh", "-c", f'cp -r {GIVEN}/. {WORK}/ && exec "$@"', "sh", *command]


def inner_environment() -> dict[str, str]:
    """The whole environment of the untrusted code; nothing of ours is inherited by accident."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/home/learner", "LANG": "C.UTF-8",
        "PYTHONPATH": COURSE, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg",
        "IPYTHONDIR": "/home/learner/.ipython", "JUPYTER_RUNTIME_DIR": "/home/learner/runtime",
        "NBGRADER_EXECUTION": "autograde",
    }
    return environment | ({"BOOK_URL": os.environ["BOOK_URL"]} if os.environ.get("BOOK_URL") else {})


def _memory_folder(path: str, limits: Limits) -> list[str]:
    return ["--size", str(limits.disk_bytes), "--tmpfs", path]


@cache
def _read_only() -> list[str]:
    """The system, the base Python and the environment with torch."""
    libraries = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    python = [sys.base_prefix, sys.prefix, *libraries]
    places = dict.fromkeys([*SYSTEM, *map(os.path.realpath, python), *python])
    return [part for path in places if os.path.exists(path) for part in ("--ro-bind", path, path)]


@cache
def _hidden_packages() -> list[str]:
    """Empty folders cover this package, where it is installed among the libraries, and nbgrader with its examples."""
    roots = [Path(os.path.realpath(path)) for path in (*SYSTEM, sys.base_prefix, sys.prefix)]
    nbgrader = importlib.util.find_spec("nbgrader")
    packages = [PACKAGE, *(Path(path) for path in (nbgrader.submodule_search_locations if nbgrader else ()))]
    return [part for path in packages if any(Path(os.path.realpath(path)).is_relative_to(root) for root in roots)
            for part in ("--tmpfs", str(path))]


@cache
def _learners_side() -> list[str]:
    return [part for inside, name in LEARNERS_SIDE.items()
            for part in ("--ro-bind", str(PACKAGE / name), f"{COURSE}/autograder/{inside}")]
