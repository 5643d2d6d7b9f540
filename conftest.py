"""Holds for every test, those that nbval makes from notebooks too: what a skip means, where stored links lead.

A test that needs something from the system (Chromium, say) is skipped where it is missing, with the remedy as the
reason, which the last lines of a run repeat. With CI_NO_SKIP=1 a skipped test fails the run.
"""

import os
from collections import Counter

import pytest

NO_SKIP = os.environ.get("CI_NO_SKIP") == "1"
skipped: dict[str, str] = {}
"""What was skipped, and why."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    with pytest.MonkeyPatch.context() as environment:
        if type(item).__name__ == "IPyNbCell":  # nbval starts the notebook's kernel before its first cell
            environment.setenv("BOOK_URL", ".")  # as `make outputs` does: stored links lead to the page next door
        return (yield)


def note_skip(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")


pytest_runtest_logreport = pytest_collectreport = note_skip


def pytest_sessionfinish(session, exitstatus):
    if skipped and NO_SKIP and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for reason, tests in Counter(skipped.values()).items():
        terminalreporter.write_line(f"Skipped: {tests} tests. {reason}", yellow=True)
    if skipped and NO_SKIP:
        terminalreporter.write_line(f"CI_NO_SKIP=1 allows no skipped test: {', '.join(skipped)}", red=True)
