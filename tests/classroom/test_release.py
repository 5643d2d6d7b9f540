"""From solutions to exercises: generated, the same each time, and without a gradebook."""

import shutil

import nbformat
import pytest
from class_tools import nbgrader

from autograder.classroom import release
from autograder.classroom.folders import course_assignments
from autograder.settings import REPOSITORY


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Chapter 5 as nbgrader releases it into an empty folder, with an empty classroom beside it."""
    folder = tmp_path_factory.mktemp("release").resolve()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CLASSROOM", str(folder / "class"))
        release.generate("05_scaling", folder / "exercises")
    return folder


def test_it_is_what_is_committed(fresh):
    committed = REPOSITORY / "exercises" / "05_scaling"
    assert release.differences(fresh / "exercises" / "05_scaling", committed) == []


def test_no_gradebook_is_touched(fresh):
    assert [path.name for path in (fresh / "class").iterdir()] == ["exchange"]


def test_what_learners_make_themselves_is_not_released(tmp_path, monkeypatch):
    """The instructor has run the solution of chapter 8, which leaves a trained translator beside it."""
    course, chapter = tmp_path / "course", "08_transformer"
    shutil.copytree(REPOSITORY / "solutions" / chapter, course / "solutions" / chapter)
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", course / "nbgrader_config.py")
    for name in ("translator.pt", "picture.png"):
        (course / "solutions" / chapter / name).write_text("mine")
    monkeypatch.setenv("CLASSROOM", str(tmp_path / "class"))
    release.generate(chapter, tmp_path / "exercises", course)
    assert {path.name for path in (tmp_path / "exercises" / chapter).iterdir()} == {"picture.png", "transformer.ipynb"}


@pytest.mark.parametrize("assignment", course_assignments())
def test_the_release_says_where_it_comes_from_and_gives_no_answer_away(assignment):
    solved = sorted((REPOSITORY / "solutions" / assignment).glob("*.ipynb"))
    for source in solved:
        released = nbformat.read(REPOSITORY / "exercises" / assignment / source.name, 4)
        solution = nbformat.read(source, 4)
        assert released.metadata.generated_from == f"solutions/{assignment}/{source.name}"
        assert [cell.id for cell in released.cells] == [cell.id for cell in solution.cells]
        assert "SOLUTION" not in nbformat.writes(released)
        stubs = [cell for cell in released.cells if cell.metadata.get("nbgrader", {}).get("solution")]
        assert all("NotImplementedError(" in cell.source for cell in stubs if cell.cell_type == "code")
        assert all(not cell.outputs for cell in released.cells if cell.cell_type == "code")


def test_the_folder_says_that_it_is_generated():
    assert (REPOSITORY / "exercises" / "README.md").read_text() == release.README


def test_what_differs_is_named_and_updated(tmp_path):
    fresh, committed = tmp_path / "fresh", tmp_path / "committed"
    for folder, files in ((fresh, {"same": "1", "new": "2", "changed": "3"}),
                          (committed, {"same": "1", "old": "4", "changed": "5"})):
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    changed = release.differences(fresh, committed)
    assert [str(name) for name in changed] == ["changed", "new", "old"]
    before = (committed / "same").stat().st_mtime_ns
    release.update(fresh, committed, changed)
    assert release.differences(fresh, committed) == []
    assert (committed / "same").stat().st_mtime_ns == before


def test_nbgraders_refusal_is_passed_on(tmp_path):
    with pytest.raises(RuntimeError, match="nbgrader could not generate no_such_thing"):
        release.generate("no_such_thing", tmp_path)


def test_a_learner_who_reads_the_configuration_does_not_meet_the_seed(tmp_path):
    """JupyterLab and `nbgrader validate` load nbgrader_config.py too; only autograding may set the seed."""
    nbgrader("list", "--help", CLASSROOM=str(tmp_path / "class"))
    assert not (tmp_path / "class" / "grading_seed").exists()
