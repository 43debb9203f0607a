"""A small course as a website: what is on its pages, and where their links lead.

Tests `lesson.py`, `guide.py` and `library.py` as well.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

import course_lib
from autograder.cli import main
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.site import build
from autograder.site.lesson import lesson_page
from autograder.site.library import as_text, library_pages
from tests.autograder.site.small_course import CONFIG, broken_links, loads_from_elsewhere, make_course

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def site(processes: None, course: Course) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build.library, "library_pages", short_library)
        folder = course.root / "build" / "site"
        assert build.build_site(course, folder) == []
        return folder


def short_library() -> dict[str, str]:
    """The library's pages, but for most of them: they would take as long as all else."""
    pages = library_pages()
    kept = {"library/attention": pages["library/attention"], "library/show": pages["library/show"]}
    contents = [line for line in pages["library"].split("\n") if "library/" not in line or line.strip() in kept]
    return {"library": "\n".join(contents), **kept}


def page(site: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((site / name).read_text(), "html.parser")


def text(tag: Tag | None) -> str:
    assert tag is not None
    return " ".join(tag.get_text(" ").split())


@pytest.fixture
def lesson(processes: None, site: Path) -> BeautifulSoup:
    return page(site, "lessons/01_attention.html")


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    assert broken_links(site) == []
    assert loads_from_elsewhere(site) == []


def test_broken_links_and_loads_from_elsewhere_are_seen(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<style>p { background: url("http://a.example/c.png") }</style><h1 id="here"></h1>'
        '<a href="#here"></a><a href="#there"></a><a href="no.html"></a>'
        '<img src="https://a.example/b.png"><a href="https://a.example/"></a>'
    )
    (tmp_path / "style.css").write_text("@font-face { src: url(//a.example/font.woff) }")
    assert sorted(broken_links(tmp_path)) == ["page.html: #there", "page.html: no.html"]
    assert loads_from_elsewhere(tmp_path) == [
        "page.html: http://a.example/c.png",
        "page.html: https://a.example/b.png",
        "style.css: //a.example/font.woff",
    ]


def test_a_lesson_shows_what_its_cells_show_and_no_answer(lesson: BeautifulSoup) -> None:
    said = text(lesson.select_one("article"))
    assert "scaled: 4.0" in said
    assert "NotImplementedError" in said
    for secret in ("d_head ** 0.5", "d_head**0.5", "BEGIN SOLUTION", "hidden=", "# katze:", "variances"):
        assert secret not in said, secret
    assert not lesson.select(".katze-verdict")


def test_a_lesson_s_pictures_are_files_its_scripts_stay_and_its_demos_are_folded(
    site: Path, lesson: BeautifulSoup
) -> None:
    [picture] = lesson.select("article img")
    assert picture["alt"] == 'A line that "rises".'
    assert int(str(picture["width"])) > 100
    assert (site / "lessons" / str(picture["src"])).read_bytes().startswith(b"\x89PNG")
    assert lesson.select(".cell #alive ~ script")
    [folded] = lesson.select(".cell details")
    assert "plt . subplots" in text(folded)


def test_a_lesson_has_its_buttons_and_its_neighbours(site: Path, lesson: BeautifulSoup) -> None:
    colab, download = lesson.select(".actions a")
    notebook = f"someone/their-course/blob/v{course_lib.__version__}/notebooks/01_attention/01_attention.ipynb"
    assert colab["href"] == f"https://colab.research.google.com/github/{notebook}"
    assert json.loads((site / "lessons" / str(download["href"])).read_text())["cells"]
    assert text(lesson.select_one("a.next-page")).endswith("Lesson 02 · Nothing")
    second = page(site, "lessons/02_masking.html")
    assert text(second.select_one("a.prev-page")).endswith("Lesson 01 · Scaling")
    assert second.select_one('article a[href="01_attention.html"]')
    assert second.select_one('article a[href="../sources.html#books"]')
    assert second.select_one('article a[href$="/blob/main/docs/none.md"]')


def test_the_landing_page_lists_the_lessons_and_the_glossary_every_term_with_its_lesson(site: Path) -> None:
    listed = [text(item) for item in page(site, "index.html").select(".lessons li")]
    assert listed == ["Lesson 01 · Scaling how to divide", "Lesson 02 · Nothing"]
    assert "You need to know Python, and of PyTorch" in text(page(site, "index.html").article)
    glossary = page(site, "glossary.html")
    assert [text(term) for term in glossary.select("article dt")] == [r"Alpha \(\alpha\)", "k-means", "Scale"]
    explained = [text(said) for said in glossary.select("article dd")]
    assert explained[0] == "a weight: see lesson 02. Lesson 01 · Scaling"
    assert explained[2:] == [
        "what a number is divided by, so that it stays small. Lesson 01 · Scaling",
        "what comes before it. Lesson 02 · Nothing",
    ]


def test_the_instructors_page_is_the_readme_s_part(site: Path) -> None:
    guide = page(site, "instructors.html")
    links = [link["href"] for link in guide.select("article section a:not(.headerlink)")]
    assert links == [
        "lessons/01_attention.html",
        "sources.html#books",
        "https://github.com/someone/their-course/blob/main/tests/README.md",
        "https://example.org/",
    ]
    assert "Not for instructors." not in text(guide.select_one("article"))
    assert "https://github.com/someone/their-course/blob/main/README.md" in str(page(site, "sources.html"))


def test_the_library_s_pages_say_what_docstrings_say(site: Path) -> None:
    attention = page(site, "library/attention.html")
    assert attention.find(id="course_lib.attention.dot_product_scores")
    assert not attention.select("dl > dd:first-child")
    assert "scores, scaled, masked" in text(attention.select_one("article")).replace(" ,", ",")


def test_docstrings_are_read_as_they_are_meant_and_none_gives_an_answer_away() -> None:
    lines = ["|a| times *b*, and `|c|`:", "", "    code()", ":param x:", "", "    not code"]
    as_text(None, "", "", None, None, lines)
    assert lines[0] == r"\|a\| times \*b\*, and `|c|`::"
    assert lines[3] == ":param x:"
    pages = library_pages()
    assert "course_lib.text.batches" in pages["library/text"]
    assert not {"library/exercises", "library/checking", "library/judging"} & pages.keys()


def test_the_command_tells_what_sphinx_warned_of(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "build_site", lambda *_given: ["a warning"])
    assert main(["site", "somewhere", "--course", str(course.root)]) == 0
    said = capsys.readouterr()
    assert said.err == "a warning\n"
    assert said.out == f"written: {Path('somewhere', 'index.html')}\n"


def test_a_course_that_cannot_be_shown_says_why(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    with pytest.raises(BadInput, match="no lessons in"):
        build.build_site(Course.find(tmp_path), tmp_path / "site")
    other = tmp_path / "other"
    other.mkdir()
    course = make_course(other)
    source = course.solutions / "02_masking" / "02_masking.py"
    source.write_text(source.read_text() + "\n# %%\n1 + 1\n")
    with pytest.raises(BadInput, match="the release of 02_masking is out of date: run `katze release`"):
        lesson_page(course, "02_masking")


def test_a_site_is_replaced_and_nothing_else_is(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_given: object) -> None:
        raise AssertionError("refuse before any work is done")

    monkeypatch.setattr(build, "lesson_page", lost)
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(BadInput, match="holds something else"):
        build.build_site(course, tmp_path)
    (tmp_path / build.OURS).touch()
    with pytest.raises(AssertionError):
        build.build_site(course, tmp_path)
