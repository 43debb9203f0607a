"""Records the runs of a notebook's cells; the newest run of each cell counts.

A kernel's values may be older than the notebook's code: the cell that defined a value may have failed since, or run
again without defining it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from course_lib.judging.observation import Raised, raised_by
from course_lib.judging.rules import statements_of

Shell = Any


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a cell.

    Attributes:
        cell: what identifies the cell: its marker, or else the front end's id for it; None in a terminal.
        source: the cell's code.
        raised: the exception that ended it, if one did.
    """

    cell: str | None
    source: str
    raised: Raised | None = None

    @classmethod
    def of(cls, source: str, cell_id: str | None = None, raised: Raised | None = None) -> Run:
        """Describe a run of this code."""
        marker = _MARKER.match(source)
        return cls(marker.group() if marker is not None else cell_id, source, raised)

    def is_of(self, exercise_id: str) -> bool:
        """Return whether its cell is marked as the answer to an exercise."""
        return self.cell == f"# katze: {exercise_id} answer"


class RunLog:
    """The runs of a notebook's cells, recorded from its creation on.

    Args:
        shell: the notebook's IPython.
    """

    def __init__(self, shell: Shell) -> None:
        *before, running = shell.user_ns.get("In", []) or [""]
        self._runs: list[Run] = []
        for source in before:
            self._add(Run.of(source))
        self._running: Run | None = Run.of(running)
        self._origins: dict[str, Run] = {}
        self._shell = shell
        self._before: dict[str, int] = {}
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    @property
    def namespace(self) -> dict[str, Any]:
        """The notebook's names and values."""
        names: dict[str, Any] = self._shell.user_ns
        return names

    @property
    def runs(self) -> list[Run]:
        """The newest run of each cell, in the order in which they ran; the current one comes last."""
        running = self._running
        if running is None:
            return list(self._runs)
        return [*(run for run in self._runs if not _is_same_cell(run, running)), running]

    def origin(self, name: str) -> Run | None:
        """Return the run that gave `name` its value; None if that is unknown."""
        return self._origins.get(name)

    def is_outdated(self, name: str) -> bool:
        """Return whether the cell that gave `name` its value has been run again without giving it one."""
        origin = self._origins.get(name)
        return origin is not None and origin not in self._runs

    def _add(self, run: Run) -> Run | None:
        """Add a run, and return the run of the same cell that it replaces."""
        replaced = next((one for one in self._runs if _is_same_cell(one, run)), None)
        if replaced is not None:
            self._runs.remove(replaced)
        self._runs.append(run)
        return replaced

    def _begin(self, info: Any) -> None:
        self._before = self._identities()
        self._running = Run.of(info.raw_cell, info.cell_id)

    def _end(self, result: Any) -> None:
        self._running = None
        before, self._before = self._before, {}
        if result.info is None:
            return
        error = result.error_before_exec or result.error_in_exec
        run = Run.of(result.info.raw_cell, result.info.cell_id, None if error is None else raised_by(error))
        replaced = self._add(run)
        for name, identity in self._identities().items():
            again = self._origins.get(name) is replaced is not None and error is None and _binds(run.source, name)
            if before.get(name) != identity or again:  # importing again gives the same object
                self._origins[name] = run

    def _identities(self) -> dict[str, int]:
        """Return the identity of each name's object, without keeping the object: a cell may free its tensors."""
        return {name: id(value) for name, value in self._shell.user_ns.items()}


def _binds(source: str, name: str) -> bool:
    """Return whether code imports a name or assigns to it, perhaps the same value as before."""
    return any({name, "*"} & statement.defines for statement in statements_of(source))


def _is_same_cell(run: Run, other: Run) -> bool:
    return run.cell == other.cell is not None


_MARKER = re.compile(r"# katze: [\w.]+ \w+(?=\s*$)", re.MULTILINE)


_logs: WeakKeyDictionary[Shell, RunLog] = WeakKeyDictionary()


def running_shell() -> Shell | None:
    """Return the IPython that this runs in; None if there is none."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def log_of_notebook() -> RunLog | None:
    """Return the log of the notebook that this runs in, creating it at the first call; None elsewhere."""
    shell = running_shell()
    if shell is None:
        return None
    if shell not in _logs:
        _logs[shell] = RunLog(shell)
    return _logs[shell]
