"""Holds for every test, those that nbval makes from notebooks too: the browser, and what a skip means.

A test marked `browser` needs Chromium: the environment variable CHROMIUM names it, else it is looked for.
With CI_NO_SKIP=1 a skipped test fails the run.
"""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = "install it with `sudo apt-get install chromium`, or name yours with CHROMIUM=/path/to/chromium"
skipped: set[str] = set()


def find_chromium() -> str | None:
    """The browser for the tests, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium's program."""
    path = find_chromium()
    assert path, f"There is no Chromium: {REMEDY}."
    return path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    if item.get_closest_marker("browser") and not find_chromium():
        pytest.skip("Chromium is not installed")
    with pytest.MonkeyPatch.context() as environment:
        if type(item).__name__ == "IPyNbCell":  # nbval starts the notebook's kernel before its first cell
            environment.setenv("BOOK_URL", ".")  # as `make outputs` does: stored links lead to the page next door
        return (yield)


def pytest_runtest_logreport(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped.add(report.nodeid)


def pytest_sessionfinish(session, exitstatus):
    if skipped and exitstatus == 0 and os.environ.get("CI_NO_SKIP") == "1":
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if skipped and os.environ.get("CI_NO_SKIP") == "1":
        names = ", ".join(sorted(skipped))
        terminalreporter.write_line(f"CI_NO_SKIP=1 allows no skipped test, and {len(skipped)} were: {names}", red=True)
    elif skipped and not find_chromium():
        terminalreporter.write_line(f"Skipped, because Chromium is not installed: the tests in a browser; {REMEDY}.",
                                    yellow=True)
