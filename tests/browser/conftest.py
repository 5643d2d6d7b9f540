"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from visits import QuietHandler, Visit

from autograder.settings import REPOSITORY

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 30_000
"""Milliseconds for what a page does after a click: a machine that tests two things at once is slow."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "Chromium is missing, so no page was tried in a browser: apt install chromium, or set CHROMIUM to its path."


def find_chromium() -> str | None:
    """The path of a Chromium: what CHROMIUM says, else the first that the system has."""
    asked = os.environ.get("CHROMIUM")
    return shutil.which(asked) if asked else next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path; without one the tests are skipped with a clear line, and fail where CI_NO_SKIP=1."""
    path = find_chromium()
    if path is None:
        (pytest.fail if os.environ.get("CI_NO_SKIP") == "1" else pytest.skip)(MISSING)
    return path


@pytest.fixture(scope="module")
def browser(chromium):
    """One browser for a module: Playwright's event loop must be gone when notebooks are tested after it."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory, chromium) -> Path:
    """The book, built from nothing with warnings as errors; its folder of HTML."""
    out = tmp_path_factory.mktemp("book")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", REPOSITORY, "--path-output", out]
    done = subprocess.run([*command, "-W", "-n", "--keep-going"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return out / "_build" / "html"


@pytest.fixture(scope="module")
def address(built):
    """A server for the built book, on this machine only."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=built))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def visit(browser, address):
    """Open a page of the book: visit("book/index", theme="dark", width=360) -> page. No fault may be left."""
    visits = []

    def open_page(name: str, **how):
        visits.append(Visit(browser, address, **how))
        return visits[-1].open(f"{address}/{name}.html")

    yield open_page
    faults = [fault for one in visits for fault in one.faults]
    for one in visits:
        one.context.close()
    assert not faults, faults
