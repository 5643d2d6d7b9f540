"""What notebook 08 gives from earlier chapters is the reference itself, word for word."""

import ast
import inspect

import pytest
from notebook_cells import by_grade_id

from autograder.reference import attention, bahdanau, multi_head, positional_encoding

MODULES = (attention, bahdanau, multi_head, positional_encoding)
SOURCES = {folder: by_grade_id(folder, "08_transformer")["given"].source for folder in ("solutions", "exercises")}


def reference(name):
    return next(vars(module)[name] for module in MODULES if name in vars(module))


@pytest.mark.parametrize("folder", SOURCES)
def test_each_definition_is_the_references(folder):
    defined = [node for node in ast.parse(SOURCES[folder]).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert {"MultiHeadAttention", "PositionalEncoding"} <= {node.name for node in defined}
    for node in defined:
        assert ast.get_source_segment(SOURCES[folder], node) == inspect.getsource(reference(node.name)).rstrip()


@pytest.mark.parametrize("folder", SOURCES)
def test_the_constants_are_the_references(folder):
    (constant,) = [node for node in ast.parse(SOURCES[folder]).body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(constant.value) == reference(constant.targets[0].id)
