"""The installer: what it refuses, how it explains pip's failures, what it shows while it works."""

import io
import sys

import pytest

from tools import install


def sentence(function, *arguments, **options) -> str:
    with pytest.raises(install.Failure) as failure:
        function(*arguments, **options)
    text = str(failure.value)
    assert "\n" not in text and text.endswith(".")
    return text


def test_another_python_is_refused_with_the_remedy():
    text = sentence(install.check_python, (3, 9, 2), "/usr/bin/python3")
    assert text == ("/usr/bin/python3 is Python 3.9, and the course needs Python 3.11: install it, "
                    "then run `make course PYTHON=/path/to/python3.11`.")
    install.check_python((3, 11, 0))


def test_a_full_disk_is_said_before_anything_is_made(tmp_path):
    assert "1.2 GB are free" in sentence(install.check_disk, 1.2e9, tmp_path)
    install.check_disk(50e9)


def test_without_a_network_the_reason_is_the_network(tmp_path, monkeypatch):
    """A real pip that finds nobody at the index's address."""
    (tmp_path / "requirements.txt").write_text("a-package-of-this-test==1.0\n")
    monkeypatch.setattr(install, "REQUIREMENTS", tmp_path / "requirements.txt")
    monkeypatch.setattr(install, "LOG", tmp_path / "install.log")
    for name, value in {"PIP_CONFIG_FILE": "/dev/null", "PIP_RETRIES": "1", "PIP_FIND_LINKS": "",
                        "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(install, "PAUSE", 0)
    text = sentence(install.install, sys.executable)
    assert text.startswith("The package index cannot be reached: check the network")
    assert "a-package-of-this-test" in (tmp_path / "install.log").read_text()


def test_pip_is_asked_twice_before_anything_is_said(monkeypatch):
    """An index that has a package only when it is asked again is nobody's fault."""
    answers = ["ERROR: No matching distribution found for soupsieve==4.1.3", None]
    monkeypatch.setattr(install, "PAUSE", 0)
    monkeypatch.setattr(install, "pip_install", lambda python, progress: answers.pop(0))
    install.install(sys.executable)
    assert not answers


@pytest.mark.parametrize("log, words", [
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
    ("ERROR: No matching distribution found for torch==2.13.0", "has no torch==2.13.0 for this computer"),
    ("ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)\n"
     "ERROR: No matching distribution found for torch==2.13.0", "does not answer, or has no torch==2.13.0 at all"),
    ("ERROR: something else\n", "pip failed (ERROR: something else)"),
    ("", "pip failed (without a message)"),
])
def test_failures_of_pip_are_explained(log, words):
    assert words in install.explain(log)


class FakePip:
    """What pip says for three packages, one of them large."""

    stdout = (
        "Collecting small==1.0\n", "  Downloading small-1.0-py3-none-any.whl (12 kB)\n",
        "Collecting torch==2.13.0\n", "  Downloading torch-2.13.0-cp311-none-any.whl (530.2 MB)\n",
        "Collecting other==3.0\n", "Installing collected packages: small, torch, other\n",
    )

    def poll(self):
        return 0


def test_progress_is_shown():
    stream, log = io.StringIO(), io.StringIO()
    install.follow(FakePip(), log, 3, install.Progress(stream, step=1))
    assert stream.getvalue().splitlines() == [
        "  collecting 1 of 3 packages", "  collecting 2 of 3 packages", "  downloading torch (530.2 MB)",
        "  collecting 3 of 3 packages"]
    assert log.getvalue() == "".join(FakePip.stdout)


def test_on_a_terminal_one_line_is_rewritten():
    stream = io.StringIO()
    stream.isatty = lambda: True
    install.follow(FakePip(), io.StringIO(), 3, install.Progress(stream))
    assert stream.getvalue().count("\n") == 1  # the large download stays to be read
    assert "\r  collecting 3 of 3 packages" in stream.getvalue()
