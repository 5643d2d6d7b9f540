"""Files that are there whole or not at all, however the process that writes them ends."""

import os
import secrets
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path

DRAFTS = ".*.part"
"""The names of drafts, for whoever meets one that a killed process left."""


def write_whole(path: Path, content: str | bytes, mode: int = 0o666, replace: bool = True) -> None:
    """Write a draft beside the file and then give it the file's name, so that nobody ever finds half of it.

    mode: of a new file, less the umask; one that is there keeps its own. replace: whether it may take the place of one
    that is there. Raises OSError, which names the file, where it cannot be written; what was there is as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():  # /dev/stdout: nothing can take its place
        path.write_bytes(data)
        return
    path = path.resolve()  # a link to a file stays a link
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(draft, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or the name could be on the disk before the content
        _take_its_place(draft, path, replace)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        draft.unlink(missing_ok=True)


def _take_its_place(draft: Path, path: Path, replace: bool) -> None:
    if not replace:
        try:
            os.link(draft, path)  # of two processes the first wins
            return
        except FileExistsError:
            return
        except OSError:  # a file system without links: the last wins
            pass
    with suppress(FileNotFoundError):
        shutil.copymode(path, draft)
    os.replace(draft, path)
