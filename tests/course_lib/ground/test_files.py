"""A file is there whole or not at all."""

from pathlib import Path

import pytest

from course_lib.ground.files import put_in_place


def test_a_file_is_put_in_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with put_in_place(path) as unfinished:
        unfinished.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def stopped() -> None:
        with put_in_place(path) as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
