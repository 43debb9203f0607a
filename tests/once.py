"""What tests need: made once for all processes that run them side by side, or not installed here."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

REPOSITORY = Path(__file__).parents[1]


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that all these processes look at and none may change.

    Args:
        factory: whose folders go when there are too many.
        name: of the folder.
        make: fills it; the first process that asks does so, and others wait for it.
    """
    shared = factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    place, done = shared / name, shared / f"{name}.made"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            place.mkdir()
            make(place)
            done.touch()
    return place


def copied_checkout(folder: Path) -> Path:
    """A copy, in this folder, of what git does not ignore in this checkout."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, folder / name)
    return folder


def skip_without(what: str, install: str, required_by: str) -> NoReturn:
    """Skip a test for which something is not installed, or fail it where this variable is "required"."""
    said = f"{what} is not installed; install it with: {install}"
    if os.environ.get(required_by) == "required":
        pytest.fail(said)
    pytest.skip(said)
