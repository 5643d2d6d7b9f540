"""Make .venv and install requirements.txt into it; every failure is one sentence with its remedy.

The system's own Python runs this before anything is installed, so it uses the standard library alone.
Usage: python3.11 tools/install.py
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "requirements.txt"
LOG = VENV / "install.log"
NEEDED_PYTHON = (3, 11)
NEEDED_GB = 4.0
PAUSE = 5
"""Seconds before pip is asked a second time."""
NETWORK = re.compile(
    "NewConnectionError|NameResolutionError|name resolution|Network is unreachable|ProxyError|ConnectTimeout"
    "|ConnectionResetError|Read timed out|Connection (refused|aborted|broken)"
)


class Failure(SystemExit):
    """Ends the program with one sentence on stderr, and exit code 1."""


def check_python(version, executable=sys.executable):
    """The pins are resolved for one Python version; any other is refused."""
    if tuple(version[:2]) != NEEDED_PYTHON:
        found, needed = (".".join(map(str, numbers[:2])) for numbers in (version, NEEDED_PYTHON))
        raise Failure(f"{executable} is Python {found}, and the course needs Python {needed}: install it, "
                      f"then run `make course PYTHON=/path/to/python{needed}`.")


def check_disk(free_bytes, folder=ROOT):
    free = free_bytes / 1e9
    if free < NEEDED_GB:
        raise Failure(f"{free:.1f} GB are free in {folder}, and the course needs {NEEDED_GB:.0f} GB: "
                      "make room, then run the command again.")


def make_environment():
    """A virtual environment in .venv; one that was made by another Python, or is broken, is made anew."""
    python = VENV / "bin" / "python"
    question = [str(python), "-c", "import sys, pip; print(sys.version_info[:2])"]
    if python.exists():
        answer = subprocess.run(question, capture_output=True, text=True).stdout.strip()
        if answer == str(NEEDED_PYTHON):
            return python
    run = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
    if run.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        if "No space left" in run.stdout + run.stderr:
            check_disk(0)
        raise Failure("Python cannot make a virtual environment here: install its venv module (on Debian and "
                      "Ubuntu `sudo apt-get install python3.11-venv`), then run the command again.")
    return python


def explain(log):
    """One sentence for what pip wrote before it failed."""
    errors = [line.strip() for line in log.splitlines() if line.startswith("ERROR")]
    if "No space left on device" in log:
        return f"The disk is full: the course needs {NEEDED_GB:.0f} GB; make room, then run it again."
    if NETWORK.search(log):
        return ("The package index cannot be reached: check the network (or the proxy settings), then run "
                "the command again; finished downloads are kept.")
    missing = re.search(r"No matching distribution found for (\S+)", log)
    if missing and "(from versions: none)" in log:
        return (f"The package index does not answer, or has no {missing[1]} at all: check the network (or the "
                "proxy settings), then run the command again; finished downloads are kept.")
    if missing:
        return (f"The package index has no {missing[1]} for this computer and Python: "
                "`make lock UPGRADE=1` takes the versions that it has.")
    return f"pip failed ({errors[-1] if errors else 'without a message'}): the whole story is in {LOG}."


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line now and then."""

    def __init__(self, stream=sys.stdout, step=40):
        self.stream, self.step, self.shown, self.rewrites = stream, step, None, stream.isatty()

    def show(self, what, count, total):
        if self.rewrites:
            self.stream.write(f"\r  {what} {count} of {total} packages\033[K")
        elif (what, count // self.step) != self.shown:
            self.shown = (what, count // self.step)
            self.stream.write(f"  {what} {count} of {total} packages\n")
        self.stream.flush()

    def say(self, text):
        self.stream.write(f"\r  {text}\033[K\n" if self.rewrites else f"  {text}\n")
        self.stream.flush()


def follow(process, log, total, progress):
    """Show how far pip is: it names each package as it collects it, then installs all of them silently."""
    collected = 0
    for line in process.stdout:
        log.write(line)
        if line.startswith(("Collecting ", "Processing ", "Requirement already satisfied")):
            collected = min(collected + 1, total)
            progress.show("collecting", collected, total)
        large = re.match(r"\s+Downloading (\S+?)-\d\S* \((\d{3,}\.\d MB|[\d.]+ GB)\)", line)
        if large:
            progress.say(f"downloading {large[1]} ({large[2]})")
        if line.startswith("WARNING: Retrying"):
            progress.say("the network does not answer; trying again")
        if line.startswith("Installing collected packages"):
            while process.poll() is None:
                installed = sum(1 for _ in VENV.glob("lib/*/site-packages/*.dist-info"))
                progress.show("installed", min(installed, total), total)
                time.sleep(0.5)


def pip_install(python, progress):
    """Run pip once; None where all is well, else what it wrote."""
    total = sum("==" in line for line in REQUIREMENTS.read_text().splitlines())
    command = [str(python), "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check"]
    command += ["-r", str(REQUIREMENTS)]
    with LOG.open("w") as log:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, cwd=str(ROOT), text=True, **pipes)
        follow(process, log, total, progress)
        code = process.wait()
    if not code:
        progress.say(f"{total} packages are in .venv")
    return LOG.read_text() if code else None


def install(python):
    """Twice if need be: a package index answers now and then with a part of what it has."""
    progress = Progress()
    if pip_install(python, progress) is None:
        return
    progress.say("pip did not get everything; trying once more")
    time.sleep(PAUSE)
    said = pip_install(python, progress)
    if said is not None:
        raise Failure(explain(said))


def main():
    check_python(sys.version_info)
    if not VENV.exists():
        check_disk(shutil.disk_usage(str(ROOT)).free)
    print("The environment: .venv, from requirements.txt (a minute or two the first time)", flush=True)
    install(make_environment())


if __name__ == "__main__":
    main()
