"""Where a learner's work is kept."""

from pathlib import Path

import platformdirs
import pytest

from course_lib.learner import folder
from course_lib.learner.folder import PROGRESS, learner_folder
from course_lib.learner.progress_file import ProgressFile


@pytest.fixture(autouse=True)
def nowhere_in_particular(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KATZE_WORK", raising=False)
    monkeypatch.setattr(folder, "DRIVE", tmp_path / "no drive")
    monkeypatch.chdir(tmp_path)


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KATZE_WORK", str(tmp_path / "mine"))
    (tmp_path / "progress.jsonl").touch()
    assert learner_folder() == tmp_path / "mine"


def test_then_the_working_folder_above(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "work" / "01_attention").mkdir(parents=True)
    (tmp_path / "work" / "progress.jsonl").touch()
    monkeypatch.chdir(tmp_path / "work" / "01_attention")
    assert learner_folder() == tmp_path / "work"


def test_drive_takes_over_what_was_done_before_it_was_mounted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: str(tmp_path / "home"))
    before = learner_folder()
    (before / "answers").mkdir(parents=True)
    (before / "answers" / "masking.causal_mask.py").write_text("newer")
    ProgressFile(before / PROGRESS).note_check("masking.causal_mask", 2, True)

    on_drive = tmp_path / "drive" / "katze"
    (on_drive / "answers").mkdir(parents=True)
    (on_drive / "answers" / "masking.causal_mask.py").write_text("older")
    (on_drive / "answers" / "attention.scale.py").write_text("older")
    ProgressFile(on_drive / PROGRESS).note_check("attention.scale", 1, True)
    monkeypatch.setattr(folder, "DRIVE", tmp_path / "drive")
    for _ in range(2):
        assert learner_folder() == on_drive
        assert [*ProgressFile(on_drive / PROGRESS).read()] == ["attention.scale", "masking.causal_mask"]
    kept = {path.stem: path.read_text() for path in (on_drive / "answers").iterdir()}
    assert kept == {"masking.causal_mask": "newer", "attention.scale": "older"}


def test_then_the_home_folder() -> None:
    assert learner_folder() == Path(platformdirs.user_data_dir("katze"))


def test_a_folder_that_is_gone_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert learner_folder() == Path(platformdirs.user_data_dir("katze"))
