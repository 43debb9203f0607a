"""Builds the website for `katze site`: writes the pages, and lets Sphinx turn them into a site that needs no network.

It loads nothing from elsewhere: a MathJax next to the pages sets the formulas, and the search runs in the browser, even
from files.
"""

import io
import logging
import re
import shutil
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import nbformat
from rich.console import Console

from autograder.course.course import Course
from autograder.course.store.builds import solution_lessons
from autograder.demo.cover import cover
from autograder.errors import BadInput
from autograder.progress import progress_bar
from autograder.site import guide, library
from autograder.site.finishing import Finishing
from autograder.site.guide import INSTRUCTORS, LEARNERS, LESSONS
from autograder.site.lesson import DOWNLOADS, PICTURES, LessonPage, lesson_page, with_files
from course_lib import __version__

logger = logging.getLogger(__name__)

MATHJAX = "static/mathjax/es5/tex-svg-full.js"
"""A self-contained file in the package `mathjax` that needs no fonts."""

OURS = "katze-site.txt"
"""The file that marks a folder as a site built here, which may be replaced."""


def build_site(course: Course, folder: Path, workers: int = 1) -> list[str]:
    """Build the website of a course.

    Args:
        course: its release must be up to date with its solutions.
        folder: the target; an existing site is replaced.
        workers: how many lessons run at once, and how many processes read and write pages.

    Returns:
        Sphinx's warnings, in lines.

    Raises:
        BadInput: the folder contains something else; or the course has no solutions, or a lesson cannot be shown.
    """
    if course.exercises.folder is not None:
        raise BadInput("a website can be made only of the course in `course_lib`: this one has exercises of its own")
    if not solution_lessons(course):
        raise BadInput(f"no lessons in {course.solutions}: a website is built where a course is written")
    if folder.exists() and not (folder / OURS).exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} holds something else; name an empty folder, or one that does not exist")
    names, lessons = solution_lessons(course), []
    with ThreadPoolExecutor(max_workers=workers) as pool, progress_bar(Console(stderr=True)) as progress:
        bar = progress.add_task("lessons", total=len(names))
        for page in pool.map(partial(lesson_page, course), names):
            lessons.append(page)
            progress.advance(bar)
            progress.refresh()
    drawn, pictures = cover(), {name: data for page in lessons for name, data in page.pictures.items()}
    covers: dict[str, bytes] = {}
    shown = with_files(drawn.html(), PICTURES, "cover", covers)
    with tempfile.TemporaryDirectory(prefix="katze-site-") as workshop:
        source, extra, made = (Path(workshop) / name for name in ("source", "extra", "made"))
        parts = _write_pages(course, lessons, shown, source)
        _write_files(course, lessons, pictures | covers, source, extra)
        logger.info("%d lessons have run; Sphinx makes pages of them", len(lessons))
        finishing = Finishing(parts[INSTRUCTORS][0], f"{PICTURES}/{next(iter(covers))}", drawn.alt)
        warnings = _sphinx(source, made, _settings(course, extra), finishing, workers)
        (made / OURS).write_text("Made by katze site.\n")
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, folder, ignore=shutil.ignore_patterns(".buildinfo", "objects.inv"), copy_function=_copy)
    return warnings


def _copy(made: str, place: str) -> None:
    """Copy a file from Sphinx; label the theme's sidebar to distinguish it from the one on the right."""
    if not made.endswith(".html"):
        shutil.copyfile(made, place)
        return
    html = Path(made).read_text(encoding="utf-8")
    html = html.replace('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Site">')
    Path(place).write_text(html, encoding="utf-8")


def _write_pages(course: Course, lessons: list[LessonPage], picture: str, source: Path) -> dict[str, list[str]]:
    """Write the pages that are already text.

    Returns:
        The parts of the site, each with the names of its pages, without file endings.
    """
    documents, library_pages = guide.documents(course), library.library_pages()
    cited = [name for name in documents if any(name in page.documents for page in lessons)]
    own = [name for name in guide.OF_LEARNERS if name in documents]
    parts = {
        LESSONS: [f"lessons/{page.lesson}" for page in lessons],
        LEARNERS: [*own, "glossary", "library", *cited],
        INSTRUCTORS: [name for name in documents if name not in (*own, *cited)],
    }
    texts = {"glossary": guide.glossary_page(lessons), **documents}
    texts["index"] = guide.landing_page(course, lessons, picture, parts)
    files = {f"{name}.md": text for name, text in texts.items()}
    files |= {f"{name}.rst": text for name, text in library_pages.items()}
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return parts


def _write_files(
    course: Course, lessons: list[LessonPage], pictures: Mapping[str, bytes], source: Path, extra: Path
) -> None:
    """Write the files that pages load: pictures, downloadable notebooks, the style, the scripts."""
    (source / "lessons").mkdir(parents=True)
    for folder in (DOWNLOADS, PICTURES):
        (extra / folder).mkdir(parents=True)
    for page in lessons:
        nbformat.write(page.notebook, source / "lessons" / f"{page.lesson}.ipynb")
        shutil.copy(course.release_notebook(page.lesson), extra / DOWNLOADS)
    for name, picture in pictures.items():
        (extra / PICTURES / name).write_bytes(picture)
    static = source / "_static"
    shutil.copytree(Path(__file__).parent / "static", static)
    with resources.as_file(resources.files("mathjax") / MATHJAX) as script:
        shutil.copy(script, static / "mathjax.js")


def _settings(course: Course, extra: Path) -> dict[str, Any]:
    title = guide.title_of(course)
    return {
        "project": title,
        "version": __version__,
        "extensions": ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"],
        "default_role": "code",
        "napoleon_use_ivar": True,
        "html_theme": "furo",
        "html_title": title,
        "html_baseurl": course.website,
        "html_favicon": "_static/favicon.svg",
        "html_theme_options": {"footer_icons": [], "top_of_page_buttons": []},
        "html_static_path": ["_static"],
        "html_extra_path": [str(extra)],
        "html_css_files": ["site.css"],
        "html_js_files": ["scrolling.js"],
        "html_use_index": False,  # its two columns of long names are too wide, and the search finds them all
        "html_copy_source": False,
        "html_show_sphinx": False,
        "html_show_copyright": False,
        "html_show_search_summary": False,  # it would have to be fetched, which fails for files
        "html_permalinks_icon": "#",
        "highlight_language": "none",
        "pygments_style": "a11y-high-contrast-light",
        "mathjax_path": "mathjax.js",
        "mathjax3_config": {"options": {"enableMenu": False}},
        "myst_enable_extensions": ["dollarmath", "amsmath", "deflist", "colon_fence", "html_image"],
        "myst_heading_anchors": 3,
        "nb_execution_mode": "off",
        "nb_ipywidgets_js": {},
        "nb_render_text_lexer": "none",
        "autodoc_member_order": "bysource",
        "autodoc_typehints": "signature",
        "autodoc_use_type_comments": False,  # there are none, and looking for them takes a second
        "python_maximum_signature_line_length": 88,
        "suppress_warnings": ["myst.header", "mystnb.unknown_mime_type", "misc.highlighting_failure"],
    }


def _sphinx(source: Path, made: Path, settings: dict[str, Any], finishing: Finishing, workers: int) -> list[str]:
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    warned = io.StringIO()
    with docutils_namespace():
        app = Sphinx(
            source,
            confdir=None,
            outdir=made,
            doctreedir=made.with_name("doctrees"),
            buildername="html",
            confoverrides=settings,
            status=None,
            warning=warned,
            freshenv=True,
            parallel=workers,
        )
        app.connect("autodoc-process-docstring", library.as_text)
        app.connect("html-page-context", finishing, priority=900)  # after the theme
        app.build()
    return [line for line in re.sub(r"\x1b\[[0-9;]*m", "", warned.getvalue()).splitlines() if line.strip()]
