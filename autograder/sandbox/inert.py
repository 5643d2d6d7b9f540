"""Text and pictures that a stranger made, without anything that could run where a person looks at them.

What leaves a sandbox, and what a learner wrote as Markdown, is made harmless before it is stored: pages that show it
later (feedback, formgrader, JupyterLab) are then harmless whatever they do with it. They sanitise once more.
"""

import re
from typing import Any

from autograder.classroom.markup import sanitise

PICTURES = ("image/png", "image/jpeg")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")

TAG = re.compile(r"<(?=[A-Za-z/!?])")
HARMLESS_TAG = re.compile(
    r"</?(?:b|i|em|strong|sub|sup|br|hr|p|u|s|code|kbd|pre|mark|small|ul|ol|li|table|thead|tbody|tr|td|th|h[1-6]"
    r"|blockquote|div|span|details|summary)\s*/?>|<https?://[^\s<>\"']*>", re.IGNORECASE)
SCHEME = re.compile(r"(script|data(?=:(?:text|application)))(\s*\\*:)", re.IGNORECASE)
DISGUISE = re.compile(r"&(?=#|Tab;|NewLine;|colon;)", re.IGNORECASE)
ACTIVE_SVG = re.compile(r"script|foreignobject|\bon\w+\s*=|<!entity|href\s*=\s*(?![\"']#)|&#", re.IGNORECASE)


def printable(text: str) -> str:
    """Text that can be written as UTF-8: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def printable_throughout(value: Any) -> Any:
    """The same for every text of nested data."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return [printable_throughout(part) for part in value]
    if isinstance(value, dict):
        return {printable(str(key)): printable_throughout(part) for key, part in value.items()}
    return value


def inert_markdown(source: str) -> str:
    """Markdown that stays readable as it was written and in which no HTML tag with attributes and no script is left.

    A space after "<" is all that it takes for a browser to see no tag, and one before the colon for it to see no
    scheme, so the text stays the learner's own.
    """
    source = DISGUISE.sub("&amp;", printable(source))
    source = TAG.sub(lambda found: "<" if HARMLESS_TAG.match(source, found.start()) else "< ", source)
    return SCHEME.sub(r"\1 \2", source)


def inert_bundle(data: Any) -> dict[str, str]:
    """What a cell displayed, in the forms that a page may show; everything else is left out."""
    data = data if isinstance(data, dict) else {}
    texts = {kind: printable(value) for kind, value in data.items() if isinstance(value, str)}
    kept = {"text/plain": texts["text/plain"]} if "text/plain" in texts else {}
    kept |= {kind: texts[kind] for kind in PICTURES if BASE64.fullmatch(texts.get(kind, "?"))}
    if "text/html" in texts:
        kept["text/html"] = SCHEME.sub(r"\1 \2", sanitise(texts["text/html"]))  # MathJax makes links of its own
    kept |= {kind: inert_markdown(texts[kind]) for kind in ("text/markdown", "text/latex") if kind in texts}
    if not ACTIVE_SVG.search(texts.get("image/svg+xml", "script")):
        kept["image/svg+xml"] = texts["image/svg+xml"]
    return kept
