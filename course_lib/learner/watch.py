"""Stops an answer that does not return, from within the process in which it runs."""

import _thread
import threading
import time
from types import TracebackType
from typing import Self

SECONDS = 30.0
"""The most processor time, in seconds, for one call of an answer."""

WALL_SECONDS = 300.0
"""The most wall-clock time for it: a busy machine is slow, and an answer that sleeps uses no processor time."""

STUCK_AFTER = 10.0
"""Seconds after which a message tells what helps if interrupts have no effect."""

_LOOK, _AGAIN = 0.2, 1.0
"""Seconds between two checks, and between two interrupts."""


class Watch:
    """Interrupts a block, as if from the keyboard, once it has run for too long, repeatedly if necessary.

    It works in the main thread, where interrupts arrive, on every system; in other threads it does nothing.

    Attributes:
        fired: whether the block was interrupted for this reason.
    """

    def __init__(self, seconds: float = SECONDS, wall_seconds: float = WALL_SECONDS) -> None:
        self.fired = False
        self._seconds = seconds
        self._wall_seconds = wall_seconds
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._wait, daemon=True)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._watcher.ident is None:
            return
        try:
            self._watcher.join()
            time.sleep(0)  # a pending interrupt arrives here
        except KeyboardInterrupt:
            if not self.fired:
                raise

    def _wait(self) -> None:
        computed, begun = time.process_time(), time.monotonic()
        while time.process_time() - computed < self._seconds and time.monotonic() - begun < self._wall_seconds:
            if self._over.wait(_LOOK):
                return
        self.fired = True
        announced, since = False, time.monotonic()
        while not self._over.is_set():
            _thread.interrupt_main()
            self._over.wait(_AGAIN)
            if not announced and time.monotonic() - since > STUCK_AFTER:
                announced = True
                print(
                    "The answer cannot be stopped from here: it is inside a single call, or it catches every "
                    "exception. Restart the kernel (Kernel > Restart), fix the answer, and run its cell again."
                )
