"""A feedback page in a real browser without a network: in both themes, on a phone and on a desktop."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
DRAWN = "[...document.querySelectorAll('math')].filter(formula => formula.getBoundingClientRect().width > 0).length"
DARK_PAGE = "rgb(21, 25, 31)"


@pytest.fixture(params=[(360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")], ids=str)
def page(request, browser):
    columns, scheme = request.param
    context = browser.new_context(viewport={"width": columns, "height": 900}, color_scheme=scheme, offline=True,
                                  reduced_motion="reduce")
    page = context.new_page()
    page.columns, page.scheme, page.asked, page.said = columns, scheme, [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.said.append(message.text))
    yield page
    context.close()


def test_it_is_complete_and_quiet(graded, page):
    page.goto(graded.page("esra").as_uri())
    assert page.evaluate(DRAWN) > 10
    assert page.evaluate("document.documentElement.scrollWidth") <= page.columns
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == DARK_PAGE) == (page.scheme == "dark")
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []
    assert page.said == []


def test_the_table_of_marks_leads_to_the_reports(graded, page):
    page.goto(graded.page("esra").as_uri())
    page.click("table.marks tbody tr:nth-child(3) a")
    expect(page.locator(":target")).to_be_in_viewport()
    expect(page).to_have_url(re.compile("#check_attention_weights$"))
    page.locator(":target").get_by_text("Back to the marks").click()
    expect(page.locator("#marks-heading")).to_be_in_viewport()


def test_everything_is_reached_by_keyboard(graded, page):
    page.goto(graded.page("esra").as_uri())
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the marks")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#marks$"))
    first = page.locator("details:has(> summary)").first
    first.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(first).to_have_attribute("open", "")
