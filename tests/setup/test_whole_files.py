"""A file is written whole or not at all."""

import os
import stat

import pytest
from full_disk import full_disk

from autograder.writing import write_whole

LONG = "a long text, " * 10


def test_texts_and_bytes_are_written_and_nothing_else_is_left(tmp_path):
    write_whole(tmp_path / "text", "Bảo\n")
    write_whole(tmp_path / "bytes", b"\r\n")
    assert (tmp_path / "text").read_bytes() == "Bảo\n".encode() and (tmp_path / "bytes").read_bytes() == b"\r\n"
    write_whole(tmp_path / "text", "new")
    assert (tmp_path / "text").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytes", "text"]


def test_a_full_disk_leaves_what_was_there_and_is_an_error_that_names_the_file(tmp_path):
    (tmp_path / "old").write_text("what was there")
    for name in ("old", "new"):
        with full_disk(), pytest.raises(OSError, match=f"{tmp_path / name}'$"):
            write_whole(tmp_path / name, LONG)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old", "what was there")]


def test_one_that_is_there_can_be_kept(tmp_path):
    for text in ("first", "second"):
        write_whole(tmp_path / "seed", text, replace=False)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("seed", "first")]


def test_a_file_system_without_links_will_do(tmp_path, monkeypatch):
    def link(*paths):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    write_whole(tmp_path / "seed", "first", replace=False)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("seed", "first")]


def test_a_file_keeps_its_mode_and_a_new_one_has_that_of_any_other(tmp_path):
    kept, new, secret = (tmp_path / name for name in ("kept", "new", "secret"))
    kept.touch(mode=0o640)
    before = os.umask(0o022)
    try:
        write_whole(kept, "x")
        write_whole(new, "x")
        write_whole(secret, "x", mode=0o600)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, new, secret)] == [0o640, 0o644, 0o600]


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path):
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "file")
    write_whole(link, "x")
    assert link.is_symlink() and (tmp_path / "file").read_text() == "x"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "y")
    assert os.read(reader, 10) == b"y"
    os.close(reader)
