"""The command line works in any shell, whether or not its environment is active there."""

import os
import subprocess
import sys

from autograder.classroom.folders import Classroom
from autograder.settings import REPOSITORY


def test_a_class_is_graded_without_an_activated_environment(tmp_path):
    room = Classroom(tmp_path / "class")
    (room.submitted / "ada" / "05_scaling").mkdir(parents=True)  # nothing to run: a gradebook is what it takes
    result = subprocess.run([sys.executable, "-m", "autograder", "grade", "--classroom", str(room.folder),
                             "--no-sandbox"], cwd=REPOSITORY, capture_output=True, text=True, timeout=120,
                            env=os.environ | {"PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    assert "  1/1  ada  " in result.stdout and "There is no scaling.ipynb" in result.stdout
