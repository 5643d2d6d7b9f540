"""The exercise notebooks and the exercises say the same: names, arguments, points, difficulty."""

import inspect
import re

import pytest
from notebook_cells import CHAPTERS, by_grade_id, definitions, notebook

from autograder.judging.catalogue import all_exercises

EXERCISES = all_exercises()
WRITTEN_POINTS = 4
"""What the question at the end of each notebook is worth, which a person marks."""
PAIRS = [(chapter, name) for chapter in CHAPTERS for name, e in EXERCISES.items() if e.chapter == chapter]
DIFFICULTY = re.compile(r"^(●○○ easy|●●○ medium|●●● harder) · about (\d+) minutes · (\d+) points(, [a-z ]+)?$", re.M)


def written(folder, chapter):
    """Name and cell of the one answer in words."""
    (found,) = [(name, cell) for name, cell in by_grade_id(folder, chapter).items() if cell.cell_type == "markdown"]
    return found


def asked(function):
    """The parameters that an exercise asks for: what the reference takes beyond them is keyword-only."""
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]


def tasks(chapter):
    return [cell.source for cell in notebook("solutions", chapter).cells if cell.id.startswith("task-")]


@pytest.mark.parametrize("chapter, name", PAIRS)
def test_an_exercise_has_its_cells(chapter, name):
    cells = by_grade_id("solutions", chapter)
    answer, check = cells[name], cells[f"check_{name}"]
    assert answer.metadata.nbgrader.solution and not answer.metadata.nbgrader.grade
    assert check.metadata.nbgrader.grade and check.metadata.nbgrader.locked and not check.metadata.nbgrader.solution
    assert check.metadata.nbgrader.points == EXERCISES[name].points
    named = f', exercise="{name}"' if isinstance(EXERCISES[name].reference, dict) else ""  # a dict has no __name__
    assert check.source.splitlines()[-1] == f"check({name}{named})"
    ids = [cell.id for cell in notebook("solutions", chapter).cells]
    at = ids.index(answer.id)
    slug = answer.id.removeprefix("answer-")
    assert ids[at - 1 : at + 4] == [f"{part}-{slug}" for part in ("task", "answer", "try", "hint", "check")]


@pytest.mark.parametrize("folder", ["solutions", "exercises"])
@pytest.mark.parametrize("chapter, name", PAIRS)
def test_the_signature_is_the_references(folder, chapter, name):
    mine, reference = definitions(folder, chapter)[name], EXERCISES[name].reference
    if isinstance(reference, dict):
        assert type(mine) is dict
        return
    assert mine.__doc__ and "Returns" in mine.__doc__
    pairs = [(mine, reference)]
    if inspect.isclass(reference):
        pairs = [(mine.__init__, reference.__init__), (mine.forward, reference.forward)]
    for a, b in pairs:
        assert list(inspect.signature(a).parameters) == asked(b)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_nothing_is_graded_that_is_no_exercise(chapter):
    graded = {grade_id: cell.metadata.nbgrader.points for grade_id, cell in by_grade_id("solutions", chapter).items()
              if cell.metadata.nbgrader.grade}
    name, cell = written("solutions", chapter)
    wanted = {f"check_{name}": e.points for name, e in EXERCISES.items() if e.chapter == chapter}
    assert graded == wanted | {name: WRITTEN_POINTS}
    assert cell.metadata.nbgrader.solution


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_task_says_how_hard_and_how_long_it_is(chapter):
    found = [DIFFICULTY.findall(task) for task in tasks(chapter)]
    assert all(len(match) == 1 for match in found)
    title = notebook("solutions", chapter).cells[0].source
    lines = re.findall(r"^\| \d+ \| .* \| (●○○ easy|●●○ medium|●●● harder) \| (\d+) \| (\d+) \|$", title, re.M)
    assert lines == [match[0][:3] for match in found]
    minutes, points = (sum(int(line[i]) for line in lines) for i in (1, 2))
    assert f"about {minutes} minutes and is worth {points} points" in title
    graded = [c.metadata.nbgrader.points for c in by_grade_id("solutions", chapter).values()
              if c.metadata.nbgrader.grade]
    assert points == sum(graded)


@pytest.mark.parametrize("chapter, name", PAIRS)
def test_what_is_watched_is_said_to_be_off_limits(chapter, name):
    (task,) = (text for text in tasks(chapter) if f"`{name}`" in text.splitlines()[0])
    words = {"softmax": "`torch.softmax`", "attention": "`F.scaled_dot_product_attention`",
             "entr": "`torch.special.entr`", "sacrebleu": "`sacrebleu`", "layer_norm": "`nn.LayerNorm`",
             "label_smoothing": "`label_smoothing`"}
    rules = next(cell.source for cell in notebook("solutions", chapter).cells if cell.id == "rules")
    limits = "".join(text[text.index("**Off limits"):] for text in (task, rules) if "**Off limits" in text)
    assert all(words[family] in limits for family in EXERCISES[name].off_limits)


@pytest.mark.parametrize("folder", ["solutions", "exercises"])
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_it_is_plain_markdown_with_stable_ids(folder, chapter):
    cells = notebook(folder, chapter).cells
    ids = [cell.id for cell in cells]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-z0-9-]+", i) and not i.isdigit() for i in ids)
    for cell in cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"^:::|^```\{|\{[a-z:-]+\}`", cell.source, re.M), cell.id
    assert {cell.metadata.nbgrader.schema_version for cell in by_grade_id(folder, chapter).values()} == {3}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_solutions_hold_outputs_of_one_run_from_top_to_bottom(chapter):
    code = [cell for cell in notebook("solutions", chapter).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not [output for cell in code for output in cell.outputs if output.output_type == "error"]
    for cell in code:
        if cell.id.startswith("check-"):
            points = cell.metadata.nbgrader.points
            assert cell.outputs[-1].data["text/plain"] == f"{points:.1f}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_released_form_gives_nothing_away(chapter):
    for cell in notebook("exercises", chapter).cells:
        assert "SOLUTION" not in cell.source and not cell.get("outputs")
        if cell.id.startswith("answer-") and cell.cell_type == "code":
            assert "raise NotImplementedError(" in cell.source
    _, cell = written("exercises", chapter)
    assert "model answer" not in cell.source and "Write your answer here" in cell.source


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_cells_to_try_are_quiet_while_the_stub_is_there(chapter, capsys):
    names = definitions("exercises", chapter)
    for cell in notebook("exercises", chapter).cells:
        if cell.id.startswith(("try-", "hint-")):
            exec(cell.source, names)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", EXERCISES)
def test_there_are_hints_in_steps(name):
    hints = EXERCISES[name].hints
    assert len(set(hints)) == len(hints) >= 3
