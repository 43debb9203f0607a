from __future__ import annotations

import contextlib
import copy
import functools
import json
import operator
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import BadInput
from autograder.submission import (
    CELLS,
    CellKind,
    Release,
    Repaired,
    Unreadable,
    check_student_id,
    list_submissions,
    read_notebook,
    read_submission,
    repair,
)

LESSON = "01_small"


def graded(grade_id: str, **flags: object) -> dict[str, Any]:
    meta = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**meta, "grade_id": grade_id, **flags}}


def cell(kind: str, identity: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": identity, "metadata": metadata or {}, "source": source}
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def answer(task: str) -> dict[str, Any]:
    source = (
        f'# katze: small.{task} answer\ndef {task}(x):\n    """Return {task} of x."""\n    raise NotImplementedError()'
    )
    return cell("code", f"{task}-a", source, graded(f"small-{task}-answer", solution=True))


def check(task: str) -> dict[str, Any]:
    meta = graded(f"small-{task}-check", grade=True, locked=True, points=2)
    return cell("code", f"{task}-c", f'# katze: small.{task} check\ncheck("small.{task}")', meta)


def released() -> dict[str, Any]:
    why = graded("small-why-written", grade=True, solution=True, points=3)
    cells = [
        cell("markdown", "intro", "# A small lesson\n<b>Welcome</b>"),
        cell("code", "imports", "import math"),
        answer("one"),
        check("one"),
        cell("code", "figure", "show.something()", {"tags": ["demo"]}),
        cell("markdown", "between", "## The second task"),
        answer("two"),
        check("two"),
        cell("markdown", "question", "### Why?"),
        cell("markdown", "why", "<!-- katze: small.why written -->\nYour answer here.", why),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


RELEASE = Release(released())


def filled() -> dict[str, Any]:
    """The release with both answers and the question filled in."""
    notebook = released()
    for cell_id, old, new in [
        ("one-a", "raise NotImplementedError()", "return x + 1"),
        ("two-a", "raise NotImplementedError()", "return x + 2"),
        ("why", "Your answer here.", "Because $a<b$."),
    ]:
        found = by_id(notebook, cell_id)
        found["source"] = found["source"].replace(old, new)
    return notebook


def by_id(notebook: dict[str, Any], identity: str) -> dict[str, Any]:
    return next(cell for cell in notebook["cells"] if cell["id"] == identity)


def drop(notebook: dict[str, Any], *identities: str) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] not in identities]


def mended(notebook: dict[str, Any]) -> Repaired:
    """The repair of a notebook, whose result must always be a valid notebook with the release's checks."""
    repaired = repair(read_notebook(json.dumps(notebook).encode()), RELEASE)
    written = repaired.notebook()
    nbformat.validate(nbformat.from_dict(written))
    metas = [cell["metadata"]["nbgrader"] for cell in written["cells"] if "nbgrader" in cell["metadata"]]
    assert len({meta["grade_id"] for meta in metas}) == len(metas)
    checks = [cell for cell in repaired.cells if cell.kind is CellKind.CHECK]
    assert sorted(check.source for check in checks) == [check("one")["source"], check("two")["source"]]
    assert all(dict(check.nbgrader)["points"] == 2 for check in checks)
    return repaired


check_cell = check


def order(repaired: Repaired) -> list[str]:
    """The cells in short: their kind, and the exercise of those that have one."""
    return [f"{cell.kind}:{cell.exercise}" if cell.exercise else str(cell.kind) for cell in repaired.cells]


IN_ORDER = [
    "markdown",
    "code",
    "answer:small.one",
    "check:small.one",
    "code",
    "markdown",
    "answer:small.two",
    "check:small.two",
    "markdown",
    "written:small.why",
]


# --- repairing


def test_an_honest_notebook_needs_no_repair():
    repaired = mended(filled())
    assert repaired.repairs == ()
    assert order(repaired) == IN_ORDER
    assert repaired.cells[2].source.endswith("return x + 1")
    assert [cell.origin for cell in repaired.cells].count("student") == 3
    assert repaired.cells[4].is_demo
    assert [cell.position for cell in repaired.cells] == list(range(1, 11))


def test_an_untouched_notebook_is_the_release():
    repaired = mended(released())
    assert repaired.repairs == ()
    written = repaired.notebook()
    assert [cell["source"] for cell in written["cells"]] == [cell["source"] for cell in RELEASE.notebook["cells"]]
    assert [cell["id"] for cell in written["cells"]] == [cell["id"] for cell in RELEASE.notebook["cells"]]


def test_a_deleted_check_comes_back_behind_its_answer():
    notebook = filled()
    drop(notebook, "one-c", "two-c")
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert repaired.repairs == ("The check of small.one and small.two was missing and was put back.",)
    assert repaired.cells[3].origin == "restored"
    assert repaired.cells[3].position == 0


def test_everything_deleted_still_has_its_checks():
    notebook = filled()
    notebook["cells"] = []
    repaired = mended(notebook)
    assert order(repaired) == ["check:small.one", "check:small.two", "written:small.why"]
    assert any("no answer cell for small.one and small.two" in sentence for sentence in repaired.repairs)


@pytest.mark.parametrize("source", ["2", 'check("small.two")', "", "# nothing", "check = print"])
def test_an_edited_check_is_restored(source: str):
    notebook = filled()
    by_id(notebook, "one-c")["source"] = source
    repaired = mended(notebook)
    assert "The check of small.one had been changed and was restored." in repaired.repairs


def test_code_written_into_a_check_is_kept_before_it():
    notebook = filled()
    by_id(notebook, "one-a")["source"] = ""
    by_id(notebook, "one-c")["source"] = 'def one(x):\n    return x + 1\n\ncheck("small.one")'
    repaired = mended(notebook)
    place = next(i for i, cell in enumerate(repaired.cells) if cell.kind is CellKind.CHECK)
    assert any("return x + 1" in cell.source for cell in repaired.cells[:place])
    assert any("was kept, in a cell of its own" in sentence for sentence in repaired.repairs)


def test_further_copies_of_a_check_are_left_out():
    notebook = filled()
    notebook["cells"].append(copy.deepcopy(by_id(notebook, "one-c")))
    repaired = mended(notebook)
    assert order(repaired).count("check:small.one") == 1
    assert repaired.repairs == ("A further copy of the check of small.one was left out.",)


def test_a_copy_of_a_check_with_other_code_in_it_is_an_ordinary_cell():
    notebook = filled()
    own = copy.deepcopy(by_id(notebook, "one-c"))
    own["source"] = "helper = 3"
    notebook["cells"].insert(2, own)
    repaired = mended(notebook)
    kept = next(cell for cell in repaired.cells if cell.source == "helper = 3")
    assert kept.kind is CellKind.CODE
    assert not kept.nbgrader


def test_a_check_before_its_answer_moves_behind_it():
    notebook = filled()
    moved = by_id(notebook, "two-c")
    drop(notebook, "two-c")
    notebook["cells"].insert(0, moved)
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert repaired.repairs == ("The check of small.two stood before its answer and was moved behind it.",)


def test_all_copies_of_an_answer_run_and_the_last_one_is_graded():
    notebook = filled()
    second = copy.deepcopy(by_id(notebook, "one-a"))
    second["source"] = second["source"].replace("x + 1", "1 + x")
    notebook["cells"].insert(3, second)
    repaired = mended(notebook)
    assert order(repaired)[2:5] == ["code:small.one", "answer:small.one", "check:small.one"]
    assert repaired.cells[3].source.endswith("1 + x")
    assert any("several copies of the answer to small.one" in sentence for sentence in repaired.repairs)


def test_an_untouched_copy_does_not_undo_the_answer():
    notebook = filled()
    notebook["cells"].insert(3, copy.deepcopy(answer("one")))
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert repaired.cells[2].source.endswith("return x + 1")
    assert any("nothing was written was left out" in sentence for sentence in repaired.repairs)


def test_stripped_metadata_is_rebuilt_from_the_markers():
    notebook = filled()
    for stripped in notebook["cells"]:
        stripped["metadata"] = {}
        del stripped["id"]
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert [sentence for sentence in repaired.repairs if "5 cells had been removed" in sentence]
    assert repaired.cells[4].is_demo


def test_without_metadata_and_markers_cells_are_found_by_what_they_define_and_say():
    notebook = filled()
    for stripped in notebook["cells"]:
        stripped["metadata"] = {}
        stripped["source"] = "\n".join(line for line in stripped["source"].split("\n") if "katze:" not in line)
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert repaired.cells[2].source.endswith("return x + 1")
    assert repaired.cells[9].source == "Because $a< b$."


def test_an_answer_with_a_syntax_error_and_no_marks_is_found_by_its_text():
    notebook = filled()
    lost = by_id(notebook, "one-a")
    lost["metadata"] = {}
    lost["source"] = 'de one(x):\n    """Return one of x."""\n    raise NotImplementedError()'
    repaired = mended(notebook)
    assert order(repaired)[2] == "answer:small.one"


def test_an_answer_moved_to_another_cell_is_checked_there():
    notebook = filled()
    by_id(notebook, "one-a")["source"] = "# see below"
    notebook["cells"].append(cell("code", "later", "def one(x):\n    return x + 1"))
    repaired = mended(notebook)
    place = order(repaired).index("check:small.one")
    assert any(c.source.startswith("def one(x):\n    return") for c in repaired.cells[:place])


def test_an_experiment_after_the_check_is_not_the_answer():
    notebook = filled()
    notebook["cells"].insert(4, cell("code", "experiment", "def one(x):\n    return None"))
    repaired = mended(notebook)
    assert repaired.repairs == ()
    assert order(repaired)[2:5] == ["answer:small.one", "check:small.one", "code"]


@pytest.mark.parametrize(
    ("identity", "kind", "place"),
    [("one-a", "markdown", 2), ("one-a", "raw", 2), ("one-c", "raw", 3), ("why", "code", 9)],
)
def test_a_retyped_cell_is_changed_back(identity: str, kind: str, place: int):
    notebook = filled()
    retyped = by_id(notebook, identity)
    retyped["cell_type"] = kind
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert len(repaired.repairs) == 1
    assert repaired.cells[place].is_code == (identity != "why")


@pytest.mark.parametrize(
    "forged",
    [{"points": 100}, {"grade": False}, {"solution": True}, {"locked": False}, {"task": True}, {"points": "x" * 500}],
)
def test_forged_settings_are_ignored_and_noted(forged: dict[str, object]):
    notebook = filled()
    by_id(notebook, "one-c")["metadata"]["nbgrader"].update(forged)
    repaired = mended(notebook)
    assert repaired.repairs == (
        "The points or grading settings of small.one had been changed; those of the release are used.",
    )


def test_an_ordinary_cell_cannot_make_itself_graded():
    notebook = filled()
    notebook["cells"].append(cell("code", "mine", "2", graded("small-bonus-check", grade=True, points=50, locked=True)))
    repaired = mended(notebook)
    assert not repaired.cells[-1].nbgrader
    assert "small-bonus-check" in repaired.repairs[0]


def test_a_marker_alone_cannot_replace_a_check():
    notebook = filled()
    notebook["cells"].insert(0, cell("code", "fake", "# katze: small.one check\ncheck = lambda *a: 2"))
    mended(notebook)


def test_an_answer_pasted_into_another_cell_is_still_that_answer():
    notebook = filled()
    by_id(notebook, "imports")["metadata"] = by_id(notebook, "one-c")["metadata"]
    by_id(notebook, "imports")["source"] = by_id(notebook, "two-a")["source"]
    drop(notebook, "two-a", "one-c")
    repaired = mended(notebook)
    assert order(repaired)[1] == "answer:small.two"


def test_a_repaired_notebook_needs_no_repair():
    notebook = filled()
    drop(notebook, "one-c")
    notebook["cells"] += [copy.deepcopy(by_id(notebook, "one-a")), cell("raw", "r", "text")]
    once = mended(notebook)
    twice = repair(read_notebook(json.dumps(once.notebook()).encode()), RELEASE)
    assert [(c.kind, c.source, c.exercise) for c in twice.cells] == [(c.kind, c.source, c.exercise) for c in once.cells]


def test_a_missing_answer_is_not_put_back():
    notebook = filled()
    drop(notebook, "one-a")
    repaired = mended(notebook)
    assert "answer:small.one" not in order(repaired)
    assert any("no answer cell for small.one" in sentence for sentence in repaired.repairs)


def test_a_missing_question_comes_back_unanswered():
    notebook = filled()
    drop(notebook, "why")
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert repaired.cells[-1].source == RELEASE.notebook["cells"][-1]["source"]


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


def test_the_lesson_s_own_html_stays():
    assert "<b>Welcome</b>" in mended(filled()).cells[0].source


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
    assert written[2]["outputs"] == [{"output_type": "stream", "name": "stderr", "text": "stopped after 10 s\n"}]
    assert [one.get("execution_count") for one in written if one["cell_type"] == "code"] == [
        None,
        None,
        None,
        1,
        None,
        2,
    ]


# --- reading


def as_bytes(notebook: object) -> bytes:
    return json.dumps(notebook, ensure_ascii=False).encode()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_any_unicode_encoding_is_read(encoding: str):
    notebook = filled()
    by_id(notebook, "imports")["source"] = "müde = '√'"
    read = read_notebook(json.dumps(notebook, ensure_ascii=False).encode(encoding))
    assert read.cells[1].source == "müde = '√'"
    assert len(read.repairs) == (0 if encoding.startswith("utf-8") else 1)


def test_windows_line_ends_and_lists_of_lines_are_read():
    notebook = filled()
    by_id(notebook, "imports")["source"] = ["a = 1\r\n", "b = 2\r", "c = 3"]
    content = json.dumps(notebook, indent=1).replace("\n", "\r\n").encode()
    assert read_notebook(content).cells[1].source == "a = 1\nb = 2\nc = 3"


def test_characters_that_cannot_be_written_are_replaced():
    notebook = filled()
    by_id(notebook, "imports")["source"] = "x = 'a\ud800b\x00c'"
    assert read_notebook(json.dumps(notebook).encode()).cells[1].source == "x = 'a\ufffdb\ufffdc'"
    latin = json.dumps(filled(), ensure_ascii=False).replace("import math", "# müde").encode("latin-1")
    assert "Some characters" in read_notebook(latin).repairs[0]


def test_old_formats_are_converted():
    version3 = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [
            {
                "metadata": {},
                "cells": [
                    {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Title"]},
                    {
                        "cell_type": "code",
                        "language": "python",
                        "metadata": {},
                        "input": ["a = 1"],
                        "outputs": [],
                        "collapsed": False,
                        "prompt_number": 1,
                    },
                ],
            }
        ],
    }
    read = read_notebook(as_bytes(version3))
    assert [one.source for one in read.cells] == ["## Title", "a = 1"]
    assert "old format 3" in read.repairs[0]


@pytest.mark.parametrize("version", [{"nbformat": 4, "nbformat_minor": 0}, {"nbformat": 5}, {"nbformat": "4"}, {}])
def test_any_other_version_is_read_as_it_stands(version: dict[str, object]):
    notebook = {**{k: v for k, v in filled().items() if not k.startswith("nbformat")}, **version}
    for one in notebook["cells"]:
        del one["id"]
    assert len(read_notebook(as_bytes(notebook)).cells) == 10


def test_another_language_is_noted():
    notebook = filled()
    notebook["metadata"] = {"kernelspec": {"name": "ir", "language": "R"}}
    assert "another language" in mended(notebook).repairs[0]


@pytest.mark.parametrize(
    "junk",
    [None, 3, "cell", [], {}, {"cell_type": "code"}, {"source": 3}, {"source": None, "cell_type": "code"}],
)
def test_a_damaged_cell_costs_only_itself(junk: object):
    notebook = filled()
    notebook["cells"].insert(1, junk)
    repaired = mended(notebook)
    assert order(repaired) == IN_ORDER
    assert repaired.repairs == ("1 damaged cell could not be read.",)


@pytest.mark.parametrize(
    "junk",
    [
        {"metadata": None},
        {"metadata": {"nbgrader": 3, "tags": "demo"}},
        {"metadata": {"nbgrader": {"grade_id": ["a"], "grade": True}, "tags": [1, {}]}},
        {"outputs": "none", "id": 7, "attachments": []},
        {"cell_type": ["code"]},
        {"cell_type": "video"},
    ],
)
def test_cells_with_strange_fields_are_read(junk: dict[str, object]):
    notebook = filled()
    notebook["cells"].append({**cell("code", "odd", "1 + 1"), **junk})
    assert len(mended(notebook).cells) == 11


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty file"),
        (b"  \n", "empty file"),
        (b"{", "JSON is broken"),
        (b"\xff\xd8\xff\xe0 not text", "JSON is broken"),
        (b"PK\x03\x04" + bytes(100), "JSON is broken"),
        (b"[" * 100_000, "JSON is broken"),
        (b'{"cells":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "JSON is broken"),
        (b"[1, 2]", "not a notebook"),
        (b"{}", "has no cells"),
        (b'{"cells": {}, "nbformat": 4}', "has no cells"),
        (b'{"nbformat": 3, "worksheets": 7}', "old format"),
        (b'{"nbformat": 2}', "old format"),
        (b'{"nbformat": 4, "cells": [' + b"{}," * CELLS + b"{}]}", "more than 2000"),
        (b'{"a": ' + b"9" * 5000 + b"}", "JSON is broken"),
        (b'{"a": "' + b"[" * 4_000_001 + b'"}', "millions of parts"),
    ],
)
def test_what_is_no_notebook_is_unreadable_and_says_what_to_do(content: bytes, said: str):
    with pytest.raises(Unreadable) as raised:
        read_notebook(content)
    assert said in raised.value.reason
    assert ":" in raised.value.reason
    assert "\n" not in raised.value.reason


def test_the_digest_follows_the_bytes():
    one, other = as_bytes(filled()), as_bytes(released())
    assert read_notebook(one).digest == read_notebook(one).digest != read_notebook(other).digest


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


@settings(max_examples=300, deadline=None)
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


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_whatever_the_bytes_they_are_a_notebook_or_unreadable(content: bytes):
    with pytest.raises(Unreadable):
        read_notebook(content)


# --- folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "submitted" / "ada" / LESSON
    made.mkdir(parents=True)
    (made / f"{LESSON}.ipynb").write_bytes(as_bytes(filled()))
    return made


def test_a_submission_is_read_with_its_timestamp(folder: Path):
    (folder / "timestamp.txt").write_text("2026-11-20 10:00:00 UTC\n")
    read = read_submission(folder, LESSON)
    assert len(read.cells) == 10
    assert read.timestamp == "2026-11-20 10:00:00 UTC"
    assert read.repairs == ()


def test_a_renamed_notebook_is_read_when_it_is_the_only_one(folder: Path):
    (folder / f"{LESSON}.ipynb").rename(folder / f"{LESSON} (1)\n.ipynb")
    (folder / "notes.txt").write_text("x")
    assert read_submission(folder, LESSON).repairs == (
        f"The notebook was named {LESSON} (1)?.ipynb; it was read as {LESSON}.ipynb.",
    )
    (folder / "other.ipynb").write_text("{}")
    with pytest.raises(Unreadable, match="several notebooks"):
        read_submission(folder, LESSON)


def test_a_folder_without_a_notebook_is_unreadable(folder: Path):
    (folder / f"{LESSON}.ipynb").rename(folder / "answers.zip")
    with pytest.raises(Unreadable, match=r"no notebook 01_small.ipynb in the submission \(answers.zip\)"):
        read_submission(folder, LESSON)


@pytest.mark.parametrize("linked", ["file", "lesson", "student"])
def test_no_link_is_followed(folder: Path, tmp_path: Path, linked: str):
    place = {"file": folder / f"{LESSON}.ipynb", "lesson": folder, "student": folder.parent}[linked]
    target = tmp_path / "elsewhere"
    place.rename(target)
    place.symlink_to(target)
    with pytest.raises(Unreadable, match="is a link"):
        read_submission(folder, LESSON)


def test_a_linked_timestamp_is_not_read(folder: Path, tmp_path: Path):
    (tmp_path / "secret").write_text("2026-01-01")
    (folder / "timestamp.txt").symlink_to(tmp_path / "secret")
    assert read_submission(folder, LESSON).timestamp == ""


def test_a_pipe_does_not_block_and_a_folder_is_no_notebook(folder: Path):
    path = folder / f"{LESSON}.ipynb"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(Unreadable, match="is not a file"):
        read_submission(folder, LESSON)
    path.unlink()
    path.mkdir()
    with pytest.raises(Unreadable):
        read_submission(folder, LESSON)


def test_a_huge_file_is_refused_unread(folder: Path):
    os.truncate(folder / f"{LESSON}.ipynb", 10**12)
    with pytest.raises(Unreadable, match="more than the 50 MB"):
        read_submission(folder, LESSON)


def test_a_folder_that_is_gone_is_unreadable(folder: Path):
    with pytest.raises(Unreadable, match="could not be opened"):
        read_submission(folder.parent / "03_other", LESSON)


def test_submissions_are_listed_by_student(folder: Path):
    submitted = folder.parent.parent
    for student in ("Zoe", "bob@example.org", "müller"):
        (submitted / student / LESSON).mkdir(parents=True)
    (submitted / "other" / "02_masking").mkdir(parents=True)
    (submitted / ".git" / LESSON).mkdir(parents=True)
    (submitted / "README").write_text("x")
    (submitted / "link").symlink_to(folder.parent)
    listed = list_submissions(submitted, LESSON)
    assert [student for student, _ in listed] == ["Zoe", "ada", "bob@example.org", "link", "müller"]
    assert listed[1][1] == folder
    with pytest.raises(BadInput, match="no folder"):
        list_submissions(submitted / "nowhere", LESSON)


@pytest.mark.parametrize(
    "student",
    [
        "a\nb",
        "a\x1bb",
        "..",
        "a..b",
        "",
        " ",
        "a ",
        "a/b",
        "a\\b",
        "a+b",
        "-rf",
        ".hidden",
        "a\u202eb",
        "x" * 129,
        "a\udcffb",
        "<b>",
    ],
)
def test_student_ids_that_could_be_something_else_are_refused(student: str):
    with pytest.raises(BadInput) as raised:
        check_student_id(student)
    assert "\n" not in str(raised.value)
    assert str(raised.value).isascii()


@pytest.mark.parametrize("student", ["ada", "ada.lovelace", "s123456", "o'neill", "müller", "Ada Lovelace", "a@b.de"])
def test_ordinary_student_ids_are_fine(student: str):
    check_student_id(student)


def test_a_bad_id_stops_the_listing_and_is_named(folder: Path):
    (folder.parent.parent / "a\nb" / LESSON).mkdir(parents=True)
    with pytest.raises(BadInput, match=r"'a\\nb'"):
        list_submissions(folder.parent.parent, LESSON)
