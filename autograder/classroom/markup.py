"""Markup for pages that show what others wrote: TeX becomes MathML (no script needed), and HTML becomes harmless."""

import re
from html import escape

import nh3
from latex2mathml.converter import convert


def words(text: str) -> set[str]:
    return set(text.split())


MATHML_TAGS = words(
    "math semantics mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover "
    "mmultiscripts mprescripts mtable mtr mtd mstyle mpadded mphantom menclose merror"
)
MATHML_ATTRIBUTES = words(
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height "
    "linethickness lspace mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines "
    "rowspacing rspace scriptlevel separator stretchy symmetric voffset width"
)
HTML_TAGS = words(
    "a abbr b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure h1 "
    "h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp section small span strong sub summary sup table "
    "tbody td tfoot th thead time tr u ul var wbr"
)
HTML_ATTRIBUTES = {
    "*": {"class", "style", "title", "lang", "dir", "role", "aria-label", "aria-hidden"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "details": {"open"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
}
STYLES = words(
    "border border-bottom border-collapse border-left border-right border-top color display font-style font-weight "
    "line-height list-style margin margin-left max-width opacity padding padding-left text-align text-decoration "
    "vertical-align white-space"
)
LOADS = re.compile(r"url|image|\\|@", re.IGNORECASE)
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*")

# latex2mathml takes these names for the same layouts.
SAME_LAYOUT = {"{aligned}": "{split}", "{align}": "{align*}", "{gathered}": "{gather*}", "{equation*}": "{equation}"}


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
    comma = r"<mrow><mo>(?:,|&#x0002C;)</mo></mrow>"
    markup = re.sub(rf"<mn>(\d+)</mn>{comma}<mn>(\d+)</mn>", r"<mn>\1,\2</mn>", markup)  # 10{,}000
    markup = re.sub(r"<mo>(&#x02016;|&#x0007C;|\|)</mo>", r'<mo stretchy="false">\1</mo>', markup)  # the bars of a norm
    markup = markup.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")  # \sim
    attribute = r' columnalign="(left|right|center)"'
    markup = re.sub(f"<mtd{attribute}>", r'<mtd class="align-\1">', markup)  # browsers left columnalign out
    return sanitise(markup.replace("&</mi>", "&amp;</mi>"))


def sanitise(html: str) -> str:
    """The harmless part of somebody's HTML: no script, no form, no frame, and nothing that loads from elsewhere."""
    clean = nh3.clean(
        html,
        tags=HTML_TAGS | MATHML_TAGS,
        clean_content_tags={"script", "style"},
        attributes=HTML_ATTRIBUTES | {tag: MATHML_ATTRIBUTES | {"class"} for tag in MATHML_TAGS},
        attribute_filter=_nothing_from_elsewhere,
        filter_style_properties=STYLES,
        url_schemes={"http", "https", "mailto", "file", "data"},
        link_rel="noopener noreferrer",
    )
    return re.sub(r"<img(?![^>]* src=)[^>]*>", "<em>(a picture from elsewhere is left out)</em>", clean)


def _nothing_from_elsewhere(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "src":
        return value if PICTURE.fullmatch(value) else None
    if attribute == "style":
        return None if LOADS.search(value) else value
    if attribute == "href":
        return None if value.strip().lower().startswith("data:") else value
    return value
