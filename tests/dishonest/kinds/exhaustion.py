"""Using up whatever there is: time, memory, disk, descriptors, threads, and the patience of whoever reads."""

from __future__ import annotations

from tests.dishonest.attempt import OUT_OF_MEMORY, RAISED, TIMED_OUT, WRONG, ZEROS, Attempt, in_call, in_cell

ATTEMPTS = (
    in_call(
        "loop_that_cannot_be_interrupted",
        "Computes for ever in C, with every signal blocked.",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nsum(range(10**18))",
        TIMED_OUT,
    ),
    in_call("memory", "Allocates hundreds of gigabytes.", "return torch.zeros(1 << 38)", OUT_OF_MEMORY),
    in_call(
        "giant_message",
        "Raises an exception with a message of fifty megabytes.",
        "raise ValueError('x' * 50_000_000)",
        RAISED,
    ),
    in_call(
        "giant_repr",
        "Raises an exception that takes for ever to describe.",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
        TIMED_OUT,
    ),
    in_call(
        "regex",
        "Lets a regular expression backtrack for ever.",
        "import re\nre.match('(a+)+$', 'a' * 99 + 'b')",
        TIMED_OUT,
    ),
    in_call("power_tower", "Computes a number that no machine can hold.", "return 9 ** 9 ** 9 ** 9", TIMED_OUT),
    in_call(
        "decompression_bomb",
        "Unpacks a few bytes into a terabyte.",
        "import zlib\nreturn zlib.decompress(zlib.compress(bytes(1_000_000)), 15, 1 << 40)",
        OUT_OF_MEMORY,
    ),
    in_cell(
        "disk_unlinked",
        "Fills the disk with files that nobody can see.",
        """
            import os
            kept = []
            for n in range(10_000):
                kept.append(open('x', 'wb')); os.remove('x'); kept[-1].write(bytes(16 << 20))
        """,
    ),
    in_cell(
        "tiny_threads",
        "Starts threads with tiny stacks, many at once.",
        """
            import _thread, threading, time
            threading.stack_size(32_768)
            while True: _thread.start_new_thread(time.sleep, (99,))
        """,
    ),
    in_cell(
        "many_colours",
        "Shows a figure of a hundred million pixels.",
        "import matplotlib.pyplot as plt\nplt.figure(figsize=(400, 400), dpi=300).add_subplot().plot([1, 2]);",
    ),
    Attempt(
        "all_the_time",
        "Uses nine tenths of the time in each of many cells.",
        {"own": "import time\ntime.sleep(2)", "last": "import time\ntime.sleep(2)", "scores": ZEROS},
        {"scores": WRONG},
    ),
)
