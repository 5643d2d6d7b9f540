"""The class report in a real browser without a network: in both themes, on a phone and on a desktop."""

import pytest
from class_tools import ASSIGNMENT

from autograder.classroom.report import gather, write

pytestmark = pytest.mark.browser
BARS = "[...document.querySelectorAll('svg rect')].filter(bar => bar.getBoundingClientRect().width > 1).length"


@pytest.fixture(scope="module")
def place(graded, tmp_path_factory):
    return write(gather(graded.classroom, ASSIGNMENT), tmp_path_factory.mktemp("report"))[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("columns", [360, 1280])
def test_it_fits_and_is_quiet(place, browser, columns, scheme):
    context = browser.new_context(viewport={"width": columns, "height": 900}, color_scheme=scheme, offline=True)
    page, asked, said = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(place.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= columns
    assert page.evaluate(BARS) > 30, "the bars are drawn"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 25, 31)"
    assert dark == (scheme == "dark")
    assert asked == [place.as_uri()] and said == []
    context.close()
