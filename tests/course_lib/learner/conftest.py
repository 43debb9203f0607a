"""A work folder of its own for each test, so that nothing of a learner's is read or written; and what is printed."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `KATZE_WORK` names."""
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`KATZE_WORK` names what no folder can be."""
    (folder / "file").touch()
    monkeypatch.setenv("KATZE_WORK", str(folder / "file"))


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What has been printed since it was last asked for, in one line."""
    return lambda: " ".join(capsys.readouterr().out.split())
