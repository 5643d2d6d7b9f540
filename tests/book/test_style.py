"""The figures' look: legible in both themes and for colour-blind readers."""

import itertools
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from autograder.book.chapters import BOOK
from autograder.book.style import INK, PAGES, PALETTE, contrast, heat_map, luminance, use_course_style

# Machado, Oliveira and Fernandes (2009): what the two common kinds of colour blindness see, in linear RGB.
DEFICIENCIES = {
    "protanopia": [[0.1521, 1.0526, -0.2047], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "deuteranopia": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6728, 0.0471], [-0.0118, 0.0430, 0.9688]],
}


@pytest.fixture(autouse=True)
def course_style():
    with plt.rc_context():
        use_course_style()
        yield
        plt.close("all")


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_colours_stand_out_from_both_pages(page):
    assert min(contrast(colour, page) for colour in PALETTE.values()) > 3.4
    assert contrast(INK, page) > 4


def test_contrast_is_that_of_the_standard():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert luminance("#777777") == pytest.approx(0.1845, abs=1e-3)


def test_pages_are_those_of_the_stylesheet():
    css = (BOOK / "_static" / "course.css").read_text(encoding="utf-8")
    for theme, colour in PAGES.items():
        block = re.search(rf'html\[data-theme="{theme}"\] \{{(.*?)\}}', css, flags=re.DOTALL).group(1)
        assert f"--pst-color-background: {colour};" in block


@pytest.mark.parametrize("matrix", DEFICIENCIES.values(), ids=DEFICIENCIES)
def test_the_first_three_colours_differ_for_colour_blind_readers(matrix):
    seen = {name: np.clip(np.array(matrix) @ linear(PALETTE[name]), 0, 1) for name in ("blue", "orange", "green")}
    for one, other in itertools.combinations(seen.values(), 2):
        assert np.abs(one ** (1 / 2.4) - other ** (1 / 2.4)).max() > 0.15


def linear(colour):
    return np.array(to_rgb(colour)) ** 2.4


def test_lines_differ_without_colour():
    cycle = plt.rcParams["axes.prop_cycle"].by_key()
    assert len(set(map(str, cycle["linestyle"]))) == len(cycle["color"]) == len(PALETTE)


def test_heat_map_labels_its_cells_legibly():
    _, ax = plt.subplots()
    heat_map(ax, [[0.0, 1.0], [0.5, 0.25]], ["a", "b"], ["long", "words"], decimals=2, vmin=0, vmax=1)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [text.get_text() for text in ax.texts] == ["0.00", "1.00", "0.50", "0.25"]
    cells = [(0.0, 0), (1.0, 1), (0.5, 2), (0.25, 3)]
    image = ax.images[0]
    for value, index in cells:
        assert contrast(ax.texts[index].get_color(), image.cmap(image.norm(value))) > 4.5


def test_heat_map_refuses_a_wrong_number_of_labels():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="1 column labels for 2 columns"):
        heat_map(ax, [[0.0, 1.0]], ["a"], ["one"])
