"""The map on the first page is made from the list of chapters."""

from xml.etree import ElementTree

from autograder.book.chapters import BOOK, CHAPTERS, PARTS
from autograder.book.road import chapter_map, files, main, road_html


def test_committed_files_are_up_to_date():
    assert main(["--check"]) == 0
    for path, text in files().items():
        assert path.read_text(encoding="utf-8") == text


def test_stale_file_is_noticed(tmp_path, monkeypatch, capsys):
    path = BOOK / "_static" / "road.html"
    monkeypatch.setattr("autograder.book.road.files", lambda: {path: "something else"})
    assert main(["--check"]) == 1
    assert "Run `autograder road`" in capsys.readouterr().err


def test_twelve_chapters_in_order():
    assert [chapter.number for chapter in CHAPTERS] == list(range(1, 13))
    assert [chapter.part for chapter in CHAPTERS] == sorted((c.part for c in CHAPTERS), key=list(PARTS).index)


def test_unwritten_chapters_are_marked_and_not_linked(tmp_path):
    (tmp_path / "04_self_attention.ipynb").write_text("{}")
    text = chapter_map(tmp_path)
    assert text.count("[to come]") == 11
    assert "](04_self_attention.ipynb)" in text
    assert "05_scaling.ipynb" not in text
    html = road_html(tmp_path)
    assert html.count('href="04_self_attention.html"') == 2  # once in each drawing
    assert html.count("href=") == 2


def test_road_is_well_formed_and_inside_its_frame():
    text = road_html().split("-->\n", 1)[1]
    figure = ElementTree.fromstring(text)
    drawings = figure.findall("svg")
    assert len(drawings) == 2
    for drawing in drawings:
        _, _, width, height = map(float, drawing.get("viewBox").split())
        circles = drawing.findall(".//circle")
        assert len(circles) == 12
        for circle in circles:
            x, y, r = (float(circle.get(name)) for name in ("cx", "cy", "r"))
            assert r <= x <= width - r and r <= y <= height - r
        for words in drawing.findall(".//text"):
            assert float(words.get("y")) > 8
