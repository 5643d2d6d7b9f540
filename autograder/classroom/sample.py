"""Makes a class of submissions to try the grading with: `autograder sample-class`.

Some answers are the solutions, some are right in another way, some are known misconceptions, some are missing and
some crash. The same arguments give the same class, byte for byte.
"""

import argparse
import csv
import inspect
import io
import json
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbgrader.utils import is_grade, is_solution

from autograder.classroom.folders import STAMP, Classroom, course_assignments
from autograder.classroom.roster import people
from autograder.classroom.source import standalone_source
from autograder.digests import digest
from autograder.judging.catalogue import all_exercises
from autograder.judging.exercise import Exercise
from autograder.settings import REPOSITORY
from autograder.writing import DRAFTS, write_whole

GRADING_SEED = 20261129
"""The sample's `secret` seed is no secret, so that its marks are the same everywhere."""
SEED = 1217
"""The bundled class: its first students make mistakes that every class makes."""
MARKER = "sample_class.json"
HANDED_IN = "2026-11-27 {hour:02}:{minute:02}:00.000000 UTC"
UNSURE = "I have not worked this one out yet; my guess is that it keeps the numbers in a good range."

Answers = dict[str, str]
"""The source of each exercise's answer in one notebook; an exercise that is left out keeps its stub."""


class Material:
    """What one assignment offers to make answers from: the solutions, right variants, misconceptions."""

    def __init__(self, assignment: str):
        self.assignment = assignment
        self.released = released_notebook(REPOSITORY / "exercises", assignment)
        self.solved = released_notebook(REPOSITORY / "solutions", assignment)
        self.solutions = {cell.metadata.nbgrader.grade_id: without_markers(cell.source)
                          for cell in nbformat.read(self.solved, 4).cells if is_solution(cell)}
        self.exercises = [e for e in all_exercises().values()
                          if e.chapter == assignment and e.name in self.solutions]
        self.names = [e.name for e in self.exercises]

    def solution(self, name: str, rng: random.Random) -> str:
        return self.solutions[name]

    def variant(self, name: str, rng: random.Random) -> str:
        from autograder.right_answers import right_answers

        return standalone_source(rng.choice(right_answers(name)), name)

    def misconception(self, name: str, rng: random.Random) -> str:
        return standalone_source(rng.choice(all_exercises()[name].misconceptions).implementation, name)



def released_notebook(folder: Path, assignment: str) -> Path:
    found = sorted((folder / assignment).glob("*.ipynb"))
    if len(found) != 1:
        raise FileNotFoundError(f"{folder / assignment} holds {len(found)} notebooks where one is expected; "
                                "run `make exercises` first.")
    return found[0]


def without_markers(source: str) -> str:
    """A solution as a student would hand it in: without nbgrader's BEGIN SOLUTION and END SOLUTION lines."""
    return "\n".join(line for line in source.splitlines() if " SOLUTION" not in line)


# --- answers that crash ----------------------------------------------------------------------------------------

def _define(exercise: Exercise, body: str) -> str:
    """A function, or a module's forward, with the exercise's arguments and the given body."""
    arguments = ", ".join(exercise.arguments)
    if not inspect.isclass(exercise.reference):
        return f"def {exercise.name}({arguments}):\n    {body}"
    return (f"class {exercise.name}(nn.Module):\n    def __init__(self, d_model, d_k):\n"
            "        super().__init__()\n"
            "        self.W_q = nn.Linear(d_model, d_k, bias=False)\n"
            "        self.W_k = nn.Linear(d_model, d_k, bias=False)\n"
            "        self.W_v = nn.Linear(d_model, d_k, bias=False)\n\n"
            f"    def forward(self, {arguments}):\n        {body}")


def unknown_method(exercise: Exercise) -> str:
    """AttributeError: a method that does not exist."""
    return _define(exercise, f"return {exercise.arguments[0]}.normalise()")


def division_by_zero(exercise: Exercise) -> str:
    """ZeroDivisionError inside the answer."""
    return _define(exercise, "return 1 / 0")


def missing_colon(exercise: Exercise) -> str:
    """SyntaxError: the cell does not even define the name."""
    head, _, rest = _define(exercise, "return None").partition(":")
    return f"{head}{rest}"


CRASHES = (unknown_method, division_by_zero, missing_colon)


# --- kinds of students -----------------------------------------------------------------------------------------

def all_right(material: Material, rng: random.Random) -> Answers:
    return {name: material.solution(name, rng) for name in material.names}


def right_in_another_way(material: Material, rng: random.Random) -> Answers:
    return {name: material.variant(name, rng) for name in material.names}


def one_misconception(material: Material, rng: random.Random) -> Answers:
    wrong = rng.choice(material.names)
    return all_right(material, rng) | {wrong: material.misconception(wrong, rng)}


def right_but_one(material: Material, rng: random.Random) -> Answers:
    wrong = rng.choice(material.names)
    mistake = {wrong: material.misconception(wrong, rng)}
    return right_in_another_way(material, rng) | mistake


def several_misconceptions(material: Material, rng: random.Random) -> Answers:
    wrong = rng.sample(material.names, k=min(3, len(material.names)))
    return all_right(material, rng) | {name: material.misconception(name, rng) for name in wrong}


def nothing(material: Material, rng: random.Random) -> Answers:
    return {}


def crashing(material: Material, rng: random.Random) -> Answers:
    """Every way to crash once, on the last exercises."""
    last = material.exercises[-len(CRASHES):]
    return all_right(material, rng) | {e.name: crash(e) for e, crash in zip(last, CRASHES, strict=True)}


def gave_up_halfway(material: Material, rng: random.Random) -> Answers:
    begun = material.names[: len(material.names) // 2]
    return {name: material.solution(name, rng) for name in begun[:-1]} | {
        begun[-1]: material.misconception(begun[-1], rng)}


KINDS: tuple[Callable[[Material, random.Random], Answers], ...] = (
    all_right, right_in_another_way, one_misconception, right_but_one, several_misconceptions, nothing, crashing,
    gave_up_halfway)
"""What the first eight students are like, in order; everybody after them is one of these at random."""


# --- the class -------------------------------------------------------------------------------------------------

def kind_of(number: int, seed: int) -> Callable[[Material, random.Random], Answers]:
    return KINDS[number] if number < len(KINDS) else random.Random(f"{seed}/kind/{number}").choice(KINDS)


def submission(material: Material, number: int, seed: int) -> tuple[nbformat.NotebookNode, str]:
    """The notebook that student `number` hands in, and the text of its time stamp."""
    rng = random.Random(f"{seed}/{number}/{material.assignment}")
    kind = kind_of(number, seed)
    answers = kind(material, rng)
    notebook = nbformat.read(material.released, 4)
    for cell in notebook.cells:
        if not is_solution(cell):
            continue
        grade_id = cell.metadata.nbgrader.grade_id
        if cell.cell_type == "code":
            cell.source = answers.get(grade_id, cell.source)
        elif is_grade(cell) and answers:
            cell.source = material.solutions[grade_id] if kind in KINDS[:4] else UNSURE
    return notebook, HANDED_IN.format(hour=rng.randrange(8, 23), minute=rng.randrange(60))


def write_class(classroom: Classroom, students: int, seed: int, assignments: list[str]) -> None:
    """Write the submissions, the roster and the grading seed; files that are already right are left alone."""
    materials = [Material(assignment) for assignment in assignments]
    prepare(classroom, {"students": students, "seed": seed,
                        "assignments": {m.assignment: digest(m.released) for m in materials}})
    roster = io.StringIO()
    writer = csv.writer(roster, lineterminator="\n")
    writer.writerow(["id", "first_name", "last_name"])
    for number, (person, (first, last)) in enumerate(people(students).items()):
        writer.writerow([person, first, last])
        for material in materials:
            notebook, handed_in = submission(material, number, seed)
            folder = classroom.submitted / person / material.assignment
            write_text(folder / material.released.name, nbformat.writes(notebook) + "\n")
            write_text(folder / STAMP, handed_in + "\n")
    write_text(classroom.roster, roster.getvalue())


def prepare(classroom: Classroom, wanted: dict) -> None:
    """Make the folder ready; a sample class of other students or other exercises is cleared first.

    The marker comes before all else and stays while the rest is cleared, so that a run that was ended in the middle is
    known for a sample class. Raises FileExistsError for a folder that holds anything else: it may be a real class.
    """
    marker = classroom.folder / MARKER
    if marker.exists():
        if made_of(marker) != wanted:
            clear(classroom.folder, marker)
    elif any(path.name != "exchange" and not path.match(DRAFTS) for path in classroom.folder.glob("*")):
        raise FileExistsError(f"{classroom.folder} holds something that is not a sample class; "
                              "choose another folder with --into.")
    classroom.make()
    write_text(marker, json.dumps(wanted, indent=1) + "\n")
    classroom.write_seed(GRADING_SEED)


def made_of(marker: Path) -> object:
    """What a sample class was made of; None where the marker does not say."""
    try:
        return json.loads(marker.read_bytes())
    except ValueError:
        return None


def clear(folder: Path, marker: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != marker:
            path.unlink()


def write_text(path: Path, text: str) -> None:
    if not path.exists() or path.read_bytes() != text.encode():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder sample-class", description=__doc__)
    parser.add_argument("--students", type=int, default=8, help="how many (default 8)")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed makes another class (default %(default)s)")
    parser.add_argument("--into", default="classroom/sample", help="its classroom (default classroom/sample)")
    parser.add_argument("--assignment", action="append", choices=course_assignments(),
                        help="only this one; may be given several times (default: all)")
    options = parser.parse_args(argv)
    classroom = Classroom.at(options.into)
    assignments = options.assignment or course_assignments()
    try:
        write_class(classroom, options.students, options.seed, assignments)
    except OSError as problem:
        print(f"sample-class: {problem}", file=sys.stderr)
        return 1
    print(f"{options.students} students handed in {', '.join(assignments)}: {classroom.submitted}")
    return 0
