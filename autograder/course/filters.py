"""The HTML filter for nbgrader's own pages: feedback and formgrader.

If `HTMLExporter.sanitize_html` is set, nbconvert passes everything that comes from a student (markdown, outputs), and
its own highlighted code, through one filter, `clean_html`. nbconvert's version turns a verdict's style sheet into
visible text. This one keeps highlighting and verdicts as they look in the notebook, and drops everything that runs or
loads. `nbgrader_config.py` names it.
"""

import re

import nh3
from pygments.token import STANDARD_TYPES

from course_lib.ground.style_sheet import style_sheet

_TAGS = set(
    re.findall(
        r"\w+",
        "a abbr b blockquote br caption code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img "
        "kbd li mark ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var",
    )
)
_ATTRIBUTES = {
    "*": {"aria-label", "class", "role"},
    "a": {"href", "title"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
}
_HIGHLIGHTING = {name for name in STANDARD_TYPES.values() if name} | {"highlight", "dataframe"}
_CLASS = re.compile(r"katze-[a-z]+|hl-[a-z0-9]+")
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")


def clean_html(fragment: str | bytes) -> str:
    """Return the harmless part of an HTML fragment, which keeps highlighted code and verdicts as they look.

    Text, tables, lists and links stay. Pictures stay if they are embedded in the page. Scripts, styles, forms, ids
    (formgrader's scripts rely on them) and all other classes go.
    """
    text = fragment.decode("utf-8", "replace") if isinstance(fragment, bytes) else str(fragment)
    cleaned = nh3.clean(
        text,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto", "data"},
    )
    style = style_sheet("verdict")
    return f"{style}\n{cleaned}" if style in text else cleaned


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return the value that an attribute keeps, or None to drop it."""
    if name == "class":
        kept = [word for word in value.split() if word in _HIGHLIGHTING or _CLASS.fullmatch(word)]
        return " ".join(kept) or None
    if name == "src":
        return value if _PICTURE.fullmatch(value) else None
    if name == "href":
        return None if value.strip().lower().startswith("data:") else value
    return value
