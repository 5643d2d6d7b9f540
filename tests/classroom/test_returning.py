"""Feedback goes back through the exchange to those who handed in through it, and the others are named."""

import logging

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from traitlets.config import Config

from autograder.classroom.folders import Classroom
from autograder.classroom.returning import CarefulRelease

ASSIGNMENT = "05_scaling"


@pytest.fixture
def release(tmp_path, caplog):
    """Pages of Ada, who handed in through the exchange, and of Bảo and Zoë, who sent a mail."""
    room = Classroom(tmp_path)
    room.make()
    for student in ("ada", "bao", "zoe"):
        folder = room.feedback / student / ASSIGNMENT
        folder.mkdir(parents=True)
        (folder / "scaling.html").write_text(f"page of {student}")
        if student != "zoe":
            (folder / "timestamp.txt").write_text("2026-11-27 12:00:00 UTC")
    (room.feedback / "ada" / ASSIGNMENT / "submission_secret.txt").write_text("secret")
    (room.feedback / ".DS_Store").touch()

    def run(assignment: str = ASSIGNMENT, **options) -> list[str]:
        """What lies in the exchange afterwards."""
        where = CourseDirectory(feedback_directory=str(room.feedback), course_id="c", assignment_id=assignment,
                                **options)
        log = logging.getLogger("returning")
        CarefulRelease(coursedir=where, config=Config(Exchange={"root": str(room.exchange)}), log=log).start()
        return [path.read_text() for path in (room.exchange / "c" / "feedback").glob("*.html")]

    return run


def test_who_came_by_hand_stops_nobody_and_is_named(release, caplog):
    assert release() == ["page of ada"]
    assert "Not released, because they did not hand in through the exchange: bao, zoe." in caplog.text
    assert "STUDENT/05_scaling" in caplog.text


def test_a_mistyped_assignment_is_said(release, caplog):
    with pytest.raises(ExchangeError):
        release("05_scalling")
    assert "There are no pages for 05_scalling yet; run `autograder grade 05_scalling` first." in caplog.text


def test_links_that_no_student_can_follow_are_said(release, caplog, monkeypatch):
    monkeypatch.setenv("BOOK_URL", "https://example.org/book")
    release()
    assert "set book_url" not in caplog.text
    monkeypatch.setenv("BOOK_URL", "")
    release()
    assert "The pages link to the book on this computer (file://" in caplog.text
    assert "set book_url in pyproject.toml, grade once more, and release them again" in caplog.text


def test_who_is_left_out_on_purpose_is_not_named(release, caplog):
    assert release(student_id_exclude="ada,bao") == []
    assert "exchange: zoe." in caplog.text
