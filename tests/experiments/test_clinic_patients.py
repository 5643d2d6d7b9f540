"""Each patient of the clinic has the symptom that the notebook speaks about, and no other patient's.

The margins are from seeds 0 to 4; one seed is trained here, and a healthy patient of each kind.
"""

import sys

import pytest
import torch

from autograder.experiments.clinic import BOS, EOS, FLOOR, HALF, PAD, sentences
from autograder.experiments.clinic_chart import case, healthy
from autograder.learner.clinic import examine
from autograder.reference import clinic

SEED = 1


def chart(number):
    return case(number, seed=SEED).chart


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_healthy_one_copies_and_guesses_nothing(number):
    found = healthy(number, SEED).chart
    assert found.first > FLOOR - 0.05 and found.second < 0.2 and found.spoken > 0.9 and found.cached > 0.9
    assert found.leak == found.twice == 0 and found.moved < 1e-5 and found.alone == 10
    assert found.ahead == 0 and found.lowest_row == pytest.approx(1)


def test_patient_1_is_asked_for_what_it_is_fed():
    found = chart(1)
    assert found.first < 0.1 and found.second < 0.1 and found.spoken < 0.5
    assert found.leak < 1e-5  # a later token is not how it knows


def test_patient_2_reads_the_future_through_sums_of_rows():
    trained = case(2, seed=SEED)
    patient, found = trained.patient, trained.chart
    assert found.first < 1.5 and found.leak > 0.5 and found.lowest_row < 0.5 and found.ahead == 0
    inputs = sentences(128, torch.Generator().manual_seed(99))[:, :-1]
    with torch.no_grad():
        corner = patient.map(inputs).mean(dim=1)[:, -1, -1]
    assert corner.max() < 0.6  # a softmax over the queries leaks as much, and makes this 1


def test_patient_3_reads_no_word():
    found = chart(3)
    assert found.second > 2 and found.on_words == 0
    assert healthy(3, SEED).chart.on_words == pytest.approx(1)


def test_patient_4_says_other_things_in_another_row():
    found = chart(4)
    assert found.second > 0.5 and found.moved > 0.02 and found.spoken < 0.7


def test_patients_5_and_6_differ_in_a_token_alone():
    merged, normed = chart(5), chart(6)
    for found in (merged, normed):
        assert found.first < 1 and found.leak > 0.5 and found.lowest_row == pytest.approx(1) and found.ahead == 0
    assert merged.alone == 10 and normed.alone == 1


def test_patient_7_has_the_parameters_of_one_layer():
    found, right = chart(7), healthy(7, SEED).chart
    assert found.second < 0.2  # on this task nothing else shows it
    assert (right.parameters, found.parameters) == (26_317, 13_613)


def test_patient_8_reports_a_loss_that_is_too_good():
    found, right = chart(8), healthy(8, SEED).chart
    assert found.reported < 0.7 * right.reported and abs(found.first - right.first) < 0.3
    assert found.reported < 1.69  # ln(12 + e) - 1, the least that is possible with a softmax in front of the loss


def test_patient_9_gives_two_answers_to_one_question():
    found = chart(9)
    assert found.twice > 0.005 and found.second < 0.2


def test_patient_10_loses_its_place_with_a_cache():
    found = chart(10)
    assert found.spoken > 0.9 and found.cached < 0.6


def test_sentences_are_copies():
    plain = sentences(5, torch.Generator().manual_seed(0))
    assert torch.equal(plain[:, 1 : HALF + 1], plain[:, HALF + 1 : -1])
    assert set(plain[:, 0].tolist()) == {BOS} and set(plain[:, -1].tolist()) == {EOS}
    padded = sentences(64, torch.Generator().manual_seed(0), padded=True)
    first, second, ends = padded[:, 1 : HALF + 1], padded[:, HALF + 1 : 2 * HALF + 1], padded[:, HALF + 1 :]
    lengths = (first < 10).sum(1)
    assert lengths.min() == 2 and lengths.max() == HALF
    for row, again, end, n in zip(first, second, ends, lengths.tolist(), strict=True):
        assert torch.equal(row[:n], again[:n]) and (row[n:] == EOS).all()
        assert end[n] == EOS and (end[n + 1 :] == PAD).all()


def test_examine_shows_a_patient_and_a_part_in_its_place(capsys, monkeypatch):
    monkeypatch.setattr("autograder.experiments.clinic.STEPS", 6)
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    for part in (None, clinic.clinic_8):
        examine(8, part)
        printed = capsys.readouterr().out
        assert "patient 8" in printed and "asked for:" in printed and "weight of a word on words" in printed
    with pytest.raises(ValueError, match="no patient 11"):
        examine(11)


def test_where_the_patients_are_not_it_says_so(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "autograder.experiments.clinic_chart", None)  # as in a class's sandbox
    examine(3)
    assert capsys.readouterr().out == "The patients are not on this machine; your answers are judged without them.\n"
