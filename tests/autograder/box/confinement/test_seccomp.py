"""The filter as the kernel would read it, for both architectures, by a small interpreter of its instructions."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from autograder.box.confinement import seccomp

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
NOT_SUPPORTED = 0x00050000 | errno.EOPNOTSUPP
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
OWN = 4321


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the filter answers to one call."""
    data = {0: number, 4: ARCHITECTURES[machine][1] if architecture is None else architecture}
    data |= {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    steps, place, register = seccomp.program(machine, OWN), 0, 0
    while True:
        operation, if_true, if_false, constant = steps[place]
        place += 1
        if operation == 0x06:
            return constant
        if operation == 0x20:
            register = data.get(constant, 0)
        elif operation == 0x54:
            register &= constant
        else:
            holds = {0x15: register == constant, 0x25: register > constant}[operation]
            place += if_true if holds else if_false


def number(machine: str, name: str) -> int:
    value = {**seccomp._REFUSED, **seccomp._DECIDED}[name][ARCHITECTURES[machine][0]]
    assert value is not None
    return value


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_is_well_formed(machine: str) -> None:
    steps = seccomp.program(machine, OWN)
    assert len(steps) < 4096
    for place, (operation, if_true, if_false, _) in enumerate(steps):
        if operation not in (0x06, 0x20, 0x54):
            assert max(if_true, if_false) < 256
            assert place + 1 + max(if_true, if_false) < len(steps)
    assert steps[-1] == (0x06, 0, 0, ALLOW)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[machine].read_text())
    known = {name: int(value) for name, value in found}
    for name, numbers in {**seccomp._REFUSED, **seccomp._DECIDED}.items():
        mine = numbers[ARCHITECTURES[machine][0]]
        if name in known or (mine is not None and mine <= 440):
            assert mine == known.get(name), name


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_every_listed_call_is_refused_and_ordinary_ones_are_not(machine: str) -> None:
    for name, numbers in seccomp._REFUSED.items():
        mine = numbers[ARCHITECTURES[machine][0]]
        if mine is not None:
            assert answer(machine, mine) == EPERM, name
    for ordinary in {"x86_64": (0, 1, 9, 39, 202, 231), "aarch64": (63, 64, 222, 172, 98, 94)}[machine]:
        assert answer(machine, ordinary) == ALLOW


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_another_architecture_is_the_end(machine: str) -> None:
    assert answer(machine, 1, architecture=0x40000003) == KILL
    if machine == "x86_64":
        assert answer(machine, 0x40000000 | 1) == KILL


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_calls_of_the_future_are_unknown(machine: str) -> None:
    for new in (463, 1000, 0x3FFFFFFF):
        assert answer(machine, new) == ENOSYS
    for name in ("clone3", "openat2"):
        assert answer(machine, number(machine, name)) == ENOSYS


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_arguments_decide(machine: str) -> None:
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
        ("tgkill", (OWN, OWN + 7, 6), ALLOW),
        ("tgkill", (1, 1, 6), EPERM),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), EPERM),
        ("sched_setaffinity", (0,), ALLOW),
        ("sched_setaffinity", (1,), EPERM),
        ("prctl", (15,), ALLOW),
        ("prctl", (1, 0), EPERM),
        ("prctl", (4, 0), EPERM),
        ("fallocate", (3, 0, 0, 1 << 20), NOT_SUPPORTED),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), EPERM),
        ("ioctl", (0, 0x5412 | 1 << 40), EPERM),
        ("fcntl", (3, 4), ALLOW),
        ("fcntl", (3, 8, 1), EPERM),
        ("openat", (-100, 0, 0o1101), ALLOW),
        ("openat", (-100, 0, 0o1000), EPERM),
        ("openat", (-100, 0, 0o1003), EPERM),
        ("openat", (-100, 0, 0o2000000), ALLOW),
    ]:
        assert answer(machine, number(machine, name), *arguments) == expected, (name, arguments)
