"""The class report: right counts, a harmless and complete page, a table."""

import csv
import re
from pathlib import Path

import pytest
from class_tools import ASSIGNMENT
from test_feedback import Page

from autograder.classroom import report as module
from autograder.classroom.report import ClassReport, CriterionCount, ExerciseCount, Person, gather, rows, write
from autograder.classroom.report_page import bar, column, page, percent
from autograder.classroom.reports import Criterion, Mistake, Report
from autograder.classroom.state import FAILED, GRADED, PARTLY, Ending
from autograder.settings import book_link


@pytest.fixture(scope="module")
def found(graded) -> ClassReport:
    return gather(graded.classroom, ASSIGNMENT)


def test_everybody_is_counted(found):
    assert len(found.people) == len(found.handed_in) == 8 and found.points == 32
    assert sum(found.bins) == len(found.shares) == 8
    assert found.bins[0] == 1 and found.bins[9] >= 2  # Fatou wrote nothing, Ada and Bảo solved everything


def test_criteria_are_counted_over_those_who_tried(found):
    exercise = next(e for e in found.exercises if e.name == "attention_weights")
    assert exercise.not_attempted >= 1 and exercise.points == 8
    values = exercise.criteria["values"]
    assert sum(values.counts.values()) == 8 and values.counts["not attempted"] == exercise.not_attempted
    assert values.judged == 8 - exercise.not_attempted and 0 < values.rate < 1


def test_a_cell_that_never_defined_its_name_has_no_report(found):
    assert next(e for e in found.exercises if e.name == "SelfAttention").stopped == 1  # Goran's missing colon


def test_misconceptions_are_ranked_and_lead_into_the_book(found):
    counts = [len(m.people) for m in found.mistakes]
    assert counts == sorted(counts, reverse=True)
    axis = next(m for m in found.mistakes if m.mistake.title == "softmax over queries")
    assert "Chloé Dubois" in axis.people and axis.exercise == "attention_weights"
    assert axis.mistake.link == book_link(f"{ASSIGNMENT}#mistake-softmax-axis")


def test_who_is_not_in_the_roster_is_to_look_at(graded, monkeypatch):
    monkeypatch.setattr(module, "not_enrolled", lambda classroom: ["ada"])
    looks = {person.id: person.looks for person in gather(graded.classroom, ASSIGNMENT).to_look_at}
    assert looks["ada"] == ["`ada` is not in `students.csv`: is the name of the folder a slip?"]
    assert "bao" not in looks


def test_a_slip_in_a_name_does_not_hide_that_an_answer_waits():
    marks = [module.Mark("why", 0, 4, True)]
    people = [Person(name, name, ending, marks, None, looks) for name, ending, looks in (
        ("ada", Ending(GRADED), []), ("adda", Ending(GRADED), ["is not in the roster"]),
        ("bao", Ending(PARTLY, "x", 3), ["partly graded"]), ("fatou", Ending(FAILED, "x"), ["failed"]))]
    assert ClassReport("05_scaling", 4, people, [], []).open == 2


def test_the_page_needs_no_script_and_nothing_from_elsewhere(found, graded):
    html = page(found, graded.classroom.folder / "report")
    parsed = Page(html)
    assert not parsed.all("script", "iframe", "object", "embed", "form", "link", "img")
    assert "default-src 'none'" in html and "url(" not in html and "@import" not in html
    names = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(names) == len(set(names))
    for link in (a["href"] for a in parsed.all("a")):
        assert link.startswith(("file:", "http", "#")) or (graded.classroom.folder / "report" / link).resolve().exists()
    assert {a["href"][1:] for a in parsed.all("a") if a["href"].startswith("#")} <= set(names)


def test_two_runs_write_the_same_bytes(found, graded, tmp_path):
    first, second = ([place.read_bytes() for place in write(gather(graded.classroom, ASSIGNMENT), tmp_path)]
                     for _ in range(2))
    assert first == second


def test_the_table_says_what_the_page_says(found, graded, tmp_path):
    _, sheet = write(found, tmp_path)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert sum(int(line["students"]) for line in lines if line["kind"] == "marks") == 8
    named = [line["name"] for line in lines if line["kind"] == "misconception"]
    assert named == [m.mistake.title for m in found.mistakes]
    values = next(line for line in lines if line["exercise"] == "attention_weights" and line["name"] == "values")
    assert 0 < int(values["students"]) < int(values["of"])


EVIL = '</td><script>alert(1)</script><img src=x onerror="alert(1)">'


def hostile() -> ClassReport:
    people = [Person("eve", EVIL, Ending(FAILED, EVIL, protected=False), [], None, [EVIL]),
              Person("=1", "=1+1", Ending(PARTLY, EVIL, 3), [], Path("/x") / EVIL, [f"`{EVIL}`"])]
    exercise = ExerciseCount(EVIL, unknown=[EVIL], criteria={"x": CriterionCount(EVIL, EVIL)})
    return ClassReport("05_scaling", 28, people, [exercise], [module.Misunderstanding(
        EVIL, Mistake(EVIL, EVIL, "https://example.org/"), [EVIL])])


def test_a_hostile_name_or_reason_stays_text():
    html = page(hostile(), Path("/x"))
    assert not Page(html).all("script", "img") and "&lt;script&gt;" in html
    assert "Graded without a sandbox." in html
    assert "'=1" in module.table(rows(hostile()))


def test_what_a_person_should_look_at():
    guarded = Report("f", (), False, False, False, "", (Criterion("values", "x", "failed"),), "torch.special.entr")
    exercise, person = ExerciseCount("f"), Person("ada", "Ada", Ending(GRADED), [], None)
    exercise.add(person, module.Mark("check_f", 1, 2, False), guarded)
    assert exercise.unknown == []  # it is known: the guard says it
    exercise.add(person, module.Mark("check_f", 1, 2, False), Report("f", (), False, False, False, ""))
    assert exercise.unknown == ["Ada"] and exercise.mean == 1 and exercise.full == 0
    exercise.add(person, module.Mark("check_f", 2, 2, False), None)
    assert exercise.full == 1 and exercise.stopped == 0, "a test of the instructor's own has no report"


def test_numbers_and_bars():
    assert percent(None) == "–" and percent(0.456) == "46 %"
    assert re.findall(r'x="(\d+)" width="(\d+)"', bar([("passed", 1), ("failed", 3)], 4)) == [("0", "25"), ("25", "75")]
    assert "<rect" not in bar([("passed", 0)], 0)
    assert "height: 4rem" in column(1, 2) and "height: 0rem" in column(0, 0)


def test_the_command(graded, capsys, tmp_path):
    assert module.main([ASSIGNMENT, "--classroom", str(graded.classroom.folder), "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / f"{ASSIGNMENT}{end}") for end in (".html", ".csv")]
    assert module.main(["05_scaling", "--classroom", str(graded.classroom.folder)]) == 1
    assert f"graded are: {ASSIGNMENT}" in capsys.readouterr().err
    assert module.main([ASSIGNMENT, "--classroom", str(tmp_path / "none")]) == 1
    assert "run `autograder grade` first" in capsys.readouterr().err
