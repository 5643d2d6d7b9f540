"""What the grading does faster than nbgrader comes to the same."""

import os
from copy import deepcopy

import nbgrader.api
import pytest
from nbconvert.exporters import Exporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearOutput, GetGrades
from sqlalchemy import text

from autograder.classroom.feedback import Summarise
from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import Mark, fingerprint_of_marks, marks_of, newest_schema, one_engine
from autograder.cli import find_own_programs
from autograder.grading.exporter import InPlace

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own, as it adds submissions


@pytest.fixture
def db_url(tmp_path):
    return f"sqlite:///{tmp_path / 'gradebook.db'}"


def test_a_new_gradebook_has_the_version_that_nbgrader_itself_would_note(db_url, monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"])
    find_own_programs()
    assert newest_schema() == nbgrader.api.get_alembic_version()
    with one_engine(), Gradebook(db_url) as gradebook:
        assert gradebook.db.execute(text("SELECT version_num FROM alembic_version")).scalar() == newest_schema()


def test_gradebooks_share_an_engine_and_what_one_writes_the_next_reads(db_url):
    with one_engine():
        with Gradebook(db_url) as first:
            first.add_student("ada")
        with Gradebook(db_url) as second:
            assert second.engine is first.engine and second.db is not first.db
            assert [student.id for student in second.students] == ["ada"]
            second.add_assignment("a")
        with Gradebook(db_url, "another-course") as other:
            assert other.engine is first.engine
            assert other.check_course("another-course").id == "another-course"


def test_what_was_not_committed_is_gone_when_the_gradebook_is_closed(db_url):
    with one_engine():
        with Gradebook(db_url) as first:
            first.add_student("ada").first_name = "Ada"
        with Gradebook(db_url) as second:
            assert second.find_student("ada").first_name is None


def test_nbgrader_is_as_it_was_afterwards(db_url):
    def facts():
        return (nbgrader.api.create_engine, nbgrader.api.get_alembic_version, Gradebook.__init__, Gradebook.close)

    before = facts()
    with pytest.raises(KeyError), one_engine():
        assert not any(now is then for now, then in zip(facts(), before, strict=True))
        raise KeyError
    assert facts() == before


@pytest.fixture
def submitted(db_url):
    """A notebook with an answer, its check and a written answer; one student's marks and comments for it."""
    with one_engine(), Gradebook(db_url) as gradebook:
        gradebook.add_assignment("a")
        gradebook.add_notebook("n", "a")
        gradebook.add_solution_cell("f", "n", "a")
        gradebook.add_grade_cell("check_f", "n", "a", max_score=4, cell_type="code")
        gradebook.add_solution_cell("why", "n", "a")
        gradebook.add_grade_cell("why", "n", "a", max_score=3, cell_type="markdown")
        gradebook.add_student("ada")
        gradebook.add_submission("a", "ada")
        place = "n", "a", "ada"
        gradebook.find_grade("check_f", *place).auto_score = 2.5
        gradebook.find_grade("why", *place).manual_score = 1
        gradebook.find_grade("check_f", *place).needs_manual_grade = False
        gradebook.find_comment("f", *place).manual_comment = "Good."
        gradebook.db.commit()
    cells = [new_code_cell("1", metadata={"nbgrader": facts(name="f", solution=True)}),
             new_code_cell("2", metadata={"nbgrader": facts(name="check_f", grade=True, points=1)}),
             new_markdown_cell("3", metadata={"nbgrader": facts(name="why", grade=True, solution=True, points=1)})]
    names = {"notebook": "n", "assignment": "a", "student": "ada", "db_url": db_url}
    return new_notebook(cells=cells), {"nbgrader": names}


def facts(name: str, **more) -> dict:
    return {"grade_id": name, "grade": False, "solution": False, "locked": False, "schema_version": 3} | more


def test_a_page_shows_the_marks_that_nbgrader_itself_would_show(submitted):
    notebook, resources = GetGrades().preprocess(*deepcopy(submitted))
    page, more = Summarise().preprocess(*deepcopy(submitted))
    assert page == notebook and more["nbgrader"] == resources["nbgrader"]
    assert [cell.metadata.nbgrader.get("score") for cell in page.cells] == [None, 2.5, 1]
    assert page.cells[0].metadata.nbgrader["comment"] == "Good." and resources["nbgrader"]["max_score"] == 7
    assert [row.pending for row in more["feedback"]["rows"]] == [False, True]


def test_marks_and_their_fingerprint_come_from_the_gradebook(submitted, db_url, tmp_path):
    room = Classroom(tmp_path)
    assert room.db_url == db_url
    assert marks_of(room, "a", "ada") == [Mark("check_f", 2.5, 4, False), Mark("why", 1, 3, True)]
    before = fingerprint_of_marks(room, "a", "ada")
    assert before == fingerprint_of_marks(room, "a", "ada") and fingerprint_of_marks(room, "a", "bao") == ""
    with Gradebook(db_url) as gradebook:
        gradebook.find_comment("why", "n", "a", "ada").manual_comment = "Look again."
        gradebook.db.commit()
    assert fingerprint_of_marks(room, "a", "ada") != before


def test_preprocessing_in_place_gives_what_copies_give():
    class Exports(InPlace, Exporter):
        pass

    def made():
        return new_notebook(cells=[new_markdown_cell("# Title", id="a"),
                                   new_code_cell("1", id="b", execution_count=1, outputs=[])])

    given = made()
    exported = [kind(preprocessors=[ClearOutput]).from_notebook_node(given) for kind in (Exporter, Exports)]
    assert exported[0] == exported[1] and exported[0][0].cells[1].execution_count is None
    assert given == made()
