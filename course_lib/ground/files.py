"""Files that are written whole or not at all, digests of files, and the cache folder."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DRIVE = Path("/content/drive/MyDrive")
"""Google Drive, where Colab mounts it."""


@contextmanager
def put_in_place(path: Path) -> Iterator[Path]:
    """Yield a path to write to; its file moves to `path` at the end of the block, or is removed if the block fails."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Return the folder for fetched or computed files: `KATZE_CACHE`, or `katze` in the system's cache folder."""
    if named := os.environ.get("KATZE_CACHE"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("katze"))
