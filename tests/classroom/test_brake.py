"""Ctrl-C ends a grading between two submissions, whatever it comes in the middle of."""

import signal

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from autograder import cli
from autograder.classroom import pipeline
from autograder.classroom.brake import Brake
from autograder.classroom.folders import Classroom


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def said():
    return []


@pytest.fixture
def brake(said):
    with Brake(said.append) as brake:
        yield brake
        brake.pressed = False


def test_work_on_one_item_is_done_before_it_stops(brake, said):
    done = []
    with pytest.raises(KeyboardInterrupt):
        for item in brake.between("abc"):
            if item == "b":
                ctrl_c()
            done.append(item)
    assert done == ["a", "b"] and said == ["Stopping as soon as this step is done; Ctrl-C once more stops at once."]


def test_waiting_for_an_item_stops_at_once(brake, said):
    def items():
        yield "a"
        ctrl_c()
        pytest.fail("Nobody waits for this any more.")

    done = []
    with pytest.raises(KeyboardInterrupt):
        done.extend(brake.between(items()))
    assert done == ["a"] and said == []


def test_the_second_stops_in_the_middle(brake):
    with pytest.raises(KeyboardInterrupt):
        for _ in brake.between("abc"):
            ctrl_c()
            ctrl_c()
            pytest.fail("The second one did not stop it.")


def test_one_that_comes_in_the_last_step_still_tells_the_caller(said):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Brake(said.append):
        ctrl_c()
        said.append("the last step")
    assert said[1:] == ["the last step"] and signal.getsignal(signal.SIGINT) is before


def test_an_error_is_not_hidden_by_it(said):
    with pytest.raises(OSError, match="full"), Brake(said.append):
        ctrl_c()
        raise OSError("the disk is full")


def test_in_the_middle_of_the_gradebook_s_tidying_up_it_breaks_nothing(tmp_path, capsys):
    room = Classroom(tmp_path / "class")
    for student in ("ada", "bao"):
        (room.submitted / student / "05_scaling").mkdir(parents=True)  # nothing to run: a gradebook is what it takes
    pressed = []

    def press(*connection):
        if not pressed and (room.autograded / "ada").exists():
            pressed.append(ctrl_c())

    event.listen(Pool, "reset", press)
    try:
        assert cli.main(["grade", "--classroom", str(room.folder), "--no-sandbox"]) == 130
    finally:
        event.remove(Pool, "reset", press)
    out, err = capsys.readouterr()
    assert "Stopping as soon as" in out and "  1/2  ada  " in out and "bao" not in out
    assert err.endswith("\ngrade: stopped. What is done is kept: the same command goes on from here.\n")
    assert "Traceback" not in err and "Exception" not in err
    assert cli.main(["grade", "--classroom", str(room.folder), "--no-sandbox"]) == 0
    assert "1 of 2 submissions are graded already" in capsys.readouterr().out


def test_before_any_grading_it_is_one_line_as_in_every_command(monkeypatch, capsys):
    monkeypatch.setattr(pipeline, "arguments", lambda argv: ctrl_c())
    assert cli.main(["grade"]) == 130
    assert capsys.readouterr().err == "\ngrade: stopped.\n"
