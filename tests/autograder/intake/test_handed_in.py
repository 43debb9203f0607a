"""Where the notebook is among what was handed in: in folders, in archives, under other names, beside others.

Tests `archives.py` and `folders.py` as well.
"""

import contextlib
import gzip
import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import Unreadable
from autograder.intake import archives, handed_in
from autograder.intake.submission import find_submission, read_submission
from tests.autograder.platforms.downloads import laid, tarred, zipped
from tests.autograder.small_lesson import ANSWERS_IN, LESSON, by_id, filled, released

NAME = f"{LESSON}.ipynb"
CONTENT = json.dumps(filled()).encode()
RELEASED = json.dumps(released()).encode()
OTHER = b'{"cells": [], "nbformat": 4}'
SOURCE = CONTENT.replace(b"import math", b"### BEGIN HIDDEN TESTS")
"""The course's own notebook, with solutions and hidden tests."""

SCRIPT = b"# %%\n# katze: small.one answer\ndef one(x):\n    return x + 1\n"


def answered(**answers: str) -> bytes:
    """A notebook with these answers alone."""
    notebook = released()
    for task, value in answers.items():
        cell = by_id(notebook, f"{task}-a")
        cell["source"] = cell["source"].replace("raise NotImplementedError()", f"return {value}")
    return json.dumps(notebook).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "submitted" / "ada" / LESSON
    made.mkdir(parents=True)
    return made


def unpacked(archive: str) -> str:
    return f"The notebook was taken out of the archive {archive}."


def inside(folder: str) -> str:
    return f"The notebook was found in the folder {folder}."


def named(name: str) -> str:
    return f"The notebook was named {name}; it was read as {NAME}."


def beside(others: str, chosen: str = NAME) -> str:
    return f"There were other notebooks as well ({others}); {chosen} was graded."


DEEP = "content/drive/MyDrive/Colab Notebooks/a/b/c"
CHECKPOINT = f".ipynb_checkpoints/{LESSON}-checkpoint.ipynb"
ON_A_MAC = {f"{LESSON}/{NAME}": CONTENT, f"__MACOSX/{LESSON}/._{NAME}": b"x", ".DS_Store": b"x"}
FOUND: dict[str, tuple[dict[str, bytes], tuple[str, ...]]] = {
    "where it belongs": ({NAME: CONTENT}, ()),
    "beside other files": (
        {NAME: CONTENT, "data.csv.gz": gzip.compress(b"1"), "notes.py": b"x", "old.zip": b"x", ".DS_Store": b"x"},
        (),
    ),
    "renamed": ({"my homework (1).ipynb": CONTENT}, (named("my homework (1).ipynb"),)),
    "in a folder": ({f"week 1/{NAME}": CONTENT}, (inside("week 1"),)),
    "beside another notebook": ({NAME: CONTENT, "scratch.ipynb": OTHER}, (beside("scratch.ipynb"),)),
    "one of several": (
        {"a.ipynb": OTHER, "b.ipynb": CONTENT, "c.ipynb": b"{"},
        (named("b.ipynb"), beside("a.ipynb, c.ipynb", "b.ipynb")),
    ),
    "in a zip": ({"answers.zip": zipped({NAME: CONTENT})}, (unpacked("answers.zip"),)),
    "in a zip made on a Mac": ({"answers.zip": zipped(ON_A_MAC)}, (unpacked("answers.zip"), inside(LESSON))),
    "a zip under the notebook's name": (
        {NAME: zipped({"x.ipynb": CONTENT}, zipfile.ZIP_LZMA)},
        (unpacked(NAME), named("x.ipynb")),
    ),
    "compressed": (
        {f"{NAME}.gz": gzip.compress(CONTENT)},
        (f"The notebook was compressed ({NAME}.gz); it was unpacked.",),
    ),
    "in a tar": ({"a.tar": tarred({f"./{LESSON}/{NAME}": CONTENT}, "w")}, (unpacked("a.tar"), inside(LESSON))),
    "in a compressed tar": ({"a.tar.gz": tarred({NAME: CONTENT})}, (unpacked("a.tar.gz"),)),
    "in a zip in a zip": (
        {"a.zip": zipped({"b/c.zip": zipped({NAME: CONTENT})})},
        (unpacked("a.zip"), unpacked("c.zip")),
    ),
    "beside an older attempt": (
        dict.fromkeys((NAME, f"{LESSON}-1.ipynb", f"{LESSON} (10).ipynb", f"{LESSON}-9.ipynb"), CONTENT),
        (
            named(f"{LESSON} (10).ipynb"),
            beside(f"{NAME}, {LESSON}-1.ipynb, {LESSON}-9.ipynb", f"{LESSON} (10).ipynb"),
        ),
    ),
    "beside a later file that is not the lesson": (
        {NAME: CONTENT, f"{LESSON}-1.ipynb": OTHER},
        (beside(f"{LESSON}-1.ipynb"),),
    ),
    "in a folder of a system's tools": (
        {f"{DEEP}/{NAME}": CONTENT, "venv/lib/site-packages/x.ipynb": OTHER},
        (inside(DEEP),),
    ),
    "a name with a space behind it": ({f"{NAME} ": CONTENT}, (named(f"{NAME} "),)),
    "downloaded twice, as text": ({f"{NAME} (1).txt": CONTENT}, (named(f"{NAME} (1).txt"),)),
    "in a hidden folder of a zip": (
        {"a.zip": zipped({f".work/{NAME}": CONTENT})},
        (unpacked("a.zip"), inside(".work")),
    ),
    "only as a checkpoint of Jupyter": ({CHECKPOINT: CONTENT}, (named(CHECKPOINT),)),
    "a zip that can be read beside one that cannot": (
        {"a.zip": zipped({NAME: CONTENT}), "b.zip": b"x"},
        (unpacked("a.zip"),),
    ),
    "the same answers twice": (
        {"a.ipynb": CONTENT, "b.ipynb": CONTENT},
        (named("a.ipynb"), beside("b.ipynb", "a.ipynb")),
    ),
    "checkpoints of Jupyter": ({NAME: CONTENT, CHECKPOINT: OTHER}, ()),
}


@pytest.mark.parametrize("case", FOUND)
def test_the_notebook_is_found(case: str, folder: Path):
    files, notes = FOUND[case]
    laid(folder, files)
    read = read_submission(folder, LESSON, ANSWERS_IN)
    assert len(read.cells) == 10
    assert read.repairs == notes


ONE, TWO, BOTH = answered(one="1"), answered(two="2"), answered(one="1", two="2")
OLDER = RELEASED.replace(b"Return", b"Give")
"""Untouched, of an earlier edition: none of its stubs is the release's."""

CHOSEN: dict[str, tuple[dict[str, bytes], str]] = {
    "beside an untouched release": ({NAME: RELEASED, f"{LESSON}-Copy1.ipynb": ONE}, f"{LESSON}-Copy1.ipynb"),
    "beside the release of an earlier edition": ({NAME: OLDER, f"Copy of {NAME}": ONE}, f"Copy of {NAME}"),
    "untouched where it belongs, done elsewhere": ({NAME: RELEASED, f"work/{NAME}": ONE}, f"work/{NAME}"),
    "a whole clone in a zip": (
        {
            "a.zip": zipped(
                {f"k/notebooks/x/{NAME}": RELEASED, f"k/solutions/{LESSON}.py": SOURCE, f"k/work/x/{NAME}": ONE}
            )
        },
        f"a.zip/k/work/x/{NAME}",
    ),
    "a script beside an untouched release": ({NAME: RELEASED, f"{LESSON}.py": SCRIPT}, f"{LESSON}.py"),
    "a checkpoint beside an untouched release": ({NAME: RELEASED, CHECKPOINT: ONE}, CHECKPOINT),
    "a checkpoint with more than what was handed in": ({NAME: ONE, f".ipynb_checkpoints/{NAME}": BOTH}, NAME),
    "the course's own source": ({NAME: ONE, f"source/{NAME}": SOURCE}, NAME),
    "less under the right name": ({NAME: ONE, "final.ipynb": BOTH}, "final.ipynb"),
    "the later of two": ({f"{LESSON}-2.ipynb": ONE, f"{LESSON} (1).ipynb": answered(one="3")}, f"{LESSON}-2.ipynb"),
    "the later of two in a folder": ({NAME: ONE, "x/01-small v2.ipynb": answered(one="3")}, "x/01-small v2.ipynb"),
    "the later of two archives": (
        {f"{LESSON}.zip": zipped({NAME: BOTH}), f"{LESSON} (1).zip": zipped({NAME: answered(one="3", two="4")})},
        f"{LESSON} (1).zip/{NAME}",
    ),
    "all answers in one cell": (
        {NAME: ONE, "x.ipynb": ONE.replace(b"return 1", b"return 1\\n\\ndef two(x):\\n    return 2")},
        "x.ipynb",
    ),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_of_several_notebooks_the_one_with_the_work_is_graded(case: str, folder: Path):
    files, name = CHOSEN[case]
    laid(folder, files)
    archive, _, inside = name.partition("/") if ".zip/" in name else ("", "", name)
    wanted = zipfile.ZipFile(io.BytesIO(files[archive])).read(inside) if archive else files[name]
    assert find_submission(folder, LESSON, ANSWERS_IN)[0].content == wanted


REFUSED = {
    "nothing": ({}, "it is empty"),
    "only other files": ({"notes.txt": b"x", "b.docx": b"x"}, r"\(b.docx, notes.txt\): submit the .ipynb file itself"),
    "only what is passed over": ({".DS_Store": b"x", "__MACOSX/._x": b"x"}, "__MACOSX: it is not the student's work"),
    "several unknown notebooks": ({"a.ipynb": OTHER, "b.ipynb": OTHER}, r"several notebooks \(a.ipynb, b.ipynb\)"),
    "different answers": (
        {NAME: ONE, "final.ipynb": answered(one="3")},
        rf"several notebooks with answers \({NAME}, final.ipynb\), and it is unclear which one counts",
    ),
    "answers to different exercises": ({NAME: ONE, f"{LESSON}-1.ipynb": TWO}, "several notebooks with answers"),
    "an untouched release and a damaged notebook": (
        {NAME: RELEASED, f"{LESSON}-1.ipynb": CONTENT[:300]},
        "The notebook breaks off",
    ),
    "a damaged notebook and its checkpoint": (
        {NAME: CONTENT[:300], f".ipynb_checkpoints/{NAME}": CONTENT},
        "The notebook breaks off",
    ),
    "a Python file of the lesson's name and another": (
        {f"{LESSON}.py": b"import torch", "helper.py": b""},
        "The file is a Python file, not a notebook",
    ),
    "an untouched release and a closed archive": (
        {NAME: RELEASED, "done.7z": b"7z"},
        rf"no answers in {NAME}, and not everything else could be read \(done.7z: it is an archive of a kind that",
    ),
    "several scripts": ({"a.py": b"", "b.py": b""}, r"several files \(a.py, b.py\)"),
    "a web page": ({f"{LESSON}.html": b"<html>"}, "a web page cannot be graded. Choose File > Download"),
    "a PDF": ({f"{LESSON}.pdf": b"%PDF"}, "a PDF cannot be graded"),
    "an empty zip": ({"a.zip": zipped({})}, r"\(a.zip: it is empty\)"),
    "a zip without a notebook": ({"a.zip": zipped({".x/y.txt": b""})}, r"\(a.zip/.x/y.txt\): submit"),
    "a zip of a zip of a zip": (
        {"a.zip": zipped({"b.zip": zipped({"c.zip": zipped({NAME: CONTENT})})})},
        "a.zip/b.zip/c.zip: there are too many archives",
    ),
    "a damaged tar": ({"a.tar": tarred({NAME: CONTENT}, "w")[:1000]}, "a.tar: it is damaged"),
    "a damaged zip": ({"a.zip": zipped({NAME: CONTENT})[:100]}, "a.zip: it is damaged"),
    "a zip that climbs out": ({"a.zip": zipped({"a\\..\\..\\" + NAME: CONTENT})}, "its name leads out of the archive"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_says_what_to_hand_in(case: str, folder: Path):
    files, said = REFUSED[case]
    laid(folder, files)
    with pytest.raises(Unreadable, match=said) as raised:
        read_submission(folder, LESSON, ANSWERS_IN)
    assert ":" in raised.value.reason or "." in raised.value.reason
    assert "\n" not in raised.value.reason


def test_of_very_large_notebooks_only_so_many_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    laid(folder, {f"{number}.ipynb": CONTENT for number in range(4)})
    monkeypatch.setattr(handed_in, "COMPARED_BYTES", 3 * len(CONTENT))
    with pytest.raises(Unreadable, match=r"several notebooks \(0.ipynb, .*\), with more than .* together: submit one"):
        read_submission(folder, LESSON, ANSWERS_IN)


def test_bombs_are_not_unpacked(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archives, "NOTEBOOK_BYTES", 100_000)
    large = {NAME: b"{" + b" " * 1_000_000}
    for bomb in (
        {"a.zip": zipped(large)},
        {NAME: gzip.compress(large[NAME])},
        {"a.zip": zipped({"b.tar": tarred(large, "w")})},
    ):
        laid(folder, bomb)
        with pytest.raises(Unreadable, match="more than the limit of 100 kB"):
            read_submission(folder, LESSON, ANSWERS_IN)
        (folder / [*bomb][0]).unlink()


ARCHIVES = (
    zipped({NAME: CONTENT, "data.csv": b"1,2"}),
    zipped({f"a/{NAME}": CONTENT}, zipfile.ZIP_BZIP2),
    gzip.compress(CONTENT),
)


@settings(max_examples=300)
@given(
    st.sampled_from(ARCHIVES),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=4)), max_size=5),
    st.floats(0, 1),
)
def test_a_damaged_archive_gives_its_notebook_or_is_refused(
    archive: bytes, changes: list[tuple[float, bytes]], kept: float
):
    damaged = bytearray(archive)
    for where, junk in changes:
        start = int(where * len(damaged))
        damaged[start : start + len(junk)] = junk
    with contextlib.suppress(Unreadable):
        found = handed_in.unpack("answers.zip", bytes(damaged[: int(kept * len(damaged)) or None]), LESSON, ANSWERS_IN)
        assert len(found.content) <= handed_in.NOTEBOOK_BYTES


def test_deep_and_wide_folders_are_not_walked_to_their_end(folder: Path, monkeypatch: pytest.MonkeyPatch):
    laid(folder, {f"{'a/' * 60}{NAME}": CONTENT})
    with pytest.raises(Unreadable, match="it is nested more than 50 folders deep"):
        read_submission(folder, LESSON, ANSWERS_IN)
    monkeypatch.setattr(handed_in, "FILES", 5)
    laid(folder, {f"{number}.txt": b"x" for number in range(9)} | {f"z/{NAME}": CONTENT})
    with pytest.raises(Unreadable, match="no notebook"):
        read_submission(folder, LESSON, ANSWERS_IN)


def test_what_tools_have_put_beside_a_notebook_does_not_hide_it(folder: Path):
    packages = {f"venv/lib/p{number}.py": b"x" for number in range(1500)}
    laid(folder, {"a.zip": zipped(packages | {f"z/{NAME}": CONTENT})})
    assert len(read_submission(folder, LESSON, ANSWERS_IN).cells) == 10
    (folder / "a.zip").unlink()
    laid(folder, packages | {f"z/{NAME}": CONTENT})
    assert len(read_submission(folder, LESSON, ANSWERS_IN).cells) == 10


def test_a_pipe_does_not_block_and_a_folder_is_no_notebook(folder: Path):
    path = folder / NAME
    os.mkfifo(path)
    with pytest.raises(Unreadable, match="it is not an ordinary file"):
        read_submission(folder, LESSON, ANSWERS_IN)
    path.unlink()
    path.mkdir()
    with pytest.raises(Unreadable, match="no notebook"):
        read_submission(folder, LESSON, ANSWERS_IN)


def test_a_huge_file_is_refused_unread(folder: Path):
    (folder / NAME).touch()
    os.truncate(folder / NAME, 10**12)
    with pytest.raises(Unreadable, match="more than the limit of 50 MB"):
        read_submission(folder, LESSON, ANSWERS_IN)
