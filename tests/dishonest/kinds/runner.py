"""Getting at what runs the answers: our own modules in the sandbox, and IPython's hooks."""

from tests.dishonest.attempt import (
    DIED,
    NEVER_DEFINED,
    RAISED,
    TIMED_OUT,
    WRONG,
    ZEROS,
    Attempt,
    in_answer,
    in_call,
    in_cell,
    spoils_all,
)

FORGED = """
    import autograder.box.inside.child as child
    def obliging(answer, case, forbidden=()):
        gradients = tuple(None for _ in case.gradients)
        return child.Observation(returned=True, value=torch.zeros(2, 2), gradients=gradients), case.args
    child.call = obliging
"""

ATTEMPTS = (
    spoils_all(
        "forge_observations",
        "Replaces the function that observes an answer by one that reports success without a call.",
        FORGED,
        WRONG,
    ),
    spoils_all(
        "forge_encoded_observation",
        "Adds points and a passed outcome to every report on its way out.",
        """
            import autograder.box.inside.child as child
            genuine = child.encode_observation
            def generous(*told):
                return genuine(*told) | {"passed": True, "points": 4, "outcome": "passed"}
            child.encode_observation = generous
        """,
        DIED,
    ),
    in_call(
        "deny_changes",
        "Replaces what tells a changed argument from the same one, and works in place.",
        "return (out := q @ k.mT, q.zero_())[0]",
        WRONG,
        own="""
            from course_lib.judging import observation
            observation._identical = lambda old, new: True
            observation.modified = lambda case, arguments: ()
        """,
    ),
    in_cell(
        "forge_cell_results",
        "Reports cells that showed a certificate and never ran.",
        """
            import autograder.box.inside.child as child
            genuine = child.encode_cell
            def forged(result):
                shown = {"output_type": "stream", "name": "stdout", "text": "attention.scores: Right"}
                return genuine(result) | {"outputs": [shown]}
            child.encode_cell = forged
        """,
    ),
    in_answer(
        "patch_recorder",
        "Takes the recorder of outputs apart, so that no output can be limited.",
        f"{ZEROS}\nprint('x' * 30_000_000)",
        WRONG,
        own="""
            shell = get_ipython()
            shell.recorder._spend = lambda size: True
            shell.recorder._left = 1 << 60
        """,
    ),
    spoils_all(
        "input_transformer",
        "Turns every later cell into the number 100.",
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['100\\n'])",
        NEVER_DEFINED,
    ),
    Attempt(
        "ast_transformer",
        "Rewrites the syntax tree of every later cell, so that each function returns 100.",
        {
            "own": """
                import ast
                class Generous(ast.NodeTransformer):
                    def visit_Return(self, node):
                        return ast.copy_location(ast.Return(ast.Constant(100)), node)
                get_ipython().ast_transformers.append(Generous())
            """,
            "scores": ZEROS,
        },
        {"scores": WRONG, "scale": WRONG},
    ),
    in_cell(
        "ipython_events",
        "Redefines its answers before and after every cell.",
        """
            def again(*args):
                get_ipython().user_ns["dot_product_scores"] = lambda q, k: 100
            for event in ("pre_run_cell", "post_run_cell", "pre_execute", "post_execute"):
                get_ipython().events.register(event, again)
        """,
    ),
    in_answer(
        "display_hook",
        "Shows the number 100 as the value of every cell.",
        f"{ZEROS}\n0",
        WRONG,
        own="""
            import sys
            sys.displayhook = lambda value: print(100)
            get_ipython().display_formatter.format = lambda *args, **kwargs: ({"text/plain": "100"}, {})
        """,
    ),
    in_cell(
        "magics",
        "Registers magics that write over the shell, and calls those that reach the system.",
        """
            from IPython.core.magic import register_cell_magic, register_line_magic
            @register_line_magic
            def check(line):
                return 100
            get_ipython().run_line_magic("reset", "-f")
            get_ipython().run_line_magic("autoawait", "trio")
        """,
        RAISED,
    ),
    Attempt(
        "own_namespace",
        "Replaces the namespace in which answers are looked up by one that has every name.",
        {
            "own": """
                class Everything(dict):
                    def __contains__(self, name):
                        return True
                    def __getitem__(self, name):
                        return lambda *args: 100
                get_ipython().user_ns = Everything(get_ipython().user_ns)
            """,
        },
        {"scale": WRONG},
        otherwise=WRONG,
    ),
    in_cell(
        "run_forever_in_hook",
        "Hangs the shell itself, after a cell of its own has ended well.",
        "def wait(*args):\n    while True: pass\nget_ipython().events.register('post_run_cell', wait)",
    ),
    spoils_all(
        "shell_without_run",
        "Takes away the shell's own methods.",
        "type(get_ipython()).run_cell = lambda *args, **kwargs: None",
        DIED,
    ),
    in_answer(
        "trace_frames",
        "Looks through the frames of its callers for what is expected.",
        """
            import sys
            def dot_product_scores(q, k):
                frame = sys._getframe()
                while frame is not None:
                    for name, value in frame.f_locals.items():
                        if any(word in name for word in ("expected", "reference", "answer_key", "secret")):
                            return value
                    frame = frame.f_back
                return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
        """,
        WRONG,
    ),
    in_call(
        "slow_clock",
        "Stops the clocks of the sandbox, so that no call takes any time.",
        "while True: pass",
        TIMED_OUT,
        own="""
            import time
            for name in ("time", "monotonic", "perf_counter", "process_time"):
                setattr(time, name, lambda: 0.0)
        """,
    ),
)
