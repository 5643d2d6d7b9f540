"""The Makefile, the README's commands, CI's script, and what a skipped test means."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from autograder.settings import REPOSITORY

MAKEFILE = (REPOSITORY / "Makefile").read_text()
TARGETS = {"course", "test", "test-deep", "lab", "book", "exercises", "outputs", "serve", "lock", "claims", "clean",
           "help", "sample", "grade", "benchmark"}


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", *arguments], cwd=REPOSITORY, capture_output=True, text=True,
                          env={**clean, **environment})


def test_make_alone_lists_every_target_with_one_line_each():
    text = make().stdout
    assert text == make("help").stdout
    assert set(re.findall(r"^  make (\S+)\s+\S+", text, re.M)) == TARGETS


def test_every_target_is_phony():
    phony = set(" ".join(re.findall(r"^\.PHONY: (.*)", MAKEFILE, re.M)).split())
    assert phony == TARGETS


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_commands_of_a_page_exist(page):
    text = (REPOSITORY / page).read_text()
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.S))))
    assert named and named <= TARGETS
    if page == "README.md":
        assert TARGETS - {"help"} <= named


def test_a_missing_python_is_one_sentence(tmp_path):
    shim = tmp_path / "a-shim-of-nothing"  # it is on the path, and a version manager finds no Python for it
    shim.write_text("#!/bin/sh\necho command not found >&2\nexit 127\n")
    shim.chmod(0o755)
    for python in ("no-such-python", str(shim)):
        run = make(f"STAMPS={tmp_path}/stamps", f"PYTHON={python}", f"{tmp_path}/stamps/environment")
        assert run.returncode
        assert run.stderr.startswith(f"There is no {python} here: install Python 3.11, or say where it is")


def test_what_is_up_to_date_is_not_made_again(tmp_path):
    """With newer stamps, `make course` shows the marks and makes nothing."""
    for name in ("environment", "exercises", "book", "sample"):
        (tmp_path / name).touch()
    plan = make("--dry-run", "course", f"STAMPS={tmp_path}").stdout
    assert "autograder marks" in plan
    assert not re.search(r"tools/install|jupyter-book|autograder (grade|sample-class|exercises)", plan)


@pytest.mark.parametrize("missing, command", [
    ("environment", "tools/install.py"), ("exercises", "autograder exercises"),
    ("book", "jupyter-book build"), ("sample", "autograder grade"),
])
def test_what_is_missing_is_made(tmp_path, missing, command):
    for name in {"environment", "exercises", "book", "sample"} - {missing}:
        (tmp_path / name).touch()
    assert command in make("--dry-run", "course", f"STAMPS={tmp_path}").stdout


def test_clean_leaves_learners_and_classes_alone():
    removed = re.findall(r"^clean:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)[0]
    assert "$(SAMPLE)" in removed and "SAMPLE := classroom/sample\n" in MAKEFILE
    assert not re.search(r"\bwork\b|classroom", removed)


def test_ci_runs_the_test_command_of_the_readme_and_allows_no_skip():
    script = REPOSITORY / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text()
    assert text.startswith("#!/usr/bin/env bash\n") and "set -euo pipefail" in text
    assert re.search(r"^CI_NO_SKIP=1 make test$", text, re.M)


def suite(folder, source: str, *options: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a test file under the project's conftest.py and that of the browser tests."""
    shutil.copy(REPOSITORY / "conftest.py", folder)
    (folder / "browser").mkdir(exist_ok=True)
    for name in ("conftest.py", "visits.py"):
        shutil.copy(REPOSITORY / "tests" / "browser" / name, folder / "browser")
    (folder / "browser" / "test_it.py").write_text("import pytest\n" + source)
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)],
                          capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment})


SKIPPING = "def test_a():\n    pytest.skip('why')\n\ndef test_b():\n    pass\n"
SKIPPED_FILE = "pytest.skip('why', allow_module_level=True)\n"
BROWSER = "def test_a(chromium):\n    pass\n\ndef test_b(chromium):\n    pass\n\ndef test_c():\n    pass\n"


@pytest.mark.parametrize("options", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "in_parallel"])
@pytest.mark.parametrize("source, name", [(SKIPPING, "browser/test_it.py::test_a"),
                                          (SKIPPED_FILE + SKIPPING, "browser/test_it.py")])
def test_a_skip_fails_only_where_none_is_allowed(tmp_path, source, name, options):
    allowed = suite(tmp_path, source, *options, CI_NO_SKIP="0")
    assert allowed.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    refused = suite(tmp_path, source, *options, CI_NO_SKIP="1")
    assert refused.returncode != 0
    assert f"CI_NO_SKIP=1 allows no skipped test: {name}\n" in refused.stdout


def test_without_chromium_one_line_says_what_was_skipped_and_the_remedy(tmp_path):
    run = suite(tmp_path, BROWSER, CI_NO_SKIP="0", CHROMIUM="", PATH=str(tmp_path))
    assert run.returncode == 0 and "1 passed, 2 skipped" in run.stdout
    lines = [line for line in run.stdout.splitlines() if "apt install chromium" in line]
    assert len(lines) == 1 and lines[0].startswith("Skipped: 2 tests. Chromium is missing")


def test_with_chromium_the_browser_tests_run(tmp_path):
    run = suite(tmp_path, BROWSER, CI_NO_SKIP="1", CHROMIUM=sys.executable)
    assert run.returncode == 0 and "3 passed" in run.stdout
