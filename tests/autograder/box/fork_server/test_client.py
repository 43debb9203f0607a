"""However a sandbox ends, the grader learns why, in time, and every other sandbox goes on.

Tests `box.py`, `endings.py`, `handles.py` and `server.py` as well.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from autograder.box.box import Box
from autograder.box.confinement.levels import Level
from autograder.box.endings import BoxLost, BoxUnavailable
from autograder.box.fork_server import handles
from autograder.box.fork_server.client import ForkServer
from autograder.box.frames import Frame, encode_frame
from autograder.box.processes import Doing, Reading
from autograder.box.protocol import OUT_OF_MEMORY_STATUS
from autograder.limits import Limits
from course_lib.judging.exercise import Case
from course_lib.judging.observation import Foreign, Outcome
from tests.autograder.box.conftest import QUICK, asked, ended, own_memory, raised, value
from tests.boxes import FORGE, WITHHELD, ServerOf, why_not

pytestmark = pytest.mark.usefixtures("processes")


DRIP = (
    "import time\nos.write(wire, struct.pack('>4sII', b'KTZ1', 100_000, 0))\n"
    "def drip(times):\n"
    "    for _ in range(times):\n"
    "        os.write(wire, b'x')\n"
    "        if times > 1: time.sleep(0.01)\n"
)

COMPUTED = "it used more than 1 s of processor time"
WAITED = "it waited for more than 1 s without computing"

# What a student's cell may do, the outcome, and a word of the reason.
ENDINGS = {
    "exit": ("import os; os._exit(0)", Outcome.DIED, "exit status 0"),
    "exit with a status": ("import os; os._exit(3)", Outcome.DIED, "exit status 3"),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", Outcome.DIED, "SIGSEGV"),
    "abort": ("import os; os.abort()", Outcome.DIED, "SIGABRT"),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", Outcome.DIED, "SIGKILL"),
    "endless loop": ("while True: pass", Outcome.TIMED_OUT, COMPUTED),
    "sleeps": ("import time; time.sleep(1000)", Outcome.TIMED_OUT, WAITED),
    "sleeps again and again": ("import time\nwhile True: time.sleep(0.001)", Outcome.TIMED_OUT, WAITED),
    "waits for a lock": ("import threading; a = threading.Lock(); a.acquire(); a.acquire()", Outcome.TIMED_OUT, WAITED),
    "cannot be interrupted": (
        "import signal\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\n"
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        Outcome.TIMED_OUT,
        COMPUTED,
    ),
    "leaves its session": (
        "import os, time\ntry: os.setsid()\nexcept OSError: pass\ntime.sleep(1000)",
        Outcome.TIMED_OUT,
        WAITED,
    ),
    "closes the connection": (
        "import os, time; os.closerange(3, 1000); time.sleep(1000)",
        Outcome.DIED,
        "closed its connection",
    ),
    "garbage on the wire": (f"{FORGE}os.write(wire, b'garbage ' * 100)", Outcome.DIED, "not a frame"),
    "a forged answer": (
        f"{FORGE}send({{'id': '0' * 16, 'kind': 'cell', 'cell': {{}}}})",
        Outcome.DIED,
        "an answer to another question",
    ),
    "endless frame": (f"{FORGE}send(b'{{}}', b'x' * (1 << 27))", Outcome.DIED, "too long"),
    "half a frame": (
        f"{FORGE}import time; os.write(wire, struct.pack('>4sII', b'KTZ1', 100, 0)); time.sleep(1000)",
        Outcome.TIMED_OUT,
        WAITED,
    ),
    "drips": (
        f"{FORGE}import time\nos.write(wire, struct.pack('>4sII', b'KTZ1', 1000, 0))\n"
        "while True: os.write(wire, b'x'); time.sleep(0.01)",
        Outcome.TIMED_OUT,
        WAITED,
    ),
    "deep JSON": (f"{FORGE}send(b'[' * 1_000_000)", Outcome.DIED, "unreadable JSON"),
    "fills the disk": (
        "i = 0\nwhile True:\n    open(str(i), 'wb').write(b'x' * (1 << 20)); i += 1",
        Outcome.DIED,
        "MB to disk",
    ),
    "many small files": ("i = 0\nwhile True:\n    open(str(i), 'w').close(); i += 1", Outcome.DIED, "files"),
    "many threads": (
        "import threading, time\nthreading.stack_size(1 << 16)\n"
        "while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        Outcome.DIED,
        "threads",
    ),
    "drips and hides its files in the end": (
        f"{FORGE}{DRIP}for i in range(400): drip(1); open(str(i), 'w').close()\n"
        "drip(50)\nfor i in range(400): drip(1); os.remove(str(i))\ndrip(10_000)",
        Outcome.DIED,
        "files",
    ),
    "drips and ends its threads in the end": (
        f"{FORGE}{DRIP}import threading\nthreading.stack_size(1 << 16)\nend = threading.Event()\n"
        "for i in range(300): drip(1); threading.Thread(target=end.wait, daemon=True).start()\n"
        "drip(50); end.set(); drip(10_000)",
        Outcome.DIED,
        "threads",
    ),
    "folders deeper than any path": (
        "import os, time\nfor i in range(30): os.mkdir('x' * 200); os.chdir('x' * 200)\n"
        "for i in range(400): open(str(i), 'w').close()\ntime.sleep(1000)",
        Outcome.DIED,
        "files",
    ),
    "folders deeper than anyone looks": (
        "import os, time\nfor i in range(100): os.mkdir('x'); os.chdir('x')\ntime.sleep(1000)",
        Outcome.DIED,
        "cannot be opened",
    ),
    "stack overflow": (
        "import sys; sys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr([self])\nrepr(A())",
        Outcome.DIED,
        "SIG",
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_box_that_ends_says_how_and_leaves_the_others_alone(fork_server: ForkServer, ending: str) -> None:
    source, outcome, reason = ENDINGS[ending]
    limits = Limits(cell_seconds=1.0, memory_bytes=1 << 30, folder_bytes=32 << 20, files=300)
    with fork_server.open_box() as neighbour, fork_server.open_box(limits=limits) as box:
        neighbour.run_cell("x = 41")
        lost = ended(box, source)
        assert lost.outcome is outcome, lost
        assert reason in lost.reason
        with pytest.raises(BoxLost, match=reason):
            box.run_cell("1")
        if outcome is Outcome.TIMED_OUT:
            assert box.share >= limits.cell_seconds
        assert value(neighbour, "x + 1") == "42"
    with fork_server.open_box() as fresh:
        assert fresh.run_cell("1").ok


def test_what_a_box_has_made_is_seen_however_fast_it_answers(fork_server: ForkServer) -> None:
    with fork_server.open_box(limits=Limits(files=50)) as box:
        with contextlib.suppress(BoxLost):  # where that took long enough to be seen at once
            box.run_cell("for i in range(60): open(str(i), 'w').close()")
        time.sleep(0.2)
        with pytest.raises(BoxLost, match="more than 50 files"):
            box.run_cell("1")


SECRET_ENDINGS = {
    "exit status": ("import os; os._exit(x)", Outcome.DIED, "its process ended"),
    "signal": ("import os; os.kill(os.getpid(), x)", Outcome.DIED, "its process ended"),
    "out of memory": (f"import os; os._exit({OUT_OF_MEMORY_STATUS})", Outcome.OUT_OF_MEMORY, "it ran out of memory"),
    "forged answer": (f"{FORGE}os.write(wire, b'x' * 100)", Outcome.DIED, "its process ended"),
    "too slow": ("import time; time.sleep(1000)", Outcome.TIMED_OUT, "it took too long"),
}


@pytest.mark.parametrize("ending", SECRET_ENDINGS)
@pytest.mark.parametrize("in_call", [True, False], ids=["in the call", "in a later cell"])
def test_the_end_of_a_sealed_box_tells_nothing_of_what_it_has_seen(
    fork_server: ForkServer, ending: str, in_call: bool
) -> None:
    source, outcome, reason = SECRET_ENDINGS[ending]
    case = Case("a hidden case", (11,))
    with fork_server.open_box(limits=QUICK) as box:
        box.run_cell(f"def end(): exec({source!r}, globals())\ndef answer(y):\n    global x; x = y\n    return 1")
        box.run_cell("def answer_and_end(y):\n    answer(y); end()")
        if not in_call:
            asked(box, "answer", case)
        with pytest.raises(BoxLost) as caught:
            asked(box, "answer_and_end", case) if in_call else box.run_cell("end()")
        assert (caught.value.outcome, caught.value.reason) == (outcome, reason)


def forged_cell(outputs: str) -> str:
    """A cell whose answer says that it showed `outputs`, whatever the sandbox allows."""
    return (
        "import autograder.box.inside.child as child\n"
        "def forge(result):\n"
        f"    outputs = {outputs}\n"
        "    return {'outputs': outputs, 'ok': True, 'raised': None, 'failure': None, 'seconds': 0.0,"
        " 'missing': '', 'programs': [], 'number': None}\n"
        "child.encode_cell = forge"
    )


@pytest.mark.parametrize(
    "outputs",
    [
        "[{'output_type': 'stream', 'name': 'stdout', 'text': 'x' * 7_000_000}]",
        "[{'output_type': 'display_data', 'data': {'text/html': 'x' * 4_000}, 'metadata': {}}] * 1_000",
        "[{'output_type': 'error', 'ename': 'E', 'evalue': 'x' * 700_000, 'traceback': []}] * 2",
        "[{'output_type': 'error', 'ename': 'E', 'evalue': '', 'traceback': ['ä' * 700_000]}]",
    ],
    ids=["text", "displays", "errors", "traceback"],
)
def test_no_more_output_comes_back_than_a_box_may_show(box: Box, outputs: str) -> None:
    [output] = box.run_cell(forged_cell(outputs)).outputs
    assert output["output_type"] == "stream"
    assert output["text"] == "[katze] This cell's output was left out: it shows more than 1 MB.\n"


def test_no_more_values_come_back_than_a_grader_can_look_at(box: Box) -> None:
    outputs = "[{'output_type': 'display_data', 'data': {'application/json': [[]] * 200_000}, 'metadata': {}}]"
    with pytest.raises(BoxLost, match="too many values"):
        box.run_cell(forged_cell(outputs))


def test_numpys_scalars_come_back_as_pythons(box: Box) -> None:
    box.run_cell(
        "import numpy\ndef f():\n"
        "    x = numpy.array([0.25, 0.5])\n"
        "    return [numpy.array(list('BEA'))[1], x.max(), x.argmax(), x[0] > 0, x.astype(object)]"
    )
    [seen] = box.observe_cases("f", [Case("no arguments")], hidden=False)
    assert seen.value == ["E", 0.5, 1, True, Foreign("numpy.ndarray of object")]
    assert [type(item) for item in seen.value] == [str, float, int, bool, Foreign]


def test_a_sealed_box_cannot_tell_anything_by_the_time_it_claims_to_have_taken(box: Box) -> None:
    box.run_cell("import time\nnow = time.perf_counter()\ntime.perf_counter = lambda: now\ndef answer(): return 1")
    assert box.run_cell("1").seconds == 0
    asked(box, "answer", Case("a hidden case"))
    assert box.run_cell("1").seconds > 0


HOARD = (
    "import ctypes, os, time\nmap_file, kept = ctypes.CDLL(None).mmap, []\n"
    "map_file.argtypes = [ctypes.c_void_p, *[ctypes.c_long] * 5]\n"
    "for i in range({}):\n    file = open('x', 'wb+'); os.remove('x')\n    {}\ntime.sleep(10)"
)
REMOVED = {
    "open": HOARD.format(50, "file.write(b'x' * (1 << 20)); file.flush(); kept.append(file)"),
    "mapped": HOARD.format(
        100, "file.write(b'x' * (1 << 20)); file.flush(); map_file(0, 4096, 0, 2, file.fileno(), 0); file.close()"
    ),
}


@pytest.mark.parametrize("way", REMOVED)
def test_removed_files_that_a_box_still_holds_count(fork_server: ForkServer, way: str) -> None:
    """No look at the folder can count them."""
    limits = Limits(folder_bytes=20 << 20, file_bytes=1 << 20, cell_seconds=5.0)
    with fork_server.open_box(limits=limits) as box:
        lost = ended(box, REMOVED[way])
    assert (lost.outcome, lost.reason) == (Outcome.DIED, "it wrote more than 20 MB to disk")


def test_an_ordinary_temporary_file_is_nobodys_concern(fork_server: ForkServer) -> None:
    with fork_server.open_box() as box:
        source = (
            "import numpy as np, tempfile, time\nwith tempfile.TemporaryFile() as file:\n"
            "    a = np.memmap(file, dtype=np.float32, mode='w+', shape=(1000, 1000))\n"
            "    a[:] = 1; time.sleep(0.5)\nfloat(a.sum())"
        )
        assert value(box, source) == "1000000.0"


def test_a_fork_or_thread_left_behind_does_not_outlive_its_box(fork_server: ForkServer) -> None:
    with fork_server.open_box() as box:
        box.run_cell("import threading, time, os\nthreading.Thread(target=time.sleep, args=(1000,)).start()")
        process = int(value(box, "os.getpid()"))
        assert Path(f"/proc/{process}").exists()
    assert not Path(f"/proc/{process}").exists()


@pytest.mark.parametrize(
    "source",
    [
        "x = bytearray(4 << 30)",
        "import torch; x = torch.zeros(1 << 30)",
        "import numpy; x = numpy.ones(1 << 29)",
        "x = []\nwhile True: x.append(bytearray(1 << 20))",
        "x = 'x'\nwhile True: x += x",
    ],
)
def test_too_much_memory_is_reported_and_survived(quick_box: Box, source: str) -> None:
    result = quick_box.run_cell(source)
    assert not result.ok
    assert result.failure is Outcome.OUT_OF_MEMORY
    assert quick_box.run_cell("x = None\n1").ok


def test_too_much_memory_in_a_call(quick_box: Box) -> None:
    quick_box.run_cell("import torch\ndef answer(x): return torch.zeros(1 << 30)")
    assert asked(quick_box, "answer", Case("a case", (1,))).failure is Outcome.OUT_OF_MEMORY


def test_a_box_that_does_not_listen_does_not_block_the_grader(fork_server: ForkServer) -> None:
    """The child stops reading; the question is larger than any buffer of the connection."""
    with fork_server.open_box(limits=QUICK) as box:
        box.run_cell("import threading, os, time\ndef answer(x): return 1")
        box.run_cell(
            "import os, signal\nsignal.signal(signal.SIGALRM, lambda *a: time.sleep(1000))\nsignal.setitimer(0, 0.2)"
        )
        time.sleep(0.5)
        with pytest.raises(BoxLost) as caught:
            asked(box, "answer", Case("a case", (torch.zeros(3, 1_000_000), torch.zeros(3, 1_000_000))))
        assert caught.value.outcome is Outcome.TIMED_OUT


def test_what_is_said_before_the_question_is_refused(fork_server: ForkServer) -> None:
    with fork_server.open_box(limits=QUICK) as box:
        box.run_cell(
            f"{FORGE}import threading, time\n"
            "def later():\n    time.sleep(0.2)\n    send({'id': '', 'kind': 'cell'})\n"
            "threading.Thread(target=later).start()"
        )
        time.sleep(0.6)
        with pytest.raises(BoxLost, match="an answer to no question"):
            box.run_cell("1")


BUSY = "import time\nend = time.thread_time() + {}\nwhile time.thread_time() < end: pass"


def test_the_time_of_a_submission_is_limited_as_a_whole(fork_server: ForkServer) -> None:
    with fork_server.open_box(seconds=0.5) as box:
        box.run_cell(BUSY.format(0.3))
        lost = ended(box, "while True: pass")
    assert lost.outcome is Outcome.TIMED_OUT
    assert lost.reason == "the time limit for the whole submission ran out"
    assert lost.out_of_time


@pytest.mark.parametrize("ending", ["while True: pass", "import time; time.sleep(1000)"])
def test_a_box_that_cannot_be_seen_from_here_is_watched_by_the_fork_server(
    fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(handles, "_process_of", lambda handle: 0)
    with fork_server.open_box(limits=QUICK) as box:
        assert ended(box, ending).reason == (COMPUTED if "while" in ending else WAITED)
    assert box.process == 0


def test_at_level_1_the_processes_that_a_box_has_started_count(server_of: ServerOf) -> None:
    source = (
        "import os, sys\n"
        "child = os.posix_spawn(sys.executable, [sys.executable, '-S', '-c', 'while True: pass'], os.environ)\n"
        "os.waitpid(child, 0)"
    )
    for cell, reason in ((source, COMPUTED), ("import time; time.sleep(1000)", WAITED)):
        with server_of(Level.L1).open_box(limits=QUICK) as box:
            assert ended(box, cell).reason == reason


def test_a_box_that_is_kept_from_computing_is_not_blamed(fork_server: ForkServer) -> None:
    """For longer than it may compute, and longer than it may wait."""
    with fork_server.open_box(limits=Limits(cell_seconds=0.5)) as box:

        def keep() -> None:
            while (reading := box._handle.look()) is None or reading.computed < before + 0.1:
                time.sleep(0.01)
            os.kill(box.process, signal.SIGSTOP)
            time.sleep(1.5)
            os.kill(box.process, signal.SIGCONT)

        first = box._handle.look()
        assert first is not None
        before = first.computed
        handle = threading.Thread(target=keep)
        handle.start()
        assert box.run_cell(BUSY.format(0.3)).ok
        handle.join()


@pytest.mark.parametrize(("doing", "starved"), [(Doing.COMPUTES, True), (Doing.STOPPED, False)])
def test_the_clock_on_the_wall_ends_what_nothing_else_ends(
    fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch, doing: Doing, starved: bool
) -> None:
    """Of one that could have computed it is said that it was not let; one that has stopped itself did that."""
    with fork_server.open_box(limits=Limits(cell_seconds=0.2, wall_factor=2.0, wall_seconds=1.0)) as box:
        monkeypatch.setattr(box._watch, "_look", lambda: Reading(0.0, doing))
        lost = ended(box, "import time; time.sleep(1000)")
    assert (lost.outcome, lost.reason) == (Outcome.TIMED_OUT, "it was not finished after 1 s")
    assert (lost.setting, lost.starved) == ("wall_seconds", starved)
    assert box.starved is starved


def test_processor_time_is_limited(fork_server: ForkServer) -> None:
    with fork_server.open_box(limits=Limits(processor_seconds=1)) as box:
        lost = ended(box, "while True: pass")
    assert lost.outcome is Outcome.TIMED_OUT
    assert "processor" in lost.reason


def test_files_and_their_number_are_limited(fork_server: ForkServer) -> None:
    with fork_server.open_box(limits=Limits(file_bytes=1 << 20, open_files=32)) as box:
        assert raised(box, "open('large', 'wb').write(b'x' * (1 << 22))").type_name == "OSError"
        assert raised(box, "files = [open(str(i), 'w') for i in range(100)]").type_name == "OSError"
        assert box.run_cell("1").ok


def test_each_channel_serves_a_thread(fork_server: ForkServer) -> None:
    wrong: list[str] = []

    def work(channel: int) -> None:
        for number in range(5):
            with fork_server.open_box(channel) as box:
                shown = value(box, f"{channel} + {number}")
                if shown != str(channel + number):
                    wrong.append(shown)

    threads = [threading.Thread(target=work, args=(channel,)) for channel in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("level", [Level.L1, Level.L2], ids=lambda level: level.name)
def test_a_fresh_process_for_each_box(level: Level) -> None:
    """What macOS gets, at the level that it gets, and at the one it does not."""
    with ForkServer(WITHHELD, level, start="spawn", trains=False) as spawner:
        with spawner.open_box(limits=QUICK) as box:
            box.run_cell("def answer(x): return x + 1")
            assert torch.equal(asked(box, "answer", Case("a case", (torch.ones(2),))).value, torch.full((2,), 2.0))
            assert not box.run_cell("import course_lib.attention").ok
            assert ended(box, "while True: pass").outcome is Outcome.TIMED_OUT
        with spawner.open_box() as box:
            assert "exit status 3" in ended(box, "import os; os._exit(3)").reason


LEAVE_PROCESSES_BEHIND = """
import os, sys, time
sleep = [sys.executable, "-S", "-c", "import time; time.sleep(1000)"]
child = os.posix_spawn(sys.executable, sleep, os.environ)
session = os.posix_spawn(sys.executable, sleep, os.environ, setsid=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open("draft", "w") as file:
            file.write(str(os.getpid()))
        os.rename("draft", "orphan")
        time.sleep(1000)
    os._exit(0)
while not os.path.exists("orphan"):
    time.sleep(0.01)
print(child, session, open("orphan").read())
"""


def test_at_level_1_what_a_box_has_started_ends_with_it(server_of: ServerOf) -> None:
    with server_of(Level.L1).open_box() as box:
        result = box.run_cell(LEAVE_PROCESSES_BEHIND)
        assert result.ok, result.raised
        processes = [int(number) for number in result.outputs[0]["text"].split()]
        assert len(processes) == 3
        assert all(Path(f"/proc/{process}").exists() for process in processes)
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]
    with server_of(Level.L1).open_box() as box:
        assert not box.run_cell("import course_lib.attention").ok
        assert box.run_cell("1").ok


def test_closing_a_fork_server_ends_its_boxes_and_removes_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fork_server = ForkServer(WITHHELD, trains=False)
    box = fork_server.open_box()
    process = int(value(box, "import os; os.getpid()"))
    fork_server.close()
    assert not Path(f"/proc/{process}").exists()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BoxUnavailable):
        box.run_cell("1")


def test_the_end_of_a_fork_server_is_no_students_fault() -> None:
    with ForkServer(WITHHELD, trains=False) as fork_server:
        box = fork_server.open_box()
        assert fork_server._root.process is not None
        fork_server._root.process.kill()
        fork_server._root.process.wait()
        with pytest.raises(BoxUnavailable):
            box.run_cell("1")
        with pytest.raises(BoxUnavailable):
            fork_server.open_box()


def left(folder: Path) -> list[str]:
    """What there is in a folder, but for empty folders: from inside bubblewrap the outermost cannot be removed.

    By `os.walk`, which does not mind that what it walks is being removed.
    """
    return [place for place, folders, files in os.walk(folder) if files or (folders and place != str(folder))]


@pytest.mark.parametrize("level", [Level.L1, Level.L3], ids=lambda level: level.name)
def test_a_killed_grader_leaves_nothing_behind(tmp_path: Path, level: Level) -> None:
    if why_not(level):
        pytest.skip("no sandboxes at this level here")
    code = (
        "import os\nfrom autograder.box.confinement.levels import Level\n"
        "from autograder.box.fork_server.client import ForkServer\n"
        f"fork_server = ForkServer(level=Level.{level.name}, trains=False)\n"
        "box = fork_server.open_box()\nbox.run_cell('1')\n"
        "print(box.process, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False, timeout=600)
    process = int(done.stdout)
    deadline = time.monotonic() + 300
    while (left(tmp_path) or Path(f"/proc/{process}").exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left(tmp_path) == []
    assert not Path(f"/proc/{process}").exists()


def test_a_channel_serves_the_next_user_when_one_died_while_it_waited_for_an_answer(fork_server: ForkServer) -> None:
    control = fork_server._channels[0]._control
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryDirectory() as folder:
        setup = {"folder": folder, "seed": None, "limits": asdict(fork_server.limits)}
        ours.sendall(encode_frame(Frame(setup), fork_server.limits.frame_bytes))
        wish = {"do": "open", "id": "of the dead"}
        socket.send_fds(control, [json.dumps(wish).encode()], [theirs.fileno()])
        theirs.close()
        with fork_server.open_box() as box:
            assert box.run_cell("1 + 1").ok
        ours.settimeout(20)
        assert ours.recv(1)  # the sandbox of the dead is still there, and greets
        fork_server.take_over(0)
        while ours.recv(1 << 16):
            pass


@pytest.mark.parametrize(("level", "trains"), [(Level.L2, True), (Level.L1, False)])
def test_what_training_needs_is_loaded_where_it_is_wanted_and_works_where_it_is_not(
    server_of: ServerOf, level: Level, trains: bool
) -> None:
    with server_of(level).open_box() as box:
        assert value(box, "import sys\n'torch._dynamo' in sys.modules") == str(trains)
        assert box.run_cell("import torch\ntorch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1).step()").ok


def test_a_box_holds_nothing_of_what_others_were_told(fork_server: ForkServer) -> None:
    """Else it would know where they lie, and what random numbers they draw."""
    seed = 0x7A6B5C4D3E2F1A0B
    with fork_server.open_box(seed=seed) as first, fork_server.open_box(seed=seed) as second:
        folders = [box._folder.name.encode() for box in (first, second)]
    with fork_server.open_box() as box:
        try:
            memory = b"".join(own_memory(box.process))
        except PermissionError:
            pytest.skip("nobody may look into another process's memory here")
        assert box._folder.name.encode() in memory
        for told in (*folders, str(seed).encode(), seed.to_bytes(8, "little")):
            assert told not in memory
