"""What the benchmark compares with is nbgrader as it comes, and nothing of the course's own grading."""

import nbformat
import pytest

from autograder import benchmark
from autograder.benchmark import ASSIGNMENT, require_stock, stock
from autograder.sandbox.scratch import scratch


@pytest.fixture(scope="module")
def graded_by_stock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stock")
    measured = stock(folder, 1)
    assert measured.seconds > 0
    return folder / "home" / "autograded"


def test_stock_nbgrader_executes_every_cell_itself(graded_by_stock):
    for path in graded_by_stock.glob(f"*/{ASSIGNMENT}/*.ipynb"):
        cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))  # a kernel counts so


def test_the_courses_own_grading_does_not_pass_for_stock(graded_by_stock):
    path = next(graded_by_stock.glob(f"*/{ASSIGNMENT}/*.ipynb"))
    notebook = nbformat.read(path, 4)
    notebook.metadata["autograder"] = {"state": "graded", "reason": "", "cell": None}
    path.chmod(0o600)
    nbformat.write(notebook, path)
    with pytest.raises(RuntimeError, match="the course's plug-in"):
        require_stock(graded_by_stock, 1)


def test_a_submission_that_stock_left_out_is_noticed(graded_by_stock):
    with pytest.raises(RuntimeError, match="graded 1 of 2 submissions"):
        require_stock(graded_by_stock, 2)


def test_its_classes_lie_where_the_next_run_clears_away_what_a_killed_one_left(monkeypatch):
    folders = []
    monkeypatch.setattr(benchmark, "one_of_each", str)
    monkeypatch.setattr(benchmark.speed, "table", str)
    monkeypatch.setattr(benchmark, "compare", lambda folder, *sizes: folders.append(folder) or [])
    assert benchmark.main([]) == 0
    assert [folder.parent for folder in folders] == [scratch()] and not folders[0].exists()
