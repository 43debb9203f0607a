"""Records the runs of a notebook's cells: of each cell the newest run counts.

What a kernel holds may be older than what the notebook says: the cell that defined it has failed since, or was run
again without it.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from course_lib.judging.observation import Raised, raised_by

Shell = Any


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a cell.

    Attributes:
        cell: what tells the cell from others: its marker, or else the front end's id for it; None in a terminal.
        source: the cell's code.
        raised: the exception that ended it, if one did.
    """

    cell: str | None
    source: str
    raised: Raised | None

    @cached_property
    def defines(self) -> tuple[str, ...]:
        """The functions and classes that the code defines, wherever they stand, also where it is no valid Python."""
        return tuple(_DEFINITION.findall(self.source))


class RunLog:
    """The runs of a notebook's cells since it was first asked about.

    Args:
        shell: the notebook's IPython.
    """

    def __init__(self, shell: Shell) -> None:
        self._runs: list[Run] = []
        self._origins: dict[str, Run] = {}
        self._shell = shell
        self._before: dict[str, int] = {}
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def failed_to_define(self, name: str) -> Raised | None:
        """Return what ended the last cell that writes `name`, if that was before `name` was defined; else None."""
        last = next((run for run in reversed(self._runs) if name in run.defines), None)
        return None if last is None or self._origins.get(name) is last else last.raised

    def is_outdated(self, name: str) -> bool:
        """Return whether the cell that gave `name` its value was run again since, and no longer gives it one."""
        origin = self._origins.get(name)
        return origin is not None and origin not in self._runs

    def marked(self, marker: str) -> Run | None:
        """Return the newest run of the cell with a marker, such as "attention.scores answer"."""
        return next((run for run in self._runs if run.cell == f"# katze: {marker}"), None)

    def _begin(self, info: Any) -> None:
        self._before = self._identities()

    def _end(self, result: Any) -> None:
        before, self._before = self._before, {}
        if result.info is None:
            return
        error = result.error_before_exec or result.error_in_exec
        marker = _MARKER.match(result.info.raw_cell)
        cell = marker.group() if marker is not None else result.info.cell_id
        run = Run(cell, result.info.raw_cell, None if error is None else raised_by(error))
        replaced = next((one for one in self._runs if one.cell == cell is not None), None)
        if replaced is not None:
            self._runs.remove(replaced)
        self._runs.append(run)
        for name, identity in self._identities().items():
            again = self._origins.get(name) is replaced is not None and error is None and _binds(run.source, name)
            if before.get(name) != identity or again:  # what is imported again is the same object
                self._origins[name] = run

    def _identities(self) -> dict[str, int]:
        """Which object each name stands for. The objects are not kept: a cell may want to free its tensors."""
        return {name: id(value) for name, value in self._shell.user_ns.items()}


def _binds(source: str, name: str) -> bool:
    """Return whether code imports a name or assigns to it: the value may be the same as before."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    imported = {(node.asname or node.name).partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.alias)}
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bool({name, "*"} & (imported | stored))


_MARKER = re.compile(r"# katze: [\w.]+ \w+(?=\s*$)", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


_logs: WeakKeyDictionary[Shell, RunLog] = WeakKeyDictionary()


def running_shell() -> Shell | None:
    """The IPython that this runs in, if it runs in one."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def log_of_notebook() -> RunLog | None:
    """The log of the notebook that this runs in, from the first time on that it is asked for; None elsewhere."""
    shell = running_shell()
    if shell is None:
        return None
    if shell not in _logs:
        _logs[shell] = RunLog(shell)
    return _logs[shell]
