"""`nbgrader collect`, with suspicion: whoever can write to the exchange cannot hand in for somebody else.

nbgrader takes the student's name from the submission's folder, warns when the folder belongs to somebody else, and
takes it all the same. Here the owner of the folder, and of every file in it, must be the student: that is the only
evidence there is. So the promise holds where every student has an account of their own on the machine; where all
submissions belong to one account (many JupyterHubs), set `CollectApp.check_owner = False` and let the hub keep
students out of each other's folders. The time in a folder's name is the student's own word, and is taken as it is.
"""

import os
import pwd
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import parse_utc

from autograder.classroom.folders import STAMP

NAME = re.compile(r"(?P<student>[^+/\s<>&\"'`*?\[\]]+)\+(?P<assignment>[^+/]+)\+(?P<time>[^+/]+)(\+[^+/]*)?")
EPOCH = "1970-01-01 00:00:00 UTC"


class NotTaken(Exception):
    """A submission, or a file of one, that is not collected; the message says why."""


class CarefulCollect(ExchangeCollect):
    """Collects real folders of their owners: no links, no pipes, nothing of anybody else's."""

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path: str) -> dict:
        """What nbgrader wants to know of a folder; those that are not taken are nobody's, and are left out."""
        folder = Path(path)
        try:
            name = NAME.fullmatch(folder.name)
            if name is None or name["assignment"] != self.coursedir.assignment_id:
                raise NotTaken("its name is not one that nbgrader gives")
            time = parse_utc(name["time"])
            with opened(folder) as descriptor:
                self.require_owner(os.fstat(descriptor).st_uid, name["student"])
        except (NotTaken, ValueError, OverflowError, OSError) as reason:
            self.log.warning("Not collected: %r: %s.", folder.name, reason)
            return {"username": "", "filename": folder.name, "timestamp": parse_utc(EPOCH)}
        return {"username": name["student"], "filename": folder.name, "timestamp": time}

    def require_owner(self, number: int, student: str) -> None:
        """Raises NotTaken where an account that is not the student's owns a file."""
        if not self.check_owner:
            return
        try:
            owner = pwd.getpwuid(number).pw_name
        except KeyError:
            owner = f"account {number}"
        if owner != student:
            raise NotTaken(f"it claims to be {student}'s and belongs to {owner}")

    def do_copy(self, src: str, dest: str, log=None) -> None:
        """Copy a submission; one that cannot be copied stops nobody else's."""
        record = self._path_to_record(src)
        try:
            if not record["username"]:
                raise NotTaken("it changed while it was looked at")
            with opened(Path(src)) as descriptor:
                self.require_owner(os.fstat(descriptor).st_uid, record["username"])
                self.copy_files_of(descriptor, Path(dest), record["username"])
        except (NotTaken, OSError, RecursionError) as reason:
            self.log.error("Not collected: %r: %s.", src, reason)
            shutil.rmtree(dest, ignore_errors=True)
            return
        stamp = Path(dest) / STAMP
        stamp.unlink(missing_ok=True)
        stamp.write_text(record["timestamp"].strftime(self.timestamp_format), encoding="utf-8")

    def copy_files_of(self, descriptor: int, dest: Path, student: str) -> None:
        """Copy the regular files that the student owns. Everything is opened relative to folders that are open
        already, and never through a link, so nothing can be exchanged between the look and the copy."""
        left, largest = 1_000 * self.coursedir.max_dir_size, 1_000 * self.coursedir.max_file_size
        for place, folders, files, here in os.fwalk(".", dir_fd=descriptor):
            folders[:] = [name for name in folders if name not in self.coursedir.ignore]
            (dest / place).mkdir(parents=True, exist_ok=True)
            for name in files:
                try:
                    with regular_file(name, here) as file:
                        facts = os.fstat(file.fileno())
                        self.require_owner(facts.st_uid, student)
                        if facts.st_size > min(left, largest):
                            raise NotTaken("it is too large")
                        left -= facts.st_size
                        with (dest / place / name).open("wb") as copy:
                            shutil.copyfileobj(file, copy)
                except (NotTaken, OSError) as reason:
                    self.log.warning("Not collected: %r of %s: %s.", os.path.join(place, name), student, reason)


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder that is no link, as a descriptor."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        raise NotTaken("it is a link, or no folder") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def regular_file(name: str, folder: int):
    """A file of an open folder, open for reading; raises NotTaken for links, pipes and devices."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        raise NotTaken(f"it cannot be opened without following a link ({error.strerror})") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotTaken("it is no regular file")
        yield file
