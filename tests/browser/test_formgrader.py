"""Formgrader, in a real server and a real browser: its button grades in the sandbox, and no page runs anything."""

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from class_tools import free_port, nbgrader
from playwright.sync_api import expect
from test_jupyterlab import TOKEN, wait_for

from autograder.classroom.folders import Classroom
from autograder.classroom.gradebook import marks_of, opened
from autograder.classroom.sample import Material
from autograder.settings import REPOSITORY

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
              pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")]
ASSIGNMENT, NOTEBOOK, STUDENT = "05_scaling", "scaling", "mallory"
RUNS = "(window.ran = (window.ran || 0) + 1, alert(1))"
MARKDOWN = f"""<script>{RUNS}</script> <img src=x onerror="{RUNS}"> [a link](javascript:{RUNS.replace(' ', '')})
<a href="javascript:{RUNS}">another link</a> <a href="&#106;avascript:{RUNS}">a third</a>
<iframe srcdoc="<script>parent.{RUNS}</script>"></iframe> <svg onload="{RUNS}"><script>{RUNS}</script></svg>
<details open ontoggle="{RUNS}">x</details> <math><mtext></mtext><mglyph><style><img src=x onerror="{RUNS}">
<body onload="{RUNS}"> <input autofocus onfocus="{RUNS}"> <style>@import 'x'</style> <object data="data:text/html,x">
$\\href{{javascript:{RUNS}}}{{x}}$ ![x](x" onerror="{RUNS}) `<script>{RUNS}</script>`

What I mean is: a < b, and **the scale keeps the variance at one**."""
DISPLAYS = f'''
from IPython.display import HTML, Javascript, display
bad = {MARKDOWN!r}
display(HTML(bad)); display(Javascript({RUNS!r}))
for kind in ("text/html", "text/markdown", "text/latex", "image/svg+xml", "application/javascript", "text/plain",
             "application/vnd.jupyter.widget-view+json", "application/vnd.vegalite.v5+json"):
    display({{kind: bad}}, raw=True, metadata={{"isolated": True, kind: {{"isolated": True, "alt": bad}}}})
display({{"image/png": '"><script>{RUNS}</script>'}}, raw=True)
print(bad)
raise type("<script>{RUNS}</script>", (Exception,), {{}})(bad)'''


@pytest.fixture(scope="module")
def room(tmp_path_factory) -> Classroom:
    """A class of one, who has put scripts wherever there is a place for them."""
    room, material = Classroom(tmp_path_factory.mktemp("formgrader").resolve() / "class"), Material(ASSIGNMENT)
    room.make()
    environment = {"CLASSROOM": str(room.folder)}
    nbgrader("generate_assignment", ASSIGNMENT, f"--CourseDirectory.release_directory={room.release}", **environment)
    notebook = nbformat.read(material.released, 4)
    for cell in notebook.cells:
        facts = cell.metadata.get("nbgrader", {})
        if facts.get("solution"):
            cell.source = MARKDOWN if cell.cell_type == "markdown" else material.solutions[facts["grade_id"]]
    notebook.cells[2:2] = [nbformat.v4.new_code_cell(DISPLAYS), nbformat.v4.new_markdown_cell(MARKDOWN)]
    folder = room.submitted / STUDENT / ASSIGNMENT
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{NOTEBOOK}.ipynb")
    return room


@pytest.fixture(scope="module")
def server(room):
    """Jupyter's server with formgrader, as an instructor starts it in the course; gives its address."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={port}",
         "--ServerApp.port_retries=0", f"--ServerApp.root_dir={REPOSITORY}"], cwd=REPOSITORY,
        env={**os.environ, "JUPYTER_TOKEN": TOKEN, "CLASSROOM": str(room.folder), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://localhost:{port}/api?token={TOKEN}")
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=120)


@pytest.fixture
def page(browser, server):
    """An instructor's page, which notes every dialog and reaches nothing but this machine."""
    context = signed_in(browser, server)
    context.route("**/*", lambda route: route.continue_() if re.match(r"(http://localhost[:/]|file:|data:)",
                                                                      route.request.url) else route.abort())
    page = context.new_page()
    page.dialogs = []
    page.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))
    yield page
    context.close()


def signed_in(browser, server):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server}/login?next=%2Fapi")
    page.fill("input[name=password]", TOKEN)
    page.press("input[name=password]", "Enter")
    page.wait_for_url("**/api")
    page.close()
    return context


@pytest.fixture(scope="module")
def graded(room, server, browser):
    """Graded by a click on formgrader's own button."""
    page = signed_in(browser, server).new_page()
    page.goto(f"{server}/formgrader/manage_submissions/{ASSIGNMENT}")
    page.locator("td.autograde a").click(timeout=90_000)
    expect(page.get_by_text("Successfully autograded")).to_be_visible(timeout=300_000)
    page.close()
    return room


def assert_inert(page) -> None:
    """Whatever a person may do with what a stranger wrote: nothing runs."""
    page.wait_for_load_state("load")
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    for link in page.get_by_text(re.compile("^(a link|another link|a third)$")).all():
        link.click(no_wait_after=True)
    page.wait_for_timeout(500)
    assert page.dialogs == []
    assert page.evaluate("window.ran") is None
    assert page.evaluate("""[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(
        a => (a.name.startsWith('on') && a.value.includes('ran')) || /javascript:/i.test(a.value))).length""") == 0
    assert page.evaluate("[...document.scripts].filter(s => s.textContent.includes('window.ran')).length") == 0
    assert page.locator("iframe, object, embed").count() == 0


def test_the_button_grades_in_the_sandbox_with_the_secret_seed(graded):
    marks = {mark.cell: mark.score for mark in marks_of(graded, ASSIGNMENT, STUDENT) if not mark.pending}
    assert sum(marks.values()) == 24
    notebook = nbformat.read(graded.autograded / STUDENT / ASSIGNMENT / f"{NOTEBOOK}.ipynb", 4)
    assert notebook.metadata["autograder"]["state"] == "graded" and list(graded.executed.rglob("*.json"))


def test_the_graded_notebook_keeps_the_text_and_nothing_active(graded):
    notebook = nbformat.read(graded.autograded / STUDENT / ASSIGNMENT / f"{NOTEBOOK}.ipynb", 4)
    written = [cell.source for cell in notebook.cells if "keeps the variance at one" in cell.source]
    assert written and "a < b" in written[0]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [text for output in outputs for kind, text in output.get("data", {}).items() if kind != "text/plain"]
    markdown = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    for text in (*map(str, shown), *markdown):
        assert not re.search(r"<(script|iframe|svg|object|img|body|input|style)\b|javascript:", text)


def test_formgraders_page_runs_nothing(graded, server, page):
    with opened(graded) as gradebook:
        number = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, STUDENT).id
    page.goto(f"{server}/formgrader/submissions/{number}/")
    expect(page.get_by_text("keeps the variance at one").first).to_be_visible()
    expect(page.locator("input.score").first).to_be_visible()
    assert_inert(page)


def test_formgraders_lists_run_nothing(graded, server, page):
    for place in ("manage_assignments", f"manage_submissions/{ASSIGNMENT}", "gradebook", f"gradebook/{ASSIGNMENT}",
                  f"gradebook/{ASSIGNMENT}/{NOTEBOOK}", "manage_students"):
        page.goto(f"{server}/formgrader/{place}")
        assert_inert(page)


def test_the_feedback_page_runs_nothing(graded, page):
    nbgrader("generate_feedback", ASSIGNMENT, CLASSROOM=str(graded.folder))
    page.goto((graded.feedback / STUDENT / ASSIGNMENT / f"{NOTEBOOK}.html").as_uri())
    expect(page.get_by_text("keeps the variance at one").last).to_be_visible()
    assert_inert(page)
