"""Files that are written whole or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

Files = dict[str, tuple[str, int]]
"""For each file that was written, its SHA-256 and its size in bytes."""


def write_whole(path: Path, text: str) -> tuple[str, int]:
    """Write a file, whole or not at all; returns its SHA-256 and its size."""
    content = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")  # one name: what a killed run left, the next one overwrites
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    return hashlib.sha256(content).hexdigest(), len(content)
