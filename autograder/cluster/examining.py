"""Decides which workers may take part: those that grade as the client would, in sandboxes that are strong enough.

Every worker says of itself what grades depend on, before it gets a submission; so does one that joins later.
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
"""What differs, of what nobody would read as a number."""


@dataclass(frozen=True)
class Examined:
    """What a machine says of itself.

    Attributes:
        host: its name.
        versions: of Katze, Python and the packages that decide grades, and digests of our own code.
        level: the level of its sandboxes, such as "L2"; empty where it has none that is strong enough.
        problem: why it cannot grade, in words; empty where it can.
    """

    host: str
    versions: Mapping[str, str] = field(default_factory=dict)
    level: str = ""
    problem: str = ""


@dataclass(frozen=True)
class ExaminedWorker:
    """A worker, as it is seen from the client.

    Attributes:
        name: what Dask calls it.
        address: where it is.
        examined: what it says of itself.
        refused: why it may not grade; empty where it may.
    """

    name: str
    address: str
    examined: Examined
    refused: str


def refusal(name: str, address: str, problem: str) -> str:
    """One line on a worker that gets nothing."""
    return f"worker {name} at {address} is refused: {problem}"


def examine_oneself(min_level: str = "", level: str = "") -> Examined:
    """What this process would grade with.

    Args:
        min_level: the weakest sandboxes that will do; empty for what grading takes by itself.
        level: sandboxes of exactly this level, untried; empty for the strongest that hold.
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
    """What a worker lacks that could not import something."""
    return f"{error.name or error} cannot be imported there; install the same Katze there"


def why_not(there: Examined, here: Examined) -> str:
    """Why a worker may not grade for a client, in words; empty where it may."""
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
    """What exercises are, as a digest: on two machines they are the same if it is."""
    from autograder.grading.digests import fingerprints

    definitions = json.dumps({one.id: fingerprints.of_exercise(one) for one in exercises}, sort_keys=True)
    return hashlib.sha256(definitions.encode()).hexdigest()
