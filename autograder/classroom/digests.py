"""Hashes that tell whether anything has changed since the last run."""

import hashlib
import os
from functools import cache
from pathlib import Path


def digest(*things: Path | str) -> str:
    """A hash of files, of folders with all their files, and of texts. A link counts as its text."""
    total = hashlib.sha256()
    for thing in things:
        if isinstance(thing, str):
            total.update(thing.encode())
            continue
        for path in sorted(thing.rglob("*")) if thing.is_dir() else [thing]:
            if "__pycache__" in path.parts:
                continue
            total.update(path.name.encode("utf-8", "surrogateescape"))
            if path.is_symlink():
                total.update(os.fsencode(path.readlink()))
            elif path.is_file():
                total.update(path.read_bytes())
    return total.hexdigest()


@cache
def digest_of_code(parts: tuple[str, ...]) -> str:
    """A hash of some parts of this package, as they are when first asked for."""
    return digest(*(Path(__file__).parent.parent / part for part in parts))
