"""Records the system calls that a sandbox was refused, for `katze doctor`.

The filter can raise SIGSYS instead of an error (seccomp(2), SECCOMP_RET_TRAP). The handler here notes the call and then
returns the error, so the code goes on as in any other sandbox. This needs no privileges. It may fail if the C library
holds one of its locks during the call, so a recording sandbox is only for finding causes, and grades nothing.
"""

import ctypes
import errno
import os
import platform
import signal

from autograder.box.confinement.system_calls import name_of

_COLUMN_AND_RESULT = {"x86_64": (0, 144), "aarch64": (1, 184), "arm64": (1, 184)}
"""The column of the tables, and where a ucontext_t has the register for a call's result: RAX, x0."""

_ERROR, _CALL = 4, 24  # offsets in siginfo_t: si_errno, si_syscall
_WITH_INFORMATION, _NOT_DEFERRED = 4, 0x40000000  # SA_SIGINFO, SA_NODEFER

_noted: list[tuple[int, int]] = []
_kept: list[object] = []  # the handler must outlive every signal


class _Action(ctypes.Structure):  # struct sigaction of the C library
    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


def _note(number: int, information: int, context: int) -> None:
    error = ctypes.c_int.from_address(information + _ERROR).value
    _noted.append((ctypes.c_int.from_address(information + _CALL).value, error))
    _, result = _COLUMN_AND_RESULT[platform.machine()]
    ctypes.c_long.from_address(context + result).value = -error


def begin() -> None:
    """Start noting what the filter refuses this process.

    Raises:
        OSError: the signal cannot be handled.
    """
    platform.machine()  # asks the system once, which cannot be done in the handler
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(_note)
    _kept.append(handler)
    action = _Action(
        ctypes.cast(handler, ctypes.c_void_p).value, (ctypes.c_ulong * 16)(), _WITH_INFORMATION | _NOT_DEFERRED, None
    )
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.sigaction(signal.SIGSYS, ctypes.byref(action), None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"sigaction: {os.strerror(error)}")


def refused() -> list[str]:
    """Return the names of the refused calls; if there are none, of those answered as unknown."""
    column, _ = _COLUMN_AND_RESULT[platform.machine()]
    forbidden = {name_of(number, column) for number, error in _noted if error == errno.EPERM}
    return sorted(forbidden or {name_of(number, column) for number, _ in _noted})
