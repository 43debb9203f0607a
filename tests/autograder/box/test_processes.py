"""What processes compute and do, as it is read from outside."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from autograder.box import processes
from autograder.box.processes import Doing, Reading, read

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

BURN = "import time\nwhile time.thread_time() < 0.1: sum(range(1000))\n"
THREADS = f"import threading\ndef work():\n    {BURN.replace(chr(10), chr(10) + '    ')}\n"
THREADS += "threads = [threading.Thread(target=work) for _ in range(3)]\n[thread.start() for thread in threads]\n"
THREADS += "[thread.join() for thread in threads]\n"
CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', {BURN!r}])\n"
ORPHAN = f"import os, time\nif os.fork() == 0:\n    {BURN.replace(chr(10), chr(10) + '    ')}\n    time.sleep(99)\n"
SLEEP = "import time; time.sleep(99)"


@contextmanager
def running(source: str) -> Iterator[int]:
    """A process of its own session that runs this."""
    process = subprocess.Popen([sys.executable, "-S", "-c", source], start_new_session=True)
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def until(process: int, alone: bool, wanted: Callable[[Reading], bool]) -> Reading:
    """The first reading that is wanted."""
    while True:
        reading = read(process, alone)
        assert reading is not None
        if wanted(reading):
            return reading
        time.sleep(0.01)


def waits(reading: Reading) -> bool:
    return reading.doing is Doing.WAITS and reading.computed > 0.08


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("alone", [True, False])
def test_what_threads_have_computed_is_summed_when_they_have_ended(alone: bool) -> None:
    with running(THREADS + SLEEP) as process:
        until(process, alone, waits)  # for the first time perhaps while one thread waits for another
        while len(os.listdir(f"/proc/{process}/task")) > 1:
            time.sleep(0.01)
        assert until(process, alone, waits).computed > 0.25


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("source", [CHILD, ORPHAN], ids=["has ended", "has not"])
def test_children_count_where_there_can_be_any(source: str) -> None:
    with running(source + SLEEP) as process:
        until(process, False, waits)


@pytest.mark.usefixtures("processes")
def test_what_a_process_does_is_told_apart() -> None:
    for alone in (True, False):
        with running("while True: pass") as process:
            until(process, alone, lambda reading: reading.doing is Doing.COMPUTES)
            os.kill(process, signal.SIGSTOP)
            until(process, alone, lambda reading: reading.doing is Doing.STOPPED)
        with running(SLEEP) as process:
            until(process, alone, lambda reading: reading.doing is Doing.WAITS)


@pytest.mark.usefixtures("processes")
def test_one_thread_that_computes_is_enough() -> None:
    source = "import threading\ndef work():\n    while True: pass\nthreading.Thread(target=work).start()\n"
    for alone in (True, False):
        with running(source + SLEEP) as process:
            until(process, alone, lambda reading: reading.doing is Doing.COMPUTES and reading.computed > 0.2)


@pytest.mark.usefixtures("processes")
def test_one_that_has_ended_keeps_what_it_has_computed_until_it_is_reaped() -> None:
    process = subprocess.Popen([sys.executable, "-S", "-c", BURN])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    for alone in (True, False):
        reading = read(process.pid, alone)
        assert reading is not None
        assert reading.computed > 0.08
        assert reading.doing is Doing.WAITS
    process.wait()
    assert read(process.pid, True) is read(process.pid, False) is None


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(not shutil.which("ps"), reason="there is no ps")
def test_elsewhere_ps_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with running("while True: pass") as process:
        until(process, True, lambda reading: reading.doing is Doing.COMPUTES and reading.computed >= 1)
        os.kill(process, signal.SIGSTOP)
        until(process, True, lambda reading: reading.doing is Doing.STOPPED)


@pytest.mark.parametrize(
    ("line", "seconds", "doing"),
    [
        ("  501     1   501 Ss     0:01.25", 1.25, Doing.WAITS),
        ("  501     1   501 U+   123:00.50", 7380.5, Doing.COMPUTES),
        ("  501     1   501 R    02:00:01", 7201.0, Doing.COMPUTES),
        ("  501     1   501 T  1-00:00:01", 86401.0, Doing.STOPPED),
    ],
)
def test_what_ps_prints_is_read(line: str, seconds: float, doing: Doing) -> None:
    found = processes._of_ps(line)
    assert (found.number, found.parent, found.group, found.seconds) == (501, 1, 501, seconds)
    assert processes._doing([found.state]) is doing


def test_a_family_is_a_session_and_all_that_descend_from_it() -> None:
    lines = ["5 1 5 S 0:01", "6 5 5 S 0:01", "7 1 5 S 0:01", "8 7 8 S 0:01", "9 8 9 S 0:01", "10 1 10 S 0:01"]
    family = processes._family([processes._of_ps(line) for line in lines], 5)
    assert sorted(one.number for one in family) == [5, 6, 7, 8, 9]
