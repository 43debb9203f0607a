"""A help panel that looks like a verdict: HTML in a notebook, plain text in a terminal."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from course_lib.ground.style_sheet import style_sheet
from course_lib.judging.render import TEXT_WIDTH, indented


@dataclass(frozen=True)
class Section:
    """A part of a panel, shown in this order. All its texts may contain `code` and *words* in Markdown.

    Attributes:
        title: a word or two; empty for none.
        paragraphs: sentences to read.
        steps: shown with numbers from 1.
        code: shown unchanged.
    """

    title: str = ""
    paragraphs: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class HelpPanel:
    """Help, as `hint` and `solution` return it. In a notebook it shows itself; `print` gives plain text.

    Attributes:
        heading: the heading of the panel.
        detail: more about that in a few words, such as "2 of 3".
        exercise_id: the exercise that it helps with.
        sections: the parts of the panel.
        closing: sentences at the end about what to do next.
    """

    heading: str
    detail: str
    exercise_id: str
    sections: tuple[Section, ...]
    closing: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the panel for a terminal."""
        lines = [f"{self.exercise_id}: {self.heading}{f', {self.detail}' if self.detail else ''}"]
        for section in self.sections:
            lines += ["", *([f"  {section.title}"] if section.title else []), *_section_lines(section)]
        for sentence in self.closing:
            lines += ["", *indented(sentence)]
        return "\n".join(lines)

    def html(self) -> str:
        """Return the panel as self-contained HTML."""
        detail = f'<span class="katze-score">{escape(self.detail)}</span>' if self.detail else ""
        head = f'<p class="katze-head"><strong>{escape(self.heading)}</strong>{detail}'
        sections = "".join(map(_section_html, self.sections))
        closing = "".join(f'<p class="katze-closing">{inline_html(sentence)}</p>' for sentence in self.closing)
        return (
            f'<div class="katze-verdict katze-open" role="status">{style_sheet("verdict")}{head}'
            f"<code>{escape(self.exercise_id)}</code></p>{sections}{closing}</div>"
        )

    __repr__ = text
    _repr_html_ = html


def _section_lines(section: Section) -> Iterator[str]:
    for number, paragraph in enumerate(section.paragraphs):
        yield from ([""] if number else [])
        yield from indented(paragraph)
    for number, step in enumerate(section.steps, start=1):
        yield from textwrap.wrap(step, TEXT_WIDTH, initial_indent=f"  {number}. ", subsequent_indent="     ")
    if section.code:
        yield ""
        yield from textwrap.indent(section.code, "    ").splitlines()


def _section_html(section: Section) -> str:
    title = f'<p class="katze-lead">{escape(section.title)}</p>' if section.title else ""
    paragraphs = "".join(f'<p class="katze-told">{inline_html(paragraph)}</p>' for paragraph in section.paragraphs)
    steps = "".join(f"<li>{inline_html(step)}</li>" for step in section.steps)
    code = f'<pre class="katze-code">{escape(section.code)}</pre>' if section.code else ""
    return f"{title}{paragraphs}{f'<ol>{steps}</ol>' if steps else ''}{code}"


def inline_html(text: str) -> str:
    """Escape a text, and render the Markdown that is supported here: `code` and *words*."""
    return _CODE_OR_WORDS.sub(lambda m: f"<code>{m[1]}</code>" if m[1] else f"<em>{m[2]}</em>", escape(text))


_CODE_OR_WORDS = re.compile(r"`([^`]+)`|\*(\w[^*]*)\*")
