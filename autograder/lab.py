"""`autograder lab`: JupyterLab on your own copies of the exercises, with the book beside it.

The copies lie in work/. A copy that is missing is made from exercises/; one that exists is never touched.
The built book is served on a free port, so that the links in reports open. JupyterLab's settings for
the course (no news pop-up, no question about the kernel) come from autograder/jupyter, not from your home.
"""

import argparse
import os
import secrets
import sys
from pathlib import Path

from autograder import serve
from autograder.settings import REPOSITORY
from autograder.writing import write_whole

EXERCISES = REPOSITORY / "exercises"
WORK = REPOSITORY / "work"
JUPYTER_SETTINGS = Path(__file__).resolve().parent / "jupyter"


def copy_missing(exercises: Path, work: Path) -> tuple[list[str], list[str]]:
    """Copy what is missing in `work` from the folders of `exercises`; returns the names copied and kept."""
    copied, kept = [], []
    for source in sorted(path for path in exercises.glob("*/**/*") if path.is_file()):
        name = source.relative_to(exercises)
        if any(part.startswith(".") for part in name.parts):
            continue
        target = work / name
        if target.exists():
            kept.append(name.as_posix())
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, source.read_bytes(), replace=False)
        copied.append(name.as_posix())
    return copied, kept


def tell(copied: list[str], kept: list[str]) -> None:
    for name in copied:
        print(f"work/{name}: a new copy")
    for name in kept:
        print(f"work/{name}: kept as you left it")


def lab_arguments(work: Path, port: int, extra: list[str]) -> list[str]:
    """JupyterLab's own arguments; the settings and open tabs that it remembers stay in work/."""
    memory = work / ".jupyter"
    arguments = [
        f"--ServerApp.root_dir={work}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.answer_yes=True",  # Ctrl-C ends at once
        "--Application.log_level=ERROR",
        f"--LabApp.workspaces_dir={memory / 'workspaces'}",
        f"--LabApp.user_settings_dir={memory / 'user-settings'}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    return arguments + extra


def lab_environment(book_address: str | None) -> dict[str, str]:
    """What JupyterLab and its kernels need to know: their settings, the token, where the book is served."""
    paths = [str(JUPYTER_SETTINGS), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = {
        "JUPYTER_CONFIG_PATH": os.pathsep.join(paths),
        "JUPYTER_TOKEN": os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(16),
    }
    if book_address and not os.environ.get("BOOK_URL"):
        environment["BOOK_URL"] = f"{book_address}/book"
    return environment


def start_book() -> str | None:
    """Serve the built book; without one, say so and go on."""
    if not (serve.BUILT_BOOK / "index.html").exists():
        print("The book is not built, so links in reports lead nowhere yet: run `make book`.")
        return None
    address = serve.serve_in_thread()
    print(f"The book: {address}/")
    return address


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="autograder lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Further options, for example --no-browser, go to JupyterLab.",
    )
    parser.add_argument("--port", type=serve.port_number, default=8888, help="JupyterLab's port (default 8888)")
    options, extra = parser.parse_known_args(argv)
    try:
        serve.require_free_port(options.port, "lab")
    except serve.PortInUse as error:
        print(error, file=sys.stderr)
        return 1
    try:
        copied, kept = copy_missing(EXERCISES, WORK)
    except OSError as error:
        print(f"lab: {error}. Your copies are as they were: make room for the missing ones in {WORK}, or the right to "
              "write there, and run `make lab` again.", file=sys.stderr)
        return 1
    if not copied + kept:
        print("There are no exercises in exercises/: run `make exercises` first.", file=sys.stderr)
        return 1
    tell(copied, kept)
    os.environ.update(lab_environment(start_book()))
    token = os.environ["JUPYTER_TOKEN"]
    print(f"JupyterLab: http://localhost:{options.port}/lab?token={token} (Ctrl-C ends)", flush=True)
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(argv=lab_arguments(WORK, options.port, extra))
    return 0
