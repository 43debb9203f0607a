"""The learner's progress file: two writers at once, damaged lines, a folder that cannot be written."""

import json
import multiprocessing
from pathlib import Path

import pytest

from course_lib.learner.progress_file import History, ProgressFile, progress_file

ID = "attention.scores"


@pytest.fixture
def kept(tmp_path: Path) -> ProgressFile:
    return ProgressFile(tmp_path / "new" / "progress.jsonl")


def test_nothing_is_known_at_first(kept: ProgressFile) -> None:
    assert kept.read() == {}
    assert (kept.of(ID), kept.of(ID).attempted) == (History(), False)
    assert not kept.path.parent.exists()


def test_failures_are_counted_until_a_check_passes(kept: ProgressFile) -> None:
    kept.note_check(ID, 0, False, "divides_by_keys")
    kept.note_check(ID, 1, False)
    history = kept.of(ID)
    assert (history.failures, history.points, history.mistake, history.passed) == (2, 1, "", False)
    kept.note_check(ID, 2, True)
    kept.note_check(ID, 0, False, "divides_by_keys")
    history = kept.of(ID)
    assert (history.failures, history.points, history.mistake, history.passed) == (1, 2, "divides_by_keys", True)
    assert (history.attempted, history.last > 0) == (True, True)


def test_hints_and_solutions_are_counted(kept: ProgressFile) -> None:
    kept.note_hint(ID, "shapes")
    kept.note_hint(ID, "idea")
    kept.note_asked(ID)
    assert (kept.of(ID).hints, kept.of(ID).asked, kept.of(ID).seen_solution) == (("shapes", "idea"), 1, False)
    kept.note_solution(ID)
    assert (kept.of(ID).asked, kept.of(ID).seen_solution) == (2, True)
    assert not kept.of(ID).attempted


def test_a_solution_aids_only_what_was_not_passed_before(kept: ProgressFile) -> None:
    kept.note_check(ID, 2, True)
    kept.note_solution(ID)
    kept.note_check(ID, 2, True)
    assert (kept.of(ID).seen_solution, kept.of(ID).aided) == (True, False)
    kept.note_solution("attention.scale")
    kept.note_check("attention.scale", 1, True)
    assert kept.of("attention.scale").aided


def test_damaged_lines_cost_no_others(kept: ProgressFile) -> None:
    kept.note_check(ID, 2, True)
    with kept.path.open("ab") as file:
        file.write(b'\n{"did": "hint", "exer')  # broken off
        file.write(b"\n\xff\xfe\x00")
        file.write(b'\n[1, 2]\nnull\n{"did": "hint"}\n{"did": "check", "exercise": "a.b", "points": "many"}')
        file.write(b'\n{"did": "dreamt", "exercise": "attention.scores"}')
    kept.note_hint(ID, "idea")
    assert {name: (one.passed, one.hints) for name, one in kept.read().items()} == {ID: (True, ("idea",))}
    assert kept.damage == f"6 lines of {kept.path} cannot be read: what was done there does not count."
    assert kept.news() == [kept.damage]
    assert kept.news() == [], "once is enough"


@pytest.mark.usefixtures("processes")
def test_two_notebooks_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(path, name)) for name in ("a.one", "b.two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    read = ProgressFile(path).read()
    assert {name: len(history.hints) for name, history in read.items()} == {"a.one": 200, "b.two": 200}
    assert all(json.loads(line) for line in path.read_text().splitlines() if line)


def _write_many(path: Path, name: str) -> None:
    for _ in range(200):
        ProgressFile(path).note_hint(name, "idea")


def test_where_nothing_can_be_written_it_is_remembered_and_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = ProgressFile(tmp_path / "file" / "progress.jsonl")
    kept.note_check(ID, 2, True)
    assert kept.of(ID).passed
    assert "KATZE_WORK" in kept.problem
    assert str(kept.path) in kept.problem


def test_each_folder_has_one_file(folder: Path) -> None:
    assert progress_file() is progress_file()
    assert progress_file().path == folder / "progress.jsonl"
