"""Finds what a page must not contain, whoever wrote it, with a parser rather than patterns."""

import re
from html.parser import HTMLParser

_FORBIDDEN = {
    *("script", "iframe", "object", "embed", "applet", "form", "input", "button", "textarea", "select", "link", "meta"),
    *("base", "frame", "frameset", "svg", "math", "video", "audio", "source", "portal", "noscript", "template"),
}
_ADDRESS = re.compile(r"https?://|mailto:|#|$", re.I)
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
_BAR = re.compile(r"width: [0-9.]+%")  # the length of a page's own bar of points


class _Inspector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.harm: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _FORBIDDEN:
            self.harm.append(f"<{tag}>")
        for name, content in attributes:
            given = content or ""
            if name.startswith("on") or name in ("srcdoc", "srcset", "formaction", "xlink:href", "background"):
                self.harm.append(f"<{tag} {name}={given[:60]!r}>")
            if name == "style" and not _BAR.fullmatch(given):
                self.harm.append(f"<{tag} {name}={given[:60]!r}>")
            if name == "href" and not _ADDRESS.match(given):
                self.harm.append(f"<{tag} href={given[:60]!r}>")
            if name == "src" and not _IMAGE.fullmatch(given):
                self.harm.append(f"<{tag} src={given[:60]!r}>")


def harm(html: str) -> list[str]:
    """Return the tags and attributes of an HTML fragment that could run, load or hide something."""
    inspector = _Inspector()
    inspector.feed(html)
    inspector.close()
    return inspector.harm


def require_harmless(html: str) -> None:
    """Require that a fragment can do nothing but be read, and can be written to a file.

    Raises:
        AssertionError: it could do harm.
        UnicodeEncodeError: it cannot be encoded.
    """
    html.encode()
    found = harm(html)
    assert not found, f"a page with {', '.join(found[:5])}"
