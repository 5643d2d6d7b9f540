"""Where a class lies, and its secret seed."""

import stat

import pytest
from full_disk import full_disk

from autograder.classroom import folders
from autograder.classroom.folders import Classroom, course_assignments
from autograder.settings import REPOSITORY


def test_the_classroom_is_the_argument_or_the_environment_or_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("CLASSROOM", raising=False)
    assert Classroom.at().folder == REPOSITORY / "classroom"
    monkeypatch.setenv("CLASSROOM", str(tmp_path))
    assert Classroom.at().folder == tmp_path.resolve()
    assert Classroom.at("classroom/sample").folder == REPOSITORY / "classroom" / "sample"


def test_every_part_of_a_class_lies_inside_its_folder(tmp_path):
    room = Classroom(tmp_path)
    for part in (room.submitted, room.autograded, room.feedback, room.release, room.exchange, room.gradebook,
                 room.roster, room.marks, room.seed_file):
        assert part.is_relative_to(tmp_path)
    assert room.db_url == f"sqlite:///{tmp_path}/gradebook.db"


def test_a_path_that_nbgrader_would_misread_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"contains '\['"):
        Classroom(tmp_path / "class [1]")


def test_the_grading_seed_is_made_once_and_is_for_the_owner_alone(tmp_path):
    room, other = Classroom(tmp_path / "a"), Classroom(tmp_path / "b")
    seed = room.grading_seed()
    assert room.grading_seed() == seed
    assert stat.S_IMODE(room.seed_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(room.folder.stat().st_mode) == 0o700
    assert other.grading_seed() != seed  # one in two thousand million


def test_a_full_disk_leaves_no_empty_seed(tmp_path):
    room = Classroom(tmp_path)
    with full_disk(room=0), pytest.raises(OSError, match="grading_seed"):
        room.grading_seed()
    assert [path.name for path in tmp_path.iterdir()] == ["exchange"]
    assert room.grading_seed() == room.grading_seed()


def test_two_processes_that_make_a_seed_at_once_use_the_same(tmp_path, monkeypatch):
    """Here the other process writes its seed between our look for one and our writing."""
    room = Classroom(tmp_path)
    monkeypatch.setattr(folders.secrets, "randbelow", lambda most: Classroom(tmp_path).write_seed(4711) or 1)
    assert room.grading_seed() == 4711


def test_a_seed_that_is_no_number_is_refused_with_the_remedy(tmp_path):
    room = Classroom(tmp_path)
    room.seed_file.write_text("tomorrow\n")
    with pytest.raises(ValueError, match="holds 'tomorrow'; it must be a whole number, or be deleted"):
        room.grading_seed()


def test_the_course_has_the_assignments_of_its_solutions():
    assert {"04_self_attention", "05_scaling"} <= set(course_assignments())
