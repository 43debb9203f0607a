"""Submissions put back into the shape of the release.

Tests `cells.py`, `matching.py`, `prose.py`, `release.py` and `text.py` as well.
"""

import base64
import contextlib
import copy
import functools
import json
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.intake import sanitise
from autograder.intake.submission import Unreadable, read_notebook
from autograder.repair import CellKind, Release, Repaired, repair
from autograder.repair.cells import notice_below
from autograder.repair.text import defined
from course_lib.checking.notebook import IMPORTED_CHECK
from tests.autograder.small_lesson import assert_mended_once, by_id, cell, drop, filled, graded, mended, order, released

Edit = Callable[[dict[str, Any]], object]


def test_everything_deleted_still_has_its_checks():
    notebook = filled()
    notebook["cells"] = []
    repaired = mended(notebook)
    assert order(repaired) == ["code", "check:small.one", "check:small.two", "written:small.why"]
    assert any("no answer cell for small.one and small.two" in sentence for sentence in repaired.repairs)


def test_whether_a_check_imports_itself_is_a_matter_of_the_release_s_age():
    notebook = filled()
    for name in ("one-c", "two-c"):
        check = by_id(notebook, name)
        check["source"] = check["source"].replace("check(", f"{IMPORTED_CHECK}\ncheck(")
    assert mended(notebook).repairs == ()


def test_a_copy_that_an_earlier_repair_left_with_its_marker_alone_is_no_news():
    notebook = filled()
    for identity in ("one-a", "one-c", "why"):
        second = copy.deepcopy(by_id(notebook, identity))
        second |= {"metadata": {}, "id": f"{identity}-2"}
        second["source"] += "\nhelper = 3"
        notebook["cells"].insert(2, second)
    repaired = mended(notebook)
    assert repaired.repairs == ()
    assert sum("helper = 3" in cell.source for cell in repaired.cells) == 3
    for identity in ("one-a", "one-c", "why"):
        by_id(notebook, identity)["metadata"] = {}
    assert len(mended(notebook).repairs) == 4


def test_an_answer_with_a_syntax_error_and_no_marks_is_found_by_its_text():
    notebook = filled()
    lost = by_id(notebook, "one-a")
    lost["metadata"] = {}
    lost["source"] = 'de one(x):\n    """Return one of x."""\n    raise NotImplementedError()'
    repaired = mended(notebook)
    assert order(repaired)[2] == "answer:small.one"


RIGHT = {task: f"def {task}(x):\n    return x + {n}" for n, task in enumerate(("one", "two"), start=1)}
BOTH = "\n\n\n".join(RIGHT.values())


def counting(repaired: Repaired, task: str) -> str:
    """The code that the check of a task meets: of the cells before it, the last that defines the answer."""
    check = order(repaired).index(f"check:small.{task}")
    return [cell.source for cell in repaired.cells[:check] if cell.runs and task in defined(cell.source)][-1]


def own(place: int, source: str, kind: str = "code") -> Edit:
    return lambda notebook: notebook["cells"].insert(place, cell(kind, "own", source))


def without(*identities: str) -> Edit:
    return lambda notebook: drop(notebook, *identities)


def more(identity: str, source: str) -> Edit:
    """More code in a cell of the release."""
    return lambda notebook: by_id(notebook, identity).update(
        source=f"{by_id(notebook, identity)['source']}\n\n{source}"
    )


def emptied(identity: str, statement: str) -> Edit:
    """An answer's cell in which something stands, but no answer."""
    return lambda notebook: by_id(notebook, identity).update(
        source=by_id(notebook, identity)["source"].replace("raise NotImplementedError()", statement)
    )


def mended_after(notebook: dict[str, Any], edits: tuple[Edit, ...]) -> Repaired:
    for edit in edits:
        edit(notebook)
    return mended(notebook)


ELSEWHERE: dict[str, tuple[Edit, ...]] = {
    "both in an added cell above": (own(2, BOTH),),
    "both in an added cell between the two": (own(5, BOTH),),
    "both in an added cell below": (own(8, BOTH),),
    "both in an added cell that is timed": (own(2, f"%%time\n{BOTH}"),),
    "both in a cell of text": (own(2, BOTH, "markdown"),),
    "both in the first answer's cell": (emptied("one-a", "return x + 1"), more("one-a", RIGHT["two"])),
    "both in the last answer's cell": (emptied("two-a", "return x + 2"), more("two-a", RIGHT["one"])),
    "both in the first check": (more("one-c", BOTH),),
    "both in the last check": (more("two-c", BOTH),),
    "each in its own check, wrong ones at the end": (
        more("one-c", RIGHT["one"]),
        more("two-c", RIGHT["two"]),
        own(12, BOTH.replace("+", "-")),
    ),
    "both in a cell of the lesson's": (more("imports", BOTH),),
    "one in each other's check": (more("one-c", RIGHT["two"]), more("two-c", RIGHT["one"])),
    "above, and a comment in the stubs": (
        own(2, BOTH),
        emptied("one-a", "# see above\n    raise NotImplementedError"),
        emptied("two-a", "raise NotImplementedError('see above')"),
    ),
    "above, and stubs that return nothing": (own(2, BOTH), emptied("one-a", "pass"), emptied("two-a", "return None")),
    "a wrong one above, the right one below it": (own(2, BOTH), own(2, BOTH.replace("+", "-"))),
    "a right one above the check, a wrong one below": (own(2, BOTH), own(12, BOTH.replace("+", "-"))),
    "two below the check: the last": (own(10, BOTH), own(10, BOTH.replace("+", "-"))),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_an_answer_counts_wherever_it_was_written(case: str):
    repaired = mended_after(released(), ELSEWHERE[case])
    for task, right in RIGHT.items():
        assert right.partition("\n")[2] in counting(repaired, task)
    assert not any("x - " in cell.source for cell in repaired.cells if cell.kind is CellKind.ANSWER)
    assert_mended_once(repaired)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ((own(2, f"%%writefile own.py\n{BOTH}"),), ()),
        ((own(2, f"%%timeit\n{BOTH}"),), ()),
        ((own(2, RIGHT["one"]), emptied("one-a", "return x - 1")), ()),
        (
            (own(2, RIGHT["one"]), emptied("one-a", "# see above\n    raise NotImplementedError()")),
            (
                "The answer to small.one was found in a cell other than its own.",
                "The cell of small.one, which undid the answer in another cell, is shown as text and does not run.",
            ),
        ),
    ],
    ids=["into a file", "timed alone", "a wrong answer", "a comment"],
)
def test_a_cell_of_an_answer_stays_one_unless_it_says_nothing(edits: tuple[Edit, ...], said: tuple[str, ...]):
    repaired = mended_after(released(), edits)
    assert repaired.repairs == said
    assert ("return x + 1" in counting(repaired, "one")) == bool(said)
    assert not said or "see above" in "".join(c.source for c in repaired.cells if c.kind is CellKind.MARKDOWN)


def test_the_last_copy_before_the_check_is_graded():
    notebook = filled()
    copied = copy.deepcopy(by_id(notebook, "one-a"))
    copied |= {"id": "later", "source": copied["source"].replace("x + 1", "x - 1")}
    notebook["cells"].insert(4, copied)
    repaired = mended(notebook)
    assert order(repaired)[2:5] == ["answer:small.one", "check:small.one", "code:small.one"]
    assert "return x + 1" in counting(repaired, "one")


SHORT = "It depends."
LONG = "Because it depends on all that comes before it, and so on."
ADOPTED, TOLD, NOTHING = "adopted", "told", "nothing"
IN_WORDS: dict[str, tuple[str, tuple[Edit, ...]]] = {
    "nowhere": (NOTHING, ()),
    "below": (ADOPTED, (own(10, SHORT, "markdown"),)),
    "above": (ADOPTED, (own(9, SHORT, "markdown"),)),
    "below, as raw text": (ADOPTED, (own(10, SHORT, "raw"),)),
    "below, behind an empty cell": (ADOPTED, (own(10, SHORT, "markdown"), own(10, "", "markdown"))),
    "in the question": (ADOPTED, (more("question", SHORT),)),
    "below, in characters": (ADOPTED, (own(10, "因为。", "markdown"),)),
    "below, as a picture": (ADOPTED, (own(10, '<img src="answer.png">', "markdown"),)),
    "below the question, its cell deleted": (ADOPTED, (without("why"), own(9, SHORT, "markdown"))),
    "in the question, its cell deleted": (ADOPTED, (without("why"), more("question", SHORT))),
    "below, as a comment": (TOLD, (own(10, "# Because it depends."),)),
    "below, as a string": (TOLD, (own(10, '"""\nBecause it depends.\n"""'),)),
    "below, printed": (TOLD, (own(10, 'print("Because it depends.")'),)),
    "below, as a file": (TOLD, (own(10, 'Image("scan.jpg")'),)),
    "below, as code": (NOTHING, (own(10, "x = 1"),)),
    "at the top": (TOLD, (own(0, LONG, "markdown"),)),
    "at the top, a name": (NOTHING, (own(0, "# Homework 1\nAda Lovelace, group 7", "markdown"),)),
    "in a section of the lesson": (TOLD, (more("between", LONG),)),
    "in a comment of another answer": (TOLD, (more("one-a", f"# {LONG}\n# {LONG}"),)),
    "in a comment of a check": (TOLD, (more("one-c", f"# {LONG}\n# {LONG}"),)),
    "in a string of a check": (TOLD, (more("one-c", f'"""{LONG} {LONG}"""'),)),
    "a remark in another answer": (NOTHING, (more("one-a", f"# {LONG}"),)),
    "elsewhere, its cell deleted": (TOLD, (without("question", "why"), own(1, LONG, "markdown"))),
}


@pytest.mark.parametrize("case", IN_WORDS)
def test_an_answer_in_words_is_read_wherever_it_was_written(case: str):
    notebook = filled()
    by_id(notebook, "why")["source"] = by_id(released(), "why")["source"]
    became, edits = IN_WORDS[case]
    repaired = mended_after(notebook, edits)
    [why] = [cell for cell in repaired.cells if cell.kind is CellKind.WRITTEN]
    assert (why.origin == "student") == (became != NOTHING)
    assert ("A person decides whether " in why.source) == (became == TOLD)
    elsewhere = "".join(cell.source for cell in repaired.cells if cell is not why)
    assert became != TOLD or "Because" in elsewhere or "scan" in elsewhere
    said = " ".join(repaired.repairs)
    assert ("The answer to small.why was found in a cell other than its own." in said) == (became == ADOPTED)
    assert ("in the cell of small.why, but elsewhere there may be an answer" in said) == (became == TOLD)
    assert_mended_once(repaired)


def test_a_picture_that_code_shows_beside_the_question_waits_for_a_person():
    notebook = released()
    drawn = {"output_type": "display_data", "data": {"image/png": "x"}, "metadata": {}}
    notebook["cells"].append(cell("code", "own", "draw()") | {"outputs": [drawn]})
    assert mended(notebook).cells[-2].origin == "student"


def test_how_a_text_begins_is_told_without_what_markdown_would_make_of_it():
    notebook = released()
    text = "<script>[Because](javascript:x) `it` $\\href{x}$ **depends** on much that comes before it, and so on and on"
    notebook["cells"].insert(0, cell("markdown", "own", text))
    said = mended(notebook).cells[-1].source
    assert said.endswith(
        "the text that begins “script Because (javascript x) it href x depends on much …” is the answer."
    )


OTHER_SETTINGS = "The grading settings of small.one differed from the lesson's, which are used."


@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        ({"points": "x" * 500}, []),
        ({"task": True}, [OTHER_SETTINGS]),
        ({"points": 1, "grade": False}, [OTHER_SETTINGS]),
    ],
)
def test_other_points_and_settings_are_ignored_and_nobody_is_accused(claimed: dict[str, object], told: list[str]):
    notebook = filled()
    by_id(notebook, "one-c")["metadata"]["nbgrader"].update(claimed)
    assert list(mended(notebook).repairs) == told


def test_an_ordinary_cell_cannot_make_itself_graded():
    notebook = filled()
    notebook["cells"].append(cell("code", "mine", "2", graded("small-bonus-check", grade=True, points=50, locked=True)))
    repaired = mended(notebook)
    assert not repaired.cells[-1].nbgrader
    assert "small-bonus-check" in repaired.repairs[0]


def test_an_answer_pasted_into_another_cell_is_still_that_answer():
    notebook = filled()
    by_id(notebook, "imports")["metadata"] = by_id(notebook, "one-c")["metadata"]
    by_id(notebook, "imports")["source"] = by_id(notebook, "two-a")["source"]
    drop(notebook, "two-a", "one-c")
    repaired = mended(notebook)
    assert order(repaired)[1:3] == ["code", "answer:small.two"]
    assert (
        "The lesson's imports (math) were missing in front of the first answer and were put back." in repaired.repairs
    )


def test_what_the_student_wrote_is_kept_in_order():
    notebook = filled()
    for place, source in [(2, "a = 1"), (5, "b = 2"), (12, "c = 3")]:
        notebook["cells"].insert(place, cell("code", f"own{place}", source))
    repaired = mended(notebook)
    own = [c.source for c in repaired.cells if c.source in ("a = 1", "b = 2", "c = 3")]
    assert own == ["a = 1", "b = 2", "c = 3"]
    assert repaired.repairs == ()


def test_raw_cells_and_active_markdown_become_harmless_text():
    notebook = filled()
    notebook["cells"] += [
        cell("raw", "raw", "```\n<script>alert(1)</script>"),
        cell("markdown", "html", "<script>alert(1)</script>"),
    ]
    repaired = mended(notebook)
    raw, html = repaired.cells[-2:]
    assert raw.kind is html.kind is CellKind.MARKDOWN
    assert raw.source.startswith("````text\n")
    assert "<script" not in raw.source + html.source


def test_markers_are_found_whatever_follows():
    for marker in ("# katze: small.one answer", "  #katze:  small.one\tanswer  ", "<!-- katze: small.one answer -->"):
        notebook = filled()
        by_id(notebook, "one-a")["metadata"] = {}
        by_id(notebook, "one-a")["source"] = f"{marker}\ndef other(x): ..."
        assert mended(notebook).cells[2].kind is CellKind.ANSWER
        by_id(notebook, "one-a")["source"] = f"{marker} and more\ndef other(x): ..."
        assert mended(notebook).cells[2].kind is not CellKind.ANSWER


def test_remote_images_and_commands_go_from_a_student_s_markdown_alone():
    source = "![d](http://evil.example/x.png) $\\href{http://evil.example}{x}$"
    notebook = filled()
    notebook["cells"].append(cell("markdown", "own", source))
    assert mended(notebook).cells[-1].source == "! [d](http://evil.example/x.png) $\\ href{http://evil.example}{x}$"
    lesson = released()
    lesson["cells"][0]["source"] = source
    content = json.dumps(lesson).encode()
    assert repair(read_notebook(content), Release(lesson)).cells[0].source == source


def test_a_picture_that_the_lesson_attaches_to_a_question_stays():
    lesson = released()
    by_id(lesson, "why")["attachments"] = {"a.png": {"image/png": "AAAA"}}
    repaired = repair(read_notebook(json.dumps(lesson).encode()), Release(lesson))
    assert repaired.cells[-1].attachments == {"a.png": {"image/png": "AAAA"}}


def test_an_embedded_image_is_attached():
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1" + b"x" * 30_000).decode()
    notebook = filled()
    notebook["cells"].append(
        cell("markdown", "own", f"*a* ![b](data:image/png;base64,{png}) ![c](data:image/png;base64,AAAA)")
    )
    own = mended(notebook).cells[-1]
    assert own.source == "*a* ![b](attachment:embedded-1) ! [c](attachment embedded-2)"
    assert own.attachments == {"embedded-1": {"image/png": png}}


def test_only_so_much_markdown_is_formatted():
    notebook = filled()
    notebook["cells"] += [cell("markdown", f"own{n}", "*a* " * 4000) for n in range(50)]
    own = [c.source for c in mended(notebook).cells[10:]]
    formatted = [source for source in own if source.startswith("*a*")]
    assert sum(map(len, formatted)) <= sanitise.MARKDOWN_CHARACTERS_TOGETHER
    assert own[: len(formatted)] == formatted
    assert len(formatted) == 12
    assert all("too long to be formatted" in source for source in own[12:])


def test_metadata_of_other_editors_is_dropped():
    notebook = filled()
    notebook["metadata"]["colab"] = {"provenance": []}
    for one in notebook["cells"]:
        one["metadata"] |= {"id": "x", "colab": {"base_uri": "y"}, "tags": ["<b>", 'x" onclick="y']}
        one["id"] = "same id"
    written = mended(notebook).notebook()
    assert set(written["metadata"]) == {"kernelspec", "katze"}
    for one in written["cells"]:
        assert set(one["metadata"]) <= {"katze", "nbgrader", "tags"}
        assert one["metadata"].get("tags", ["demo"]) == ["demo"]


def test_outputs_go_into_the_notebook_sanitised():
    notebook = filled()
    evil = {"output_type": "display_data", "data": {"application/javascript": "alert(1)"}, "metadata": {}}
    by_id(notebook, "imports")["outputs"] = [evil]
    by_id(notebook, "one-c")["outputs"] = [evil]
    repaired = mended(notebook)
    verdict = {"output_type": "display_data", "data": {"text/html": "<style>x</style>"}, "metadata": {}}
    written = repaired.notebook({4: [evil]}, {"small.two": [verdict]}, {2: "stopped after 10 s"})["cells"]
    assert "alert" not in json.dumps(written)
    assert written[3]["outputs"] == []
    assert written[7]["outputs"] == [verdict]
    assert written[2]["outputs"] == [notice_below("stopped after 10 s")]
    assert [one.get("execution_count") for one in written if one["cell_type"] == "code"] == [None, 1, None, 2, None, 3]


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(
        ["small-one-check", "# katze: small.two answer", "<!-- katze: small.why written -->", "markdown"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value in nested lists and dicts."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in inner for place in [(*path, key), *places(one, (*path, key))]]


PLACES = places(filled())


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=1, max_size=6))
def test_whatever_stands_in_a_notebook_it_is_repaired_or_unreadable(changes: list[tuple[tuple[Any, ...], object]]):
    notebook = filled()
    for path, junk in changes:
        with contextlib.suppress(LookupError, TypeError):  # an earlier change may have taken the place away
            functools.reduce(operator.getitem, path[:-1], notebook)[path[-1]] = junk
    try:
        repaired = mended(notebook)
    except Unreadable:
        return
    json.dumps(repaired.notebook(), ensure_ascii=False).encode()
