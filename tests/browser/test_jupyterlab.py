"""A learner in the real JupyterLab: open an exercise, answer, check, be told what is wrong, validate."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from class_tools import free_port
from playwright.sync_api import expect

from autograder.lab import EXERCISES, copy_missing, lab_arguments, lab_environment

pytestmark = pytest.mark.browser
TOKEN = "learner"
NAME = "scaled_dot_product_attention"

RIGHT = f"""def {NAME}(query, key, value):
    weights = torch.softmax(query @ key.mT / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights"""
NOT_SCALED = RIGHT.replace(" / math.sqrt(query.size(-1))", "")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab as `autograder lab` starts it, on fresh copies of the exercises; gives its address."""
    work = tmp_path_factory.mktemp("work")
    copy_missing(EXERCISES, work)
    show_every_cell(work)
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *lab_arguments(work, port, ["--no-browser"])],
        env={**os.environ, **lab_environment("http://localhost:1"), "JUPYTER_TOKEN": TOKEN},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://localhost:{port}"
    try:
        wait_for(f"{address}/api?token={TOKEN}")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=120)


def show_every_cell(work: Path) -> None:
    """JupyterLab draws only the cells in view; the test reads others too."""
    folder = work / ".jupyter" / "user-settings" / "@jupyterlab" / "notebook-extension"
    folder.mkdir(parents=True)
    (folder / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))


def wait_for(url: str, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


class Notebook:
    """An open notebook, handled as a learner does: click into a cell, type, Shift+Enter, read the output."""

    def __init__(self, page, address: str, path: str):
        self.page = page
        page.goto(f"{address}/lab/tree/{path}?token={TOKEN}")
        page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=180_000)

    def cell(self, text: str):
        return self.page.locator(".jp-CodeCell", has=self.page.locator(".cm-content", has_text=text)).first

    def run(self, text: str):
        """Run the cell that holds `text`, and wait for its new number; gives the output."""
        cell = self.cell(text)
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        for _ in range(3):  # a key pressed while the notebook still loads is lost
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Shift+Enter")
            with suppress(AssertionError):
                expect(prompt).not_to_have_text(before, timeout=30_000)
                break
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=180_000)
        return cell.locator(".jp-OutputArea")

    def replace(self, text: str, new: str) -> None:
        """Type `new` over everything in the cell that holds `text`."""
        self.cell(text).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(new)


@pytest.fixture
def notebook(lab, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(90_000)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield Notebook(page, lab, "05_scaling/scaling.ipynb")
    page.close()
    assert not errors


def test_a_learner_answers_wrong_then_right_and_validates(notebook):
    notebook.run("from autograder import check, hint")
    notebook.run(f"def {NAME}(query")
    assert "Not attempted yet" in notebook.run(f"check({NAME})").inner_text()

    notebook.replace(f"def {NAME}(query", NOT_SCALED)
    notebook.run(f"def {NAME}(query")
    report = notebook.run(f"check({NAME})")
    assert "This looks like: not scaled." in report.inner_text()
    link = report.locator("a", has_text="Read about it in the book")
    assert link.get_attribute("href") == "http://localhost:1/book/05_scaling.html#mistake-no-scaling"

    notebook.replace(f"def {NAME}(query", RIGHT)
    notebook.run(f"def {NAME}(query")
    report = notebook.run(f"check({NAME})")
    assert f"{NAME}: 8 of 8 points" in report.inner_text()

    notebook.replace(f'hint("{NAME}")', f'hint("{NAME}")')
    assert "Hint 1 of" in notebook.run(f'hint("{NAME}")').inner_text()
    validate(notebook.page)


def validate(page) -> None:
    """nbgrader's Validate button says which checks still fail: the exercises that were left alone."""
    overtaken = page.locator(".jp-Dialog", has_text="has changed on disk")  # two saves at once, on a busy machine
    page.add_locator_handler(overtaken, lambda: overtaken.get_by_role("button", name="Overwrite").click())
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    dialog = page.locator(".jp-Dialog", has_text="Validation Results")
    for _ in range(3):  # a click while the notebook is being saved is lost
        page.locator(".jp-NotebookPanel-toolbar").get_by_text("Validate", exact=True).click()
        with suppress(AssertionError):
            expect(dialog).to_be_visible(timeout=180_000)
            break
    expect(dialog).to_be_visible()
    text = dialog.inner_text()
    assert "check(attention_entropy)" in text
    assert f"check({NAME})" not in text
