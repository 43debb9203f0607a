"""The progress file: a line for each check, hint, solution, figure, and answer to the questions that look back.

Lines are only ever added, each in one write, so that two notebooks at once lose nothing; a line that cannot be read is
skipped, and does not affect others.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course_lib.learner.folder import PROGRESS, learner_folder

Event = dict[str, Any]


@dataclass(frozen=True)
class History:
    """A learner's history of one exercise, or of a lesson's questions that look back.

    Attributes:
        points: the most points that a check gave.
        passed: whether a check passed.
        failures: the number of failed checks since the last that passed.
        mistake: the id of the mistake that the last check named; empty if none.
        hints: the depths of the hints opened, in order.
        asked: how often the solution was requested.
        seen_solution: whether the solution was shown.
        aided: whether it was shown before the first check that passed.
        first: the time of the first event, in seconds since 1970; 0 if there is none.
        last: the time of the last event.
        questions: the number of a lesson's questions that look back that were answered; 0 if none.
        missed: the numbers of those that were wrong at first, from 1.
        figures: the results measured in a lesson with the learner's answers, by their names.
    """

    points: float = 0.0
    passed: bool = False
    failures: int = 0
    mistake: str = ""
    hints: tuple[str, ...] = ()
    asked: int = 0
    seen_solution: bool = False
    aided: bool = False
    first: float = 0.0
    last: float = 0.0
    questions: int = 0
    missed: tuple[int, ...] = ()
    figures: Mapping[str, str] = field(default_factory=dict)

    @property
    def attempted(self) -> bool:
        """True if an answer was checked at least once."""
        return self.passed or self.failures > 0

    @property
    def recalled(self) -> int:
        """The number of questions that look back answered right the first time."""
        return self.questions - len(self.missed)


class ProgressFile:
    """The file with a learner's progress.

    Attributes:
        path: the path of the file.
        problem: why the last line could not be written; empty if it was.
        damage: a sentence about lines that could not be read last time; empty if there were none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.damage = ""
        self._unkept: list[Event] = []
        self._told: set[str] = set()

    def read(self) -> dict[str, History]:
        """Read the history of each exercise, in the order of first events."""
        histories: dict[str, History] = {}
        damaged = 0
        for event in (*self._kept(), *self._unkept):
            try:
                name = str(event["exercise"])
                histories[name] = _after(histories.get(name, History()), event)
            except (KeyError, TypeError, ValueError):  # somebody edited the line, or a power cut broke it off
                damaged += 1
        lines = (
            f"{damaged} lines of {self.path} cannot be read" if damaged > 1 else f"A line of {self.path} cannot be read"
        )
        self.damage = f"{lines}: what was done there does not count." if damaged else ""
        return histories

    def news(self) -> list[str]:
        """Return what is wrong with the file; each sentence only once."""
        self.read()
        fresh = [sentence for sentence in (self.problem, self.damage) if sentence and sentence not in self._told]
        self._told.update(fresh)
        return fresh

    def of(self, exercise_id: str) -> History:
        """Return the history of one exercise."""
        return self.read().get(exercise_id, History())

    def note_check(self, exercise_id: str, points: float, passed: bool, mistake: str = "") -> None:
        """Note that a check judged an answer, with its points and the id of the mistake that it named."""
        self._add({"did": "check", "exercise": exercise_id, "points": points, "passed": passed, "mistake": mistake})

    def note_hint(self, exercise_id: str, depth: str) -> None:
        """Note that a hint was opened, with its depth, such as "idea"."""
        self._add({"did": "hint", "exercise": exercise_id, "hint": depth})

    def note_asked(self, exercise_id: str) -> None:
        """Note that the solution was requested, but not shown."""
        self._add({"did": "asked", "exercise": exercise_id})

    def note_solution(self, exercise_id: str) -> None:
        """Note that the solution was shown."""
        self._add({"did": "solution", "exercise": exercise_id})

    def note_recall(self, lesson: str, missed: Sequence[int], questions: int) -> None:
        """Note that the questions that look back were answered, with the numbers of wrong ones and the count of all."""
        self._add({"did": "recall", "exercise": lesson, "missed": missed, "questions": questions})

    def note_figure(self, lesson: str, what: str, value: str) -> None:
        """Note a result that a lesson measured with the learner's answers."""
        self._add({"did": "figure", "exercise": lesson, "what": what, "value": value})

    def _add(self, event: Event) -> None:
        """Write a line; if that fails, keep it in memory while this runs, and say why in `problem`."""
        event = {"at": round(datetime.now(UTC).timestamp(), 3), **event}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Each line begins with its newline, so that a line broken off by a power cut damages only itself.
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(file, f"\n{json.dumps(event)}".encode())
            finally:
                os.close(file)
            self.problem = ""
        except OSError as error:
            self._unkept.append(event)
            self.problem = (
                f"Your progress cannot be kept in {self.path} ({error.strerror}); it is remembered only "
                "until the kernel ends. Set the environment variable KATZE_WORK to a folder where you may write."
            )

    def _kept(self) -> Iterator[Event]:
        try:
            lines = self.path.read_bytes().splitlines()
        except OSError:  # it does not exist yet, or may not be read; `_add` reports that
            return
        for line in filter(None, lines):
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            yield event if isinstance(event, dict) else {}


_files: dict[Path, ProgressFile] = {}


def progress_file() -> ProgressFile:
    """Return the learner's progress file; see `learner_folder`."""
    path = learner_folder() / PROGRESS
    return _files.setdefault(path, ProgressFile(path))


def _after(before: History, event: Event) -> History:
    """Return the history with one more event."""
    at = float(event.get("at", 0))
    now = replace(before, first=min(before.first or at, at), last=max(before.last, at))
    match event["did"]:
        case "check" if event["passed"] is True:
            points, aided = max(now.points, float(event["points"])), now.aided if now.passed else now.seen_solution
            return replace(now, points=points, passed=True, failures=0, mistake="", aided=aided)
        case "check":
            points = max(now.points, float(event["points"]))
            return replace(now, points=points, failures=now.failures + 1, mistake=str(event["mistake"]))
        case "hint":
            return replace(now, hints=(*now.hints, str(event["hint"])))
        case "asked":
            return replace(now, asked=now.asked + 1)
        case "solution":
            return replace(now, asked=now.asked + 1, seen_solution=True)
        case "recall" if not now.questions:
            return replace(now, questions=int(event["questions"]), missed=tuple(map(int, event["missed"])))
        case "recall":
            return now
        case "figure":
            return replace(now, figures={**now.figures, str(event["what"]): str(event["value"])})
    return before  # an event of a later version
