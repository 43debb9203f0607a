"""What a sandbox has on disk, as the grader counts it."""

import os
import tempfile
from pathlib import Path

import pytest

from autograder.box import disk
from autograder.box.confinement import levels
from autograder.box.disk import made_and_locked


@pytest.mark.usefixtures("processes")
def test_a_folder_that_cannot_be_read_counts_as_too_large(tmp_path: Path) -> None:
    """As a user without privileges sees it; the folder could hold anything."""
    (tmp_path / "closed").mkdir(mode=0o300)
    (tmp_path / "closed/file").touch()
    worker = os.fork()
    if worker == 0:
        status = 1
        try:
            levels._drop_capabilities()
            disk.contents(tmp_path, 10)
        except PermissionError:
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(worker, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_the_contents_of_a_folder_are_counted_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/data").write_bytes(os.urandom(100_000))
    (tmp_path / "link").symlink_to("/")
    used, files = disk.contents(tmp_path, 100)
    assert files == 4
    assert 100_000 <= used < 200_000
    assert disk.contents(tmp_path, 1)[1] > 1
    assert disk.contents(tmp_path / "removed", 100) == (0, 0)


def test_of_a_process_that_is_gone_nothing_is_held() -> None:
    assert disk.held(0) == {}
    assert disk.mapped(0) == set()


def test_what_a_killed_process_has_left_is_removed_and_nothing_that_is_used_or_new(tmp_path: Path) -> None:
    tempfile.tempdir, before = str(tmp_path), tempfile.tempdir
    try:
        used, handle = made_and_locked("katze-try-")
        for name in ("left", "new", "other"):
            (tmp_path / f"katze-try-{name}" / "boxes").mkdir(parents=True)
        (tmp_path / "katze-other").mkdir()
        (tmp_path / "katze-try-link").symlink_to(tmp_path / "katze-other")
        (tmp_path / "katze-try-file").touch()
        for path in tmp_path.iterdir():
            if not path.name.endswith("new"):
                os.utime(path, (0, 0), follow_symlinks=False)
        again, other = made_and_locked("katze-try-")
    finally:
        tempfile.tempdir = before
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {used.name, again.name, "katze-try-new", "katze-other", "katze-try-link", "katze-try-file"}
    os.close(handle)
    os.close(other)
