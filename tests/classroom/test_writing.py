"""What the grading does faster than nbgrader comes to the same."""

import os

import nbgrader.api
import pytest
from nbconvert.exporters import Exporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearOutput
from sqlalchemy import text

from autograder.classroom.gradebook import newest_schema, one_engine
from autograder.cli import find_own_programs
from autograder.grading.exporter import InPlace


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
