"""The style's two limits: how long a function may be, and how long a module."""

import ast

import pytest

from autograder.settings import REPOSITORY

LONGEST_FUNCTION, LONGEST_MODULE = 30, 350
MODULES = sorted(path for folder in ("autograder", "tests", "tools") for path in (REPOSITORY / folder).rglob("*.py"))


def too_long(source: str) -> list[str]:
    """What is over a limit. A function's docstring does not count."""
    found = [f"the module has {lines} lines" for lines in [len(source.splitlines())] if lines > LONGEST_MODULE]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            words = node.body[0] if ast.get_docstring(node) is not None else None
            lines = node.end_lineno - node.lineno + 1 - (words.end_lineno - words.lineno + 1 if words else 0)
            found += [f"{node.name} has {lines} lines"] * (lines > LONGEST_FUNCTION)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_nothing_is_too_long(path):
    assert too_long(path.read_text(encoding="utf-8")) == []


def test_what_is_too_long_is_named():
    def function(lines: int, docstring: str = "") -> str:
        return f"@decorated\ndef long():{docstring}\n" + "    x = 1\n" * (lines - 1)

    assert too_long(function(30)) == too_long(function(30, '\n    """Two\n    lines."""')) == []
    assert too_long(function(31)) == ["long has 31 lines"]
    assert too_long("x = 1\n" * 350) == [] and too_long("x = 1\n" * 351) == ["the module has 351 lines"]
