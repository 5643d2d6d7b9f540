"""The committed results: what `autograder experiments NAME` measured, one JSON file a name."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from autograder.writing import write_whole

RESULTS = Path(__file__).parent / "results"


def path(name: str) -> Path:
    return RESULTS / f"{name}.json"


def load(name: str) -> dict:
    """{"command", "settings", "runs"}: a run is one model with one seed. Raises FileNotFoundError with the remedy."""
    if not path(name).exists():
        raise FileNotFoundError(f"There are no results {name!r} yet; `autograder experiments {name}` makes them.")
    return json.loads(path(name).read_text(encoding="utf-8"))


def save(name: str, results: dict) -> None:
    """One run a line, so that a change is readable."""
    head = json.dumps({key: value for key, value in results.items() if key != "runs"}, ensure_ascii=False, indent=1)
    runs = ",\n".join("  " + json.dumps(run, ensure_ascii=False) for run in results["runs"])
    write_whole(path(name), f'{head[:-2]},\n "runs": [\n{runs}\n ]\n}}\n')


def complete(name: str, plan: list[dict], settings: dict, carry_out: Callable[[dict], dict]) -> dict:
    """Carry out the runs of a plan that the file does not have yet with these settings; all results.

    The file is written after every run, whole or not at all, so a long experiment may be stopped and started again.
    """
    known = load(name) if path(name).exists() else {"settings": None, "runs": []}
    runs = known["runs"] if known["settings"] == settings else []
    for wanted in plan:
        if not any(wanted.items() <= run.items() for run in runs):
            print(f"{name}: {wanted}", file=sys.stderr, flush=True)
            runs.append(carry_out(wanted))
            save(name, {"command": f"autograder experiments {name}", "settings": settings, "runs": runs})
    return load(name)
