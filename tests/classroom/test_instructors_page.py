"""The instructors' page names tests and commands that exist."""

import ast
import re

import pytest
from nbgrader.api import Student

from autograder.classroom import export
from autograder.cli import COMMANDS
from autograder.settings import REPOSITORY

PAGE = (REPOSITORY / "book" / "instructors.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^\| (.+?) \| (`.+`) \|$", PAGE, re.MULTILINE)
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)


@pytest.mark.parametrize(("file", "name"), NAMED, ids="::".join)
def test_a_named_test_exists(file, name):
    tree = ast.parse((REPOSITORY / "tests" / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_promise_has_its_proof():
    assert len(PROMISES) >= 15
    for promise, proof in PROMISES:
        assert re.fullmatch(r"(`[\w/]+\.py::\w+` ?)+", proof), promise


def test_the_roster_on_the_page_has_columns_that_are_read():
    head = re.search(r"```text\n *(id,.*)", PAGE)[1].split(",")
    assert set(head) <= set(Student.__table__.c.keys()) and {"id", "lms_user_id", "email"} <= set(head)


def test_the_commands_are_ours():
    blocks = "\n".join(re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL))
    assert set(re.findall(r"^autograder (\S+)", blocks, re.MULTILINE)) <= COMMANDS.keys()
    for name in re.findall(r"--exporter=autograder\.classroom\.export\.(\w+)", blocks):
        assert issubclass(getattr(export, name), export.ClassExport)
