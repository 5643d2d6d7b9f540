"""What notebooks 08 and 11 give from earlier chapters is the reference itself, or gets full marks."""

import ast
import inspect

import pytest
from notebook_cells import by_grade_id, definitions

from autograder.judging.judge import judge
from autograder.reference import attention, bahdanau, multi_head, positional_encoding

MODULES = (attention, bahdanau, multi_head, positional_encoding)
SOURCES = {(folder, chapter): by_grade_id(folder, chapter)["given"].source
           for folder in ("solutions", "exercises") for chapter in ("08_transformer", "11_questions")}
EXPECTED = {"08_transformer": {"MultiHeadAttention", "PositionalEncoding"},
            "11_questions": {"MultiHeadAttention", "sinusoidal_encoding"}}
SHORTER = {"11_questions": ("FeedForward", "EncoderLayer")}
"""The references of these can do more than an exercise asks for."""


def reference(name):
    return next(vars(module)[name] for module in MODULES if name in vars(module))


@pytest.mark.parametrize("folder, chapter", SOURCES)
def test_each_definition_is_the_references(folder, chapter):
    source = SOURCES[folder, chapter]
    defined = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
               and node.name not in SHORTER.get(chapter, ())]
    assert EXPECTED[chapter] <= {node.name for node in defined}
    for node in defined:
        assert ast.get_source_segment(source, node) == inspect.getsource(reference(node.name)).rstrip()


@pytest.mark.parametrize("folder", ["solutions", "exercises"])
@pytest.mark.parametrize("chapter, name", [(chapter, name) for chapter, names in SHORTER.items() for name in names])
def test_what_is_shorter_gets_full_marks(folder, chapter, name):
    report = judge(definitions(folder, chapter)[name], exercise=name)
    assert report.score == report.points


@pytest.mark.parametrize("folder, chapter", SOURCES)
def test_the_constants_are_the_references(folder, chapter):
    (constant,) = [node for node in ast.parse(SOURCES[folder, chapter]).body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(constant.value) == reference(constant.targets[0].id)
