"""Files of a graded submission: whole or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from autograder.grading.publish import write_whole


def test_a_file_is_written_over_what_a_killed_run_left_and_told_by_digest_and_size(tmp_path: Path) -> None:
    path = tmp_path / "autograded" / "ada" / "page.html"
    write_whole(path, "before")
    path.with_name(".page.html.part").write_text("what a killed run left")
    digest, size = write_whole(path, "Köln")
    assert path.read_text(encoding="utf-8") == "Köln"
    assert (digest, size) == (hashlib.sha256("Köln".encode()).hexdigest(), 5)
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]


def test_what_cannot_be_written_leaves_the_file_of_before_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    write_whole(path, "before")
    write_bytes = Path.write_bytes

    def half(self: Path, content: bytes) -> int:
        write_bytes(self, content[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
