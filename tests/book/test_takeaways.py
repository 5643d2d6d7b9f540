"""Chapter 12 looks back: its two roads name places that the book has, and what it recalls is what was printed."""

import re
from xml.etree import ElementTree

import nbformat
import pytest

from autograder.book import recap
from autograder.book.chapters import BOOK, CHAPTERS
from autograder.book.claims import Claim, read_claims
from autograder.book.one_page import PICTURE, WIDTH, WORDS, one_page
from autograder.book.stations import LINE, STATIONS, open_road

SVG = "{http://www.w3.org/2000/svg}"


def test_stations_are_the_chapters():
    assert [station.id for station in STATIONS] == [chapter.id for chapter in CHAPTERS]


@pytest.mark.parametrize("station", STATIONS, ids=lambda station: station.id)
def test_a_station_leads_to_a_label_and_its_lines_fit(station):
    assert max(map(len, (station.says, station.formula, station.shapes, station.cost))) <= LINE
    page = BOOK / f"{station.id}.ipynb"
    if page.exists():
        cells = nbformat.read(page, as_version=4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        assert not station.place or f"({station.place})=" in text


def test_page_of_the_whole_road_is_well_formed_and_inside_its_frame():
    root = ElementTree.fromstring(one_page())
    _, _, width, height = map(float, root.get("viewBox").split())
    assert width == WIDTH
    numbers = [node.text for node in root.iter(f"{SVG}text") if node.get("font-weight") and node.text.isdigit()]
    assert numbers == [str(chapter.number) for chapter in CHAPTERS]
    for node in root.iter(f"{SVG}text"):
        size = float(node.get("font-size"))
        assert size >= 13, "too small for a phone"
        if node.get("x") == str(WORDS):  # letters are about 0.55 of their size wide
            assert WORDS + 0.55 * size * len(node.text) <= PICTURE + 10, node.text
        assert 0 < float(node.get("y")) < height


def test_road_to_open_starts_at_a_station_of_its_list():
    spec = open_road().to_dict()
    (pick,) = (param for param in spec["params"] if param["name"] == "pick")
    names = [station.name for station in STATIONS]
    assert pick["bind"]["station"]["options"] == names
    assert pick["value"][0]["station"] in names
    rows = spec["data"]["values"]
    assert all(re.search(rf"/{station.id}\.html", row["link"]) for station, row in zip(STATIONS, rows, strict=True))


def test_recall_prints_what_the_chapter_printed(capsys):
    claim = next(claim for claim in read_claims() if claim.id == "C12")
    recap.recall("C12")
    printed = capsys.readouterr().out
    assert " ".join(printed.split()) == f"C12: {recap.measured(claim)}"
    assert max(map(len, printed.splitlines())) <= recap.WIDTH


def test_what_no_cell_settles_is_recalled_by_its_verdict():
    assert recap.measured(Claim("C01", "It was published.", "cited", cite=("a",))) == "cited"


def test_an_unknown_claim_is_refused():
    with pytest.raises(KeyError, match="C999"):
        recap.recall("C999")


@pytest.mark.parametrize(("value", "words"), [(2e-28, "2e-28"), (0, "0"), (0.62, "0.6"), (8.0, "8"), (151.2, "151")])
def test_numbers_are_short(value, words):
    assert recap.figure(value) == words
