"""Reports: the same facts as text, HTML and data; nothing of the learner's is trusted."""

import json
import re
from dataclasses import replace

import pytest
import torch

from autograder import check, hint, judge
from autograder.judging.catalogue import find_exercise
from autograder.judging.report import Example
from autograder.learner.checking import HINTS_SHOWN
from autograder.reference import attention, positional_encoding
from autograder.reporting.display import as_data
from autograder.reporting.html import _cell, as_html
from autograder.reporting.text import as_text, example_as_text


def not_scaled_twice(query, key, value):
    weights = (query @ key.transpose(-2, -1)).softmax(-1)
    return weights @ value, weights


@pytest.fixture
def wrong():
    return judge(not_scaled_twice, exercise="scaled_dot_product_attention")


def test_the_text_names_the_mistake_and_the_place_in_the_book(wrong, monkeypatch):
    monkeypatch.setenv("BOOK_URL", "https://example.org/book/")
    text = as_text(wrong)
    assert "Looks like: not scaled." in text
    assert "https://example.org/book/05_scaling.html#mistake-no-scaling" in text
    assert "[does not hold]" in text and "[holds]" in text


def test_the_html_says_what_the_text_says(wrong, monkeypatch):
    monkeypatch.setenv("BOOK_URL", ".")
    html = as_html(wrong)
    words = re.sub(r"<[^>]+>", " ", html)
    assert "not scaled" in words and "Does not hold" in words
    assert 'href="./05_scaling.html#mistake-no-scaling"' in html
    assert "aria-label" in html and "<script" not in html and "<style" not in html


def test_what_the_learner_wrote_is_escaped():
    def attention_weights(scores):
        print("<img src=x onerror=alert(1)>")
        raise ValueError("<script>alert(1)</script>")

    html = as_html(judge(attention_weights))
    assert "<script" not in html and "<img" not in html


def test_a_stub_gets_a_friendly_line():
    def attention_weights(scores):
        raise NotImplementedError

    for text in (as_text(judge(attention_weights)), as_html(judge(attention_weights))):
        assert "Not attempted yet" in text and "Does not hold" not in text


def test_the_data_is_json_without_values(wrong):
    data = json.loads(json.dumps(as_data(wrong)))
    assert data["diagnoses"] == ["not_scaled"] and data["score"] == wrong.score
    assert {"criterion", "status", "points", "earned"} <= data["outcomes"][0].keys()
    assert "message" not in data["outcomes"][0]


def test_check_returns_a_plain_float_and_writes_nothing_to_stderr(capsys):
    score = check(attention.attention_scores)
    out, err = capsys.readouterr()
    assert score == 4.0 and type(score) is float
    assert "attention_scores: 4 of 4 points" in out and err == ""


def test_check_judges_with_the_secret_seed_while_grading(monkeypatch, capsys):
    monkeypatch.setenv("AUTOGRADER_SEED", "12")
    assert check(not_scaled_twice, exercise="scaled_dot_product_attention") == judge(
        not_scaled_twice, seed=12, exercise="scaled_dot_product_attention").score
    monkeypatch.setenv("AUTOGRADER_SEED", "twelve")
    with pytest.raises(ValueError, match="twelve"):
        check(attention.attention_scores)


def test_hints_come_one_at_a_time_and_stop_at_the_last(capsys):
    HINTS_SHOWN.clear()
    total = len(find_exercise("attention_weights").hints)
    for _ in range(total + 1):
        hint("attention_weights")
    shown = re.findall(r"Hint (\d) of (\d)", capsys.readouterr().out)
    assert [int(n) for n, _ in shown] == [*range(1, total + 1), total]
    with pytest.raises(LookupError, match="attention_weights"):
        hint("attention_weight")


def test_of_a_long_result_the_first_wrong_rows_are_shown():
    def sinusoidal_encoding(max_len, d_model):
        return positional_encoding.sinusoidal_encoding(max_len, d_model)[torch.arange(max_len) % 100]

    report = judge(sinusoidal_encoding)
    examples = [outcome.example for outcome in report.outcomes if outcome.example]
    assert [list(example.results) for example in examples] == [[f"table, row {n}" for n in (100, 101, 102)]]
    assert "table, row 100, yours: [0.0, 1.0" in as_text(report)
    assert "The first rows that go wrong" in as_html(report)


def test_no_minus_zero_is_printed():
    text = example_as_text(Example({}, {"bias": (torch.tensor([-0.0, 1.0]), torch.tensor([[-0.0]]))}))
    assert text == "bias, yours: [0.0, 1.0]\nbias, right: [[0.0]]"
    assert "-0" not in _cell(-0.0, wrong=False)


def test_criteria_that_wait_have_words_of_their_own(wrong):
    text, html = as_text(wrong), as_html(wrong)
    waiting = [outcome for outcome in wrong.outcomes if outcome.status == "not_looked_at"]
    assert waiting and text.count("[not looked at yet]") == html.count("Not looked at yet:") == len(waiting)
    assert f"{len(waiting)} are not looked at before the result is right." in text
    assert text.count("This is judged as soon as the result is right.") == 1 and "The same as above" not in text
    assert f"Not looked at before the result is right ({len(waiting)})" in html
    assert {outcome["status"] for outcome in as_data(wrong)["outcomes"]} == {"failed", "not_looked_at", "passed"}


def test_a_part_that_is_wrong_comes_first(wrong):
    report = replace(wrong, broken={"ffn": "FeedForward"})
    first = as_text(report).splitlines()[2]
    assert first.startswith("First look at `ffn`") and first.endswith("the arguments that it is constructed with here.")
    assert "<code>ffn</code>" in as_html(report)
