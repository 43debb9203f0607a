"""Landlock: a process permanently gives up every file that it is not granted (Linux >= 5.13; needs no privileges).

Landlock only grants: anything not named here cannot be opened, whatever its permissions. See landlock(7); the constants
are the kernel's (include/uapi/linux/landlock.h).
"""

import ctypes
import functools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_RULE_PATH_BENEATH = 1
_VERSION_FLAG = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_TRUNCATE = 1 << 14
_RIGHTS_OF_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many rights on files each version knows
_NETWORK_RIGHTS = 3  # bind and connect TCP, since version 4
_SCOPES = 3  # abstract sockets and signals to processes outside, since version 6

READ_FILE = _READ_FILE
READ_TREE = _READ_FILE | _READ_DIR
LIST_TREE = _READ_DIR
USE_DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE
_NEVER_OWN = (
    _EXECUTE | 1 << 6 | 1 << 9 | 1 << 11
)  # in its own folder a sandbox makes no devices or sockets, and runs nothing


@dataclass(frozen=True)
class Grant:
    """The permitted operations on a file, or on everything in a folder.

    Attributes:
        descriptor: of the file or folder, opened with O_PATH.
        rights: Landlock's rights on files.
    """

    descriptor: int
    rights: int


class _RulesetAttributes(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):  # packed in the kernel, which makes no difference to these two fields
    _fields_ = [("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32)]


def abi() -> int:
    """Return the kernel's Landlock version; 0 if it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    version = int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)))
    return max(version, 0)


def grant(path: Path, rights: int) -> Grant:
    """Return a grant for `path`, without folder-only rights for a file."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    return Grant(descriptor, rights if path.is_dir() else rights & USE_DEVICE)


def restrict(grants: Iterable[Grant], own: int) -> None:
    """Give up every file except the granted ones, and, if the kernel can, signals and abstract sockets to the outside.

    `no_new_privs` must be set. This cannot be undone, and children inherit it.

    Args:
        grants: what may still be read or used.
        own: descriptor of the only writable folder.

    Raises:
        OSError: the kernel refused; nothing was given up.
    """
    version = abi()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    every = (1 << _RIGHTS_OF_ABI[min(version, 5)]) - 1
    attributes = _RulesetAttributes(every, _NETWORK_RIGHTS if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for entry in (*grants, Grant(own, every & ~_NEVER_OWN)):
            rule = _PathBeneath(entry.rights & every, entry.descriptor)
            _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
        _call(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(number, *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock: {os.strerror(error)}")
    return result


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
