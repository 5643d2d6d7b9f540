"""What is handed in beside a notebook: it reaches the code, it counts for the result's key, and giants are left out."""

import shutil

import nbformat
import pytest
from class_tools import nbgrader

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import marks_of
from autograder.classroom.sample import Material
from autograder.grading.collect import Collection
from autograder.settings import LARGEST_FILE, REPOSITORY

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
ASSIGNMENT, NOTEBOOK, FILE = "08_transformer", "transformer.ipynb", "translator.pt"
TRAINED = REPOSITORY / "tests" / "translator" / FILE
POINTS = 12


class TheProject:
    """A class in which everybody has the solution's code; what differs is the file."""

    def __init__(self, folder, files):
        self.room = Classroom(folder)
        self.room.make()
        self.room.write_seed(8)
        material = Material(ASSIGNMENT)
        notebook = nbformat.read(material.released, 4)
        needed = {"layer_norm", "LayerNorm", "FeedForward", "EncoderLayer", "DecoderLayer", "Transformer", "translate"}
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in needed and cell.metadata.nbgrader.solution:
                cell.source = material.solutions[name]
        for student, write in files.items():
            place = self.room.submitted / student / ASSIGNMENT
            place.mkdir(parents=True)
            nbformat.write(notebook, place / NOTEBOOK)
            write(place / FILE)
        self.nbgrader("generate_assignment", ASSIGNMENT, f"--CourseDirectory.release_directory={folder / 'release'}")

    def nbgrader(self, *arguments):
        return nbgrader(*arguments, CLASSROOM=str(self.room.folder), OMP_NUM_THREADS="1")

    def graded(self, student):
        return nbformat.read(self.room.autograded / student / ASSIGNMENT / NOTEBOOK, 4)

    def mark(self, student):
        marks = marks_of(self.room, ASSIGNMENT, student)
        return next(mark.score for mark in marks if mark.cell == "check_translate")

    def shown(self, student, cell_id):
        (cell,) = [cell for cell in self.graded(student).cells if cell.id == cell_id]
        return str(cell.outputs)


def giant(path):
    with path.open("wb") as file:
        file.write(TRAINED.read_bytes())
        file.truncate(LARGEST_FILE + 1)


def half_of_it(path):
    path.write_bytes(TRAINED.read_bytes()[:200_000])


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return TheProject(tmp_path_factory.mktemp("project").resolve() / "class", {
        "ada": lambda path: shutil.copy(TRAINED, path), "bao": lambda path: None, "chloe": giant, "dev": half_of_it,
        "eva": lambda path: path.symlink_to(TRAINED)})


@pytest.fixture(scope="module")
def graded(project):
    project.nbgrader("autograde", ASSIGNMENT, "--force")
    return project


def test_the_file_reaches_the_sandbox_and_nothing_is_trained_there(graded):
    assert graded.mark("ada") == POINTS
    assert graded.graded("ada").metadata["autograder"]["state"] == "graded"
    assert "FileNotFoundError" not in graded.shown("ada", "check-translate")
    assert graded.shown("ada", "try-translate") == "[]"


@pytest.mark.parametrize("student, words", [("bao", "is `translator.pt` handed in"), ("chloe", "more than 16 MiB"),
                                            ("dev", "is it whole, and from torch.save"),
                                            ("eva", "is `translator.pt` handed in")])
def test_without_a_file_that_fits_the_report_says_so(graded, student, words):
    assert graded.mark(student) == 0
    assert words in graded.shown(student, "check-translate")
    assert graded.graded(student).metadata["autograder"]["state"] == "graded"


def test_only_regular_files_up_to_the_limit_are_taken(graded):
    assert not (graded.room.autograded / "chloe" / ASSIGNMENT / FILE).exists()
    assert not (graded.room.autograded / "eva" / ASSIGNMENT / FILE).exists()
    assert (graded.room.autograded / "ada" / ASSIGNMENT / FILE).read_bytes() == TRAINED.read_bytes()


def test_a_changed_file_is_another_submission(project, monkeypatch):
    monkeypatch.setenv("CLASSROOM", str(project.room.folder))
    place = project.room.submitted / "ada" / ASSIGNMENT / FILE

    def job():
        (found,) = Collection(ASSIGNMENT).jobs("ada")
        return found

    before = job()
    assert before.files[FILE] == TRAINED.read_bytes() and job().key == before.key
    kept = place.read_bytes()
    try:
        place.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
        assert job().key != before.key
        place.unlink()
        assert FILE not in job().files and job().key != before.key
    finally:
        place.write_bytes(kept)


def test_a_file_beside_the_solution_helps_nobody(project, monkeypatch, tmp_path):
    """Whoever teaches has run the solution, and its translator lies there."""
    monkeypatch.setenv("CLASSROOM", str(project.room.folder))
    course = tmp_path / "course"
    shutil.copytree(REPOSITORY / "solutions" / ASSIGNMENT, course / "solutions" / ASSIGNMENT)
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", course / "nbgrader_config.py")
    shutil.copyfile(TRAINED, course / "solutions" / ASSIGNMENT / FILE)
    monkeypatch.setattr("autograder.grading.collect.REPOSITORY", course)
    (job,) = Collection(ASSIGNMENT).jobs("bao")
    assert job.files == {}
    (job,) = Collection(ASSIGNMENT).jobs("dev")
    assert len(job.files[FILE]) == 200_000
