"""Hashes that tell whether anything has changed since the last run."""

import hashlib
import os
from functools import cache
from pathlib import Path

from autograder.sandbox.bubblewrap import PACKAGE


def digest(*things: Path | str) -> str:
    """A hash of files, of folders with all their files, and of texts. A link counts as its text."""
    total = hashlib.sha256()
    for thing in things:
        if isinstance(thing, str):
            total.update(thing.encode())
            continue
        for path in sorted(thing.rglob("*")) if thing.is_dir() else [thing]:
            if "__pycache__" not in path.parts:
                _add(total, path, thing.parent)
    return total.hexdigest()


@cache
def digest_of_code(parts: tuple[str, ...]) -> str:
    """A hash of some parts of this package, as they are when first asked for: modules, and the data beside them.

    Bytecode and hidden files are left out: they may differ where two computers have the same version.
    """
    total = hashlib.sha256()
    for part in (PACKAGE / part for part in parts):
        for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
            if not any(name == "__pycache__" or name.startswith(".") for name in path.relative_to(PACKAGE).parts):
                _add(total, path, PACKAGE)
    return total.hexdigest()


def _add(total, path: Path, base: Path) -> None:
    total.update(str(path.relative_to(base)).encode("utf-8", "surrogateescape") + b"\0")
    if path.is_symlink():
        total.update(os.fsencode(path.readlink()))
    elif path.is_file():
        total.update(hashlib.sha256(path.read_bytes()).digest())
