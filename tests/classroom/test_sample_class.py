"""The sample class: deterministic, recognisable, and never in the way of a real class."""

import csv
import json
import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.classroom import sample
from autograder.classroom.folders import Classroom
from autograder.classroom.roster import PEOPLE, people

BOTH = ["04_self_attention", "05_scaling"]


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    classroom = Classroom(tmp_path_factory.mktemp("sample").resolve())
    sample.write_class(classroom, 10, 5, BOTH)
    return classroom


def test_the_same_arguments_give_the_same_class_byte_for_byte(room, tmp_path):
    sample.write_class(Classroom(tmp_path), 10, 5, BOTH)
    assert contents(tmp_path) == contents(room.folder)


def test_another_seed_gives_another_class(room, tmp_path):
    sample.write_class(Classroom(tmp_path), 10, 6, BOTH)
    there, here = contents(tmp_path), contents(room.folder)
    assert there.keys() == here.keys()
    assert sum(there[name] != here[name] for name in here if name.suffix == ".ipynb") >= 8


def test_a_second_run_writes_nothing(room):
    before = {path: path.stat().st_mtime_ns for path in room.submitted.rglob("*")}
    sample.write_class(room, 10, 5, BOTH)
    assert {path: path.stat().st_mtime_ns for path in room.submitted.rglob("*")} == before


def test_a_smaller_class_replaces_a_larger_one(tmp_path):
    room = Classroom(tmp_path)
    sample.write_class(room, 3, 1, BOTH[:1])
    room.gradebook.write_text("of the larger class")
    sample.write_class(room, 2, 1, BOTH[:1])
    assert room.students(BOTH[0]) == ["ada", "bao"]
    assert not room.gradebook.exists()


def test_a_folder_with_anything_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "gradebook.db").write_text("a real class")
    assert sample.main(["--students", "1", "--into", str(tmp_path)]) == 1
    assert "is not a sample class; choose another folder" in capsys.readouterr().err
    assert contents(tmp_path).keys() == {(tmp_path / "gradebook.db").relative_to(tmp_path)}


class Killed(BaseException):
    """Stands for a process that is ended: nothing in the course catches it."""


def killed(*arguments):
    raise Killed


@pytest.mark.parametrize(("place", "step"), [(Classroom, "write_seed"), (sample, "write_text"), (sample, "submission")])
def test_a_class_whose_making_was_killed_is_made_by_the_next_run(room, tmp_path, monkeypatch, place, step):
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(place, step, killed)
        sample.write_class(Classroom(tmp_path), 10, 5, BOTH)
    sample.write_class(Classroom(tmp_path), 10, 5, BOTH)
    assert contents(tmp_path) == contents(room.folder)


def test_a_class_whose_clearing_was_killed_is_made_anew_by_the_next_run(room, tmp_path, monkeypatch):
    sample.write_class(Classroom(tmp_path), 2, 1, BOTH[:1])
    (tmp_path / "gradebook.db").write_text("of the other class")

    def all_but_the_gradebook(folder, *more, **options):
        for path in sorted(Path(folder).glob("*"), key=lambda path: path.name != sample.MARKER):
            if path.is_file() and path.name != "gradebook.db":
                path.unlink()
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(shutil, "rmtree", all_but_the_gradebook)
        sample.write_class(Classroom(tmp_path), 10, 5, BOTH)
    sample.write_class(Classroom(tmp_path), 10, 5, BOTH)
    assert contents(tmp_path) == contents(room.folder)


def test_a_marker_that_was_cut_is_that_of_a_sample_class_all_the_same(room, tmp_path):
    sample.write_class(Classroom(tmp_path), 2, 1, BOTH[:1])
    (tmp_path / sample.MARKER).write_text('{"students": 2, "se')
    sample.write_class(Classroom(tmp_path), 10, 5, BOTH)
    assert contents(tmp_path) == contents(room.folder)


def test_ids_are_ascii_and_names_are_what_people_are_called(room):
    with room.roster.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows][:3] == ["ada", "bao", "chloe"]
    assert rows[1] == {"id": "bao", "first_name": "Bảo", "last_name": "Nguyễn"}
    assert all(name.isascii() and name.isalpha() and name.islower() for name in PEOPLE)
    assert list(people(len(PEOPLE) + 1))[-1] == "ada2"


def test_a_submission_is_the_released_notebook_with_other_answers(room):
    released = nbformat.read(sample.Material(BOTH[0]).released, 4)
    handed_in = nbformat.read(room.submitted / "chloe" / BOTH[0] / "self_attention.ipynb", 4)
    assert [cell.id for cell in handed_in.cells] == [cell.id for cell in released.cells]
    assert handed_in.metadata == released.metadata
    changed = [new.metadata.nbgrader.grade_id for new, old in zip(handed_in.cells, released.cells, strict=True)
               if new.source != old.source]
    assert changed == ["project_qkv", "attention_scores", "attention_weights", "weighted_sum", "SelfAttention",
                       "why_three_projections"]
    assert "SOLUTION" not in json.dumps(handed_in)


def test_the_fatou_of_every_class_hands_in_what_was_released(room):
    released = nbformat.read(sample.Material(BOTH[1]).released, 4)
    assert nbformat.read(room.submitted / "fatou" / BOTH[1] / "scaling.ipynb", 4) == released


def test_every_kind_of_student_is_among_the_first_eight():
    assert [sample.kind_of(i, 1) for i in range(8)] == list(sample.KINDS)
    assert {sample.kind_of(i, 1) for i in range(8, 60)} == set(sample.KINDS)
