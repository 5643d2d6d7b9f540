"""Charts become figures of the page, with their description and without markup that could escape."""

import json
import re
from types import SimpleNamespace

from autograder.book.vegalite import MIME, VegaLiteRenderer, figure_html

SPEC = {"mark": "bar", "description": 'Bars of "weights" <here>', "data": {"values": [{"a": "</script><b>"}]}}


def test_chart_is_described_and_its_data_survives():
    html = figure_html(SPEC)
    assert 'aria-label="Bars of &quot;weights&quot; &lt;here&gt;"' in html
    inside = re.search(r'<script type="application/json">(.*?)</script>', html).group(1)
    assert json.loads(inside) == SPEC


def render(mime, content, inline=False):
    return VegaLiteRenderer.handle_mime(None, SimpleNamespace(mime_type=mime, content=content), inline)


def test_renderer_takes_charts_only():
    (node,) = render(MIME, SPEC)
    assert node["classes"] == ["vegalite"]
    assert render("text/plain", "x") is None
    assert render(MIME, SPEC, inline=True) is None


def test_data_for_programs_is_left_out_of_the_page():
    assert render("application/vnd.autograder.report+json", {}) == []
