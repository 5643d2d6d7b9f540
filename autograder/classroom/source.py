"""The source of a function or class of ours as somebody could have typed it into an answer cell."""

import ast
import builtins
import inspect
import io
import symtable
import textwrap
import tokenize
from types import ModuleType
from typing import Any


def standalone_source(thing: Any, name: str) -> str:
    """Source that defines `thing` under `name`, with the imports, helpers and constants that it needs.

    Decorators and the docstring are left out: they belong to the grader.
    Raises ValueError for an object that needs more than its module (a closure), or something without a source.
    """
    if getattr(thing, "__closure__", None):
        raise ValueError(f"{thing.__qualname__} is a closure; only plain functions and classes can stand alone.")
    pieces: dict[str, str] = {}
    _collect(thing, pieces)
    own = pieces.pop(thing.__name__)
    imports = [piece for piece in pieces.values() if piece.startswith(("import ", "from "))]
    helpers = [piece for piece in pieces.values() if piece not in imports]
    first = "\n".join(sorted(imports, key=lambda line: (line.startswith("from"), line)))
    return "\n\n\n".join(part for part in (first, *helpers, renamed(own, thing.__name__, name)) if part)


def _collect(thing: Any, pieces: dict[str, str]) -> None:
    """Put the source of `thing` into `pieces`, after that of everything it uses."""
    source = undecorated(textwrap.dedent(inspect.getsource(thing)))
    around = vars(inspect.getmodule(thing))
    for used in sorted(global_names(source) - {thing.__name__}):
        if used in pieces or hasattr(builtins, used):
            continue
        if used not in around:
            raise ValueError(f"{thing.__qualname__} uses {used!r}, which its module does not define.")
        value = around[used]
        if isinstance(value, ModuleType):
            pieces[used] = _import_line(value, used)
        elif inspect.isfunction(value) or inspect.isclass(value):
            if value.__module__.startswith("autograder."):
                _collect(value, pieces)
            else:
                pieces[used] = f"from {value.__module__} import {value.__name__}"
        elif isinstance(value, (int, float, str, tuple, dict)):
            pieces[used] = f"{used} = {value!r}"
        else:
            raise ValueError(f"{thing.__qualname__} uses {used!r}, a {type(value).__name__}, which has no source.")
    pieces[thing.__name__] = source


def _import_line(module: ModuleType, name: str) -> str:
    parent, _, last = module.__name__.rpartition(".")
    if module.__name__ == name:
        return f"import {name}"
    return f"from {parent} import {last}" if last == name else f"import {module.__name__} as {name}"


def undecorated(source: str) -> str:
    """One definition without its decorators and its docstring."""
    lines = source.splitlines()
    definition = ast.parse(source).body[0]
    first = definition.body[0]
    kept = lines[definition.lineno - 1:]
    if ast.get_docstring(definition) is not None:
        start, end = first.lineno - definition.lineno, first.end_lineno - definition.lineno
        if len(definition.body) == 1:
            kept[start:end + 1] = [" " * first.col_offset + "pass"]
        else:
            while end + 1 < len(kept) and not kept[end + 1].strip():
                end += 1
            del kept[start:end + 1]
    return "\n".join(kept).rstrip()


def global_names(source: str) -> set[str]:
    """The names that a piece of source takes from around it."""
    names, tables = set(), [symtable.symtable(source, "answer", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            outermost = table.get_type() == "module"
            if symbol.is_referenced() and (not symbol.is_assigned() if outermost else symbol.is_global()):
                names.add(symbol.get_name())
    return names


def renamed(source: str, old: str, new: str) -> str:
    """The source with every use of one name replaced; comments and strings stay as they are."""
    lines = source.splitlines(keepends=True)
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline)
              if t.type == tokenize.NAME and t.string == old]
    for token in reversed(tokens):
        row, column = token.start
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(old):]
    return "".join(lines)
