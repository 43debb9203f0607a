"""Finishes a page before it is written: for screen readers, and for previews of links to it."""

import re
from dataclasses import dataclass
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_LONGEST = 200
"""The limit for a description, in characters; search engines and messengers show less."""


@dataclass(frozen=True)
class Finishing:
    """A hook for Sphinx that runs after the theme.

    Attributes:
        first_of_part: the first page of another part, to which "next" and "previous" don't lead.
        picture: the path of the site's picture.
        said: the picture's alternative text.
    """

    first_of_part: str
    picture: str
    said: str

    def __call__(
        self, app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
    ) -> None:
        """Finish a page.

        Args:
            app: Sphinx.
            page: the page's name.
            context: the template's context, which is modified.
            tree: its text; None if Sphinx generates the page, such as the search.
        """
        captions = context.get("furo_navigation_tree", "")
        context["furo_navigation_tree"] = captions.replace('role="heading"', 'role="heading" aria-level="2"')
        body = context.get("body", "").replace('<th class="head"><p></p></th>', "<td></td>")
        context["body"] = _PARAMETERS.sub(_as_spans, body)
        if tree is None:
            return
        other = app.builder.get_relative_uri(page, self.first_of_part)
        if context["next"] and context["next"]["link"] == other:
            context["next"] = None
        if page == self.first_of_part:
            context["prev"] = None
        context["metatags"] += self._card(app, page, context, description(tree))

    def _card(self, app: Sphinx, page: str, context: dict[str, Any], said: str) -> str:
        """Return what messengers and search engines show of a page; addresses are absolute if the site has one."""
        base = app.config.html_baseurl
        picture = f"{base.rstrip('/')}/{self.picture}" if base else f"{'../' * page.count('/')}{self.picture}"
        title = re.sub(r"<[^>]+>", "", context["title"])
        named = {"name": {"description": said, "twitter:card": "summary_large_image"}}
        named["property"] = {
            "og:type": "website" if page == app.config.root_doc else "article",
            "og:site_name": app.config.html_title,
            "og:title": title,
            "og:description": said,
            "og:image": picture,
            "og:image:alt": self.said,
        } | ({"og:url": context["pageurl"]} if base else {})
        return "".join(
            f'\n<meta {kind}="{name}" content="{escape(value)}">'
            for kind, tags in named.items()
            for name, value in tags.items()
        )


def description(tree: nodes.document) -> str:
    """Return as many whole sentences of a page's first paragraph as fit."""
    first = next((one.astext() for one in tree.findall(nodes.paragraph)), "")
    sentences = re.split(r"(?<=[.!?]) ", " ".join(first.split()))
    said = sentences[0]
    for sentence in sentences[1:]:
        if len(said) + len(sentence) >= _LONGEST:
            break
        said += f" {sentence}"
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST].rpartition(' ')[0]} …"


def _as_spans(parameters: re.Match[str]) -> str:
    """Return a signature's parameters, one per line, as spans: a definition list would lack its terms."""
    lines = parameters[1].replace("<dd>", '<span class="parameter">').replace("</dd>", "</span>")
    return f'<span class="parameters">{lines}</span>'


_PARAMETERS = re.compile(r"<dl>\s*((?:<dd>(?:(?!<dd>|<dl>).)*</dd>\s*)+)</dl>", re.S)
