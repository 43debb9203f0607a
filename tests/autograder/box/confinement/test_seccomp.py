"""The filter as the kernel would read it, for both architectures, by a small interpreter of its instructions.

Tests `system_calls.py` as well.
"""

import errno
import functools
import platform
import re
import struct
from pathlib import Path

import pytest

from autograder.box.confinement import seccomp, system_calls
from autograder.box.confinement.system_calls import ALLOWED, DECIDED, MISSED, REFUSED
from autograder.limits import SystemCalls

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS, EINVAL = (0x00050000 | error for error in (errno.EPERM, errno.ENOSYS, errno.EINVAL))
NOT_SUPPORTED = 0x00050000 | errno.EOPNOTSUPP
TRAPPED = 0x00030000
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
KNOWN = {**ALLOWED, **DECIDED, **MISSED, **REFUSED}
LISTS: tuple[SystemCalls, ...] = ("allow-list", "deny-list")
OWN = 4321


def answer(
    machine: str,
    number: int,
    *arguments: int,
    calls: SystemCalls = "allow-list",
    architecture: int | None = None,
) -> int:
    """What the filter answers to one call."""
    data = {0: number, 4: ARCHITECTURES[machine][1] if architecture is None else architecture}
    data |= {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    steps, place, register = program(machine, calls), 0, 0
    while True:
        operation, if_true, if_false, constant = steps[place]
        place += 1
        if operation == 0x06:
            return constant
        if operation == 0x20:
            register = data.get(constant, 0)
        elif operation == 0x54:
            register &= constant
        elif operation == 0x05:
            place += constant
        else:
            holds = {0x15: register == constant, 0x25: register > constant}[operation]
            place += if_true if holds else if_false


@functools.cache
def program(machine: str, calls: SystemCalls) -> list[seccomp.Instruction]:
    return seccomp.program(machine, OWN, calls)


def number(machine: str, name: str) -> int:
    value = KNOWN[name][ARCHITECTURES[machine][0]]
    assert value is not None
    return value


def numbers(machine: str, table: system_calls.Calls) -> list[int]:
    column, _ = ARCHITECTURES[machine]
    return [row[column] for row in table.values() if row[column] is not None]  # type: ignore[misc]


@pytest.mark.parametrize("calls", LISTS)
@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_is_well_formed(machine: str, calls: SystemCalls) -> None:
    steps = program(machine, calls)
    assert len(steps) < 1000  # the kernel takes 4096, in a time that each sandbox pays
    for place, (operation, if_true, if_false, constant) in enumerate(steps):
        if operation == 0x05:
            assert place + 1 + constant < len(steps)
        elif operation not in (0x06, 0x20, 0x54):
            assert max(if_true, if_false) < 256
            assert place + 1 + max(if_true, if_false) < len(steps)
    assert steps[-1] == (0x06, 0, 0, ENOSYS)


def test_each_call_is_in_one_table_and_in_its_place() -> None:
    assert len(KNOWN) == sum(map(len, (ALLOWED, DECIDED, MISSED, REFUSED)))
    for machine in ARCHITECTURES:
        found = numbers(machine, KNOWN)
        assert len(found) == len(set(found))
        assert max(found) <= system_calls.LAST_KNOWN


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[machine].read_text())
    known = {name: int(value) for name, value in found}
    known.setdefault("newfstatat", known.get("fstatat", -1))  # its name in the generic header
    for name, both in KNOWN.items():
        mine = both[ARCHITECTURES[machine][0]]
        if name in known or (mine is not None and mine <= 440):
            assert mine == known.get(name), name


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_only_what_is_on_the_list_is_allowed(machine: str) -> None:
    allowed, decided = numbers(machine, ALLOWED), numbers(machine, DECIDED)
    missed = [*numbers(machine, MISSED), *range(system_calls.LAST_KNOWN + 1, 600)]
    for call in range(600):
        if call not in decided:
            expected = ALLOW if call in allowed else ENOSYS if call in missed else EPERM
            assert answer(machine, call) == expected, call


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_deny_list_refuses_what_it_names(machine: str) -> None:
    refused, decided = numbers(machine, REFUSED), numbers(machine, DECIDED)
    for call in range(system_calls.LAST_KNOWN + 1):
        if call not in decided:
            assert answer(machine, call, calls="deny-list") == (EPERM if call in refused else ALLOW), call


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_where_calls_are_recorded_a_signal_carries_the_same_error(machine: str) -> None:
    for call in range(600):
        plain, recorded = answer(machine, call), answer(machine, call, calls="recorded")
        silent = plain == ALLOW or call == number(machine, "clone3")
        assert recorded == (plain if silent else TRAPPED | plain & 0xFFFF), call


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_another_architecture_is_the_end(machine: str) -> None:
    assert answer(machine, 1, architecture=0x40000003) == KILL
    if machine == "x86_64":
        assert answer(machine, 0x40000000 | 1) == KILL


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_calls_of_the_future_are_unknown(machine: str) -> None:
    for calls in LISTS:
        for new in (463, 1000, 0x3FFFFFFF):
            assert answer(machine, new, calls=calls) == ENOSYS
        for name in ("clone3", "openat2"):
            assert answer(machine, number(machine, name), calls=calls) == ENOSYS


@pytest.mark.parametrize("calls", LISTS)
@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_arguments_decide(machine: str, calls: SystemCalls) -> None:
    threads, fork = 0x3D0F00, 0x1200011
    for name, arguments, expected in [
        ("clone", (threads,), ALLOW),
        ("clone", (fork,), EPERM),
        ("clone", (0,), EPERM),
        ("clone", (threads & ~0x400,), EPERM),  # a thread with open files of its own
        ("kill", (OWN, 9), ALLOW),
        ("kill", (OWN | 1 << 32, 9), ALLOW),  # the kernel reads 32 bits
        ("kill", (OWN - 1, 9), EPERM),
        ("kill", (0, 9), EPERM),
        ("kill", (-1, 9), EPERM),
        ("kill", (OWN, 31), ALLOW),
        ("kill", (OWN, 32), EPERM),  # queued, in a queue that all processes of the user share
        ("tgkill", (OWN, OWN + 7, 6), ALLOW),
        ("tgkill", (OWN, OWN, 40), EPERM),
        ("tgkill", (1, 1, 6), EPERM),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), EPERM),
        ("sched_setaffinity", (0,), ALLOW),
        ("sched_setaffinity", (1,), EPERM),
        ("sched_getaffinity", (OWN,), ALLOW),
        ("sched_getaffinity", (1,), ENOSYS),
        ("clock_gettime", (2,), ALLOW),  # of this process
        ("clock_gettime", (~1 << 3 | 2,), EPERM),  # of process 1
        ("clock_nanosleep", (1,), ALLOW),
        ("futex", (0, 128 | 1), ALLOW),  # FUTEX_WAKE of this process
        ("futex", (0, 128 | 256 | 9), ALLOW),
        ("futex", (0, 256 | 9), ALLOW),  # FUTEX_WAIT_BITSET for the end of a thread
        ("futex", (0, 0), ALLOW),
        ("futex", (0, 1), EPERM),  # FUTEX_WAKE of whoever has mapped the same page of a file
        ("futex", (0, 4), EPERM),
        ("madvise", (0, 4096, 4), ALLOW),  # MADV_DONTNEED
        ("madvise", (0, 4096, 102), ALLOW),  # MADV_GUARD_INSTALL, for the stacks of threads
        ("madvise", (0, 4096, 12), EINVAL),  # MADV_MERGEABLE
        ("madvise", (0, 4096, 21), EINVAL),  # MADV_PAGEOUT
        ("fadvise64", (3, 0, 0, 3), ALLOW),
        ("fadvise64", (3, 0, 0, 4), EPERM),  # POSIX_FADV_DONTNEED
        ("flock", (3, 2), ENOSYS),
        ("getxattr", (0, 0, 0, 0), NOT_SUPPORTED),
        ("prctl", (15,), ALLOW),
        ("prctl", (67, 1), EPERM),  # PR_SET_MEMORY_MERGE
        ("prctl", (1, 0), EPERM),
        ("prctl", (4, 0), EPERM),
        ("fallocate", (3, 0, 0, 1 << 20), NOT_SUPPORTED),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), EPERM),
        ("ioctl", (0, 0x5412 | 1 << 40), EPERM),
        ("fcntl", (3, 4), ALLOW),
        ("fcntl", (3, 8, 1), EPERM),
        ("fcntl", (3, 6, 1), EPERM),  # F_SETLK
        ("fcntl", (3, 37, 1), EPERM),  # F_OFD_SETLK
        ("fcntl", (3, 1024, 1), EPERM),  # F_SETLEASE
        ("openat", (-100, 0, 0o1101), ALLOW),
        ("openat", (-100, 0, 0o1000), EPERM),
        ("openat", (-100, 0, 0o1003), EPERM),
        ("openat", (-100, 0, 0o2000000), ALLOW),
    ]:
        assert answer(machine, number(machine, name), *arguments, calls=calls) == expected, (name, arguments)


@pytest.mark.skipif(not seccomp.supported(), reason="no filter for this machine")
@pytest.mark.parametrize("calls", LISTS)
def test_what_is_prepared_is_the_filter_but_for_the_process(calls: SystemCalls) -> None:
    code, places = seccomp._PREPARED[calls]
    mine = bytearray(code)
    for place in places:
        struct.pack_into("<I", mine, place, OWN)
    assert mine == b"".join(struct.pack("<HBBI", *step) for step in seccomp.program(platform.machine(), OWN, calls))
