"""Using up whatever there is: time, memory, disk, descriptors, threads, and the patience of whoever reads."""

from __future__ import annotations

from tests.dishonest.attempt import OUT_OF_MEMORY, RAISED, TIMED_OUT, WRONG, ZEROS, Attempt, in_call, in_cell

ATTEMPTS = (
    in_cell("endless_cell", "Never ends its first cell.", "while True: pass"),
    in_cell(
        "memory_in_a_cell",
        "Fills the memory before anything is checked.",
        "x = []\nwhile True: x.append(bytearray(1 << 20))",
    ),
    in_call(
        "memory_bit_by_bit",
        "Fills the memory in small pieces.",
        "x = []\nwhile True: x.append('x' * 5_000_000 + str(len(x)))",
        OUT_OF_MEMORY,
    ),
    in_call(
        "deep_result",
        "Returns lists inside lists inside lists.",
        "x = []\nfor _ in range(100_000): x = [x]\nreturn x",
        RAISED,
    ),
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
        "disk_in_pieces",
        "Fills the disk with many files.",
        "for n in range(10_000): open(str(n), 'wb').write(bytes(1 << 20))",
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
        "displays",
        "Displays a hundred thousand things.",
        "from IPython.display import HTML, display\nfor _ in range(100_000): display(HTML('<p>x</p>'))",
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
