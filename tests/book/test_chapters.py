"""Every chapter keeps to the one template, and what it stores is what it ran."""

import json
import re

import nbformat
import pytest

from autograder.book.chapters import BOOK, CHAPTERS
from autograder.judging.catalogue import all_exercises

WRITTEN = [chapter for chapter in CHAPTERS if (BOOK / f"{chapter.id}.ipynb").exists()]
BEFORE = ["Predict first"]
LONGEST = {"08_transformer": 4500,  # words; every part of the machine has a section there
           "11_questions": 4000}  # eleven questions and a clinic
PROJECTS = {"translate"}  # judged with a file that the learner has trained
CLINIC = {"clinic_names", *(f"clinic_{i}" for i in range(1, 11))}  # to be found by the learner, so not on the page
AFTER = ["Common mistakes", "Quiz", "Summary", "Exercises", "References"]

pytestmark = pytest.mark.parametrize("chapter", WRITTEN, ids=lambda chapter: chapter.id)


def read(chapter):
    return nbformat.read(BOOK / f"{chapter.id}.ipynb", as_version=4)


def markdown(chapter) -> str:
    return "\n\n".join(cell.source for cell in read(chapter).cells if cell.cell_type == "markdown")


def code_cells(chapter):
    return [cell for cell in read(chapter).cells if cell.cell_type == "code"]


def prose(chapter) -> str:
    """The Markdown without code, formulas, directives, labels and addresses of links."""
    text = re.sub(r"^(`{3,}).*?^\1`*$", "", markdown(chapter), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " ", text, flags=re.DOTALL)
    text = re.sub(r"^:{3,}.*$|^\([\w-]+\)=$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text)


def quiz_questions(chapter) -> list[dict]:
    scripts = [
        output.data["application/javascript"]
        for cell in code_cells(chapter)
        if "display_quiz(" in cell.source
        for output in cell.outputs
        if "application/javascript" in output.get("data", {})
    ]
    decode = json.JSONDecoder().raw_decode
    starts = [(script, re.search(r"var questions\w+=", script)) for script in scripts]
    return [question for script, start in starts for question in decode(script, start.end())[0]]


def test_title_has_the_chapters_number(chapter):
    assert read(chapter).cells[0].source.startswith(f"# {chapter.number}. ")


def test_only_one_title(chapter):
    assert len(re.findall(r"^# ", prose(chapter), flags=re.MULTILINE)) == 1


def test_opening_says_what_for_and_how_long(chapter):
    first = read(chapter).cells[0].source
    order = [
        first.find("admonition} What you will be able to do"),
        first.find("\n**Prerequisites.** "),
        first.find("\n**Time.** about "),
    ]
    assert -1 not in order, "the first cell needs the goals, the prerequisites and the time"
    assert order == sorted(order)
    assert re.search(r"\*\*Time\.\*\* about \d+ minutes", first)


def test_sections_are_in_the_order_of_the_template(chapter):
    sections = re.findall(r"^## (.+)$", prose(chapter), flags=re.MULTILINE)
    assert sections[:1] == BEFORE
    assert sections[-len(AFTER) :] == AFTER
    assert len(sections) > len(BEFORE) + len(AFTER), "the chapter has no sections of its own"


def test_length(chapter):
    words = len(re.findall(r"[A-Za-z][\w'’-]*", prose(chapter)))
    assert 1500 <= words <= LONGEST.get(chapter.id, 3000), f"{words} words"


def test_every_cell_has_an_id_and_the_kernel_is_named(chapter):
    notebook = read(chapter)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert notebook.metadata.kernelspec.name == "python3"
    nbformat.validate(notebook)


def test_cells_ran_in_order_from_the_top(chapter):
    counts = [cell.execution_count for cell in code_cells(chapter)]
    assert counts == list(range(1, len(counts) + 1)), "run `autograder outputs`"


def test_nothing_stored_depends_on_the_moment(chapter):
    for cell in code_cells(chapter):
        assert "execution" not in cell.metadata, f"{cell.id} stores times; run `autograder outputs`"
        names = [output.name for output in cell.outputs if output.output_type == "stream"]
        assert "stderr" not in names, f"{cell.id} stores what it wrote to stderr; run `autograder outputs`"


def test_no_cell_stores_an_error(chapter):
    for cell in code_cells(chapter):
        assert all(output.output_type != "error" for output in cell.outputs), cell.id


def test_every_static_figure_has_alt_text_caption_and_name(chapter):
    figures = 0
    for cell in code_cells(chapter):
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            figures += 1
            about = cell.metadata.get("mystnb", {})
            image, figure = about.get("image", {}), about.get("figure", {})
            assert len(image.get("alt", "")) > 40, f"{cell.id}: the alt text should say what is to be seen"
            assert "dark-light" in image.get("classes", ""), f"{cell.id}: the class dark-light is missing"
            assert figure.get("caption") and figure.get("name", "").startswith("fig-"), cell.id
    assert figures >= 3


def test_every_interactive_figure_has_a_description(chapter):
    charts = [
        output.data["application/vnd.vegalite.v5+json"]
        for cell in code_cells(chapter)
        for output in cell.outputs
        if "application/vnd.vegalite.v5+json" in output.get("data", {})
    ]
    assert charts, "a chapter has at least one interactive figure"
    for chart in charts:
        assert len(chart.get("description", "")) > 40


def test_quiz_has_four_questions_and_explains_every_option(chapter):
    questions = quiz_questions(chapter)
    assert len(questions) == 4
    for question in questions:
        assert sum(answer["correct"] for answer in question["answers"]) == 1, question["question"]
        assert len(question["answers"]) >= 3
        for answer in question["answers"]:
            assert len(answer.get("feedback", "")) > 20, f"{answer['answer']}: no explanation"


def test_quiz_is_seeded_and_its_source_is_not_shown(chapter):
    quizzes = [cell for cell in code_cells(chapter) if "display_quiz(" in cell.source]
    for cell in quizzes:
        assert cell.source.count("random.seed(") == cell.source.count("display_quiz("), cell.id
        assert {"remove-input", "hide-input"} & set(cell.metadata.get("tags", [])), f"{cell.id} shows the answers"


def test_chapter_grades_its_own_definitions(chapter):
    checked = set(re.findall(r"\bcheck\((\w+)", "\n".join(cell.source for cell in code_cells(chapter))))
    asked = {exercise.name for exercise in all_exercises().values() if exercise.chapter == chapter.id}
    assert bool(asked) == chapter.exercises, f"exercises that say they belong to {chapter.id}: {sorted(asked)}"
    asked -= PROJECTS | CLINIC
    assert asked <= checked, f"not graded in the chapter: {', '.join(sorted(asked - checked))}"
    for cell in code_cells(chapter):
        if re.search(r"\bcheck\(", cell.source):
            assert not re.search(r": 0(\.0)? of ", str(cell.outputs)), cell.id


def test_links_to_its_exercises(chapter):
    linked = set(re.findall(r"\]\(\.\./exercises/(\w+)/", markdown(chapter)))
    assert chapter.id in linked if chapter.exercises else len(linked) >= 4, "four chapters to write again from memory"


def test_misconceptions_lead_to_a_paragraph(chapter):
    labels = set(re.findall(r"^\(([\w-]+)\)=$", markdown(chapter), flags=re.MULTILINE))
    for exercise in all_exercises().values():
        for misconception in exercise.misconceptions:
            page, _, anchor = misconception.see.partition("#")
            if page == chapter.id:
                assert anchor in labels, f"{exercise.name}, {misconception.name}: no ({anchor})= in {chapter.id}"
