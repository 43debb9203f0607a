"""Makes a lesson's page: the students' notebook, with its cells' outputs after the answers are written.

Stubs stay stubs, and checks show nothing, so the page does not give answers away.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course.colab import BADGE, INSTALL
from autograder.course.course import Course
from autograder.course.folding import shown_cells
from autograder.course.looking_back import RECALL
from autograder.course.reading_time import told_times
from autograder.course.solved import is_reason
from autograder.errors import BadInput
from autograder.site.executed import executed_solution

PICTURES, DOWNLOADS = "pictures", "downloads"
"""Folders of the site, next to the lessons' folder."""

_HEADING = re.compile(r"^# (.+)", re.M)
_EMBEDDED = re.compile(r'\bsrc="data:image/png;base64,([A-Za-z0-9+/=]+)"')
_OTHER_LESSON = re.compile(r"\]\(\.\./(\w+)/\1\.ipynb")
_MARKER = re.compile(r"^# katze: [^\n]*\n")


@dataclass(frozen=True)
class LessonPage:
    """A lesson's page before it becomes HTML.

    Attributes:
        lesson: its folder's name.
        title: its first heading.
        notebook: the page.
        pictures: its pictures as PNG, by file name.
        glossary: the terms in its glossary, each with its explanation; both in Markdown.
        documents: the names of the documents in `docs/` that it links to.
        length: the time that it takes, according to its text, in words; empty if it does not say.
    """

    lesson: str
    title: str
    notebook: NotebookNode
    pictures: dict[str, bytes]
    glossary: list[tuple[str, str]]
    documents: list[str]
    length: str


def lesson_page(course: Course, lesson: str) -> LessonPage:
    """Build the page of a released lesson.

    Raises:
        BadInput: the release lacks the lesson, or does not match its solutions; or a cell failed.
    """
    released: NotebookNode = nbformat.read(course.release_notebook(lesson), as_version=4)
    pictures: dict[str, bytes] = {}
    own = [cell for cell in released.cells if not set(cell.metadata.get("tags", ())) & {BADGE, INSTALL, RECALL}]
    to_colab = next(cell.source for cell in released.cells if BADGE in cell.metadata.get("tags", ()))
    ran = executed_solution(course, lesson).cells
    solved = shown_cells((cell for cell in ran if not is_reason(cell)), course.shows_slides)
    if [cell.cell_type for cell in own] != [cell.cell_type for cell in solved]:
        raise BadInput(f"the release of {lesson} is out of date: run `katze release`")
    for cell, done in zip(own, solved, strict=True):
        if cell.cell_type == "code":
            cell.source = _MARKER.sub("", cell.source)
            shown = [] if "nbgrader" in cell.metadata else done.outputs
            cell.outputs = [_shown(output, lesson, pictures) for output in shown]
            if "demo" in cell.metadata.get("tags", ()):
                cell.metadata.tags = ["hide-input"]
        else:
            cell.source = _to_documents(course, _OTHER_LESSON.sub(r"](\1.ipynb", cell.source))
    title: str = next(found[1] for cell in own if (found := _HEADING.search(cell.source)))
    colab, download = escape(to_colab.rpartition("](")[2].rstrip(")")), f"../{DOWNLOADS}/{lesson}.ipynb"
    buttons = f'<a href="{colab}">Open in Colab</a> <a href="{download}" download>Download the notebook</a>'
    own[0].source = _HEADING.sub(rf'\g<0>\n\n<p class="actions">{buttons}</p>', own[0].source, count=1)
    asked = [cell for cell in released.cells if cell.get("id") == RECALL]
    released.cells = [*own[:1], *asked, *own[1:]]
    documents = [name for cell in own for name in re.findall(r"\]\(\.\./([\w-]+)\.md", cell.source)]
    length, _minutes = next(filter(None, (told_times(cell.source) for cell in own)), ("", 0))
    return LessonPage(lesson, title, released, pictures, list(glossary_of(released)), documents, length)


def _to_documents(course: Course, text: str) -> str:
    """Return a cell's text whose links to `docs/` lead to the site's own pages, which need no network."""

    def moved(match: re.Match[str]) -> str:
        return f"](../{match[1]}" if (course.root / "docs" / match[1]).is_file() else match[0]

    docs = re.escape(f"](https://github.com/{course.repository}/blob/main/docs/")
    return re.sub(rf"{docs}([\w-]+\.md)", moved, text)


def _shown(output: NotebookNode, lesson: str, pictures: dict[str, bytes]) -> NotebookNode:
    """Return an output for the page: pictures become files, a widget stays as saved."""
    data: dict[str, Any] = output.get("data", {})
    if "text/html" in data:
        data["text/html"] = with_files(data["text/html"], f"../{PICTURES}", lesson, pictures)
    return output


def with_files(html: str, folder: str, begins: str, pictures: dict[str, bytes]) -> str:
    """Return HTML whose embedded pictures are separate files. They load when they come near the window, and their space
    is reserved.

    Args:
        html: a cell's output.
        folder: the pictures' folder, relative to the page.
        begins: the beginning of their names.
        pictures: receives them, by name.
    """

    def moved(embedded: re.Match[str]) -> str:
        name = f"{begins}-{len(pictures) + 1}.png"
        pictures[name] = base64.b64decode(embedded[1])
        height = int.from_bytes(pictures[name][20:24])  # in a PNG's header; it is shown at half its size
        return f'src="{folder}/{name}" height="{height // 2}" loading="lazy"'

    return _EMBEDDED.sub(moved, html)


def glossary_of(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield the terms below a notebook's heading "Glossary", each with its explanation."""
    for cell in notebook.cells:
        _, heading, below = cell.source.partition("## Glossary\n")
        if cell.cell_type == "markdown" and heading:
            items = re.split(r"\n#", below)[0].split("\n- ")[1:]
            for item in items:
                term, _, explanation = " ".join(item.split()).partition(": ")
                yield term, explanation
