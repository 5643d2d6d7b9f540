"""The walls hold for an ordinary user as they do for root: no capability is needed to build them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
AS_ORDINARY_USER = ["bwrap", "--unshare-user", "--uid", "1234", "--gid", "1234", "--cap-drop", "ALL",
                    "--dev-bind", "/", "/", "--"]
"""Root's files, and none of its power: in a user namespace of its own, root is somebody without capabilities."""


@pytest.fixture(scope="module")
def found() -> dict:
    command = [sys.executable, str(Path(__file__).with_name("ordinary_user.py"))]
    result = subprocess.run([*(AS_ORDINARY_USER if os.geteuid() == 0 else []), *command], capture_output=True,
                            text=True, timeout=300, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_it_is_an_ordinary_user(found):
    user, capabilities = found["me"]
    assert user != 0 and capabilities == 0


@pytest.mark.parametrize("tried, word", [
    ("network", "unreachable"), ("write", "Read-only"), ("namespaces", "1"), ("user", "1000"),
    ("criteria", "No module"), ("filter", "2"), ("large file", "File too large"),
    ("memory", "stopped: The code used more"),
    ("processes", "stopped: The code started more")])
def test_the_walls_stand(found, tried, word):
    assert word in found[tried]


def test_code_is_judged_through_them(found):
    assert found["call"] == 6
