"""The table of a class."""

import pytest
from class_tools import ASSIGNMENT

from autograder.classroom import marks
from autograder.classroom.columns import padded, table, width
from autograder.classroom.gradebook import Mark
from autograder.reporting.text import title


def test_the_table_says_marks_and_mistakes(graded, capsys):
    assert marks.main([str(graded.classroom.folder)]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0].split() == ["Student", "Assignment", "Marks", "What", "was", "found"]
    assert any(line.startswith("Ada Kowalska") and ASSIGNMENT in line and "31.5 of 32" in line for line in lines)
    assert any(line.startswith("Bảo Nguyễn") and "28 of 28 (+4)" in line for line in lines)
    assert any("Chloé Dubois" in line and "attention_weights: softmax over queries" in line for line in lines)
    assert any("Fatou Diop" in line and "0 of 32" in line and "5 exercises not attempted" in line for line in lines)
    assert any("attention_weights: raises AttributeError" in line for line in lines)
    assert any("SelfAttention: stopped with NameError" in line for line in lines)
    assert "(+4): points for answers that a person has yet to mark" in lines
    assert f"{graded.classroom.feedback}/STUDENT/ASSIGNMENT/ (8 pages)" in text
    assert str(graded.classroom.marks) in text


def test_what_came_late_is_said(graded, monkeypatch):
    monkeypatch.setattr(marks, "penalties", lambda classroom, assignment: {"ada": 3.5})
    assert [line.endswith("late: 3.5 points come off") for line in marks.class_table(graded.classroom).splitlines()
            if line.startswith(("Ada", "Bảo"))] == [True, False]


@pytest.mark.parametrize("option", [[], ["--classroom"]])
def test_without_a_gradebook_the_remedy_is_said(tmp_path, capsys, option):
    assert marks.main([*option, str(tmp_path / "here")]) == 1
    assert f"{tmp_path / 'here'} has no gradebook" in capsys.readouterr().err
    assert marks.main([str(tmp_path)]) == 1
    assert "has no gradebook yet; run `autograder grade` first" in capsys.readouterr().err


def test_marks_in_words():
    assert marks.marks_text(None, handed_in=True) == "could not be graded"
    assert marks.marks_text(None, handed_in=False) == "not handed in"
    assert marks.marks_text([Mark("a", 1.5, 2, False), Mark("b", 0, 4, True)], True) == "1.5 of 2 (+4)"


def test_a_misconception_keeps_its_symbols():
    assert title("divided_by_d_k") == "divided by d_k"
    assert title("divided_by_root_of_d_model") == "divided by root of d_model"
    assert title("softmax_over_queries") == "softmax over queries"


def test_columns_line_up_for_every_script():
    assert [width(text) for text in ("Ada", "Bảo", "田中", "e\u0301")] == [3, 3, 4, 1]
    assert padded("田中", 6) == "田中  "
    assert table(["a", "b"], [["田中", "x\ny"]]) == "a     b\n----  -\n田中  x\n      y"
