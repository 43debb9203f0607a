"""Finds the folder with a learner's work, which has `progress.jsonl` in it."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import platformdirs

from course_lib.ground.files import DRIVE

PROGRESS = "progress.jsonl"
"""The name of the progress file, by which a working folder is recognized."""


def learner_folder() -> Path:
    """Return the folder for this learner's progress and answers, which need not exist yet.

    It is the one that `KATZE_WORK` names; else the nearest folder above with a progress file, created by `katze learn`;
    else one in Google Drive if that is mounted, which takes over earlier work; else one in the home folder.
    """
    named = os.environ.get("KATZE_WORK")
    if named:
        return Path(named).expanduser().absolute()
    here = working_folder()
    for folder in (here, *here.parents) if here is not None else ():
        if (folder / PROGRESS).is_file():
            return folder
    at_home = Path(platformdirs.user_data_dir("katze"))
    if not DRIVE.is_dir():
        return at_home
    on_drive = DRIVE / "katze"
    _carry_over(at_home, on_drive)
    return on_drive


def work_in(folder: Path) -> bool:
    """Return whether `katze learn` created this folder, and make it the learner's unless `KATZE_WORK` names one."""
    if not (folder / PROGRESS).is_file():
        return False
    os.environ.setdefault("KATZE_WORK", str(folder.resolve()))
    return True


def _carry_over(earlier: Path, folder: Path) -> None:
    """Add the work done before Drive was mounted to what is there; if that fails, leave both as they are."""
    if not (earlier / PROGRESS).is_file():
        return
    with suppress(OSError):
        shutil.copytree(earlier, folder, ignore=shutil.ignore_patterns(PROGRESS), dirs_exist_ok=True)
        with (folder / PROGRESS).open("ab") as kept:
            kept.write(b"\n" + (earlier / PROGRESS).read_bytes())
        (earlier / PROGRESS).unlink()


def working_folder() -> Path | None:
    """Return the working directory; None if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None
