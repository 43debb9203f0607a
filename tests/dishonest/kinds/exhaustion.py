"""Using up whatever there is: time, memory, disk, descriptors, threads, and the patience of whoever reads."""

from tests.dishonest.attempt import OUT_OF_MEMORY, RAISED, TIMED_OUT, WRONG, ZEROS, Attempt, in_call, in_cell

ATTEMPTS = (
    in_call("endless_loop", "Computes for ever.", "while True: pass", TIMED_OUT),
    in_call("sleeps", "Waits for ever.", "import time\ntime.sleep(10_000)", TIMED_OUT),
    in_call(
        "loop_that_cannot_be_interrupted",
        "Computes for ever in C, with every signal blocked.",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nsum(range(10**18))",
        TIMED_OUT,
    ),
    in_cell("endless_cell", "Never ends its first cell.", "while True: pass"),
    in_cell(
        "memory_in_a_cell",
        "Fills the memory before anything is checked.",
        "x = []\nwhile True: x.append(bytearray(1 << 20))",
    ),
    in_call("memory", "Allocates hundreds of gigabytes.", "return torch.zeros(1 << 38)", OUT_OF_MEMORY),
    in_call(
        "memory_bit_by_bit",
        "Fills the memory in small pieces.",
        "x = []\nwhile True: x.append('x' * 5_000_000 + str(len(x)))",
        OUT_OF_MEMORY,
    ),
    in_call("huge_result", "Returns a tensor of a hundred megabytes.", "return torch.zeros(25_000_000)", WRONG),
    in_call("many_results", "Returns two hundred thousand numbers.", "return [1] * 200_000", WRONG),
    in_call(
        "deep_result",
        "Returns lists inside lists inside lists.",
        "x = []\nfor _ in range(100_000): x = [x]\nreturn x",
        RAISED,
    ),
    in_call("giant_number", "Returns a number with a hundred million bits.", "return 1 << 100_000_000", WRONG),
    in_call("giant_text", "Returns a text of fifty megabytes.", "return 'x' * 50_000_000", WRONG),
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
    in_call("recursion", "Calls itself without end.", "return dot_product_scores(q, k)", RAISED),
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
        "disk",
        "Fills the disk with one file.",
        "with open('x', 'wb') as file:\n    while True: file.write(bytes(1 << 20))",
    ),
    in_cell(
        "disk_in_pieces",
        "Fills the disk with many files.",
        "for n in range(10_000): open(str(n), 'wb').write(bytes(1 << 20))",
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
    in_cell("files", "Makes empty files until there are no more.", "for n in range(10**7): open(str(n), 'w').close()"),
    in_cell("folders", "Makes folders inside folders.", "import os\nwhile True:\n    os.mkdir('d'); os.chdir('d')"),
    in_cell("descriptors", "Opens files until there are no more.", "kept = [open('/dev/null') for _ in range(10**6)]"),
    in_cell(
        "threads",
        "Starts threads until there are no more.",
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
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
        "prints",
        "Prints hundreds of megabytes, a line at a time and all at once.",
        "for _ in range(100_000): print('x' * 99)\nprint('x' * 200_000_000)",
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
