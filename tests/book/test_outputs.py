"""`autograder outputs` stores what a fresh kernel prints, and nothing of a chapter that fails."""

from functools import partial

import nbformat
import pytest
from full_disk import full_disk

from autograder.book import outputs
from autograder.book.outputs import ChapterError, find, main, run, update


def notebook(path, *sources, tags=()):
    cells = [nbformat.v4.new_markdown_cell("# 1. Title", id="title")]
    cells += [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    cells[-1].metadata = {"tags": list(tags), "mystnb": {"figure": {"name": "fig-a"}}}
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return path


@pytest.fixture
def chapter(tmp_path):
    return tmp_path / "01_try.ipynb"


def test_outputs_are_stored_and_the_rest_is_kept(chapter):
    notebook(chapter, "x = 2", "print(x)\nprint(x + 1)", tags=["claim-C01"])
    assert update(chapter, timeout=60)
    stored = nbformat.read(chapter, as_version=4)
    assert [cell.id for cell in stored.cells] == ["title", "cell-0", "cell-1"]
    assert stored.cells[2].outputs[0].text == "2\n3\n"
    assert [cell.execution_count for cell in stored.cells[1:]] == [1, 2]
    assert stored.cells[2].metadata == {"tags": ["claim-C01"], "mystnb": {"figure": {"name": "fig-a"}}}
    assert stored.metadata.kernelspec == {"name": "python3", "display_name": "Python 3"}
    assert "version" not in stored.metadata.language_info
    before = chapter.read_bytes()
    assert not update(chapter, timeout=60), "running twice gives the same file"
    assert chapter.read_bytes() == before


def test_cells_run_beside_their_notebook(chapter):
    notebook(chapter, "from pathlib import Path\nprint(Path('01_try.ipynb').exists())")
    assert run(chapter, timeout=60).cells[1].outputs[0].text == "True\n"


def test_an_error_names_chapter_cell_and_cause_and_stores_nothing(chapter, tmp_path, monkeypatch, capsys):
    notebook(chapter, "print('fine')", "\nvalue = 1 / 0")
    before = chapter.read_bytes()
    monkeypatch.setattr(outputs, "find", lambda names: [chapter])
    assert main(["01"]) == 1
    said = capsys.readouterr().out
    assert "01_try, cell 2 (cell-1): ZeroDivisionError: division by zero" in said
    assert "The cell begins: value = 1 / 0" in said
    assert "The stored notebook is as it was" in said
    assert chapter.read_bytes() == before


def test_a_full_disk_leaves_the_chapter_as_it_was(chapter):
    notebook(chapter, "print(1)")
    before = chapter.read_bytes()
    with full_disk(room=50), pytest.raises(OSError, match="01_try"):
        outputs.store(chapter, nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(2)")]))
    assert chapter.read_bytes() == before


def test_one_broken_chapter_does_not_stop_another(tmp_path, monkeypatch, capsys):
    good, bad = notebook(tmp_path / "01_a.ipynb", "print(1)"), notebook(tmp_path / "02_b.ipynb", "oops")
    monkeypatch.setattr(outputs, "find", lambda names: [bad, good])
    assert main([]) == 1
    assert "NameError" in capsys.readouterr().out
    assert nbformat.read(good, as_version=4).cells[1].outputs[0].text == "1\n"


def test_the_chapter_that_looks_back_runs_after_the_others(tmp_path, monkeypatch):
    """It prints what the others stored."""
    back = notebook(
        tmp_path / f"{outputs.LOOKS_BACK}.ipynb",
        "import nbformat\nprint(nbformat.read('01_a.ipynb', 4).cells[1].outputs[0].text)",
    )
    first = notebook(tmp_path / "01_a.ipynb", "import time\ntime.sleep(2)\nprint('new')")
    monkeypatch.setattr(outputs, "find", lambda names: [back, first])
    assert main([]) == 0
    assert nbformat.read(back, as_version=4).cells[1].outputs[0].text == "new\n\n"


def test_a_cell_that_takes_too_long_is_named(chapter, monkeypatch):
    """A fresh kernel may take its time over the first cell."""
    patient = partial(outputs.NotebookClient, timeout_func=lambda cell: 2 if "sleep" in cell.source else 120)
    monkeypatch.setattr(outputs, "NotebookClient", patient)
    notebook(chapter, "x = 1", "import time\ntime.sleep(60)")
    with pytest.raises(ChapterError, match=r"01_try, cell 2 \(cell-1\): took longer than 2 seconds"):
        run(chapter, timeout=2)


BAR = "import sys\nprint('50%', file=sys.stderr)\nprint('done')"


def test_progress_bars_are_dropped(chapter):
    notebook(chapter, BAR, tags=["nbval-ignore-output"])
    cell = run(chapter, timeout=60).cells[1]
    assert [output.name for output in cell.outputs] == ["stdout"]


def test_a_warning_is_not_hidden(chapter):
    notebook(chapter, BAR)
    with pytest.raises(ChapterError, match=r"cell 1 \(cell-0\) wrote to stderr: 50%"):
        run(chapter, timeout=60)


def test_names(tmp_path):
    for name in ("04_self_attention", "05_scaling"):
        notebook(tmp_path / f"{name}.ipynb", "1")
    stems = lambda *names: [path.stem for path in find(list(names), tmp_path)]  # noqa: E731
    assert stems() == ["04_self_attention", "05_scaling"]
    assert stems("05") == stems("05_scaling") == stems("book/05_scaling.ipynb") == ["05_scaling"]
    with pytest.raises(ChapterError, match=r"no chapter '06'.*the written ones are: 04_self_attention, 05_scaling"):
        find(["06"], tmp_path)


def test_solutions_are_found_with_their_chapter_and_by_their_own_name(tmp_path):
    book, solutions = tmp_path / "book", tmp_path / "solutions" / "05_scaling"
    for path in (book / "04_self_attention.ipynb", book / "05_scaling.ipynb", solutions / "scaling.ipynb"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert find(["05"], book) == [book / "05_scaling.ipynb", solutions / "scaling.ipynb"]
    assert find(["solutions/05_scaling/scaling.ipynb"], book) == [solutions / "scaling.ipynb"]
    assert len(find([], book)) == 3
