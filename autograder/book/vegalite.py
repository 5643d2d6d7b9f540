"""Vega-Lite figures in the built book, drawn without a network and without a kernel.

Altair's own HTML output loads Vega from a CDN.
Here a myst-nb renderer writes the chart's JSON into the page, and one script, bundled from what
`vl-convert-python` carries, draws it: in the page's theme, as wide as the page allows, again when the theme
changes, with the sliders left where the reader put them.
"""

import json
from html import escape
from pathlib import Path

import vl_convert
from docutils import nodes

MIME = "application/vnd.vegalite.v5+json"
FOR_PROGRAMS = "application/vnd.autograder."
"""Outputs that nobody reads, such as a report's data beside its HTML; myst-nb would warn about them."""

SCRIPT = "vegalite.js"
VEGA_LITE = "5.20"
CLASS = "vegalite"
START = Path(__file__).with_name("vegalite_start.js")


class VegaLiteRenderer:
    """Entry point of `myst_nb.mime_renderers`: a chart becomes a `figure` that holds its specification."""

    mime_priority_overrides = (("html", MIME, 1),)

    @staticmethod
    def handle_mime(renderer, data, inline):
        """The docutils nodes of a chart, or None for what another renderer should draw."""
        if data.mime_type.startswith(FOR_PROGRAMS):
            return []
        if inline or data.mime_type != MIME:
            return None
        node = nodes.raw(text=figure_html(data.content), format="html")
        node["classes"].append(CLASS)
        return [node]


def figure_html(spec: dict) -> str:
    """The HTML of one chart; its `description` is the text for those who cannot see it."""
    description = escape(spec.get("description", ""), quote=True)
    code = json.dumps(spec, sort_keys=True).replace("</", r"<\/")  # "</script>" in a label must not end the script
    return (
        f'<figure class="{CLASS}" role="group" aria-label="{description}"><div class="vegalite-chart"></div>'
        f'<script type="application/json">{code}</script>'
        f"<noscript><p>This figure needs JavaScript. {description}</p></noscript></figure>"
    )


def write_script(app) -> None:
    """Put the bundle beside the doctrees and have Sphinx copy it to `_static`."""
    folder = Path(app.doctreedir) / CLASS
    folder.mkdir(parents=True, exist_ok=True)
    bundle = vl_convert.javascript_bundle(vl_version=VEGA_LITE)
    # The bundle declares its names at the top level; in a function of its own they meet nobody else's.
    (folder / SCRIPT).write_text(f"(() => {{{bundle}\n{START.read_text(encoding='utf-8')}}})();", encoding="utf-8")
    app.config.html_static_path.append(str(folder))


def use_script(app, page, template, context, doctree) -> None:
    """Load the bundle (about a megabyte) on the pages that have a chart."""
    if doctree and any(CLASS in node["classes"] for node in doctree.findall(nodes.raw)):
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app) -> dict:
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", use_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
