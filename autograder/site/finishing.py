"""What a page still lacks before it is written: for those who listen to it, and for those who are sent a link to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_LONGEST = 200
"""Characters of a description, of which search engines and messengers show less."""


@dataclass(frozen=True)
class Finishing:
    """For Sphinx, after the theme.

    Attributes:
        first_of_part: the page with which another part begins: "next" and "previous" don't lead there.
        picture: the site's, as a path on it.
        said: what the picture shows.
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
            page: its name.
            context: what its template gets, which is changed.
            tree: its text; None where it is made by Sphinx, such as the search.
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
        """What messengers and search engines show of a page; addresses are whole ones where the site has one."""
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
    """A page's first paragraph, as far as whole sentences fit."""
    first = next((one.astext() for one in tree.findall(nodes.paragraph)), "")
    sentences = re.split(r"(?<=[.!?]) ", " ".join(first.split()))
    said = sentences[0]
    for sentence in sentences[1:]:
        if len(said) + len(sentence) >= _LONGEST:
            break
        said += f" {sentence}"
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST].rpartition(' ')[0]} …"


def _as_spans(parameters: re.Match[str]) -> str:
    """The parameters of a signature, a line each: as a list, they would be one of explanations without terms."""
    lines = parameters[1].replace("<dd>", '<span class="parameter">').replace("</dd>", "</span>")
    return f'<span class="parameters">{lines}</span>'


_PARAMETERS = re.compile(r"<dl>\s*((?:<dd>(?:(?!<dd>|<dl>).)*</dd>\s*)+)</dl>", re.S)
