"""Who is in a class, and who only seems to be."""

import pytest

from autograder.classroom.folders import Classroom
from autograder.classroom.marks import remarks_below
from autograder.classroom.report import odd_folder
from autograder.classroom.roster import not_enrolled, people, strangers_named


@pytest.fixture
def room(tmp_path) -> Classroom:
    room = Classroom(tmp_path)
    for student in ("ada", "adda", "zoe"):
        (room.submitted / student / "05_scaling").mkdir(parents=True)
    (room.submitted / "notes.txt").write_text("no student")
    return room


@pytest.mark.parametrize("head", ["id,last_name", " id ,last_name", "\ufefflast_name,id"])
def test_a_slip_in_a_folders_name_is_noticed(room, head):
    lines = [head, "Kowalska,ada" if head.endswith("id") else "ada,Kowalska"]
    room.roster.write_text("\n".join(lines), encoding="utf-8")
    assert not_enrolled(room) == ["adda", "zoe"]
    assert strangers_named(room) == "Not in students.csv: adda, zoe. Is the name of a folder a slip?"
    assert strangers_named(room) in remarks_below([], [], strangers_named(room))


def test_a_class_without_a_roster_has_no_strangers(room):
    assert not_enrolled(room) == [] and strangers_named(room) == "" and remarks_below([], [], "") == []


def test_more_notebooks_than_asked_for_are_to_look_at(tmp_path):
    for place in ("in/scaling.ipynb", "in/scaling (1).ipynb", "out/scaling.ipynb"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
    assert odd_folder(tmp_path / "in", tmp_path / "out") == [
        "handed in 2 notebooks (scaling (1).ipynb, scaling.ipynb) for scaling.ipynb"]
    assert odd_folder(tmp_path / "out", tmp_path / "out") == odd_folder(tmp_path / "none", tmp_path / "out") == []


def test_ids_go_on_after_the_last_name():
    assert list(people(28))[-2:] == ["ada2", "bao2"]
