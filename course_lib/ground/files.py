"""Files that are written whole or not at all, what is in them as a digest, and the folder of what can be had again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def put_in_place(path: Path) -> Iterator[Path]:
    """Where to write what becomes this file at the end of the block, unless the block fails: then nothing is left."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Where what was fetched or computed stays: `KATZE_CACHE`, or katze in the system's folder for caches."""
    if named := os.environ.get("KATZE_CACHE"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("katze"))
