"""Keeps between runs what follows from the text of a source file alone: to parse hundreds of files takes a second.

It is kept beside what was fetched, in one file, which may be deleted at any time.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from course_lib.ground.files import cache_folder, put_in_place

_MOST = 5_000
"""Results that are kept: those of a few versions of all there is."""

Result = TypeVar("Result")


def known(function: Callable[..., Result], *texts: str) -> Result:
    """What a function gives for these texts: called once for them, in this run or an earlier one.

    Args:
        function: gives plain JSON, and depends on nothing but the texts, Python, and the code in its own file.
        texts: its arguments.
    """
    results = _results()
    given = json.dumps([sys.version, _code_beside(function), function.__qualname__, *texts])
    key = hashlib.sha256(given.encode()).hexdigest()
    if key not in results:
        results[key] = function(*texts)
    result: Result = results[key]
    return result


@functools.cache
def _code_beside(function: Callable[..., object]) -> str:
    return Path(inspect.getfile(function)).read_text(encoding="utf-8")


@functools.cache
def _results() -> dict[str, Any]:
    """By a digest of function and texts; what is there when this process ends is kept."""
    path = cache_folder() / "sources.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {}
    results: dict[str, Any] = found if isinstance(found, dict) else {}
    atexit.register(_keep, path, results, len(results), os.getpid())
    return results


def _keep(path: Path, results: dict[str, Any], before: int, owner: int) -> None:
    if len(results) == before or os.getpid() != owner:
        return
    with contextlib.suppress(OSError):  # then the next run takes a second longer
        path.parent.mkdir(parents=True, exist_ok=True)
        with put_in_place(path) as draft:
            draft.write_text(json.dumps(dict(list(results.items())[-_MOST:])), encoding="utf-8")
