"""TeX to MathML, so that a page shows mathematics without a script; and what may stay in a page that others wrote."""

import re
from html import escape

import nh3
from latex2mathml.converter import convert

MATHML_TAGS = set(
    "math semantics mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover "
    "mmultiscripts mprescripts mtable mtr mtd mstyle mpadded mphantom menclose merror".split()
)
MATHML_ATTRIBUTES = set(
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height "
    "linethickness lspace mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines rowspacing "
    "rspace scriptlevel separator stretchy symmetric voffset width".split()
)
HTML_TAGS = set(
    "a abbr b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure h1 h2 h3 "
    "h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp section small span strong sub summary sup table tbody td "
    "tfoot th thead time tr u ul var wbr".split()
)
HTML_ATTRIBUTES = {
    "*": {"class", "title", "lang", "dir", "role", "aria-label", "aria-hidden"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "details": {"open"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
}
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*")

# latex2mathml takes these names for the same layouts.
SAME_LAYOUT = {r"{aligned}": "{split}", r"{align}": "{align*}", r"{gathered}": "{gather*}", r"{equation*}": "{equation}"}


def mathml(tex: str, display: bool = False) -> str:
    """One formula as MathML; TeX that cannot be read is shown as it is written."""
    for ours, theirs in SAME_LAYOUT.items():
        tex = tex.replace(ours, theirs)
    tex = re.sub(r"\\(?:tag|label)\{[^{}]*\}", "", tex)
    try:
        markup = convert(tex.strip(), display="block" if display else "inline")
    except Exception:  # any TeX may come along, and each way to be wrong has an exception of its own
        return f"<code>{escape(tex.strip())}</code>"
    markup = re.sub(r"<mo>([A-Za-z]{2,})</mo>", r"<mi>\1</mi>", markup)  # \operatorname{softmax} is no operator sign
    markup = markup.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")  # \sim
    attribute = r' columnalign="(left|right|center)"'
    markup = re.sub(f"<mtd{attribute}>", r'<mtd class="align-\1">', markup)  # browsers left columnalign out
    return sanitise(markup.replace("&</mi>", "&amp;</mi>"))


def sanitise(html: str) -> str:
    """The harmless part of somebody's HTML: no script, no form, no frame, and nothing that loads from elsewhere."""
    return nh3.clean(
        html,
        tags=HTML_TAGS | MATHML_TAGS,
        clean_content_tags={"script", "style"},
        attributes=HTML_ATTRIBUTES | {tag: MATHML_ATTRIBUTES | {"class"} for tag in MATHML_TAGS},
        attribute_filter=_pictures_from_the_page_only,
        url_schemes={"http", "https", "mailto", "file", "data"},
        link_rel="noopener noreferrer",
    )


def _pictures_from_the_page_only(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "src":
        return value if PICTURE.fullmatch(value) else None
    if attribute == "href":
        return None if value.strip().lower().startswith("data:") else value
    return value
