"""What a training tells as it goes, and the one file that holds all of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.table import Row
from course_lib.ground.files import put_in_place


@dataclass(frozen=True)
class Point:
    """One point of a curve, such as the validation loss of a step."""

    curve: str
    step: int
    value: float


@dataclass(frozen=True)
class Said:
    """What is said in words, such as the signature of a BLEU."""

    what: str
    text: str


Told = Row | Point | Said
Tell = Callable[[Told], None]


@dataclass
class Outcome:
    """What became of a training.

    Attributes:
        part: its name.
        outcome: "running", "done" or "failed".
        why: it failed.
        seconds: it took.
    """

    part: str
    outcome: str = "running"
    why: str = ""
    seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    curves: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def take(self, told: Told) -> None:
        """Keep what the training tells."""
        if isinstance(told, Row):
            self.rows.append(told)
        elif isinstance(told, Said):
            self.said[told.what] = told.text
        else:
            self.curves.setdefault(told.curve, []).append((told.step, told.value))

    def __str__(self) -> str:
        """The outcome in a line."""
        return f"{self.part}: {self.outcome} after {self.seconds:.0f} s{self.why and f': {self.why}'}"


def write(folder: Path, about: dict[str, str], outcomes: Iterable[Outcome]) -> None:
    """Put all that is known so far into `results.json`.

    Args:
        folder: for it.
        about: the machine and its programs.
        outcomes: of the trainings, so far.
    """
    found = {"about": about, "parts": [asdict(outcome) for outcome in outcomes]}
    with put_in_place(folder / "results.json") as unfinished:
        unfinished.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
