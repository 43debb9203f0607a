"""Whether sandboxes can do what lessons do, and which system calls they are refused if not.

A call that nobody needs is taken for one that a new library would need.

Tests `recorded.py` as well.
"""

import dataclasses
import os

import pytest

from autograder.box import trial
from autograder.box.confinement.levels import Level
from autograder.box.fork_server.client import ForkServer
from autograder.limits import Limits, SystemCalls
from tests.autograder.box.conftest import value
from tests.boxes import ServerOf


@pytest.fixture(params=["allow-list", "deny-list"])
def fork_server(fork_server: ForkServer, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ForkServer:
    monkeypatch.setattr(fork_server, "limits", Limits(system_calls=request.param))
    return fork_server


def test_with_either_list_boxes_can_do_what_lessons_do(fork_server: ForkServer) -> None:
    assert trial.what_fails(fork_server) == []


def test_where_all_is_well_nothing_is_refused(server_of: ServerOf) -> None:
    """Else the record would name calls that matter to nobody."""
    refused = {call for cell in trial.WORK.values() for call in trial._refused(server_of(Level.L2), cell)}
    assert refused <= {"mbind", "statx", "close_range", "faccessat2"}, "those are asked first, and done without"


@pytest.mark.parametrize(
    ("cell", "refused"),
    [
        ("import os\nos.statvfs('.')", "the system call statfs"),
        ("import os\nos.listxattr('.')", "the system call listxattr"),
        ("import fcntl\nfcntl.flock(open('a', 'w'), fcntl.LOCK_EX)", "the system call flock"),
        (
            "import os, threading\ndef ask():\n    try: os.statvfs('.')\n    except OSError: pass\n"
            "thread = threading.Thread(target=ask); thread.start(); thread.join()\nos.mkfifo('a')",
            "the system calls mknodat, statfs",
        ),
    ],
)
def test_a_call_that_is_refused_is_named(
    fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch, cell: str, refused: str
) -> None:
    monkeypatch.setattr(trial, "WORK", {"try": cell})
    assert trial.what_fails(fork_server) == [f"a sandbox cannot try: it is refused {refused}; please report it"]


def test_where_the_deny_list_would_do_the_setting_is_named(
    fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that neither list has a word on: sched_getscheduler."""
    number = 145 if os.uname().machine == "x86_64" else 120
    cell = (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"if libc.syscall({number}, 0) < 0:\n    raise PermissionError(ctypes.get_errno())"
    )
    monkeypatch.setattr(trial, "WORK", {"try": cell})
    if fork_server.limits.system_calls == "deny-list":
        assert trial.what_fails(fork_server) == []
    else:
        [said] = trial.what_fails(fork_server)
        assert said == (
            f"a sandbox cannot try: it is refused the system call number {number}; "
            'set c.Katze.system_calls = "deny-list" in nbgrader_config.py, and please report it'
        )


def test_what_fails_for_another_reason_is_told_as_it_is(
    fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "WORK", {"count": "1 / 0", "last": "import os, signal; os.kill(os.getpid(), 9)"})
    first, second = trial.what_fails(fork_server)
    assert first == "a sandbox cannot count: ZeroDivisionError: division by zero"
    assert second.startswith("a sandbox cannot last: ")


def test_a_box_that_records_answers_as_any_other(fork_server: ForkServer) -> None:
    cell = (
        "import os, errno\ndef error(call, *args):\n    try: call(*args)\n"
        "    except OSError as problem: return errno.errorcode[problem.errno]\n"
        "[error(os.statvfs, '.'), error(os.listxattr, '.'), error(os.chmod, '.', 0o700)]"
    )
    kinds: tuple[SystemCalls, ...] = (fork_server.limits.system_calls, "recorded")
    answers = []
    for calls in kinds:
        with fork_server.open_box(limits=dataclasses.replace(fork_server.limits, system_calls=calls)) as box:
            answers.append(value(box, cell))
    assert answers == ["['EPERM', 'ENOTSUP', 'EPERM']"] * 2
