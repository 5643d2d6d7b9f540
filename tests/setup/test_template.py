"""The template for chapters becomes a notebook that starts right."""

import re
import subprocess
import sys

import nbformat

from autograder.settings import REPOSITORY

TEMPLATE = REPOSITORY / "book" / "_template.md"


def test_the_template_becomes_a_notebook_with_the_sections_of_a_chapter(tmp_path):
    target = tmp_path / "06_multi_head.ipynb"
    subprocess.run([sys.executable, "-m", "jupytext", "--to", "ipynb", "-o", str(target), str(TEMPLATE)], check=True)
    notebook = nbformat.read(target, as_version=4)
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert re.findall(r"^## (.+)$", text, re.M) == [
        "Predict first", "A section of the chapter's own", "Common mistakes", "Quiz", "Summary", "Exercises",
        "References"]
    first = notebook.cells[0].source
    goals, needs, time = (first.find(words) for words in (
        "admonition} What you will be able to do", "\n**Prerequisites.** ", "\n**Time.** about "))
    assert 0 < goals < needs < time
    assert notebook.metadata.kernelspec.name == "python3"
    assert ["claim-CNN"] in [cell.metadata.get("tags") for cell in notebook.cells]


def test_the_template_is_not_a_page_of_the_book():
    assert "_template" not in (REPOSITORY / "_toc.yml").read_text()
