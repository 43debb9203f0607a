"""What would go on when the answer is over: processes, threads, and things left for others to run."""

from __future__ import annotations

from tests.dishonest.attempt import DIED, RAISED, TIMED_OUT, WRONG, ZEROS, Attempt

ATTEMPTS = (
    Attempt(
        "fork",
        "Forks twice and detaches, to outlive its box.",
        {"scores": f"import os\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n    while True: pass\n{ZEROS}"},
        {"scores": RAISED},
    ),
    Attempt(
        "spawn",
        "Starts another program that stays.",
        {"scores": f"import os, sys\nos.posix_spawn(sys.executable, ['sleep', '1000'], {{}})\n{ZEROS}"},
        {"scores": RAISED},
    ),
    Attempt(
        "clone_by_number",
        "Clones itself by a call of its own, past Python.",
        {
            "scores": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            f"if libc.syscall(56, 17, 0, 0, 0, 0) < 0:\n    raise PermissionError(ctypes.get_errno())\n{ZEROS}"
        },
        {"scores": RAISED},
    ),
    Attempt(
        "subprocess_answer",
        "Lets another interpreter, outside the box, work out the answer.",
        {
            "scores": """
                import subprocess, sys
                def dot_product_scores(q, k):
                    code = "from course_lib.attention import dot_product_scores as f; "
                    code += f"print(f({q.tolist()}, {k.tolist()}))"
                    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
                    return torch.tensor(eval(done.stdout))
            """
        },
        {"scores": RAISED},
    ),
    Attempt(
        "threads_that_stay",
        "Leaves threads behind that keep redefining its answer.",
        {
            "own": """
                import threading, time
                space = get_ipython().user_ns
                def guess(q, k):
                    return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
                def redefine():
                    while True:
                        space["dot_product_scores"] = guess
                        time.sleep(0.001)
                for _ in range(20):
                    threading.Thread(target=redefine, daemon=True).start()
            """,
            "scores": ZEROS,
        },
        {"scores": WRONG},
    ),
    Attempt(
        "thread_that_changes_the_result",
        "Returns zeros, and lets a thread fill in something else while they are compared.",
        {
            "scores": """
                import threading, time
                def dot_product_scores(q, k):
                    out = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
                    threading.Thread(target=lambda: (time.sleep(0.01), out.copy_(torch.ones(()))), daemon=True).start()
                    return out
            """
        },
        {"scores": WRONG},
    ),
    Attempt(
        "at_exit",
        "Registers what should run when the process ends.",
        {
            "own": "import atexit, os\natexit.register(os.system, 'touch /tmp/katze-was-here')\n"
            "import weakref, gc\ngc.callbacks.append(lambda *a: None)",
            "scores": f"{ZEROS}\nraise SystemExit",
        },
        {"scores": WRONG},
    ),
    Attempt(
        "deletion",
        "Does its work in `__del__`, after the last look at its result.",
        {
            "scores": """
                class Late:
                    def __del__(self):
                        import os
                        os._exit(0)
                def dot_product_scores(q, k):
                    Late()
                    return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
            """
        },
        {"scores": DIED},
    ),
    Attempt(
        "weak_references",
        "Changes the answer in callbacks of the garbage collector.",
        {
            "scores": """
                import gc, weakref
                class Thing: pass
                def dot_product_scores(q, k):
                    out, thing = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype), Thing()
                    weakref.finalize(thing, out.add_, 1.0)
                    gc.callbacks.append(lambda phase, info: out.add_(1.0))
                    return out
            """
        },
        {"scores": WRONG},
    ),
    Attempt(
        "alarm",
        "Lets a timer interrupt the box while it answers.",
        {
            "scores": """
                import signal
                def late(*args):
                    raise KeyboardInterrupt
                signal.signal(signal.SIGALRM, late)
                def dot_product_scores(q, k):
                    signal.setitimer(signal.ITIMER_REAL, 0.05)
                    while True: pass
            """
        },
        {"scores": RAISED},
    ),
    Attempt(
        "event_loop",
        "Never gives the event loop back.",
        {"own": "import asyncio\nawait asyncio.sleep(1000)", "scores": ZEROS},
        {"scores": WRONG},
    ),
    Attempt(
        "nested_loop",
        "Waits for ever in a loop of its own inside the answer.",
        {
            "scores": """
                import asyncio
                def dot_product_scores(q, k):
                    asyncio.new_event_loop().run_until_complete(asyncio.sleep(99))
            """
        },
        {"scores": RAISED},  # a new loop needs a pair of sockets
    ),
    Attempt(
        "lock",
        "Waits for a lock that nobody releases.",
        {
            "scores": """
                import threading
                def dot_product_scores(q, k):
                    lock = threading.Lock(); lock.acquire(); lock.acquire()
            """
        },
        {"scores": TIMED_OUT},
    ),
)
