"""Caches results that depend only on the text of source files: parsing hundreds of files takes a second.

The cache is one file next to the downloads, and may be deleted at any time.
"""

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
"""The number of results to keep, enough for a few versions of all files."""

Result = TypeVar("Result")


def known(function: Callable[..., Result], *texts: str) -> Result:
    """Return a function's result for these texts, which is computed once, in this run or an earlier one.

    Args:
        function: returns plain JSON that depends only on the texts, Python, and the code in the function's own file.
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
    """Return the results, by a digest of function and texts; they are saved when this process ends."""
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
    with contextlib.suppress(OSError):  # if this fails, the next run takes a second longer
        path.parent.mkdir(parents=True, exist_ok=True)
        with put_in_place(path) as draft:
            draft.write_text(json.dumps(dict(list(results.items())[-_MOST:])), encoding="utf-8")
