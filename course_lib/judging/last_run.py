"""Whether a notebook's cell ran that writes an answer: where it failed, what is defined is the answer before it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from course_lib.judging.observation import Raised, raised_by

Shell = Any


@dataclass(frozen=True)
class Run:
    """One run of a cell.

    Attributes:
        source: the cell's code.
        raised: the exception that ended it, if one did.
        defined: the names to which it gave another value.
    """

    source: str
    raised: Raised | None
    defined: frozenset[str]


class RunLog:
    """The runs of a notebook's cells since it was first asked about.

    Args:
        shell: the notebook's IPython.
    """

    def __init__(self, shell: Shell) -> None:
        self._runs: list[Run] = []
        self._shell = shell
        self._before: dict[str, int] = {}
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def failed_to_define(self, name: str) -> Raised | None:
        """What ended the last cell that writes `name`, if it ended before that was defined; else None."""
        writes = re.compile(rf"^[ \t]*(?:(?:async )?def|class) {re.escape(name)}\b", re.MULTILINE)
        last = next((run for run in reversed(self._runs) if writes.search(run.source)), None)
        return None if last is None or name in last.defined else last.raised

    def _begin(self, info: Any) -> None:
        self._before = self._identities()

    def _end(self, result: Any) -> None:
        before, self._before = self._before, {}
        error = result.error_before_exec or result.error_in_exec
        defined = frozenset(name for name, identity in self._identities().items() if before.get(name) != identity)
        if result.info is not None:
            self._runs.append(Run(result.info.raw_cell, None if error is None else raised_by(error), defined))

    def _identities(self) -> dict[str, int]:
        """Which object each name stands for. The objects are not kept: a cell may want to free its tensors."""
        return {name: id(value) for name, value in self._shell.user_ns.items()}


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
