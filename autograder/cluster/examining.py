"""Decides which workers may take part: those that would grade as the client does, in sandboxes that are strong enough.

Every worker, even one that joins later, reports what its grades depend on before it gets a submission.
"""

from __future__ import annotations

import functools
import hashlib
import json
import socket
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import BadInput

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise

_DIGESTS = {
    "checks": "Katze's grading code is different",
    "library": "course_lib is different",
}
"""Messages about differing digests, whose values would tell a person nothing."""


@dataclass(frozen=True)
class Examined:
    """What a machine reports about itself.

    Attributes:
        host: its name.
        versions: the versions of Katze, Python and the packages that affect grades, and digests of our own code.
        level: the level of its sandboxes, such as "L2"; empty if none is strong enough.
        problem: why it cannot grade, in words; empty if it can.
    """

    host: str
    versions: Mapping[str, str] = field(default_factory=dict)
    level: str = ""
    problem: str = ""


@dataclass(frozen=True)
class ExaminedWorker:
    """A worker as seen by the client.

    Attributes:
        name: Dask's name for it.
        address: its address.
        examined: what it reports about itself.
        refused: why it may not grade; empty if it may.
    """

    name: str
    address: str
    examined: Examined
    refused: str


def refusal(name: str, address: str, problem: str) -> str:
    """Return a line about a worker that gets no submissions."""
    return f"worker {name} at {address} is refused: {problem}"


def examine_oneself(min_level: str = "", level: str = "") -> Examined:
    """Return what this process would grade with.

    Args:
        min_level: the weakest acceptable sandbox level; empty for grading's default.
        level: the exact sandbox level, used without a test; empty for the strongest that works.
    """
    host, versions, chosen = socket.gethostname(), dict[str, str](), ""
    try:
        from autograder.gradebook.file import check_room

        versions = _versions()
        chosen = level or _choose(min_level)
        check_room(Path(tempfile.gettempdir()))
    except ImportError as error:
        return Examined(host, problem=missing_in_words(error))
    except BadInput as error:
        return Examined(host, versions, chosen, str(error))
    return Examined(host, versions, chosen)


def missing_in_words(error: ImportError) -> str:
    """Return a sentence about what a worker could not import."""
    return f"{error.name or error} cannot be imported there; install the same Katze there"


def why_not(there: Examined, here: Examined) -> str:
    """Return why a worker may not grade for a client, in words; empty if it may."""
    if there.problem:
        return there.problem
    for name in sorted(there.versions.keys() | here.versions.keys(), key=lambda name: (name in _DIGESTS, name)):
        theirs, ours = (side.versions.get(name, "none") for side in (there, here))
        if theirs != ours:
            differs = _DIGESTS.get(name, f"{name} is {theirs} there and {ours} here")
            return f"{differs}; install the same versions there"
    return ""


@functools.cache
def _choose(min_level: str) -> str:
    from autograder.box.confinement.levels import Level
    from autograder.box.confinement.selftest import choose_level

    return choose_level(Level[min_level] if min_level else None).name


@functools.cache
def _versions() -> dict[str, str]:
    import importlib.metadata

    import course_lib
    from autograder.grading.assignment import grading_versions
    from autograder.grading.digests import sources

    library = Path(course_lib.__file__).parent
    return {
        **grading_versions(),
        "dask": importlib.metadata.version("distributed"),
        "library": sources.of_files(library.rglob("*.py")),
    }


def exercises_digest(exercises: Iterable[Exercise]) -> str:
    """Return a digest of exercises, which is the same on two machines if the exercises are."""
    from autograder.grading.digests import fingerprints

    definitions = json.dumps(
        {exercise.id: fingerprints.of_exercise(exercise) for exercise in exercises}, sort_keys=True
    )
    return hashlib.sha256(definitions.encode()).hexdigest()
