"""Defines what a part reports while it runs, and writes all of it into a JSON file and a table."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.table import HEADINGS, Row, line
from course_lib.ground.files import put_in_place


@dataclass(frozen=True)
class Point:
    """One point of a curve, such as the validation loss of a step."""

    curve: str
    step: int
    value: float


@dataclass(frozen=True)
class Said:
    """A fact in words, such as the signature of a BLEU score."""

    what: str
    text: str


Told = Row | Point | Said
Tell = Callable[[Told], None]


@dataclass
class Outcome:
    """The outcome of a part.

    Attributes:
        part: its name.
        outcome: "running", "done", "failed", "cut off" at its limit, or "skipped"; only "done" is a pass.
        why: why it failed or was skipped.
        seconds: how long it took.
        limit: the most seconds that it may take; None without a limit.
        rows, said, curves: what it has reported so far.
    """

    part: str
    outcome: str = "running"
    why: str = ""
    seconds: float = 0.0
    limit: float | None = None
    rows: list[Row] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    curves: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def take(self, told: Told) -> None:
        """Keep what the part reports."""
        if isinstance(told, Row):
            self.rows.append(told)
        elif isinstance(told, Said):
            self.said[told.what] = told.text
        else:
            self.curves.setdefault(told.curve, []).append((told.step, told.value))

    def __str__(self) -> str:
        """Return the outcome in a line."""
        of = "" if self.limit is None else f" of at most {self.limit:.0f}"
        return f"{self.part}: {self.outcome} after {self.seconds:.0f} s{of}{self.why and f': {self.why}'}"


def write(folder: Path, about: dict[str, str], outcomes: Iterable[Outcome]) -> None:
    """Write both files, each all or nothing.

    Args:
        folder: the folder for `results.json` and `results.md`.
        about: facts about the machine and its programs.
        outcomes: the outcomes of the parts so far.
    """
    parts = list(outcomes)
    content = json.dumps({"about": about, "parts": [asdict(part) for part in parts]}, indent=1, ensure_ascii=False)
    with put_in_place(folder / "results.json") as unfinished:
        unfinished.write_text(content + "\n", encoding="utf-8")
    lines = [
        "; ".join(f"{what} {text}" for what, text in about.items()),
        "",
        line(HEADINGS),
        line(["---"] * len(HEADINGS)),
    ]
    lines += [
        line([f"{part.part}: {name}", *figures]) for part in parts for name, *figures in map(Row.cells, part.rows)
    ]
    lines += ["", *(f"- {part}" for part in parts), ""]
    lines += [f"- {part.part}, {what}: {text}" for part in parts for what, text in part.said.items()]
    with put_in_place(folder / "results.md") as unfinished:
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
