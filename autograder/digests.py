"""Hashes that tell whether anything has changed since the last run."""

import hashlib
import os
from collections.abc import Callable
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
        _add_all(total, thing, thing.parent, lambda name: name == "__pycache__")
    return total.hexdigest()


@cache
def digest_of_code(parts: tuple[str, ...]) -> str:
    """A hash of some parts of this package, as they are when first asked for: modules, and the data beside them.

    Bytecode and hidden files are left out: they may differ where two computers have the same version.
    """
    total = hashlib.sha256()
    for part in (PACKAGE / part for part in parts):
        _add_all(total, part, PACKAGE, lambda name: name == "__pycache__" or name.startswith("."))
    return total.hexdigest()


def _add_all(total, thing: Path, base: Path, left_out: Callable[[str], bool]) -> None:
    """Add a file, or all of a folder, by names below `base`; what has a part of its name `left_out` is not added."""
    for path in sorted(thing.rglob("*")) if thing.is_dir() else [thing]:
        name = path.relative_to(base)
        if any(map(left_out, name.parts)):
            continue
        total.update(str(name).encode("utf-8", "surrogateescape") + b"\0")
        if path.is_symlink():
            total.update(os.fsencode(path.readlink()))
        elif path.is_file():
            total.update(hashlib.sha256(path.read_bytes()).digest())
