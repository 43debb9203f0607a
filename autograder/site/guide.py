"""Makes the site's pages that are already text: the landing page, the glossary, and the documents in `docs/`."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.course.course import Course
from autograder.course.reading_time import what_it_takes
from autograder.site.lesson import LessonPage

LESSONS, LEARNERS, INSTRUCTORS = "Lessons", "For learners", "For instructors"
"""The parts of the site, in the order of its table of contents."""

OF_LEARNERS = ("learners", "install")
"""The pages in `docs/` for learners; all others are for instructors, except those that lessons cite."""

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)\s]+)(?=\))")
_FILE_NAME = re.compile(r"\[`?(?:docs/)?[\w-]+\.md`?\]\((?=(?:docs/)?[\w-]+\.md[)#])")
"""A link whose text is a document's file name; on the site, the document's title replaces it."""

_LESSON_ROW = re.compile(r"^\| \[[^\]]+\]\(notebooks/(\w+)/\w+\.ipynb\) \| ([^|]*?) \|.*\n", re.M)


def readme_of(course: Course) -> str:
    """Return the course's README; empty if there is none."""
    path = course.root / "README.md"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def title_of(course: Course) -> str:
    """Return the course's title: the README's first heading."""
    found = re.match(r"# (.+)", readme_of(course))
    return found[1] if found else course.root.name


def landing_page(course: Course, lessons: Iterable[LessonPage], picture: str, parts: dict[str, list[str]]) -> str:
    """Return the landing page: what the course is, its lessons, and the contents for the sidebar.

    Args:
        course: its README's table describes each lesson.
        lessons: the lessons' pages, in order.
        picture: the course's picture, as HTML.
        parts: the parts of the site, each with the names of its pages.
    """
    said, lessons = dict(_LESSON_ROW.findall(readme_of(course))), list(lessons)
    listed = "\n".join(
        f"- [**{page.title}**](lessons/{page.lesson}.ipynb){' · ' * bool(page.length)}{page.length}\n\n"
        f"  {said.get(page.lesson, '')}"
        for page in lessons
    )
    takes = what_it_takes(course.release_notebook(page.lesson) for page in lessons)
    first = f"lessons/{lessons[0].lesson}"
    further = "".join(
        f'<a href="{parts[part][0]}.html">{part}</a>' for part in (LEARNERS, INSTRUCTORS) if parts.get(part)
    )
    return f"""\
# {title_of(course)}

:::{{container}} lead
*The cat danced* → *die Katze tanzte*: build the transformer yourself, piece by piece, and learn at once what is wrong
with a piece and which mistake it is.
:::

<figure class="cover">{picture}<figcaption>A small translator that comes with the course, and where it looks while it
writes.</figcaption></figure>

<p class="actions"><a class="first" href="{first}.html">Start</a> {further}</p>

**What you will have built.** Attention, masks, positions, heads and blocks; from them a translator, a GPT that writes
and a BERT that reads; byte-pair encoding, beam search, a key-value cache, LoRA. You will know why each piece is there,
because you have measured what happens without it.

**For whom, and how long.** {takes} You can work alone or in a class. No GPU is needed: read here, and write in Colab or
on your own computer; each lesson has buttons for both.

## Lessons

:::{{container}} lessons
{listed}
:::

""" + "".join(_contents(part, pages) for part, pages in parts.items())


def _contents(caption: str, pages: Iterable[str]) -> str:
    """Return a table of contents for a part, for the sidebar and for "previous" and "next"."""
    return "\n".join((f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *pages, "```\n\n"))


def glossary_page(lessons: Iterable[LessonPage]) -> str:
    """Return the terms of all lessons, in alphabetical order, each explanation with a link to its lesson."""
    explained: dict[str, list[str]] = {}
    for page in lessons:
        for term, said in page.glossary:
            place = f": {said} [{page.title}](lessons/{page.lesson}.ipynb)"
            # terms that differ only in the first letter's case are the same
            heading = re.sub(r"^(\**)([a-z])(?=[a-z])", lambda begin: begin[1] + begin[2].upper(), term)
            explained.setdefault(heading, []).append(place)
    lines = ["# Glossary\n", "What the lessons call things, and where each is met.\n"]
    for term in sorted(explained, key=lambda term: re.sub(r"[^\w ]", "", term).lower()):
        lines += [term, *explained[term], ""]
    return "\n".join(lines)


def documents(course: Course) -> dict[str, str]:
    """Return the documents in `docs/` by name, in the order of the README's links; each is followed by documents to
    which only it leads.
    """
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted((course.root / "docs").glob("*.md"))}
    first = [name for name in _leads_to(readme_of(course), "docs/") if name in texts]
    order: dict[str, str] = {}

    def add(name: str) -> None:
        if name in texts and name not in order:
            order[name] = _on_the_site(course, course.root / "docs", texts[name])
            for further in _leads_to(texts[name], ""):
                if further not in first:
                    add(further)

    for name in [*first, *texts]:
        add(name)
    return order


def _leads_to(text: str, folder: str) -> Iterator[str]:
    """Yield the names of the documents that a text links to."""
    for target in _LINK.findall(text):
        if found := re.fullmatch(rf"{folder}([\w-]+)\.md(#.*)?", target):
            yield found[1]


def _on_the_site(course: Course, folder: Path, text: str) -> str:
    """Return a text whose links to files lead to the site's own pages, or to the repository if it has none."""
    github = f"https://github.com/{course.repository}"

    def moved(match: re.Match[str]) -> str:
        target, anchor, place = match[1].partition("#")
        path = (folder / target).resolve()
        if not target:
            return f"#{place}"
        if path.is_relative_to(course.release) and path.suffix == ".ipynb":
            return f"lessons/{path.name}"
        if path.parent == course.root / "docs" and path.suffix == ".md":
            return f"{path.name}{anchor}{place}"
        known = path.relative_to(course.root).as_posix() if path.is_relative_to(course.root) else target
        return f"{github}/blob/main/{known}{anchor}{place}"

    return _LINK.sub(moved, _FILE_NAME.sub("[](", text))
