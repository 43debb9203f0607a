"""The site's pages that are text already: the instructors' part of the README, and what is in `docs/`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from autograder.course.course import Course
from autograder.course.reading_time import what_it_takes
from autograder.site.lesson import LessonPage

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s]+)(?=\))")
_LESSON_ROW = re.compile(r"^\| \[[^\]]+\]\(notebooks/(\w+)/\w+\.ipynb\) \| ([^|]*?) \|", re.M)


def landing_page(course: Course, lessons: Iterable[LessonPage], further: Iterable[str]) -> str:
    """The page that one begins on: the lessons, and where else to go.

    Args:
        course: what the README's table says of a lesson stands below its title.
        lessons: in their order.
        further: the other pages, by the names of their files without an ending.
    """
    readme = course.root / "README.md"
    said = dict(_LESSON_ROW.findall(readme.read_text(encoding="utf-8"))) if readme.is_file() else {}
    lessons = list(lessons)
    links = {page.lesson: f"[**{page.title}**](lessons/{page.lesson}.ipynb)" for page in lessons}
    listed = "\n".join(f"- {link}\n\n  {said.get(lesson, '')}" for lesson, link in links.items())
    takes = what_it_takes(course.release_notebook(page.lesson) for page in lessons)
    return (
        "# Katze\n\n"
        "*The cat danced* → *die Katze tanzte*: a course in notebooks in which you build the transformer, piece by "
        "piece, and learn at once what is wrong with a piece and which mistake it is. Read the lessons here with all "
        "their pictures, and work on them in Colab or in a notebook of your own: each has buttons for both.\n\n"
        f"{takes}\n\n"
        f"## Lessons\n\n:::{{container}} lessons\n{listed}\n:::\n\n"
        + _contents("Lessons", (f"lessons/{page.lesson}" for page in lessons))
        + _contents("More", further)
    )


def _contents(caption: str, pages: Iterable[str]) -> str:
    """The pages of a part, for the side bar and for "previous" and "next"."""
    return "\n".join((f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *pages, "```\n\n"))


def glossary_page(lessons: Iterable[LessonPage]) -> str:
    """The terms of all lessons, in the order of the alphabet; each of its explanations is followed by its lesson."""
    explained: dict[str, list[str]] = {}
    for page in lessons:
        for term, said in page.glossary:
            place = f": {said} [{page.title}](lessons/{page.lesson}.ipynb)"
            # lessons that begin it with a small letter and with a capital mean the same
            heading = re.sub(r"^(\**)([a-z])(?=[a-z])", lambda begin: begin[1] + begin[2].upper(), term)
            explained.setdefault(heading, []).append(place)
    lines = ["# Glossary\n", "What the lessons call things, and where each is met.\n"]
    for term in sorted(explained, key=lambda term: re.sub(r"[^\w ]", "", term).lower()):
        lines += [term, *explained[term], ""]
    return "\n".join(lines)


def instructors_page(course: Course) -> str:
    """The README's part for instructors; empty where there is none."""
    readme = course.root / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    _, heading, below = text.partition("\n## Instructors\n")
    part = re.split(r"^## ", below, maxsplit=1, flags=re.M)[0]
    return _on_the_site(course, course.root, f"# For instructors\n{part}") if heading else ""


def documents(course: Course) -> dict[str, str]:
    """What is in `docs/`, by the names of its files without an ending."""
    paths = sorted((course.root / "docs").glob("*.md"))
    return {path.stem: _on_the_site(course, path.parent, path.read_text(encoding="utf-8")) for path in paths}


def _on_the_site(course: Course, folder: Path, text: str) -> str:
    """A text whose links to files lead to the site's own pages where there are some, and else to the repository."""

    def moved(match: re.Match[str]) -> str:
        target, anchor, place = match[1].partition("#")
        path = (folder / target).resolve()
        if path.is_relative_to(course.release) and path.suffix == ".ipynb":
            return f"lessons/{path.name}"
        if path.parent == course.root / "docs" and path.suffix == ".md":
            return f"{path.name}{anchor}{place}"
        known = path.relative_to(course.root).as_posix() if path.is_relative_to(course.root) else target
        return f"https://github.com/{course.repository}/blob/main/{known}{anchor}{place}"

    return _LINK.sub(moved, text)
