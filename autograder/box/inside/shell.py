"""IPython without a kernel: cells run as in a notebook, and their outputs go to a recorder."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList

from autograder.box.inside.pristine import Pristine
from autograder.box.inside.recorder import Recorder
from autograder.box.protocol import MAX_NAME, MAX_PROGRAMS, CellResult
from course_lib.judging.observation import Outcome, Raised, failure_of, raised_by

ExceptionTuple = tuple[type[BaseException], BaseException, TracebackType | None]

_LEFT_OUT_MAGICS = "pip conda mamba micromamba uv sx system".split()
_LEFT_OUT_CELL_MAGICS = "bash sh script perl ruby python python2 python3 pypy sx system ! cmd".split()


class Publisher(DisplayPublisher):
    """Takes `display(...)` and figures."""

    shell: BoxShell

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: object = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_: object,
    ) -> None:
        """Record one display."""
        self.shell.recorder.display(data, metadata or {}, (transient or {}).get("display_id"), update)

    def clear_output(self, wait: bool = False) -> None:
        """Forget the cell's outputs."""
        self.shell.recorder.clear(wait)


class LastValue(DisplayHook):
    """Takes the value of a cell's last line."""

    shell: BoxShell

    def write_output_prompt(self) -> None:
        """Write no prompt: the number is a field of the output."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        """Record the value in all its formats."""
        self.shell.recorder.result(format_dict, md_dict or {}, self.prompt_count)

    def finish_displayhook(self) -> None:
        """Do nothing."""
        self._is_active = False


class BoxShell(InteractiveShell):
    """IPython for a sandbox: no history, no other programs, outputs to `recorder`."""

    recorder: Recorder
    pristine: Pristine

    def init_history(self) -> None:
        """Keep no history on disk."""
        self.config.HistoryManager.enabled = False
        super().init_history()  # type: ignore[no-untyped-call]

    def init_magics(self) -> None:
        """Load all magics, with those that start other programs replaced by a notice."""
        super().init_magics()  # type: ignore[no-untyped-call]
        for name in _LEFT_OUT_MAGICS:
            self.magics_manager.register_function(self._left_out(f"%{name}"), "line", name)
        for name in _LEFT_OUT_CELL_MAGICS:
            self.magics_manager.register_function(self._left_out(f"%%{name}"), "cell", name)

    def _left_out(self, name: str) -> Callable[..., None]:
        def magic(line: str, cell: str | None = None) -> None:
            self.notice_no_programs(f"{name} {line}".strip())

        return magic

    def notice_no_programs(self, what: str) -> None:
        """Say in the cell's output that another program was not started."""
        self.recorder.programs.append(what[:MAX_NAME])
        self.recorder.notice(f"`{what[:80]}` was left out: no other programs run while a notebook is graded.")

    def system(self, cmd: str) -> None:
        """Handle `!command`: record a notice, and return the exit status of success."""
        self.notice_no_programs(f"!{cmd}")
        self.user_ns["_exit_code"] = 0

    system_raw = system
    system_piped = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> SList | str:
        """Handle `names = !command`: record a notice, and return no lines."""
        self.notice_no_programs(f"!{cmd}")
        return SList() if split else ""

    def ask_exit(self) -> None:
        """Ignore `exit`, which does not end a notebook."""

    def showtraceback(self, exc_tuple: ExceptionTuple | None = None, *args: object, **kwargs: object) -> None:
        """Record an exception that reached the shell."""
        error = (exc_tuple or sys.exc_info())[1]
        if error is not None:
            record_error(self.recorder, error)

    def showsyntaxerror(self, *args: object, **kwargs: object) -> None:
        """Record a syntax error."""
        self.showtraceback()

    def _format_exception_for_storage(self, exception: BaseException, *args: object, **kwargs: object) -> None:
        """Do nothing: IPython would format every error again, at length, for a history that nobody reads."""

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there is no window system."""

    def run(self, source: str) -> CellResult:
        """Run one cell as a notebook would."""
        self.recorder.start()
        begin = time.perf_counter()
        done = self.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        seconds = time.perf_counter() - begin
        return cell_result(self.recorder, done.error_before_exec or done.error_in_exec, seconds)


def cell_result(
    recorder: Recorder, error: BaseException | None, seconds: float, number: float | None = None
) -> CellResult:
    """Return the result of a cell that has finished."""
    failure, raised = (None, None) if error is None else describe_error(error)
    programs = tuple(recorder.programs[:MAX_PROGRAMS])
    return CellResult(recorder.stop(), error is None, raised, failure, seconds, programs=programs, number=number)


def record_error(recorder: Recorder, error: BaseException) -> None:
    """Show an exception."""
    _, raised = describe_error(error)
    recorder.error(raised.type_name, raised.message, format_error(error))


def describe_error(error: BaseException) -> tuple[Outcome, Raised]:
    """Return an exception as an outcome and as text, even if its own methods fail."""
    try:
        return failure_of(error), raised_by(error)
    except Exception:
        return Outcome.RAISED, Raised(type(error).__name__, "")


def format_error(error: BaseException) -> list[str]:
    """Return the lines of a traceback from the cell on, without the code that ran it."""
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<ipython-input"):
        trace = trace.tb_next
    try:
        text = "".join(traceback.format_exception(type(error), error, trace))
    except Exception:  # an exception whose own __str__ fails
        text = f"{type(error).__name__}\n"
    return text.rstrip("\n").split("\n")
