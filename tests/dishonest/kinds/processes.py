"""What would go on when the answer is over: processes, threads, and things left for others to run."""

from tests.dishonest.attempt import DIED, TIMED_OUT, WRONG, ZEROS, in_answer, in_cell

ATTEMPTS = (
    in_answer(
        "fork",
        "Forks twice and detaches, to outlive its sandbox.",
        f"import os\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n    while True: pass\n{ZEROS}",
    ),
    in_answer(
        "spawn",
        "Starts another program that stays.",
        f"import os, sys\nos.posix_spawn(sys.executable, ['sleep', '1000'], {{}})\n{ZEROS}",
    ),
    in_answer(
        "clone_by_number",
        "Clones itself by a call of its own, past Python.",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"if libc.syscall(56, 17, 0, 0, 0, 0) < 0:\n    raise PermissionError(ctypes.get_errno())\n{ZEROS}",
    ),
    in_answer(
        "subprocess_answer",
        "Lets another interpreter, outside the sandbox, work out the answer.",
        """
            import subprocess, sys
            def dot_product_scores(q, k):
                code = "from course_lib.attention import dot_product_scores as f; "
                code += f"print(f({q.tolist()}, {k.tolist()}))"
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
                return torch.tensor(eval(done.stdout))
        """,
    ),
    in_cell(
        "threads_that_stay",
        "Leaves threads behind that keep redefining its answer.",
        """
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
    ),
    in_answer(
        "thread_that_changes_the_result",
        "Returns zeros, and lets a thread fill in something else while they are compared.",
        """
            import threading, time
            def dot_product_scores(q, k):
                out = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
                threading.Thread(target=lambda: (time.sleep(0.01), out.copy_(torch.ones(()))), daemon=True).start()
                return out
        """,
        WRONG,
    ),
    in_answer(
        "at_exit",
        "Registers what should run when the process ends.",
        f"{ZEROS}\nraise SystemExit",
        WRONG,
        own="import atexit, os\natexit.register(os.system, 'touch /tmp/katze-was-here')\n"
        "import weakref, gc\ngc.callbacks.append(lambda *a: None)",
    ),
    in_answer(
        "deletion",
        "Does its work in `__del__`, after the last look at its result.",
        """
            class Late:
                def __del__(self):
                    import os
                    os._exit(0)
            def dot_product_scores(q, k):
                Late()
                return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
        """,
        DIED,
    ),
    in_answer(
        "weak_references",
        "Changes the answer in callbacks of the garbage collector.",
        """
            import gc, weakref
            class Thing: pass
            def dot_product_scores(q, k):
                out, thing = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype), Thing()
                weakref.finalize(thing, out.add_, 1.0)
                gc.callbacks.append(lambda phase, info: out.add_(1.0))
                return out
        """,
        WRONG,
    ),
    in_answer(
        "alarm",
        "Lets a timer interrupt the sandbox while it answers.",
        """
            import signal
            def late(*args):
                raise KeyboardInterrupt
            signal.signal(signal.SIGALRM, late)
            def dot_product_scores(q, k):
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                while True: pass
        """,
    ),
    in_cell("event_loop", "Never gives the event loop back.", "import asyncio\nawait asyncio.sleep(1000)"),
    in_answer(
        "nested_loop",
        "Waits for ever in a loop of its own inside the answer.",
        """
            import asyncio
            def dot_product_scores(q, k):
                asyncio.new_event_loop().run_until_complete(asyncio.sleep(99))
        """,
    ),
    in_answer(
        "lock",
        "Waits for a lock that nobody releases.",
        """
            import threading
            def dot_product_scores(q, k):
                lock = threading.Lock(); lock.acquire(); lock.acquire()
        """,
        TIMED_OUT,
    ),
)
