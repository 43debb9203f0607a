"""A small course as a website: what is on its pages, and where their links lead.

Tests `lesson.py`, `guide.py` and `library.py` as well.
"""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils.core import publish_doctree

import course_lib
from autograder.cli import main
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.site import build, guide
from autograder.site.finishing import Finishing, description
from autograder.site.lesson import lesson_page
from autograder.site.library import as_text, library_pages
from tests.autograder.records import text
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
    assert (picture["width"], picture["height"], picture["loading"]) == ("200", "100", "lazy")
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


def test_the_landing_page_says_what_for_whom_and_how_long_and_starts(site: Path) -> None:
    landing = page(site, "index.html")
    assert "Copyright" not in landing.get_text(), "it would name nobody"
    listed = [text(item) for item in landing.select(".lessons li")]
    [told] = re.findall(r"How long. About (1 hour [^:]*):", text(page(site, "lessons/01_attention.html")))
    assert listed == [f"Lesson 01 · Scaling · {told} how to divide", "Lesson 02 · Nothing"]
    assert [link["href"] for link in landing.select(".actions a")] == [
        "lessons/01_attention.html",
        "learners.html",
        "instructors.html",
    ]
    [picture] = landing.select(".cover img.katze-figure")
    assert "schläft" in str(picture["alt"])
    assert (site / str(picture["src"])).read_bytes()[16:24] == (1200).to_bytes(4) + (630).to_bytes(4)
    said = text(landing.select_one("article"))
    for part in (
        "What you will have built.",
        "For whom, and how long. You need to know Python, and the basics of PyTorch",
    ):
        assert part in said


def test_learners_and_instructors_have_parts_of_their_own(site: Path) -> None:
    parts = {
        text(caption): [text(link) for link in caption.find_next_sibling("ul").select("li.toctree-l1 > a")]
        for caption in page(site, "index.html").select(".sidebar-tree .caption")
    }
    assert parts == {
        "Lessons": ["Lesson 01 · Scaling", "Lesson 02 · Nothing"],
        "For learners": ["Work on the lessons", "Glossary", "The library", "Sources"],
        "For instructors": ["Teach a class", "Late", "Totals", "Again"],
    }
    assert text(page(site, "lessons/02_masking.html").select_one("a.next-page")).endswith("Work on the lessons")
    assert not page(site, "sources.html").select("a.next-page")
    assert not page(site, "instructors.html").select("a.prev-page")
    assert text(page(site, "late.html").select_one("a.next-page")).endswith("Totals")


def test_the_readme_leads_to_every_document() -> None:
    ours = Course.find(Path(__file__).parents[3])
    ways = {path.stem: set(guide._leads_to(path.read_text(), "")) for path in (ours.root / "docs").glob("*.md")}
    reached: set[str] = set()
    found = set(guide._leads_to(guide.readme_of(ours), "docs/"))
    while found - reached:
        reached |= found
        found = set().union(*(ways[name] for name in found))
    assert ways.keys() - reached == set()
    assert list(guide.documents(ours))[:1] == ["instructors"], "as the README names them"


def test_the_glossary_has_every_term_with_its_lesson(site: Path) -> None:
    glossary = page(site, "glossary.html")
    assert [text(term) for term in glossary.select("article dt")] == [r"Alpha \(\alpha\)", "k-means", "Scale"]
    explained = [text(said) for said in glossary.select("article dd")]
    assert explained[0] == "a weight: see lesson 02. Lesson 01 · Scaling"
    assert explained[2:] == [
        "what a number is divided by, so that it stays small. Lesson 01 · Scaling",
        "what comes before it. Lesson 02 · Nothing",
    ]


@pytest.mark.parametrize(
    ("name", "links"),
    [
        (
            "learners",
            [
                "#start",
                "instructors.html",
                "https://github.com/someone/their-course/blob/main/course_lib/attention.py",
                "https://example.org/",
            ],
        ),
        (
            "instructors",
            [
                "lessons/01_attention.html",
                "sources.html#books",
                "https://github.com/someone/their-course/blob/main/tests/README.md",
                "https://example.org/",
                "late.html",
                "learners.html#start",
            ],
        ),
        ("late", ["#the-rule", "totals.html"]),
        ("again", ["totals.html", "late.html#the-rule"]),
        ("sources", ["https://github.com/someone/their-course/blob/main/README.md"]),
    ],
)
def test_a_page_of_text_leads_to_the_site_s_own_pages(name: str, links: list[str], site: Path) -> None:
    written = page(site, f"{name}.html")
    assert [link["href"] for link in written.select("article section a:not(.headerlink)")] == links
    assert ".md" not in text(written.select_one("article")), "a page is called by its title"


@pytest.mark.parametrize(
    ("name", "title", "said", "picture"),
    [
        ("index", "A course", "The cat danced → die Katze tanzte: build the", "pictures/cover-1.png"),
        (
            "lessons/01_attention",
            "Lesson 01 · Scaling",
            r"Divide by \sqrt{d}. Then read on.",
            "../pictures/cover-1.png",
        ),
        ("late", "Late", "A rule is a rule; see totals.", "pictures/cover-1.png"),
        ("library/attention", "course_lib.attention", "Scaled dot-product attention", "../pictures/cover-1.png"),
    ],
)
def test_a_link_to_a_page_is_shown_with_title_text_and_picture(
    name: str, title: str, said: str, picture: str, site: Path
) -> None:
    tags = {
        str(tag.get("property") or tag.get("name")): str(tag["content"])
        for tag in page(site, f"{name}.html").select("meta[content]")
    }
    assert tags["og:title"] == title
    assert tags["og:site_name"] == "A course"
    assert tags["description"] == tags["og:description"]
    assert tags["description"].startswith(said)
    assert tags["og:image"] == picture
    assert (site / name).parent.joinpath(picture).is_file()
    assert "og:url" not in tags, "nobody knows where it will be"
    assert page(site, f"{name}.html").select('link[rel*=icon][href$="favicon.svg"]')


@pytest.mark.parametrize("address", ["https://a.example/katze", "https://a.example/katze/"])
def test_where_the_address_is_known_a_picture_s_is_whole(address: str) -> None:
    config = SimpleNamespace(html_baseurl=address, html_title='"A" & B', root_doc="index")
    app = SimpleNamespace(config=config, builder=SimpleNamespace(get_relative_uri=lambda *_: ""))
    context = {"title": 'One <em>"title"</em>', "pageurl": f"{address}/lessons/x.html", "metatags": "", "next": None}
    tree = publish_doctree('First "sentence". Second.')
    Finishing("instructors", "pictures/cover-1.png", "a & b")(app, "lessons/x", "", context, tree)  # type: ignore[arg-type]
    for said in (
        'property="og:image" content="https://a.example/katze/pictures/cover-1.png"',
        f'property="og:url" content="{address}/lessons/x.html"',
        'property="og:title" content="One &quot;title&quot;"',
        'property="og:site_name" content="&quot;A&quot; &amp; B"',
        'name="description" content="First &quot;sentence&quot;. Second."',
    ):
        assert said in str(context["metatags"])


@pytest.mark.parametrize(
    ("paragraph", "said"),
    [
        ("Short.", "Short."),
        ("One\nline is here. " + "And on it goes. " * 30, "One line is here. " + " ".join(["And on it goes."] * 11)),
        ("word " * 60, "word " * 40 + "…"),
        ("", ""),
    ],
)
def test_a_description_is_whole_sentences(paragraph: str, said: str) -> None:
    assert description(publish_doctree(f"Title\n=====\n\n{paragraph}\n\nSecond.\n" if paragraph else "")) == said


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
