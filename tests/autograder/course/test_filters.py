"""nbgrader's own pages: what a student wrote is shown there, and nothing of it runs, loads or takes part."""

from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter

from autograder.course.course import Course
from autograder.course.filters import clean_html
from course_lib import exercises
from course_lib.checking import check
from course_lib.ground.style_sheet import style_sheet
from course_lib.judging.verdict import Verdict

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    exercise = exercises.find("attention.scores")
    shown = check(exercise.id, exercise.misconceptions[0].answer)
    assert shown is not None
    return shown


@pytest.mark.parametrize(
    "fragment",
    [
        "<script>steal()</script>",
        '<img src="x" onerror="steal()">',
        '<a href="javascript:steal()">x</a>',
        '<a href="data:text/html,<script>steal()</script>">x</a>',
        '<svg onload="steal()"></svg>',
        '<iframe srcdoc="<script>steal()</script>"></iframe>',
        '<p style="background: url(//steal())">x</p>',
        "<style>body { background: url(//steal()) }</style>",
        '<form action="//steal()"><input name="steal()"></form>',
        '<div id="steal()">x</div>',
        '<div class="score steal()">x</div>',
        '<img src="https://example.org/steal().png">',
        '<img src="data:image/svg+xml;base64,c3RlYWwoKQ==" alt="">',
        "<!-- steal() -->",
    ],
)
def test_nothing_runs_loads_or_takes_part(fragment: str) -> None:
    cleaned = clean_html(f"before {fragment} after")
    assert "steal()" not in cleaned
    assert "c3RlYWwoKQ" not in cleaned
    assert "score" not in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")


@pytest.mark.parametrize(
    "fragment",
    [
        '<p class="katze-lead">Right</p>',
        '<div class="highlight hl-ipython3"><pre><span class="k">def</span></pre></div>',
        '<table class="dataframe"><tbody><tr><td colspan="2">1</td></tr></tbody></table>',
        '<img src="data:image/png;base64,AAAA" alt="a plot">',
        "<h2>Softmax</h2><p>$a &lt; b$ <em>and</em> <code>x</code></p>",
    ],
)
def test_what_a_page_needs_stays_as_it_is(fragment: str) -> None:
    assert clean_html(fragment) == fragment
    assert clean_html(fragment.encode()) == fragment


def test_a_verdict_keeps_its_look_and_only_the_one_style_sheet(verdict: Verdict) -> None:
    cleaned = clean_html(verdict.html() + "<style>body { display: none }</style>")
    assert style_sheet("verdict") in cleaned
    assert cleaned.count("<style") == 1
    assert "<strong>" in cleaned
    assert 'class="katze-verdict katze-fail"' in cleaned
    assert "display: none" not in cleaned


def test_nbgraders_exporter_uses_it_as_the_course_says(verdict: Verdict) -> None:
    html = verdict.html() + '<script>steal()</script><b id="x">bold</b>'
    output = nbformat.v4.new_output("execute_result", {"text/html": html})
    cells = [
        nbformat.v4.new_markdown_cell("# Title\n\n<script>steal()</script> $a<b$"),
        nbformat.v4.new_code_cell("def f(): pass", outputs=[output]),
    ]
    page, _ = HTMLExporter(config=Course.find(ROOT).config).from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    assert "steal()" not in page
    assert "<b>bold</b>" in page
    assert 'class="katze-verdict katze-fail"' in page
    assert '<span class="k">def</span>' in page
