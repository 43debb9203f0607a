"""Telling a neighbor that is graded at the same time: one bit by what both can see is enough for an answer.

Each of these raises where the way is closed, and would go on to return zeros where it is open; a neighbor would read.
"""

from tests.dishonest.attempt import Attempt, in_call

_LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\ndef ask(name, *arguments):\n"
_LIBC += "    if getattr(libc, name)(*arguments) < 0:\n        raise OSError(ctypes.get_errno(), name)\n"


def _tells(name: str, tries: str, code: str) -> Attempt:
    """An attempt whose answer uses the channel, by a call of the C library's where Python has none."""
    return in_call(name, tries, code, own=_LIBC)


ATTEMPTS = (
    _tells(
        "flock_on_a_library",
        "Locks a file that all sandboxes read, for a one, and leaves it, for a zero.",
        "import fcntl\nfcntl.flock(open(os.__file__), fcntl.LOCK_SH)",
    ),
    _tells(
        "record_lock_on_a_library",
        "Does the same with a lock of a single byte, of which a file has many.",
        "import fcntl\nfcntl.lockf(open(os.__file__), fcntl.LOCK_SH, 1, int(q.sum().abs()))",
    ),
    _tells(
        "open_file_lock",
        "Does the same with a lock that belongs to the open file.",
        "import fcntl, struct\nfcntl.fcntl(open(os.__file__), 37, struct.pack('hhqqi4x', 0, 0, 0, 1, 0))",
    ),
    _tells(
        "lease",
        "Takes a lease on a library, which ends when somebody opens it for writing.",
        "import fcntl\nfcntl.fcntl(open(os.__file__), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    ),
    _tells(
        "attributes_of_a_library",
        "Reads what somebody has noted in the attributes of a file.",
        "os.listxattr(os.__file__)",
    ),
    _tells(
        "page_cache",
        "Asks which pages of a rarely used library are in memory: whoever reads them sets a bit.",
        """
            whole, counts = ctypes.create_string_buffer(16), ctypes.create_string_buffer(40)
            ask('syscall', 451, os.open(os.__file__, os.O_RDONLY), whole, counts, 0)
        """,
    ),
    _tells(
        "page_cache_by_mapping",
        "Asks the same of a mapping of it.",
        """
            import mmap
            pages = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, prot=mmap.PROT_READ)
            view = torch.frombuffer(pages, dtype=torch.uint8)
            ask('mincore', ctypes.c_void_p(view.data_ptr()), ctypes.c_size_t(4096), ctypes.create_string_buffer(1))
        """,
    ),
    _tells(
        "dropping_pages",
        "Drops a library from memory, so that a neighbor waits for the disk.",
        "os.posix_fadvise(os.open(os.__file__, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)",
    ),
    _tells(
        "flushing",
        "Has the disk written out, which takes the longer the more a neighbor has written.",
        "ask('syncfs', os.open('own', os.O_RDWR | os.O_CREAT))",
    ),
    _tells(
        "free_disk",
        "Reads how much of the disk is free, to the block, while a neighbor writes and removes.",
        "os.statvfs('.').f_bfree",
    ),
    _tells(
        "free_memory",
        "Reads how much memory the machine has left, while a neighbor takes and gives.",
        "ask('sysinfo', ctypes.create_string_buffer(200))",
    ),
    _tells(
        "shared_futex",
        "Wakes whoever waits on a page of a library, which is the same memory in all sandboxes.",
        """
            import mmap
            pages = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, prot=mmap.PROT_READ)
            place = ctypes.c_void_p(torch.frombuffer(pages, dtype=torch.uint8).data_ptr())
            ask('syscall', {'x86_64': 202}.get(os.uname().machine, 98), place, 1, 1, None, None, 0)
        """,
    ),
    _tells(
        "clock_of_a_neighbour",
        "Reads what a neighbor has computed: much for a one, little for a zero.",
        "import time\ntime.clock_gettime(~os.getppid() << 3 | 2)",
    ),
    _tells(
        "affinity_of_a_neighbour",
        "Reads which processors a neighbor has chosen for itself.",
        "os.sched_getaffinity(os.getppid())",
    ),
    _tells(
        "queued_signals",
        "Fills the queue of signals that all processes of a user share, until a neighbor has no room.",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {40})\nask('sigqueue', os.getpid(), 40, None)",
    ),
    _tells(
        "watching_a_folder",
        "Watches the library's folder for whoever opens something.",
        "ask('inotify_init1', 0)",
    ),
    _tells(
        "message_queue",
        "Opens a queue of messages by a name that a neighbor knows.",
        "ask('syscall', {'x86_64': 240}.get(os.uname().machine, 180), b'answer', 66, 0o600, None)",
    ),
    _tells(
        "shared_segment",
        "Opens a segment of shared memory by a number that a neighbor knows.",
        "ask('shmget', 4711, 4096, 0o1600)",
    ),
)
