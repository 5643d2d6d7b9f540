"""`nbgrader collect` believes the owner of a folder, and follows no link."""

import os
import pwd
from pathlib import Path

import pytest
from class_tools import nbgrader

from autograder.classroom.collecting import NAME, CarefulCollect, NotTaken
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import opened

ASSIGNMENT, NOTEBOOK = "05_scaling", "scaling.ipynb"
ME = pwd.getpwuid(os.geteuid()).pw_name
TIME = "2026-10-05 09:30:00 UTC"
COURSE = "no-step-skipped"


class Exchange:
    """An exchange with an inbound folder, and what nbgrader said when it collected."""

    def __init__(self, folder: Path):
        self.room = Classroom(folder / "class")
        self.room.make()
        self.inbound = self.room.exchange / COURSE / "inbound"
        self.inbound.mkdir(parents=True)
        self.secret = folder / "secret"
        self.secret.write_text("secret")
        with opened(self.room) as gradebook:
            gradebook.add_assignment(ASSIGNMENT)

    def submit(self, name: str, text: str = "mine") -> Path:
        folder = self.inbound / name
        folder.mkdir()
        (folder / NOTEBOOK).write_text(text)
        (folder / "timestamp.txt").write_text("1999-01-01 00:00:00 UTC")
        return folder

    def collect(self, *options: str) -> str:
        return nbgrader("collect", ASSIGNMENT, *options, CLASSROOM=str(self.room.folder))

    def collected(self, student: str) -> Path:
        return self.room.submitted / student / ASSIGNMENT


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    exchange = Exchange(tmp_path_factory.mktemp("collecting").resolve())
    folder = exchange.submit(f"{ME}+{ASSIGNMENT}+{TIME}+0001")
    (folder / "data").mkdir()
    (folder / "data" / "mine.txt").write_text("mine")
    (folder / "peek").symlink_to(exchange.secret)
    (folder / "peeks").symlink_to(exchange.secret.parent)
    os.mkfifo(folder / "pipe")
    exchange.submit(f"victim+{ASSIGNMENT}+{TIME}+0002", "forged")
    (exchange.inbound / f"linked+{ASSIGNMENT}+{TIME}+0003").symlink_to(folder)
    for odd in (f"odd+{ASSIGNMENT}+", f"odd+{ASSIGNMENT}+never", f"..+{ASSIGNMENT}+{TIME}", f"+{ASSIGNMENT}+{TIME}",
                f"<img src=x>+{ASSIGNMENT}+{TIME}+1", f"new\nline+{ASSIGNMENT}+{TIME}+1"):
        exchange.submit(odd)
    (exchange.inbound / f"file+{ASSIGNMENT}+{TIME}+0004").write_text("no folder")
    exchange.said = exchange.collect()
    return exchange


def test_the_owner_is_collected(exchange):
    folder = exchange.collected(ME)
    assert (folder / NOTEBOOK).read_text() == "mine" and (folder / "data" / "mine.txt").read_text() == "mine"
    assert (folder / "timestamp.txt").read_text().startswith("2026-10-05 09:30:00")  # what the folder's name says


def test_links_and_pipes_are_left_out(exchange):
    names = {path.relative_to(exchange.collected(ME)).as_posix() for path in exchange.collected(ME).rglob("*")}
    assert names == {NOTEBOOK, "data", "data/mine.txt", "timestamp.txt"}
    assert "peek" in exchange.said and "pipe" in exchange.said


def test_nobody_else_is_collected(exchange):
    assert [path.name for path in exchange.room.submitted.iterdir()] == [ME]
    assert f"it claims to be victim's and belongs to {ME}" in exchange.said
    assert exchange.said.count("its name is not one that nbgrader gives") >= 2


def test_a_newer_forgery_does_not_replace_the_owners(exchange):
    exchange.submit(f"victim+{ASSIGNMENT}+2027-01-01 00:00:00 UTC+0005", "forged")
    exchange.submit(f"{ME}+{ASSIGNMENT}+2026-12-01 00:00:00 UTC+0006", "newer")
    exchange.collect("--update")
    assert [path.name for path in exchange.room.submitted.iterdir()] == [ME]
    assert (exchange.collected(ME) / NOTEBOOK).read_text() == "newer"


def test_a_file_of_somebody_else_is_left_out(exchange):
    with pytest.raises(NotTaken, match="belongs to account 12345"):
        CarefulCollect().require_owner(12_345, ME)
    if os.geteuid() == 0:  # only root can give files away
        folder = exchange.submit(f"{ME}+{ASSIGNMENT}+2028-01-01 00:00:00 UTC+0007")
        (folder / "theirs").write_text("theirs")
        os.chown(folder / "theirs", 12_345, 12_345)
        said = exchange.collect("--update")
        assert not (exchange.collected(ME) / "theirs").exists() and "belongs to account 12345" in said


@pytest.mark.parametrize("name, student", [
    ("ada+a+t", "ada"), ("ada+a+t+x", "ada"), ("zoë+a+t+x", "zoë"), ("a+b+a+t+x", None), ("../x+a+t", None),
    ("a b+a+t", None), ("+a+t", None), ("<b>+a+t", None)])
def test_names(name, student):
    found = NAME.fullmatch(name)
    assert (found and found["student"]) == student
