"""Makes what a student wrote safe to look at: cell outputs, markdown, attachments.

Other people open a submitted notebook: in feedback, in formgrader, in JupyterLab. Nothing in it may run there, load
something from elsewhere, or be so large that the page cannot be opened. Outputs are rebuilt from a short list of what
is allowed; anything else is left out, and a line of text says so.
"""

import base64
import binascii
import html as html_entities
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import nh3

from autograder.limits import size

Output = dict[str, Any]
"""An output of a code cell in nbformat 4."""

TEXT_BYTES = 64_000
IMAGE_BYTES = 4_000_000
ERROR_BYTES = 16_000
OUTPUTS = 200
PIXELS = 40_000_000
NOTEBOOK_BYTES = 20_000_000
"""The limit for all outputs of a notebook together."""

MARKDOWN_CHARACTERS = 20_000
"""A longer cell is shown without formatting: some markdown parsers take quadratic time."""

MARKDOWN_CHARACTERS_TOGETHER = 200_000
"""The limit for formatted text in all cells of a notebook together."""

MARKDOWN_CHARACTERS_SHOWN = 200_000
FENCE = 16
"""The longest run of backticks or tildes in markdown."""

HTML_CHARACTERS = 100_000
HTML_TAGS = 5_000
HTML_COPIES = 200_000
"""Limit for formatting tags times all tags: a browser repeats every open formatting tag in each new paragraph."""

HTML_COPIED_CHARACTERS = 10_000_000


@dataclass
class WholeNotebook:
    """The remaining budget for a notebook's outputs, in bytes of JSON."""

    left: int = NOTEBOOK_BYTES

    def keep(self, clean: list[Output]) -> list[Output]:
        """Return the next cell's outputs; a note instead of the first that do not fit; after that, nothing."""
        if not clean or self.left <= 0:
            return []
        self.left -= len(json.dumps(clean))
        if self.left > 0:
            return clean
        most = size(NOTEBOOK_BYTES, decimal=True)
        note = f"[the outputs of this notebook exceed {most}: the rest are left out]\n"
        return [_stream("stdout", note)]


def outputs(submitted: object, whole: WholeNotebook | None = None) -> list[Output]:
    """Return the outputs of a code cell without anything that runs, loads, or floods.

    Text, streams, tracebacks, PNG and JPEG images stay, and HTML as far as `html` keeps it. Only the displayable parts
    of each output stay; an output without any is replaced by a line of text. Metadata is dropped.

    Args:
        submitted: what the notebook has under `outputs`, which may be anything.
        whole: the notebook's remaining budget, which its cells share in order.
    """
    whole = whole or WholeNotebook()
    if not isinstance(submitted, list) or whole.left <= 0:
        return []
    budget = _Budget()
    clean: list[Output] = []
    for output in submitted:
        if len(clean) == OUTPUTS:
            clean.append(_stream("stdout", f"[only the first {OUTPUTS} outputs are shown]\n"))
            break
        made = _output(output, budget) if isinstance(output, dict) else None
        last = clean[-1] if clean else {}
        if made and made["output_type"] == "stream" == last.get("output_type") and made["name"] == last["name"]:
            last["text"] += made["text"]  # continue the same stream
        elif made:
            clean.append(made)
    return whole.keep(clean)


def html(fragment: str) -> str:
    """Return the harmless part of an HTML fragment: text, tables, lists; no scripts, styles, images or forms.

    Only complete tags in plain spelling count as tags; every other `<` is text. A fragment that repairing its tags
    would make far larger is shown as text.
    """
    plain = fragment[: HTML_CHARACTERS + 1]
    if plain.count("<") <= HTML_TAGS:
        plain = _NO_TAG.sub("&lt;", _HTML_COMMENT.sub("", plain))
    if _is_explosive(plain):
        rest = "" if len(fragment) <= 2000 else "\n[the rest of this HTML is not shown]"
        return f"<pre>{html_entities.escape(fragment[:2000], quote=False)}{rest}</pre>"
    clean = nh3.clean(
        plain,
        tags=_HTML_TAGS,
        attributes=_HTML_ATTRIBUTES,
        allowed_classes={"table": {"dataframe"}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
    )
    return _MATH_COMMAND.sub(r"\\ ", clean)


def course_widget(fragment: str) -> str | None:
    """Redraw a widget of the course from its data; return None for any other fragment."""
    if not fragment.startswith('<div class="katze-widget"'):
        return None
    from course_lib.show.interactive import redrawn  # imports matplotlib, which few submissions need

    return redrawn(fragment, _still)


def _still(stranger: str) -> str:
    """Return the sanitized still picture of a widget that the course did not draw."""
    figure = dict(_images(_figure({"text/html": stranger}), _Budget()))
    alt = _FIGURE.fullmatch(stranger)
    if not figure or alt is None:
        return html(stranger)
    return f'<img alt="{alt["alt"]}" src="data:image/png;base64,{figure["image/png"]}">'


def _is_explosive(fragment: str) -> bool:
    """Return whether a fragment has too many tags, or formatting tags that would be repeated too often."""
    tags = fragment.count("<")
    if len(fragment) > HTML_CHARACTERS or tags > HTML_TAGS:
        return True
    repeated = [len(match.group()) for match in _FORMATTING.finditer(fragment)]
    return len(repeated) * tags > HTML_COPIES or sum(repeated) * tags > HTML_COPIED_CHARACTERS


def clean_text(value: object) -> str:
    """Return text without control characters, except tab, newline, carriage return and ANSI colors."""
    return _CONTROL.sub("", _joined(value)).replace("\r\n", "\n")


def markdown(source: str, longest: int = MARKDOWN_CHARACTERS) -> str:
    """Return markdown whose HTML and links cannot do anything in any renderer.

    A `<` that could open a tag gets a space after it, which shows the tag as text (in code and formulas, only the space
    is added). Plain marks such as `<b>` and `<br>`, web addresses in angle brackets and the release's own comments
    stay. `javascript:` and the like get a space before the colon. Only attached images stay; any other becomes a link
    after a `!`. Commands in formulas that make links, styles or other commands get a space after their backslash. No
    markdown parser is involved, so no two parsers can disagree about what is code. Text longer than `longest` is shown
    as a block of code, with a note.
    """
    if len(source) > longest:
        return _unformatted(source)
    source = _short_fences(source)
    balanced = _balanced_marks(source)

    def opened(match: re.Match[str]) -> str:
        whole = match.group()
        if _MARKER_COMMENT.match(source, match.start()) or _AUTOLINK.match(source, match.start()):
            return whole
        mark = _MARK.match(source, match.start())
        if mark and (mark["name"].lower() in ("br", "hr") or mark["name"].lower() in balanced):
            return whole
        return "< " + whole[1:]

    harmless = _TAG_START.sub(opened, source)
    harmless = _IMAGE.sub("! [", harmless)
    harmless = _MATH_COMMAND.sub(r"\\ ", harmless)
    harmless = _MERMAID.sub(r"\1text", harmless)
    harmless = _ENTITY.sub(_escape_scheme_entity, harmless)
    return _SCHEME.sub(lambda match: match[1] + match[2] if match[2][0] == " " else f"{match[1]} {match[2]}", harmless)


def fenced(source: str) -> str:
    """Return a text as a block of code in markdown, with a fence longer than any in it."""
    source = _short_fences(source, FENCE - 1)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`++", source)), default=0))
    return f"{fence}text\n{source}\n{fence}"


def _unformatted(source: str) -> str:
    """Return a long text as a block of code, with a note that says why and how much is missing."""
    more = len(source) - MARKDOWN_CHARACTERS_SHOWN
    missing = f", and {more} characters are left out" if more > 0 else ""
    note = f"[too long to be formatted: shown as it was written{missing}]"
    return f"{note}\n\n{fenced(source[:MARKDOWN_CHARACTERS_SHOWN])}"


def _short_fences(source: str, longest: int = FENCE) -> str:
    """Shorten runs of backticks and tildes: some parsers take quadratic time for a run."""
    return _FENCES.sub(lambda run: run.group()[:longest], source)


def embedded_images(source: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Return markdown with its embedded images (as Colab writes them) turned into attachments, and these, unchecked."""
    images: dict[str, dict[str, str]] = {}

    def attached(match: re.Match[str]) -> str:
        name = f"embedded-{len(images) + 1}"
        images[name] = {match["kind"]: match["data"]}
        return f"![{match['alt']}](attachment:{name})"

    return _EMBEDDED.sub(attached, source), images


def attachments(submitted: object) -> dict[str, dict[str, str]]:
    """Return the images attached to a markdown cell: only PNG and JPEG, checked."""
    if not isinstance(submitted, dict):
        return {}
    budget = _Budget()
    bundles = {
        name: dict(_images(bundle, budget))
        for name, bundle in submitted.items()
        if _ATTACHMENT_NAME.fullmatch(name) and isinstance(bundle, dict)
    }
    return {name: images for name, images in bundles.items() if images}


def without_missing_attachments(source: str, names: set[str]) -> str:
    """Break every `attachment:` in markdown that names none of `names`; nbconvert fails on those.

    Call it before `markdown`, which then does not take them for images.
    """

    def known(match: re.Match[str]) -> str:
        return match.group() if match["name"] in names else match.group().replace(":", " ", 1)

    return _ATTACHMENT.sub(known, source)


@dataclass
class _Budget:
    """What a cell may still show, in bytes."""

    text: int = TEXT_BYTES
    image: int = IMAGE_BYTES
    error: int = ERROR_BYTES
    html: int = 3 * HTML_CHARACTERS
    said: set[str] = field(default_factory=set)

    def cut(self, value: str, purse: str = "text") -> str:
        """Return the part of `value` that the budget allows, with a line that says how much is missing."""
        left: int = getattr(self, purse)
        encoded = value.encode("utf-8", "replace")
        setattr(self, purse, max(0, left - len(encoded)))
        if len(encoded) <= left:
            return value
        if left == 0 and purse in self.said:
            return ""
        self.said.add(purse)
        kept = encoded[:left].decode("utf-8", "ignore")
        return f"{kept}\n[{size(len(encoded) - left, decimal=True)} more left out]\n"


def _joined(value: object) -> str:
    """Return a multi-line string of nbformat, which is a string or a list of strings."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _output(output: dict[str, Any], budget: _Budget) -> Output | None:
    match output.get("output_type"):
        case "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            written = budget.cut(clean_text(output.get("text")))
            return _stream(name, written) if written else None
        case "error":
            lines = output.get("traceback")
            trace = "\n".join(clean_text(line) for line in lines) if isinstance(lines, list) else ""
            return {
                "output_type": "error",
                "ename": clean_text(output.get("ename"))[:200] or "Error",
                "evalue": clean_text(output.get("evalue"))[:2000],
                "traceback": budget.cut(trace, "error").split("\n") if trace else [],
            }
        case "display_data" | "execute_result" as kind:
            shown: Output = {"output_type": kind, "data": _data(output.get("data"), budget), "metadata": {}}
            if kind == "execute_result":
                count = output.get("execution_count")
                shown["execution_count"] = count if type(count) is int and 0 <= count < 1_000_000 else None
            return shown if shown["data"] else None
    return None


def _stream(name: str, written: str) -> Output:
    return {"output_type": "stream", "name": name, "text": written}


def _data(bundle: object, budget: _Budget) -> dict[str, str]:
    """Return the displayable parts of a MIME bundle; a line of text if there are none."""
    if not isinstance(bundle, dict):
        return {}
    bundle = _figure(bundle)
    shown = dict(_images(bundle, budget))
    if not shown and "text/html" in bundle and budget.text and budget.html:
        fragment = clean_text(bundle["text/html"])
        budget.html = max(0, budget.html - len(fragment))
        drawn = course_widget(fragment)
        table = drawn or html(fragment)
        cost = 0 if drawn else len(table.encode("utf-8", "replace"))
        if table.strip() and cost <= budget.text:
            budget.text -= cost
            shown["text/html"] = table
    if "text/plain" in bundle:
        plain = budget.cut(clean_text(bundle["text/plain"]))
        if plain:
            shown["text/plain"] = plain
    if not shown:
        kinds = ", ".join(sorted(kind for kind in bundle if isinstance(kind, str) and _MIME.fullmatch(kind))[:3])
        shown["text/plain"] = f"[an output of type {kinds} is not shown]" if kinds else "[an output is not shown]"
    return shown


def _figure(bundle: dict[Any, Any]) -> dict[Any, Any]:
    """Return a MIME bundle with a figure of the course, which is HTML, replaced by its image and alternative text."""
    figure = _FIGURE.fullmatch(_joined(bundle.get("text/html")))
    if figure is None:
        return bundle
    return {"image/png": figure["data"], "text/plain": html_entities.unescape(figure["alt"])}


def _images(bundle: dict[Any, Any], budget: _Budget) -> Iterator[tuple[str, str]]:
    """Yield the valid images of a MIME bundle, within the budget."""
    for kind, valid in (("image/png", _is_png), ("image/jpeg", _is_jpeg)):
        if kind not in bundle:
            continue
        encoded = _joined(bundle[kind])
        if len(encoded) > budget.image * 2:  # more than base64 and its line breaks can take
            continue
        try:
            image = base64.b64decode("".join(encoded.split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        if valid(image) and len(image) <= budget.image:
            budget.image -= len(image)
            yield kind, base64.b64encode(image).decode("ascii")


def _is_png(image: bytes) -> bool:
    if not image.startswith(b"\x89PNG\r\n\x1a\n") or image[12:16] != b"IHDR" or len(image) < 24:
        return False
    width, height = struct.unpack(">II", image[16:24])
    return bool(0 < width * height <= PIXELS)


def _is_jpeg(image: bytes) -> bool:
    """Return whether this is a JPEG of a reasonable size, according to its frame header."""
    position = 2 if image.startswith(b"\xff\xd8\xff") else len(image)
    while position + 9 <= len(image) and image[position] == 0xFF:
        marker, length = image[position + 1], int.from_bytes(image[position + 2 : position + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", image[position + 5 : position + 9])
            return bool(0 < width * height <= PIXELS)
        position += 2 + length
    return False


def _balanced_marks(source: str) -> set[str]:
    """Return the plain marks that are closed as often as opened; others would affect the rest of the page."""
    balance: Counter[str] = Counter()
    for mark in _MARK.finditer(source):
        balance[mark["name"].lower()] += -1 if mark["close"] else 1
    return {name for name, excess in balance.items() if excess == 0}


def _escape_scheme_entity(match: re.Match[str]) -> str:
    """Break up a character reference if it stands for a character that could spell `javascript:`."""
    meant = html_entities.unescape(match.group())
    spells = len(meant) == 1 and meant.isascii() and (meant.isalnum() or meant in "\\:\t\n\r")
    return "& " + match.group()[1:] if spells else match.group()


_FIGURE = re.compile(
    r'(?:<style>[^<]{0,2000}</style>)?<img (?:class="katze-figure" )?alt="(?P<alt>[^"<>]{0,2000})"'
    r'(?: width="\d{1,4}")? src="data:image/png;base64,(?P<data>[A-Za-z0-9+/=]++)"'
    r'(?: style="max-width:100%;height:auto")?>'
)
"""A figure of the course, or the still picture that `_still` makes of one."""
_CONTROL = re.compile(r"\x1b(?!\[[0-9;]{0,40}m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\ud800-\udfff]")
_MIME = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}")
_TAG_START = re.compile(r"<[A-Za-z/!?]")
_MARK = re.compile(
    r"<(?P<close>/?)(?P<name>br|hr|b|i|u|em|strong|s|sub|sup|code|kbd|mark|small)\s*(?(close)|/?)>", re.I
)
_AUTOLINK = re.compile(r"<(?:https?://|mailto:)[^\s<>\"'`]{1,2000}>")
_MARKER_COMMENT = re.compile(r"(?:\A|(?<=\n))<!-- katze: [\w.]{1,100} \w{1,20} -->")
_FENCES = re.compile(rf"`{{{FENCE},}}+|~{{{FENCE},}}+")
_MERMAID = re.compile(r"((?:(?<!`)`{3,}+|(?<!~)~{3,}+)[ \t]*+)mermaid", re.I)
_IMAGE = re.compile(r"!\[(?![^\[\]\\`$<>!\n]{0,300}\]\(attachment:[A-Za-z0-9_.-]{1,200}\))")
_EMBEDDED = re.compile(
    r"!\[(?P<alt>[^\[\]\\`$<>!\n]{0,300})\]\(data:(?P<kind>image/(?:png|jpeg));base64,(?P<data>[A-Za-z0-9+/=]++)\)"
)
_MATH_COMMAND = re.compile(
    r"\\(?=(?:href|url|require|(?:re)?new(?:command|environment)|providecommand|[egx]?def|let|DeclareMathOperator"
    r"|style|class|cssId|data|bbox|mmlToken|csname|catcode|includegraphics)(?![A-Za-z]))"
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,10};?|#[xX][0-9a-fA-F]{1,10};?|[A-Za-z]{2,32};)")
_SCHEME = re.compile(
    r"("
    + "|".join(r"[\s\\]*".join(word) for word in ("javascript", "vbscript", "livescript"))
    + r"|data(?=[\s\\]*:[\s\\]*(?:text|application|image(?=[\s\\]*/[\s\\]*svg))[\s\\]*/))([\s\\]*:)",
    re.I,
)
_ATTACHMENT = re.compile(r"attachment[\s\\]*:(?P<name>[^\s)\"'>]*)")
_ATTACHMENT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}")

_HTML_COMMENT = re.compile(r"<!--[^<>]*-->")
_NO_TAG = re.compile(
    r"<(?!/?[A-Za-z][A-Za-z0-9-]*+"
    r"(?:\s++[^\s\"'<>/=]++(?:\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`]++))?+)*+\s*+/?>)"
)
_FORMATTING = re.compile(r"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?![A-Za-z0-9-])[^<>]*+", re.I)
_HTML_TAGS = set(
    "a abbr b blockquote br caption code dd details div dl dt em figcaption figure h4 h5 h6 hr i kbd li ol p pre s "
    "samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var".split()
)
_HTML_ATTRIBUTES = {
    "a": {"href", "title"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "tr": {"align"},
    "table": {"border"},
    "ol": {"start"},
}
