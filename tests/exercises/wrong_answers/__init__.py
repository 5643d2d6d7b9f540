"""Wrong answers that a person might hand in: none may get full marks.

They are not misconceptions with a name, only what the criteria must not miss. Most differ from the right answer by
one slip. A module a chapter, each with WRONG (the slips of every exercise) and NAMED (see below).
"""

from importlib import import_module
from pkgutil import iter_modules

CHAPTERS = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]

WRONG = {name: slips for chapter in CHAPTERS for name, slips in chapter.WRONG.items()}

NAMED = {slip: misconception for chapter in CHAPTERS for slip, misconception in chapter.NAMED.items()}
"""The slips that are a misconception, at least on some inputs; the others are none and must not be called one."""
