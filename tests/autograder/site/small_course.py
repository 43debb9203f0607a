"""A course of two short lessons, released, for the tests of its website; and what its links must be."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from autograder.course.course import Course
from autograder.course.release import release
from course_lib import exercises
from course_lib.exercises.catalogue import Catalogue

CONFIG = """
c = get_config()
c.Katze.repository = "someone/their-course"
c.CourseDirectory.source_directory = "build/source"
c.CourseDirectory.release_directory = "notebooks"
"""

FIRST = '''\
# %% [markdown]
# # Lesson 01 · Scaling
#
# Divide by $\\sqrt{d}$. Then read on.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | a scaling | 1 | 65 |
#
# ### Exercise 1 · Scale
# `attention.scale` · 1 point · about 65 minutes

# %%
import matplotlib.pyplot as plt
from IPython.display import HTML

from course_lib import show
from course_lib.checking import check

# %% nbgrader={"grade_id": "attention-scale-answer", "solution": true}
def scale_scores(scores, d_head):
    """Scores, scaled."""
    ### BEGIN SOLUTION
    return scores / d_head**0.5
    ### END SOLUTION

# %% [markdown] tags=["reason"]
# Because variances add up.

# %% nbgrader={"grade_id": "attention-scale-check", "grade": true, "locked": true, "points": 1}
check("attention.scale")
### BEGIN HIDDEN TESTS
check("attention.scale", hidden=True)
### END HIDDEN TESTS

# %% tags=["demo"]
print("scaled:", scale_scores(8.0, 4))
figure, axes = plt.subplots(figsize=(2, 1))
axes.plot([0, 1])
show.figure(figure, alt='A line that "rises".')

# %%
HTML("<p id=alive>still</p><script>document.getElementById('alive').textContent = 'alive'</script>")

# %% [markdown]
# ## Glossary
#
# - **Scale**: what a number is divided by, so that
#   it stays small.
# - **Alpha** $\\alpha$: a weight: see lesson 02.
#
# ## After it
#
# - **no term**: this is not of the glossary.
'''

SECOND = """\
# %% [markdown]
# # Lesson 02 · Nothing
#
# There is [the first lesson](../01_attention/01_attention.ipynb) before this one. It stands in
# [docs/sources.md](https://github.com/someone/their-course/blob/main/docs/sources.md#books), not in
# [docs/none.md](https://github.com/someone/their-course/blob/main/docs/none.md).
#
# ## Glossary
#
# - **scale**: what comes before it.
# - **k-means**: keeps its small letter.
"""

README = """# A course

See [how to begin](docs/learners.md), or [teach](docs/instructors.md).

| lesson | what |
|---|---|
| [01 Scaling](notebooks/01_attention/01_attention.ipynb) | how to *divide* |
"""

DOCS = {
    "learners": """# Work on the lessons

See [Start](#start), then [`docs/instructors.md`](instructors.md), or [the library](../course_lib/attention.py).

## Start

Get [Python](https://example.org/).
""",
    "instructors": """# Teach a class

Grade [the first](../notebooks/01_attention/01_attention.ipynb), read [the sources](sources.md#books) and
[the tests](../tests/README.md), ask [somebody](https://example.org/).
[`docs/late.md`](late.md) is [explained](learners.md#start).

    katze grade
""",
    "again": "# Again\n\nAfter [totals](totals.md), [late](late.md#the-rule) once more.\n",
    "late": "# Late\n\nA rule is [a rule](#the-rule); see [totals](totals.md).\n\n## The rule\n\nNone.\n",
    "sources": "# Sources\n\n## Books\n\nSee [the README](../README.md).\n",
    "totals": "# Totals\n\nThey add up. [Again](again.md).\n",
}


def make_course(root: Path) -> Course:
    """The course, in this folder."""
    (root / "nbgrader_config.py").write_text(CONFIG)
    for lesson, text in (("01_attention", FIRST), ("02_masking", SECOND)):
        path = root / "solutions" / lesson / f"{lesson}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (root / "README.md").write_text(README)
    (root / "docs").mkdir()
    for name, text in DOCS.items():
        (root / "docs" / f"{name}.md").write_text(text)
    course = Course.find(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Catalogue, "all", lambda _catalogue: [exercises.find("attention.scale")])
        release(course)
    return course


def broken_links(site: Path) -> list[str]:
    """The links and loads of a site's pages that lead to no file, or to no place in it."""
    pages = {path.resolve(): links_of(path.resolve()) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site.resolve())}: {link}"
        for path, page in pages.items()
        for link in page.links
        if not _leads_somewhere(path, link, pages)
    ]


class Links(HTMLParser):
    """What a page links to, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given["id"]} if "id" in given else set()
        self.links |= {given[name] for name in ("src", "href") if name in given}
        self.loads |= {given["src"]} if "src" in given else {given["href"]} if tag == "link" else set()
        self.loads.update(_LOADED.findall(given.get("style", "")))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style":
            self.loads.update(_LOADED.findall(data))


@cache
def links_of(path: Path) -> Links:
    """Those of a page, which is read once."""
    return Links(path.read_text(encoding="utf-8"))


_LOADED = re.compile(r"(?:@import\s*|url\()['\"]?([^'\")\s;]+)")


def _leads_somewhere(path: Path, link: str, pages: dict[Path, Links]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return target.is_file()
    return not parts.fragment or unquote(parts.fragment) in pages[target].places


def loads_from_elsewhere(site: Path) -> list[str]:
    """What a site's pages and styles would load from another place."""
    loads = {path: links_of(path.resolve()).loads for path in site.rglob("*.html")}
    loads |= {path: set(_LOADED.findall(path.read_text(encoding="utf-8"))) for path in site.rglob("*.css")}
    return sorted(f"{path.name}: {load}" for path, found in loads.items() for load in found if _ELSEWHERE.match(load))


_ELSEWHERE = re.compile(r"(?:https?:)?//")
