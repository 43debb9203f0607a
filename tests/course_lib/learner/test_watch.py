"""Stopping what does not come back. No test says how long anything takes."""

import contextlib
import threading
import time
from collections.abc import Callable

import pytest

from course_lib.learner import watch
from course_lib.learner.watch import Watch


def compute() -> None:
    while True:
        pass


def sleep() -> None:
    while True:
        time.sleep(0.01)


def catch_once() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        compute()
    compute()


@pytest.mark.parametrize(
    ("watched", "endless"),
    [(Watch(seconds=0.1), compute), (Watch(wall_seconds=0.1), sleep), (Watch(seconds=0.1), catch_once)],
)
def test_what_does_not_end_is_interrupted(watched: Watch, endless: Callable[[], None]) -> None:
    with pytest.raises(KeyboardInterrupt), watched:
        endless()
    assert watched.fired


def test_what_comes_back_is_left_alone() -> None:
    with Watch() as watched:
        result = 1 + 1
    assert result == 2
    assert not watched.fired


def test_somebody_else_s_interrupt_is_theirs() -> None:
    watched = Watch()
    with pytest.raises(KeyboardInterrupt), watched:
        raise KeyboardInterrupt
    assert not watched.fired


def test_where_no_interrupt_arrives_the_block_runs() -> None:
    fired = []

    def elsewhere() -> None:
        with Watch(seconds=0, wall_seconds=0) as watched:
            time.sleep(0.01)
        fired.append(watched.fired)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert fired == [False]


def test_what_cannot_be_stopped_says_what_helps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch, "STUCK_AFTER", 0.0)
    with pytest.raises(KeyboardInterrupt), Watch(seconds=0.1):
        catch_once()
    assert "Restart the kernel" in capsys.readouterr().out
