"""The command line works in any shell, whether or not its environment is active there."""

import os
import subprocess
import sys

import pytest

from autograder.classroom.folders import Classroom
from autograder.cli import main
from autograder.settings import REPOSITORY


def test_a_class_is_graded_without_an_activated_environment(tmp_path):
    room = Classroom(tmp_path / "class")
    (room.submitted / "ada" / "05_scaling").mkdir(parents=True)  # nothing to run: a gradebook is what it takes
    room.roster.write_text("id,first_name\nadah,Ada\n")
    result = subprocess.run([sys.executable, "-m", "autograder", "grade", "--classroom", str(room.folder),
                             "--no-sandbox"], cwd=REPOSITORY, capture_output=True, text=True, timeout=120,
                            env=os.environ | {"PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    assert "  1/1  ada  " in result.stdout and "There is no scaling.ipynb" in result.stdout
    assert result.stderr.endswith("grade: Not in students.csv: ada. Is the name of a folder a slip?\n")


@pytest.mark.parametrize("command", ["grade --classroom", "marks", "report 05_scaling --classroom",
                                     "sample-class --into"])
def test_a_classroom_that_nbgrader_would_misread_is_one_sentence(command, capsys):
    assert main([*command.split(), "classes/spring (2)"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{command.split()[0]}: The classroom's path ") and said.count("\n") == 1
    assert "choose a path of letters, digits, dots, dashes and underscores" in said


def test_a_seed_that_is_no_number_is_one_sentence(tmp_path, capsys):
    room = Classroom(tmp_path / "class")
    (room.submitted / "ada" / "05_scaling").mkdir(parents=True)
    room.seed_file.write_text("tomorrow\n")
    assert main(["grade", "--classroom", str(room.folder), "--no-sandbox"]) == 2
    assert "holds 'tomorrow'; it must be a whole number, or be deleted." in capsys.readouterr().err
