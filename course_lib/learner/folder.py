"""Finds the folder with a learner's work, which has `progress.jsonl` in it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import platformdirs

from course_lib.ground.files import DRIVE

PROGRESS = "progress.jsonl"
"""What the file is called, and by what a working folder is known."""


def learner_folder() -> Path:
    """The folder that keeps this learner's progress and answers; it need not be there yet.

    The one that `KATZE_WORK` names; else the nearest folder above this one that keeps some, which `katze learn` has
    made; else one in Google Drive where that is mounted, which takes over what was done before; else one in the home
    folder.
    """
    named = os.environ.get("KATZE_WORK")
    if named:
        return Path(named).expanduser().absolute()
    here = _here()
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
    """Return whether `katze learn` has made this folder, which is then the learner's unless `KATZE_WORK` names one."""
    if not (folder / PROGRESS).is_file():
        return False
    os.environ.setdefault("KATZE_WORK", str(folder.resolve()))
    return True


def _carry_over(earlier: Path, folder: Path) -> None:
    """Add what was done before Drive was mounted to what is there; where that cannot be, both stay as they are."""
    if not (earlier / PROGRESS).is_file():
        return
    with suppress(OSError):
        shutil.copytree(earlier, folder, ignore=shutil.ignore_patterns(PROGRESS), dirs_exist_ok=True)
        with (folder / PROGRESS).open("ab") as kept:
            kept.write(b"\n" + (earlier / PROGRESS).read_bytes())
        (earlier / PROGRESS).unlink()


def _here() -> Path | None:
    """The folder that this runs in; None where it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None
