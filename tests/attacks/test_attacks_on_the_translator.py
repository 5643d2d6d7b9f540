"""Attacks on the project of chapter 8: translations that come from somewhere else than a trained model.

Each defines a `translate` that looks for the grammar, for the right answers, or for the sentences beforehand, and falls
back to the source; one that finds something to read says so with an AssertionError. So nothing is honest about it, and
every point is stolen. Each has a line in the corpus of attacks.
"""

import shutil

import pytest
from arena import SETUP
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade

from autograder.exercises.translation import hidden
from autograder.grading.run import Run
from autograder.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
SEED, POINTS = 20_262, 12

GRAMMAR = """
def translate(sentences):
    {how}
    return [list(words) for words in sentences]"""

ATTACKS = {
    "import the grammar": GRAMMAR.format(how="""
    try:
        from autograder.corpus import french, meaning
    except ImportError:
        from autograder.corpus.french import sentence"""),
    "import the reference": GRAMMAR.format(how="""
    from autograder.reference.translation import translate as known
    return known(sentences)"""),
    "import the exercise": GRAMMAR.format(how="from autograder.exercises.translation import hidden; return hidden(0)"),
    "draw the test split": """
from autograder.corpus import sentence_pairs
def translate(sentences):
    known = {p.source: p.target for s in range(5) for p in sentence_pairs(2000, (0, 2), s, 'en-fr', split='test')}
    return [list(known.get(tuple(words), words)) for words in sentences]""",
    "draw from both splits": """
from autograder.corpus import sentence_pairs
known = {}
try:
    known = {p.source: p.target for p in sentence_pairs(9000, (0, 2), 0, 'en-fr')}
except ValueError:
    pass
def translate(sentences):
    return [list(known.get(tuple(words), words)) for words in sentences]""",
    "look up the training pairs": """
from autograder.corpus import sentence_pairs
known = {p.source: p.target for p in sentence_pairs(9000, (0, 2), 0, 'en-fr', split='train')}
def translate(sentences):
    return [list(known.get(tuple(words), words)) for words in sentences]""",
    "read the files": """
import os
found = []
for top in ('/course', '/given', '/submission', '/home', '/tmp', '/dev/shm', '/root', '/etc'):
    for place, _, names in os.walk(top):
        for path in [os.path.join(place, name) for name in names if name.endswith(('.py', '.pyc', '.gz'))]:
            text = open(path, 'rb').read(2_000_000)
            if b'CONTRACTED' in text and b'starts_with_vowel' in text:
                found.append(path)
assert not found, found
def translate(sentences):
    return [list(words) for words in sentences]""",
    "read the libraries": """
import os, sys
found = [os.path.join(p, n) for top in sys.path if top for p, _, names in os.walk(top) for n in names
         if n in ('lexicon.py', 'french.py', 'meaning.py') and 'autograder' in p or n.startswith('french.cpython')]
assert not found, found
def translate(sentences):
    return [list(words) for words in sentences]""",
    "read the memory": """
import os
found = set()
for process in [p for p in os.listdir('/proc') if p.isdigit() and p != str(os.getpid())]:
    try:
        for line in open(f'/proc/{process}/maps'):
            place, rights, *_ = line.split()
            low, high = (int(part, 16) for part in place.split('-'))
            if 'r' in rights and high - low < 2**26:
                with open(f'/proc/{process}/mem', 'rb') as memory:
                    memory.seek(low)
                    text = memory.read(high - low)
                if b'starts_with_vowel' in text or b'NotOfTheCorpus' in text:
                    found.add(process)
    except (OSError, ValueError, OverflowError):
        pass
assert not found, found
def translate(sentences):
    return [list(words) for words in sentences]""",
    "read the messages": """
import autograder.learner.wire as wire, autograder.learner.remote as remote
seen, real = [], remote.loads
def loads(text):
    seen.append(text)
    return real(text)
remote.loads = wire.loads = loads
def translate(sentences):
    import json, re
    words = re.findall(r'"([^"]+)"', json.dumps([json.loads(text) for text in seen], ensure_ascii=False))
    french = [word for word in words if word in ('le', 'la', 'les', 'était', 'étaient')]
    return [french for _ in sentences]""",
    "look into the frames": """
def translate(sentences):
    import inspect
    held = [value for frame in inspect.stack() for value in frame.frame.f_locals.values()]
    texts = [value for value in held if isinstance(value, str) and 'étai' in value]
    return [texts for _ in sentences]""",
    "look at all objects": """
def translate(sentences):
    import gc
    pairs = [o for o in gc.get_objects() if type(o).__name__ == 'SentencePair']
    known = {o.source: o.target for o in pairs}
    return [list(known.get(tuple(words), words)) for words in sentences]""",
    "ask for sockets of others": """
import os
names = [os.path.join(p, n) for top in ('/tmp', '/run', '/var') for p, _, ns in os.walk(top) for n in ns]
def translate(sentences):
    return [[name for name in names if 'seed' in name] for _ in sentences]""",
    "forge the result": """
import autograder.learner.remote as remote
class Everything(list):
    def __eq__(self, other): return True
    def __hash__(self): return 0
def translate(sentences):
    return [Everything(words) for words in sentences]""",
    "leave the sentences for later": """
kept = []
def translate(sentences):
    kept.extend(sentences)
    open('kept.txt', 'w').write(str(kept))
    return [list(words) for words in sentences]""",
}


def graded(attack):
    setup = {"grade": False, "solution": False, "locked": True, "grade_id": "imports"}
    check = {"grade": True, "solution": False, "locked": True, "points": POINTS, "grade_id": "check_translate"}
    cells = [new_code_cell(SETUP, metadata={"nbgrader": setup}), new_code_cell(attack),
             new_code_cell("check(translate)", metadata={"nbgrader": check}),
             new_code_cell("print(open('kept.txt').read())")]
    patient = Limits(cell_seconds=300, notebook_seconds=600)  # who searches a whole disk has to find nothing
    return Run(new_notebook(cells=cells), None, SEED, patient)()


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_is_translated_that_was_not_learned(name, record_property):
    notebook = graded(ATTACKS[name])
    given = determine_grade(notebook.cells[2])[0]
    record_property("attack", f"{'translator: ' + name:<45} honest {0:>4g}   given {given or 0:>4g}")
    assert given == 0 and notebook.metadata["autograder"]["state"] == "graded"
    text = str(notebook)
    assert "AssertionError" not in text and str(SEED) not in text
    assert not [pair for pair in hidden(SEED) if " ".join(pair.target) in text]
    assert not [pair for pair in hidden(SEED) if pair.depth == 2 and " ".join(pair.source) in text]
