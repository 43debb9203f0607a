"""A work folder of its own for each test, so that nothing of a learner's is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `KATZE_WORK` names."""
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    return tmp_path
