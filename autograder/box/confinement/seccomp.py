"""seccomp: a filter on system calls, written out as classic BPF for x86-64 and 64-bit ARM.

A box computes, reads what Landlock leaves it, and writes in its own folder. Calls that reach further answer
EPERM, which Python shows as PermissionError; a call that does not exist yet answers ENOSYS, so that a new
kernel opens no new door. Only calls of another architecture end the process. See seccomp(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable

# Numbers of the calls that are refused outright, on (x86-64, 64-bit ARM); None where there is no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # sockets of every kind; the two that exist already are used with read, write, sendto and recvfrom
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "recvmsg": (47, 212),
    "recvmmsg": (299, 243),
    # other programs and processes (clone is looked at more closely below)
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # what Landlock does not cover: modes, owners, times and extended attributes of files it lets us see
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "truncate": (76, 45),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # shared memory, semaphores and queues that outlive a process
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184),
    "mq_getsetattr": (245, 185),
    # identities, namespaces and mounts
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setgroups": (116, 159),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "capset": (126, 91),
    "personality": (135, 92),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "lsm_set_self_attr": (460, 460),
    # the kernel itself
    "seccomp": (317, 277),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "sysfs": (139, None),
    "ustat": (136, None),
    "_sysctl": (156, None),
    "create_module": (174, None),
}
# Calls whose arguments decide.
_DECIDED: dict[str, tuple[int | None, int | None]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "openat2": (437, 437),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "prctl": (157, 167),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "open": (2, None),
    "openat": (257, 56),
    "fallocate": (285, 47),
}
_LAST_KNOWN = 462  # mseal, Linux 6.10
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
_REFUSED_FCNTLS = (8, 10, 15, 1024, 1026)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
_REFUSED_PRCTLS = (1, 4, 22, 35, 62)  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_MM, PR_SCHED_CORE
_ACCESS_AND_TRUNCATE = 0o1003  # O_TRUNC | O_ACCMODE, the same number on both

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_EQUAL, _JUMP_GREATER = 0x15, 0x25
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_EPERM = 0x00050000 | errno.EPERM
_ENOSYS = 0x00050000 | errno.ENOSYS
_NOT_SUPPORTED = 0x00050000 | errno.EOPNOTSUPP
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data

Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, constant."""


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def supported() -> bool:
    """Whether this machine is of an architecture that the filter is written for."""
    return platform.system() == "Linux" and platform.machine() in _ARCHITECTURES


def install() -> None:
    """Filter the calls of this process and of all its threads, for good. `no_new_privs` must be set.

    Raises:
        OSError: the kernel refused.
    """
    machine = platform.machine()
    code = b"".join(struct.pack("<HBBI", *step) for step in program(machine, os.getpid()))
    buffer = ctypes.create_string_buffer(code, len(code))
    description = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    libc = ctypes.CDLL(None, use_errno=True)
    set_filter, all_threads = 1, 1
    if libc.syscall(_INSTALL[machine], set_filter, all_threads, ctypes.byref(description)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"seccomp: {os.strerror(error)}")


def program(machine: str, own: int) -> list[Instruction]:
    """The filter.

    Args:
        machine: as in `platform.machine()`.
        own: the process's id, the only one that it may signal.
    """
    column, architecture = _ARCHITECTURES[machine]
    steps = [_load(_ARCHITECTURE), (_JUMP_EQUAL, 1, 0, architecture), _return(_KILL), _load(_NUMBER)]
    if machine == "x86_64":
        steps += _if(_JUMP_GREATER, _X32_BIT - 1, [_return(_KILL)])
    steps += _if(_JUMP_GREATER, _LAST_KNOWN, [_return(_ENOSYS)])
    for name, body in _decisions(own).items():
        number = _DECIDED[name][column]
        if number is not None:
            steps += _if(_JUMP_EQUAL, number, body)
    for numbers in _REFUSED.values():
        number = numbers[column]
        if number is not None:
            steps += _if(_JUMP_EQUAL, number, [_return(_EPERM)])
    return [*steps, _return(_ALLOW)]


def _decisions(own: int) -> dict[str, list[Instruction]]:
    """What to answer to the calls whose arguments decide. The kernel reads 32 bits of each of these arguments."""
    myself = _allow_only(0, (own,))
    me_or_zero = _allow_only(0, (own, 0))
    thread = [_load(_argument(0)), (_AND, 0, 0, _THREAD), *_if(_JUMP_EQUAL, _THREAD, [_return(_ALLOW)])]
    return {
        "clone": [*thread, _return(_EPERM)],
        "clone3": [_return(_ENOSYS)],  # its flags are out of a filter's sight; the C library then uses clone
        "openat2": [_return(_ENOSYS)],
        "kill": myself,
        "tkill": myself,
        "tgkill": myself,
        "rt_sigqueueinfo": myself,
        "rt_tgsigqueueinfo": myself,
        "prlimit64": me_or_zero,
        "sched_setaffinity": me_or_zero,
        "prctl": _refuse_only(0, _REFUSED_PRCTLS),
        "ioctl": _refuse_only(1, _REFUSED_IOCTLS),
        "fcntl": _refuse_only(1, _REFUSED_FCNTLS),
        "open": _no_truncating_reader(1),
        "openat": _no_truncating_reader(2),
        "fallocate": [_return(_NOT_SUPPORTED)],  # the C library then writes, at a speed that can be watched
    }


def _no_truncating_reader(argument: int) -> list[Instruction]:
    """Refuse O_TRUNC without O_WRONLY or O_RDWR, which before version 3 Landlock takes for reading."""
    return [
        _load(_argument(argument)),
        (_AND, 0, 0, _ACCESS_AND_TRUNCATE),
        *_if(_JUMP_EQUAL, 0o1000, [_return(_EPERM)]),
        *_if(_JUMP_EQUAL, 0o1003, [_return(_EPERM)]),
        _return(_ALLOW),
    ]


def _allow_only(argument: int, values: Iterable[int]) -> list[Instruction]:
    steps = [_load(_argument(argument))]
    for value in values:
        steps += _if(_JUMP_EQUAL, value, [_return(_ALLOW)])
    return [*steps, _return(_EPERM)]


def _refuse_only(argument: int, values: Iterable[int]) -> list[Instruction]:
    steps = [_load(_argument(argument))]
    for value in values:
        steps += _if(_JUMP_EQUAL, value, [_return(_EPERM)])
    return [*steps, _return(_ALLOW)]


def _if(test: int, constant: int, body: list[Instruction]) -> list[Instruction]:
    return [(test, 0, len(body), constant), *body]


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _argument(position: int) -> int:
    """Offset of the low half of an argument; both architectures are little-endian."""
    return _FIRST_ARGUMENT + 8 * position


def _return(answer: int) -> Instruction:
    return (_RETURN, 0, 0, answer)
