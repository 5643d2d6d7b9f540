"""Intake: the instructor's cells always, the learner's answers wherever they went, nothing else."""

import json
import os
from copy import deepcopy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.intake import Answer, Refused, read_submission, rebuild

ANSWER = "def f(x):\n    return x + 1"


def cell(kind, source, name=None, cell_id=None, **facts):
    made = new_code_cell(source) if kind == "code" else new_markdown_cell(source)
    if cell_id:
        made["id"] = cell_id
    if name:
        made.metadata["nbgrader"] = {"grade_id": name, "grade": False, "solution": False, "locked": False,
                                     "schema_version": 3, **facts}
    return made


@pytest.fixture
def exercise():
    """A released exercise: set-up, one function, one written answer."""
    return new_notebook(cells=[
        cell("markdown", "# Title", cell_id="title"),
        cell("code", "import math", "imports", "imports", locked=True),
        cell("markdown", "Write f.", cell_id="task-f"),
        cell("code", "def f(x):\n    raise NotImplementedError", "f", "answer-f", solution=True),
        cell("code", "f(1)", cell_id="try-f"),
        cell("code", "check(f)", "check_f", "check-f", grade=True, locked=True, points=2),
        cell("markdown", "Why?", cell_id="task-why"),
        cell("markdown", "*Write here.*", "why", "answer-why", grade=True, solution=True, points=3)])


def submit(tmp_path, cells, **changes):
    path = tmp_path / "x.ipynb"
    raw = {"cells": [dict(c) for c in cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | changes
    path.write_text(json.dumps(raw), encoding="utf-8")
    return read_submission(path)


def test_the_exercise_itself_stays_as_it_is(exercise):
    """One original serves a whole class."""
    before = deepcopy(exercise)
    rebuilt = rebuild(exercise, [Answer("code", ANSWER, "f"), Answer("code", "more = 1")])
    for made in rebuilt.cells:
        made.source += "changed"
        made.metadata.setdefault("nbgrader", {})["points"] = 99
    assert exercise == before


def answered(exercise):
    """What an honest learner hands in."""
    mine = nbformat.from_dict(json.loads(json.dumps(exercise)))
    mine.cells[3].source, mine.cells[7].source = ANSWER, "Because."
    return mine.cells


def sources(notebook):
    return [c.source for c in notebook.cells]


RIGHT = ["# Title", "import math", "Write f.", ANSWER, "f(1)", "check(f)", "Why?", "Because."]


def test_an_honest_submission_stays_as_it_is(exercise, tmp_path):
    assert sources(rebuild(exercise, submit(tmp_path, answered(exercise)))) == RIGHT


def test_cells_without_any_metadata_are_found(exercise, tmp_path):
    bare = [{"cell_type": c.cell_type, "source": c.source, "metadata": {"id": "colab"}} for c in answered(exercise)]
    assert sources(rebuild(exercise, submit(tmp_path, bare, nbformat_minor=0))) == RIGHT


def test_an_old_format_is_read(exercise, tmp_path):
    cells = [{"cell_type": "code", "input": ANSWER, "language": "python", "outputs": [], "metadata": {}}]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"worksheets": [{"cells": cells, "metadata": {}}], "metadata": {}, "nbformat": 3,
                                "nbformat_minor": 0}))
    assert ANSWER in sources(rebuild(exercise, read_submission(path)))


@pytest.mark.parametrize("minor", [0, 4, 5, 9, 99])
def test_newer_and_older_minors_are_read(exercise, tmp_path, minor):
    assert sources(rebuild(exercise, submit(tmp_path, answered(exercise), nbformat_minor=minor))) == RIGHT


def test_locked_cells_are_the_instructors_whatever_the_learner_wrote(exercise, tmp_path):
    cells = answered(exercise)
    cells[5].source, cells[1].source, cells[2].source = "2.0", "import evil", "<script>alert(1)</script>"
    cells[5].metadata.nbgrader.update(points=99, locked=False, grade=False)
    cells[3].metadata["tags"] = ["skip-execution"]
    rebuilt = rebuild(exercise, submit(tmp_path, cells))
    assert sources(rebuilt) == RIGHT
    assert rebuilt.cells[5].metadata == {"nbgrader": exercise.cells[5].metadata["nbgrader"]}
    assert "tags" not in rebuilt.cells[3].metadata


def test_deleted_and_reordered_checks_come_back_in_place(exercise, tmp_path):
    cells = answered(exercise)
    assert sources(rebuild(exercise, submit(tmp_path, [cells[7], cells[3]]))) == RIGHT
    assert sources(rebuild(exercise, submit(tmp_path, [cells[5], cells[3], cells[7]]))) == RIGHT
    assert sources(rebuild(exercise, submit(tmp_path, list(reversed(cells)))))[:6] == RIGHT[:6]


def test_a_second_cell_with_the_same_id_is_only_an_extra(exercise, tmp_path):
    cells = answered(exercise)
    double = dict(cells[5]) | {"source": "2.0"}
    rebuilt = rebuild(exercise, submit(tmp_path, [*cells[:6], double, *cells[6:]]))
    assert sources(rebuilt) == [*RIGHT[:6], "2.0", *RIGHT[6:]]
    assert "nbgrader" not in rebuilt.cells[6].metadata


def test_extra_cells_stay_where_they_were(exercise, tmp_path):
    cells = answered(exercise)
    helper = new_code_cell("def helper(): ...")
    rebuilt = rebuild(exercise, submit(tmp_path, [*cells[:3], helper, *cells[3:]]))
    assert sources(rebuilt) == [*RIGHT[:3], "def helper(): ...", *RIGHT[3:]]
    assert sources(rebuild(exercise, submit(tmp_path, [helper, *cells])))[0] == "def helper(): ..."


def test_an_unanswered_exercise_keeps_its_stub(exercise):
    assert sources(rebuild(exercise, [])) == sources(exercise)


def test_a_cell_id_is_valid_and_unique(exercise, tmp_path):
    cells = [new_code_cell(f"x = {i}") for i in range(5)]
    rebuilt = rebuild(exercise, submit(tmp_path, [*cells, *answered(exercise), *cells]))
    nbformat.validate(rebuilt)
    assert len({c["id"] for c in rebuilt.cells}) == len(rebuilt.cells)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"cells": 3}', '{"cells": null}', "\x00", "{}", "[" * 100_000])
def test_what_is_no_notebook_is_refused_with_a_reason(tmp_path, text):
    path = tmp_path / "x.ipynb"
    path.write_text(text)
    with pytest.raises(Refused, match=r"x\.ipynb"):
        read_submission(path)


@pytest.mark.parametrize("junk", [3, None, {}, {"cell_type": "code", "source": [3]}, {"cell_type": "evil"},
                                  {"cell_type": "code", "source": None},
                                  {"cell_type": "code", "source": "1", "metadata": [], "id": 3},
                                  {"cell_type": "code", "source": "1", "metadata": {"nbgrader": 3}}])
def test_junk_among_the_cells_costs_nobody_the_rest(exercise, tmp_path, junk):
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": [junk, *[dict(c) for c in answered(exercise)]]}))
    assert [s for s in sources(rebuild(exercise, read_submission(path))) if s != "1"] == RIGHT


def test_links_pipes_and_giants_are_refused(tmp_path):
    target = tmp_path / "secret.ipynb"
    target.write_text("{}")
    link = tmp_path / "link.ipynb"
    link.symlink_to(target)
    os.mkfifo(tmp_path / "pipe.ipynb")
    with (tmp_path / "giant.ipynb").open("wb") as giant:
        giant.truncate(51 * 2**20)
    for name, word in [("link", "regular"), ("pipe", "regular"), ("giant", "MiB"), ("missing", "read")]:
        with pytest.raises(Refused, match=word):
            read_submission(tmp_path / f"{name}.ipynb")


def test_text_in_other_encodings(tmp_path, exercise):
    path = tmp_path / "x.ipynb"
    raw = {"cells": [{"cell_type": "code", "source": "größe = 'λ 注意力'", "metadata": {}}]}
    path.write_bytes(json.dumps(raw, ensure_ascii=False).encode("utf-8-sig"))
    assert read_submission(path) == [Answer("code", "größe = 'λ 注意力'")]
