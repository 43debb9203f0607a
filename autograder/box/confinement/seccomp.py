"""seccomp: a filter on system calls, as classic BPF for x86-64 and 64-bit ARM.

A sandbox computes, reads what Landlock leaves it, and writes in its own folder. A list has the calls that it needs for
that (`system_calls.py`). Any other call fails with EPERM, which Python shows as PermissionError, or with ENOSYS if the
C library then tries something else. With the deny-list, for machines whose libraries need more, every call is allowed
that is not refused by name. Calls that do not exist yet fail with ENOSYS, so a new kernel opens no new door. Only calls
of another architecture end the process. See seccomp(2).
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from autograder.box.confinement.system_calls import ALLOWED, DECIDED, LAST_KNOWN, MISSED, REFUSED, Calls
from autograder.limits import SystemCalls

_X32_BIT = 0x40000000

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7), "arm64": (1, 0xC00000B7)}
_INSTALL = {"x86_64": 317, "aarch64": 277, "arm64": 277}

_THREAD = 0x00010000 | 0x00000400  # CLONE_THREAD, CLONE_FILES: the grader would not see open files of its own
_REFUSED_IOCTLS = (
    0x5412,  # TIOCSTI: type into a terminal
    0x541C,  # TIOCLINUX: paste into a console
    0x540E,  # TIOCSCTTY
    0x5410,  # TIOCSPGRP
    0x8901,  # FIOSETOWN: signals to others
    0x8902,  # SIOCSPGRP
    0x5452,  # FIOASYNC
    0x40086602,  # FS_IOC_SETFLAGS
    0x401C5820,  # FS_IOC_FSSETXATTR
)
_LOCKS = (5, 6, 7, 36, 37, 38)  # F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
_LEASES = (1024, 1025, 1026, 1029)  # F_SETLEASE, F_GETLEASE, F_NOTIFY, F_CANCELLK
_SIGNALS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX: to others
_REFUSED_FCNTLS = (*_LOCKS, *_LEASES, *_SIGNALS, 1031)  # F_SETPIPE_SZ: all pipes of a user share a limit
_OF_ITSELF = (1, 4, 22, 35)  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_MM
_SHARED = (62, 67)  # PR_SCHED_CORE, PR_SET_MEMORY_MERGE: one memory for equal pages of several processes
_REFUSED_PRCTLS = (*_OF_ITSELF, *_SHARED)
_ADVICE = (*range(5), 8, 10, 11, *range(14, 20), 102, 103)
"""The allowed memory advice: none about pages that processes share, such as merging or dropping them."""
_ADVICE_ON_FILES = range(4)  # not POSIX_FADV_DONTNEED, which drops what others read
_OWN_CLOCKS = 15  # what is above names a process
_QUEUED_SIGNALS = 31  # what is above is queued, and all processes of a user share the queue's limit
_PRIVATE_FUTEX, _REAL_TIME_FUTEX = 128, 256
_FUTEX_WAITS = (0, 9)  # FUTEX_WAIT, FUTEX_WAIT_BITSET: for the end of a thread, of which the kernel tells everyone
_ACCESS_AND_TRUNCATE = 0o1003  # O_TRUNC | O_ACCMODE, the same number on both
_TRUNCATING_READERS = (0o1000, 0o1003)
"""O_TRUNC without O_WRONLY or O_RDWR, which Landlock treats as reading before its version 3."""

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP, _JUMP_EQUAL, _JUMP_GREATER = 0x05, 0x15, 0x25
_ALLOW = 0x7FFF0000
_ERROR, _TRAP = 0x00050000, 0x00030000  # with the error in the lower half
_KILL = 0x80000000
_EPERM = _ERROR | errno.EPERM
_EINVAL = _ERROR | errno.EINVAL
_ENOSYS = _ERROR | errno.ENOSYS
_NOT_SUPPORTED = _ERROR | errno.EOPNOTSUPP
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_BYTES, _CONSTANT = 8, 4  # of an instruction, and where its constant is
_NOBODY = 0xFFFFFFFF  # no process has this id

Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, constant."""

Bodies = Mapping[str, list[Instruction]]
"""The instructions for a call, by its name; the call's number has been loaded."""


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def supported() -> bool:
    """Return whether the filter supports this machine's architecture."""
    return platform.system() == "Linux" and platform.machine() in _ARCHITECTURES


def install(calls: SystemCalls) -> None:
    """Permanently filter the calls of this process and all its threads. `no_new_privs` must be set.

    Raises:
        OSError: the kernel refused.
    """
    code, places = _PREPARED[calls]
    buffer = ctypes.create_string_buffer(code, len(code))
    for place in places:
        struct.pack_into("<I", buffer, place, os.getpid())
    description = _Program(len(code) // _BYTES, ctypes.cast(buffer, ctypes.c_void_p).value)
    libc = ctypes.CDLL(None, use_errno=True)
    set_filter, all_threads = 1, 1
    if libc.syscall(_INSTALL[platform.machine()], set_filter, all_threads, ctypes.byref(description)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"seccomp: {os.strerror(error)}")


def program(machine: str, own: int, calls: SystemCalls) -> list[Instruction]:
    """Return the filter program.

    Args:
        machine: as from `platform.machine()`.
        own: the process's id, the only one it may signal.
        calls: which list to use; with "recorded", refused calls raise a signal (`recorded.py`).
    """
    column, architecture = _ARCHITECTURES[machine]
    steps = [_load(_ARCHITECTURE), (_JUMP_EQUAL, 1, 0, architecture), _return(_KILL), _load(_NUMBER)]
    if machine == "x86_64":
        steps += _if(_JUMP_GREATER, _X32_BIT - 1, [_return(_KILL)])
    answers = dict(_numbered(DECIDED, _decisions(own), column))
    if calls == "deny-list":
        others = _return(_ALLOW)
        answers |= _numbered(REFUSED, dict.fromkeys(REFUSED, [_return(_EPERM)]), column)
    else:
        others = _return(_EPERM)
        answers |= _numbered(ALLOWED, dict.fromkeys(ALLOWED, [_return(_ALLOW)]), column)
        answers |= _numbered(MISSED, dict.fromkeys(MISSED, [_return(_ENOSYS)]), column)
    bodies = [*(answers.get(number, [others]) for number in range(LAST_KNOWN + 1)), [_return(_ENOSYS)]]
    if calls == "recorded":
        silent = DECIDED["clone3"][column]  # the C library blocks all signals there
        bodies = [body if number == silent else [*map(_trapped, body)] for number, body in enumerate(bodies)]
    return steps + _search(list(_stretches(bodies)))


def _trapped(step: Instruction) -> Instruction:
    """Return the instruction that raises a signal carrying the error, instead of the error."""
    operation, _, _, answer = step
    return _return(answer ^ _ERROR | _TRAP) if operation == _RETURN and answer & ~0xFFFF == _ERROR else step


def _numbered(table: Calls, answers: Bodies, column: int) -> Iterator[tuple[int, list[Instruction]]]:
    """Yield the answers by call number, without calls that this architecture lacks."""
    for name, numbers in table.items():
        number = numbers[column]
        if number is not None:
            yield number, answers[name]


def _stretches(bodies: Iterable[list[Instruction]]) -> Iterator[tuple[int, list[Instruction]]]:
    """Yield the first number of each range of calls with the same answer, with that answer."""
    before: list[Instruction] = []
    for number, body in enumerate(bodies):
        if body != before:
            yield number, body
        before = body


def _search(stretches: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    """Return instructions that find a number's range by binary search."""
    if len(stretches) == 1:
        return stretches[0][1]
    middle = len(stretches) // 2
    below, above = _search(stretches[:middle]), _search(stretches[middle:])
    last = stretches[middle][0] - 1
    if len(below) < 256:
        return [(_JUMP_GREATER, len(below), 0, last), *below, *above]
    return [(_JUMP_GREATER, 0, 1, last), (_JUMP, 0, 0, len(below)), *below, *above]


def _decisions(own: int) -> Bodies:
    """Return the answers to calls whose arguments decide. The kernel reads 32 bits of each of these arguments."""
    me_or_zero = _if_any(0, (own, 0), _ALLOW, _EPERM)
    own_clock = [_load(_argument(0)), *_if(_JUMP_GREATER, _OWN_CLOCKS, [_return(_EPERM)]), _return(_ALLOW)]
    no_attributes = [_return(_NOT_SUPPORTED)]  # as of a file system without any: what copies files goes on
    return {
        "clone": _if_any(0, (_THREAD,), _ALLOW, _EPERM, mask=_THREAD),
        "clone3": [_return(_ENOSYS)],  # its flags are out of a filter's sight; the C library then uses clone
        "openat2": [_return(_ENOSYS)],
        "kill": _signal_to(own, 1),
        "tkill": _signal_to(own, 1),
        "tgkill": _signal_to(own, 2),
        "prlimit64": me_or_zero,
        "sched_setaffinity": me_or_zero,
        "sched_getaffinity": _if_any(0, (own, 0), _ALLOW, _ENOSYS),  # of a thread the C library asks it in passing
        "clock_getres": own_clock,
        "clock_gettime": own_clock,
        "clock_nanosleep": own_clock,
        "futex": _private_futex(),
        "madvise": _if_any(2, _ADVICE, _ALLOW, _EINVAL),
        "fadvise64": _if_any(3, _ADVICE_ON_FILES, _ALLOW, _EPERM),
        "prctl": _if_any(0, _REFUSED_PRCTLS, _EPERM, _ALLOW),
        "ioctl": _if_any(1, _REFUSED_IOCTLS, _EPERM, _ALLOW),
        "fcntl": _if_any(1, _REFUSED_FCNTLS, _EPERM, _ALLOW),
        "flock": [_return(_ENOSYS)],  # what locks a file then does without; at EPERM it would try for ever
        "open": _if_any(1, _TRUNCATING_READERS, _EPERM, _ALLOW, mask=_ACCESS_AND_TRUNCATE),
        "openat": _if_any(2, _TRUNCATING_READERS, _EPERM, _ALLOW, mask=_ACCESS_AND_TRUNCATE),
        "fallocate": [_return(_NOT_SUPPORTED)],  # a program that wants room then writes, at a speed that can be watched
        **dict.fromkeys(("getxattr", "lgetxattr", "fgetxattr"), no_attributes),
        **dict.fromkeys(("listxattr", "llistxattr", "flistxattr"), no_attributes),
    }


def _signal_to(own: int, argument: int) -> list[Instruction]:
    """Allow the process to signal itself with a non-queued signal."""
    queued = [_load(_argument(argument)), *_if(_JUMP_GREATER, _QUEUED_SIGNALS, [_return(_EPERM)])]
    return [*queued, *_if_any(0, (own,), _ALLOW, _EPERM)]


def _private_futex() -> list[Instruction]:
    """Allow only futexes private to this process: a library's pages are the same memory in all sandboxes."""
    everything_else = 0xFFFFFFFF & ~_REAL_TIME_FUTEX
    steps = [_load(_argument(1)), (_AND, 0, 0, everything_else)]
    steps += _if(_JUMP_GREATER, _PRIVATE_FUTEX - 1, [_return(_ALLOW)])
    return [*steps, *_if_any(1, _FUTEX_WAITS, _ALLOW, _EPERM, mask=everything_else)]


def _if_any(
    argument: int, values: Iterable[int], answer: int, otherwise: int, mask: int | None = None
) -> list[Instruction]:
    """Give one answer if an argument, optionally masked, has one of these values, and another one if not."""
    steps = [_load(_argument(argument)), *([(_AND, 0, 0, mask)] if mask is not None else [])]
    for value in values:
        steps += _if(_JUMP_EQUAL, value, [_return(answer)])
    return [*steps, _return(otherwise)]


def _if(test: int, constant: int, body: list[Instruction]) -> list[Instruction]:
    return [(test, 0, len(body), constant), *body]


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _argument(position: int) -> int:
    """Return the offset of an argument's low half; both architectures are little-endian."""
    return _FIRST_ARGUMENT + 8 * position


def _return(answer: int) -> Instruction:
    return (_RETURN, 0, 0, answer)


def _prepare(calls: SystemCalls) -> tuple[bytes, list[int]]:
    """Return the filter in the kernel's format, and the offsets where the process id goes."""
    steps = program(platform.machine(), _NOBODY, calls)
    places = [_BYTES * number + _CONSTANT for number, step in enumerate(steps) if step[3] == _NOBODY]
    return b"".join(struct.pack("<HBBI", *step) for step in steps), places


_PREPARED = {calls: _prepare(calls) for calls in get_args(SystemCalls)} if supported() else {}
"""Prepared before any sandbox is forked, to save sandboxes work and memory."""
