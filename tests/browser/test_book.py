"""The built book in a real browser, with every network but the local one shut off."""

import functools
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import expect
from visits import Visit, until_drawn

from autograder.book.chapters import ROOT
from autograder.judging.catalogue import all_exercises

pytestmark = pytest.mark.browser
THEMES, WIDTHS = ("light", "dark"), (360, 1280)


def table_of_contents() -> list[str]:
    """Every page of _toc.yml, in order."""

    def files(entry):
        if isinstance(entry, dict):
            if "file" in entry or "root" in entry:
                yield entry.get("file", entry.get("root"))
            for key in ("parts", "chapters", "sections"):
                yield from files(entry.get(key, []))
        else:
            for child in entry:
                yield from files(child)

    return list(files(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))


PAGES = table_of_contents()
LEAST_FORMULAS = {"book/index": 1, "book/conventions": 20}
CHAPTER_PAGES = [page for page in PAGES if page.startswith("book/0") or page.startswith("book/1")]
LEAST_FORMULAS |= dict.fromkeys(CHAPTER_PAGES, 30) | {"book/10_families": 20, "book/12_takeaways": 15}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_page_reads_offline(visit, name, theme):
    page = visit(name, theme=theme, width=WIDTHS[0])
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    formulas = page.locator(".math")
    without = page.locator(".math:not(:has(mjx-container))")
    assert formulas.count() >= LEAST_FORMULAS.get(name, 0), "the page has lost its formulas"
    assert without.count() == 0, f"{without.count()} of {formulas.count()} formulas are not drawn"
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert page.locator("mjx-c.mjx-c5C").count() == 0, "a formula shows a backslash"
    broken = page.evaluate("[...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)")
    assert not broken, f"not drawn: {broken}"
    mute = page.evaluate("[...document.querySelectorAll('.bd-article img:not([alt])')].map((i) => i.src)")
    assert not mute, f"without alt text: {mute}"
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"the page is {overflow} pixels wider than {width}"


def test_front_door_leads_to_the_book(visit):
    page = visit("index")
    page.wait_for_url("**/book/index.html")
    assert page.title()


def test_search_finds_a_chapter(visit):
    page = visit("search")
    page.locator("main input[name=q], .bd-search input[name=q]").first.wait_for(state="attached")
    page.goto(page.url + "?q=softmax")
    page.locator("#search-results li a").first.wait_for()


@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_chapter_opens_from_the_file_system(browser, built, name):
    """Reports link to the locally built pages as file:// addresses."""
    start = built.as_uri()
    visit = Visit(browser, start)
    page = visit.open(f"{start}/{name}.html")
    assert page.locator("mjx-container").count() > 0
    visit.context.close()
    assert not visit.faults, visit.faults


def drawing(page) -> str:
    return page.locator("figure.vegalite svg").first.inner_html()


def press_and_compare(page, control, key: str) -> None:
    """The picture changes when a key is pressed on a control."""
    before = drawing(page)
    control.focus()
    page.keyboard.press(key)
    page.wait_for_function("(old) => document.querySelector('figure.vegalite svg').innerHTML !== old", arg=before)


@pytest.mark.parametrize("theme", THEMES)
def test_slider_of_chapter_5_changes_the_picture(visit, theme):
    page = visit("book/05_scaling", theme=theme)
    slider = page.locator("figure.vegalite input[type=range]").first
    press_and_compare(page, slider, "End")
    press_and_compare(page, slider, "ArrowLeft")


@pytest.mark.parametrize("width", WIDTHS)
def test_head_picker_of_chapter_4_changes_the_picture(visit, width):
    page = visit("book/04_self_attention", width=width)
    picker = page.locator("figure.vegalite .vega-bind", has_text="Head").locator("select")
    press_and_compare(page, picker, "ArrowDown")


@pytest.mark.parametrize(("width", "touch"), [(360, True), (1280, False)], ids=["finger", "mouse"])
def test_example_of_chapter_1_follows_the_pointer_and_the_menu(visit, width, touch):
    page = visit("book/01_bottleneck", width=width, touch=touch)
    figure = page.locator("figure.vegalite").first
    menu, before = figure.locator("select"), drawing(page)
    figure.scroll_into_view_if_needed()
    box = figure.locator(".mark-rect path").last.bounding_box()  # the column of the longest sentences
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3
    (page.touchscreen.tap if touch else page.mouse.move)(x, y)
    page.wait_for_function("(old) => document.querySelector('figure.vegalite svg').innerHTML !== old", arg=before)
    assert menu.input_value() == "36–40"
    press_and_compare(page, menu, "ArrowUp")
    assert menu.input_value() == "31–35"
    page.mouse.move(0, 0)  # else the pointer picks again as soon as the chart is drawn anew
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    until_drawn(page)
    expect(figure.locator("select")).to_have_value("31–35")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_of_chapter_2_shows_where_it_looks(visit, width):
    """Pointing at a target word and choosing it in the list do the same, in both figures."""
    page = visit("book/02_bahdanau", width=width)
    for figure, word, choice in [(0, "fromage", "12 fromage"), (1, "cheese", "10 cheese")]:
        chart = page.locator("figure.vegalite").nth(figure)
        picker, before = chart.locator(".vega-bind select"), chart.locator("svg").inner_html()
        chart.locator("svg text").get_by_text(word, exact=True).last.hover(force=True)
        page.wait_for_function("([select, value]) => select.value === value", arg=[picker.element_handle(), choice])
        pointed = chart.locator("svg").inner_html()
        assert pointed != before
        picker.focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_function("([svg, old]) => svg.innerHTML !== old",
                               arg=[chart.locator("svg").element_handle(), pointed])


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_of_chapter_6_shows_where_a_head_looks(visit, width):
    """Pointing at a word and moving the slider choose it; sentence, layer and head change the picture too."""
    page = visit("book/06_multi_head", width=width)
    figure = page.locator("figure.vegalite").first
    slider, before = figure.locator("input[type=range]"), drawing(page)
    figure.locator("svg text").get_by_text("castle", exact=True).first.hover(force=True)
    page.wait_for_function("(slider) => slider.value === '6'", arg=slider.element_handle())
    assert drawing(page) != before
    page.mouse.move(0, 0)
    press_and_compare(page, slider, "ArrowRight")
    for name in ("Sentence", "Layer", "Head"):
        press_and_compare(page, figure.locator(".vega-bind", has_text=name).locator("select"), "ArrowDown")


@pytest.mark.parametrize("width", WIDTHS)
def test_hands_of_chapter_7_turn(visit, width):
    """The position turns both hands together; only offset and pair change the angle between them."""
    page = visit("book/07_positional_encoding", width=width)
    figure = page.locator("figure.vegalite").first
    angle = figure.locator("svg text", has_text="turned by")

    def after(name: str) -> str:
        slider = figure.locator(".vega-bind", has_text=name).locator("input[type=range]")
        press_and_compare(page, slider, "ArrowRight")
        return angle.text_content()

    first = angle.text_content()
    assert after("position") == first
    second = after("offset")
    assert first != second and after("pair") not in (first, second)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_and_a_head_of_chapter_8_show_where_it_looks(visit, width):
    """A target word is chosen with the pointer or in its list, a head in another, and either redraws the lines."""
    page = visit("book/08_transformer", width=width)
    chart = page.locator("figure.vegalite").first
    word, head = (chart.locator(".vega-bind", has_text=name).locator("select") for name in ("Word", "Head"))
    before = drawing(page)
    chart.locator("svg text").get_by_text("fromage", exact=True).last.hover(force=True)
    page.wait_for_function("([select, value]) => select.value === value", arg=[word.element_handle(), "12 fromage"])
    assert drawing(page) != before
    press_and_compare(page, head, "ArrowDown")
    press_and_compare(page, word, "ArrowUp")


@pytest.mark.parametrize("width", WIDTHS)
def test_costs_of_chapter_9_follow_the_sliders(visit, width):
    """The RNN's steps follow n, only the convolution's work follows k, and d changes the work of all."""
    page = visit("book/09_comparison", width=width)
    figure = page.locator("figure.vegalite").first

    def words() -> list[str]:
        return figure.locator("svg .mark-text text").all_text_contents()

    def after(name: str) -> list[str]:
        slider = figure.locator(".vega-bind", has_text=name).locator("input[type=range]")
        press_and_compare(page, slider, "ArrowRight")
        return words()

    def changed(before: list[str], now: list[str]) -> int:
        return sum(old != new for old, new in zip(before, now, strict=True))

    assert "1,024" in words()
    first = after("log₂ n")
    assert "2,048" in first and "2,047" in first
    second = after("k")
    assert changed(first, second) == 2, "the convolution's work and path"
    assert changed(second, after("log₂ d")) == 4, "the head and three counts"


@pytest.mark.parametrize(("width", "touch"), [(360, True), (1280, False)], ids=["finger", "mouse"])
def test_stops_of_chapter_12_open_with_a_click_and_from_the_list(visit, width, touch):
    page = visit("book/12_takeaways", width=width, touch=touch)
    figure = page.locator("figure.vegalite").first
    menu, before = figure.locator("select"), drawing(page)
    figure.scroll_into_view_if_needed()
    box = figure.locator(".mark-symbol path").first.bounding_box()
    (page.touchscreen.tap if touch else page.mouse.click)(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function("(old) => document.querySelector('figure.vegalite svg').innerHTML !== old", arg=before)
    assert menu.input_value() == "1 One vector"
    press_and_compare(page, menu, "ArrowDown")
    figure.locator("svg text", has_text="Open chapter 2").click(force=True)
    page.wait_for_url("**/book/02_bahdanau.html#claim-c20")


def test_a_new_theme_keeps_what_the_reader_set(visit):
    page = visit("book/05_scaling")
    slider = page.locator("figure.vegalite input[type=range]").first
    press_and_compare(page, slider, "Home")
    value, before = slider.input_value(), drawing(page)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    until_drawn(page)
    assert drawing(page) != before
    expect(page.locator("figure.vegalite input[type=range]").first).to_have_value(value)
    expect(page.locator("figure.vegalite .vega-bindings")).to_have_count(page.locator("figure.vegalite").count())


def test_paper_is_white(visit):
    page = visit("book/conventions", theme="dark")
    shade = "getComputedStyle(document.body).backgroundColor"
    on_screen = page.evaluate(shade)
    page.emulate_media(media="print")
    page.wait_for_function(f"{shade} === 'rgb(255, 255, 255)'")
    page.emulate_media(media="screen")
    page.wait_for_function(f"{shade} === '{on_screen}'")
    assert on_screen != "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_quiz_answers_every_option(visit, name, width):
    page = visit(name, width=width)
    questions = page.locator(".Quiz[id^=quizWrap]")
    assert questions.count() == 4
    for question in questions.all():
        feedback = question.locator(".Feedback")
        assert feedback.get_attribute("aria-live") == "polite"
        assert question.locator("[role=radiogroup]").count() == 1
        seen = set()
        for option in question.locator(".MCButton").all():
            option.click()
            words = feedback.inner_text()
            right = option.get_attribute("data-correct") == "true"
            assert ("correct" if right else "incorrect") in feedback.get_attribute("class").split()
            seen.add(words)
        assert "" not in seen and len(seen) == question.locator(".MCButton").count(), "each option has its own words"


def test_quiz_works_by_keyboard(visit):
    page = visit("book/04_self_attention")
    question = page.locator(".Quiz[id^=quizWrap]").first
    question.locator("input[type=radio]").first.focus()
    page.keyboard.press("Space")
    first = question.locator(".Feedback").inner_text()
    page.keyboard.press("ArrowDown")
    assert first
    assert question.locator(".Feedback").inner_text() not in ("", first)


@functools.cache
def anchors(path: Path) -> frozenset[str]:
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    return frozenset(tag["id"] for tag in soup.find_all(id=True))


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(built, name):
    source = built / f"{name}.html"
    soup = BeautifulSoup(source.read_text(encoding="utf-8"), "html.parser")
    dead = []
    for link in soup.find_all("a", href=True):
        parts = urlsplit(link["href"])
        if parts.scheme or parts.netloc:
            assert parts.scheme in ("http", "https", "mailto"), link["href"]
            continue
        target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
        if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in anchors(target)):
            dead.append(link["href"])
    assert not dead


def test_reports_lead_to_the_paragraph_of_the_mistake(built):
    for exercise in all_exercises().values():
        for misconception in exercise.misconceptions:
            page, _, anchor = misconception.see.partition("#")
            assert anchor in anchors(built / "book" / f"{page}.html"), f"{exercise.name}, {misconception.name}"


def test_page_of_claims_leads_into_the_chapters(built):
    soup = BeautifulSoup((built / "book" / "claims.html").read_text(encoding="utf-8"), "html.parser")
    links = [link["href"] for link in soup.select(".claim a[href*='#claim-c']")]
    assert len(links) >= 10


def test_exercise_pages_can_be_downloaded_as_notebooks(built):
    for name in (page for page in PAGES if page.startswith("exercises/")):
        soup = BeautifulSoup((built / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        link = soup.select_one(".btn-download-source-button")
        assert link and ((built / name).parent / link["href"]).resolve().is_file()
        assert link["href"].endswith(".ipynb")
