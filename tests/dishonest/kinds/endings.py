"""Ending in ways that a grader might take for success, or might not survive."""

from tests.dishonest.attempt import (
    DIED,
    NOT_ATTEMPTED,
    RAISED,
    TIMED_OUT,
    WRONG,
    ZEROS,
    Attempt,
    in_answer,
    in_call,
    in_cell,
)

ATTEMPTS = (
    in_call("exit_well", "Ends the process as if all were well.", "import os\nos._exit(0)", DIED),
    in_call("system_exit", "Raises SystemExit with a zero.", "import sys\nsys.exit(0)", RAISED),
    in_call("keyboard_interrupt", "Raises what a person at the keyboard would.", "raise KeyboardInterrupt", RAISED),
    in_call("generator_exit", "Raises what ends generators.", "raise GeneratorExit", RAISED),
    in_call("kill_itself", "Sends itself SIGKILL.", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", DIED),
    in_call(
        "stop_itself",
        "Stops itself, so that nobody can wait for its end.",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        TIMED_OUT,
    ),
    in_call(
        "real_time_signal", "Would end by a signal that has no name.", "import os\nos.kill(os.getpid(), 40)", RAISED
    ),
    in_call(
        "processor_signal",
        "Claims to have used up its processor time.",
        "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)",
        TIMED_OUT,
    ),
    in_call(
        "kill_parent", "Sends its parent SIGKILL.", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", RAISED
    ),
    in_call(
        "kill_group",
        "Sends SIGKILL to everyone it can reach.",
        "import os, signal\nos.kill(-1, signal.SIGKILL)",
        RAISED,
    ),
    in_call("segmentation_fault", "Reads from address 0.", "import ctypes\nctypes.string_at(0)", DIED),
    in_call("abort", "Aborts in C.", "import ctypes\nctypes.CDLL(None).abort()", DIED),
    in_call(
        "overwritten_memory",
        "Overwrites the interpreter's own objects.",
        "import ctypes\nctypes.memset(id(None), 255, 64)\nreturn None",
        DIED,
    ),
    in_call("forged_stub", "Raises what an empty stub raises.", "raise NotImplementedError()", NOT_ATTEMPTED),
    in_call(
        "liar",
        "Raises an exception that says it is a broken rule by somebody else.",
        "raise type('RuleBroken', (Exception,), {})('scores may not be used here')",
        RAISED,
    ),
    in_call(
        "exception_with_tricks",
        "Raises an exception whose every method fails.",
        "class E(Exception):\n    __str__ = __repr__ = __reduce__ = lambda self: 1 / 0\nraise E",
        RAISED,
    ),
    in_call(
        "exception_class_with_tricks",
        "Raises an exception whose class has a name of a megabyte.",
        "raise type('E' * 1_000_000, (Exception,), {})('x')",
        RAISED,
    ),
    in_call(
        "exception_without_end",
        "Raises an exception that was caused by itself.",
        "error = ValueError('x')\nerror.__cause__ = error.__context__ = error\nraise error",
        RAISED,
    ),
    in_cell("exit_in_a_cell", "Ends the process in a cell in front of all answers.", "import os\nos._exit(0)"),
    in_answer(
        "exit_in_its_cell", "Ends the process in the answer's own cell.", f"{ZEROS}\nimport os\nos._exit(0)", DIED
    ),
    Attempt(
        "exit_at_the_end",
        "Ends the process in the last cell, before hidden cases are asked.",
        {"scores": ZEROS, "last": "import os\nos._exit(0)"},
        {"scores": WRONG},
    ),
    Attempt(
        "deletes_its_answer",
        "Takes the answer away again, so that no hidden case can find it.",
        {"scores": ZEROS, "last": "del dot_product_scores"},
        {"scores": WRONG},
    ),
    in_cell("exit_command", "Uses the notebook's own `exit` and `quit`.", "exit\nquit()\nget_ipython().ask_exit()"),
    in_answer(
        "syntax", "Writes code that the parser has to give up on.", ZEROS + "\nx = " + "[" * 500, own="(" * 5_000
    ),
    in_answer("null_bytes", "Writes null bytes and lone surrogates into its code.", ZEROS + "\n'\0'", WRONG),
)
