"""Whatever a first cell does to IPython or Python, wrong answers earn what they earn without it."""

import pytest

from autograder.gradebook.record import Record
from autograder.grading.batch import grade_assignment
from course_lib.judging.observation import Outcome
from tests.autograder.grading.plain.plain_course import NAME, cell, hand_in, make_course, submitted, write

WRONG = {"first": {"mean": "def mean(values):\n    return 7\n"}, "second": {}}
SHELL = "ip = get_ipython()\n"
ATTEMPTS = {
    "honest": "",
    "handler": "ip.set_custom_exc((Exception,), lambda *a, **k: None)",
    "traceback": "ip.showtraceback = lambda *a, **k: None",
    "excepthook": "import sys, threading\nsys.excepthook = threading.excepthook = lambda *a: None",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)",
    "display_hook": "ip.displayhook = lambda value: ip.recorder.result({'text/plain': '1.5'}, {}, 1)",
    "python_display_hook": "import sys\nsys.displayhook = lambda value: display(1.5)",
    "formatter": "ip.display_formatter.formatters['text/plain'].for_type(float, lambda v, p, c: p.text('1.5'))",
    "representation": "import builtins\nbuiltins.repr = builtins.float = builtins.str = lambda *a: '1.5'",
    "forged_result": "def mean(values):\n    ip.displayhook(1.5)\n    return 7",
    "recorder": "ip.recorder.error = ip.recorder.stream = lambda *a: None",
    "after_the_cell": """
def mend(result):
    result.error_in_exec = result.error_before_exec = None
ip.events.register('post_run_cell', mend)""",
    "result": """
from IPython.core.interactiveshell import ExecutionResult
ExecutionResult.error_in_exec = property(lambda self: None, lambda self, value: None)""",
    "run_cell": "ip.run_cell = lambda *a, **k: type('Done', (), {'error_before_exec': None, 'error_in_exec': None})",
    "run_code": """
run_code = ip.run_code
async def run(code, result=None, **options):
    await run_code(code, None, **options)
ip.run_code = run""",
    "no_asserts": """
import ast
class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
    def visit_Expr(self, node):
        return ast.Expr(ast.Constant(1.5)) if 'round' in ast.unparse(node) else node
ip.ast_transformers.append(NoAsserts())""",
    "no_lines": """
ip.input_transformers_cleanup.append(lambda lines: [line for line in lines if 'assert' not in line])
ip.input_transformers_post.append(lambda lines: [])""",
    "translator": """
from IPython.core.inputtransformer2 import TransformerManager
TransformerManager.transform_cell = ip.transform_cell = lambda *a: 'pass'""",
    "compile": "import builtins\nreal = compile\nbuiltins.compile = lambda s, *a, **k: real('None', '', 'exec')",
    "exec": "import builtins\nbuiltins.exec = builtins.eval = lambda *a: None",
    "isinstance": "import builtins\nbuiltins.isinstance = lambda *a: False\nbuiltins.any = lambda *a: True",
    "loop": "import builtins\nbuiltins.any = lambda *a: True\nip.loop_runner = lambda coroutine: coroutine.close()",
    "trace": """
import sys
def jump(frame, event, arg):
    if event == 'line' and 'assert' in __import__('linecache').getline(frame.f_code.co_filename, frame.f_lineno):
        frame.f_lineno += 1
    return jump
sys.settrace(jump)""",
    "syntax_tree": "import ast\nast.Expr = ast.Module = ast.Expression = type('Never', (), {})",
}


@pytest.fixture(scope="module")
def records(processes: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    course = make_course(tmp_path_factory.mktemp("dishonest") / "course")
    for attempt, source in ATTEMPTS.items():
        folder = hand_in(course, attempt, WRONG)
        for name in ("first", "second"):
            made = submitted(course, name, WRONG[name])
            made["cells"].insert(-3, cell("code", SHELL + source))  # behind the answer
            write(folder, name, made)
    run = grade_assignment(course, NAME, workers=2, feedback=False)
    return {record.student: record for record in run.submissions}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_nothing_is_gained(records: dict[str, Record], attempt: str) -> None:
    assert {one.points for one in records[attempt].exercises} == {0}
    assert Outcome.PASSED not in {one.outcome for one in records[attempt].exercises}


@pytest.mark.parametrize("attempt", ["honest", "handler", "traceback", "run_code", "formatter"])
def test_and_what_is_told_is_what_has_happened(records: dict[str, Record], attempt: str) -> None:
    assert {one.exercise: one.outcome for one in records[attempt].exercises} == {
        "first.same": Outcome.WRONG,
        "first.share": Outcome.WRONG,
        "second.same": Outcome.NOT_ATTEMPTED,
        "second.texts": Outcome.NOT_ATTEMPTED,
    }
