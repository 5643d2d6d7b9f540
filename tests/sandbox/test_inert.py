"""What a stranger wrote stays readable, can be stored, and cannot run."""

import pytest

from autograder.sandbox.inert import inert_bundle, inert_markdown, printable, printable_throughout


@pytest.mark.parametrize("text", [
    "Why $a < b$ and $x<3$?", "**bold**, `f(x) < 3`, <b>bold</b>, <br/>, <https://example.org/a?b=c>", "1 <2> 3",
    "A script: first this. Data: that. &nbsp; &lt;", "| a | b |\n|---|---|\n| 1 | 2 |",
    "<details><summary>x</summary>"])
def test_honest_markdown_stays_as_it_is(text):
    assert inert_markdown(text).replace("script :", "script:") == text


@pytest.mark.parametrize("text", [
    "<script>alert(1)</script>", "<IMG SRC=x onerror=alert(1)>", "<b onclick=x>", "<svg/onload=x>", "<!--", "<?php",
    "[x](javascript:alert(1))", "[x](JaVaScRiPt  :x)", "[x](javascript\\:x)", "[x](&#106;avascript&colon;x)",
    "[x](data:text/html,x)", r"$\href{javascript:x}{y}$", "<javascript:x>", "</textarea x><img src=x>"])
def test_nothing_active_is_left(text):
    found = inert_markdown(text).lower()
    assert "<" not in found.replace("< ", "") and "script:" not in found and "script\\:" not in found
    assert "&#" not in found and "&colon" not in found and "data:text" not in found


def test_only_known_forms_of_an_output_are_kept():
    data = {"text/plain": "x", "text/html": "<b>x</b><script>y</script>", "application/javascript": "alert(1)",
            "image/png": "aGk=", "image/jpeg": '"><script>', "image/svg+xml": "<svg onload='x'/>", "text/latex": 3,
            "application/vnd.autograder.report+json": {"score": 4}, "text/markdown": "<img src=x>"}
    assert inert_bundle(data) == {"text/plain": "x", "image/png": "aGk=", "text/html": "<b>x</b>",
                                  "text/markdown": "< img src=x>"}
    assert inert_bundle({"image/svg+xml": '<svg><use href="#a"/></svg>'}) == {
        "image/svg+xml": '<svg><use href="#a"/></svg>'}
    assert inert_bundle(["text/plain"]) == inert_bundle(None) == {}


def test_half_a_surrogate_pair_can_be_stored():
    assert printable("a\ud800b") == "a?b" and printable("λ 注意力 😀") == "λ 注意力 😀"
    assert printable_throughout({"\udfff": ["\ud800", 3, None]}) == {"?": ["?", 3, None]}
