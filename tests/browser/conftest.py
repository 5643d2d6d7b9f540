"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright."""

import os
import shutil

import pytest

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
