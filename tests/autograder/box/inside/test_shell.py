"""Cells run as in a notebook: the same values, displays, figures, magics and errors."""

import base64
import gc
from typing import Any

import nbformat
import pytest

from autograder.box.box import Box
from autograder.box.fork_server.client import ForkServer
from autograder.box.protocol import CellResult
from autograder.limits import Limits
from course_lib.judging.observation import Outcome
from tests.autograder.box.conftest import raised


def text(result: CellResult) -> str:
    """All that a cell shows as plain text, in order."""
    shown = []
    for output in result.outputs:
        if output["output_type"] == "stream":
            shown.append(output["text"])
        elif output["output_type"] == "error":
            shown.append("\n".join(output["traceback"]))
        else:
            shown.append(output["data"].get("text/plain", ""))
    return "".join(shown)


def kinds(result: CellResult) -> list[str]:
    return [output["output_type"] for output in result.outputs]


def test_garbage_is_collected_as_in_any_notebook(box: Box) -> None:
    """The process that a sandbox is forked from does so only when all is imported."""
    assert text(box.run_cell("import gc; gc.isenabled(), gc.get_threshold()")) == str((True, gc.get_threshold()))


def test_the_last_value_is_shown_and_numbered(box: Box) -> None:
    assert box.run_cell("x = 3").outputs == []
    result = box.run_cell("x\nx + 1")
    assert result.outputs == [
        {"output_type": "execute_result", "data": {"text/plain": "4"}, "metadata": {}, "execution_count": 2}
    ]
    assert box.run_cell("x + 1;").outputs == []
    assert text(box.run_cell("_2 + Out[2]")) == "8"


def test_what_a_cell_prints_comes_in_order(kept_box: Box) -> None:
    result = kept_box.run_cell(
        "import sys\nprint('a')\nprint('b')\nprint('c', file=sys.stderr)\ndisplay(3)\n"
        "print('d', end='')\nsys.stdout.write('e')\n4"
    )
    streams = [(output.get("name"), output.get("text")) for output in result.outputs]
    assert kinds(result) == ["stream", "stream", "display_data", "stream", "execute_result"]
    assert streams[:2] == [("stdout", "a\nb\n"), ("stderr", "c\n")]
    assert streams[3] == ("stdout", "de")


def test_outputs_make_a_valid_notebook(kept_box: Box) -> None:
    cell = nbformat.v4.new_code_cell("")
    for source in ("print(1)", "2", "1 / 0", "import matplotlib.pyplot as plt\nplt.plot([1])"):
        cell.outputs += [nbformat.from_dict(output) for output in kept_box.run_cell(source).outputs]
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


def test_rich_displays_keep_their_formats(kept_box: Box) -> None:
    result = kept_box.run_cell(
        "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>x</b>'))\n"
        "class Both:\n    def _repr_html_(self): return '<i>y</i>'\nBoth()"
    )
    assert [output["data"]["text/html"] for output in result.outputs] == ["<b>x</b>", "<i>y</i>"]


@pytest.mark.parametrize("last", ["", "plt.show()", "fig", "plt.show();"])
def test_a_figure_is_shown_once_as_png(kept_box: Box, last: str) -> None:
    result = kept_box.run_cell(
        f"%matplotlib inline\nimport matplotlib.pyplot as plt\nfig, axes = plt.subplots()\naxes.plot([1, 2]);\n{last}"
    )
    pictures = [output["data"]["image/png"] for output in result.outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == (2 if last == "fig" else 1)
    assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")
    assert not kept_box.run_cell("1").outputs[1:]


def test_displays_can_be_updated_and_cleared(kept_box: Box) -> None:
    result = kept_box.run_cell("handle = display(1, display_id=True)\nhandle.update(2)")
    assert text(result) == "2"
    result = kept_box.run_cell(
        "from IPython.display import clear_output\nfor i in range(3):\n    clear_output(wait=True)\n    print(i)"
    )
    assert text(result) == "2\n"


def test_top_level_await(kept_box: Box) -> None:
    result = kept_box.run_cell("import asyncio\nawait asyncio.gather(asyncio.sleep(0.001, 1), asyncio.sleep(0, 2))")
    assert text(result) == "[1, 2]"


def test_magics(box: Box) -> None:
    assert "Wall time" in text(box.run_cell("%time sum(range(10))"))
    assert "loop" in text(box.run_cell("%timeit -n 2 -r 2 1"))
    assert text(box.run_cell("%%capture said\nprint('x')")) == ""
    assert text(box.run_cell("said.stdout")) == repr("x\n")
    assert box.run_cell("%%writefile helper.py\nanswer = 42").ok
    assert box.run_cell("import os\nos.mkdir('a')\n%cd a").ok
    assert box.run_cell("%load_ext autoreload\n%autoreload 2").ok
    assert box.run_cell("exit()").ok
    assert box.run_cell("quit").ok
    assert box.run_cell("raise NotImplementedError()").failure is Outcome.NOT_ATTEMPTED


@pytest.mark.parametrize(
    "source",
    ["!ls", "files = !ls\nassert files == []", "%pip install x", "%conda install x", "!pip install -q x", "ls", "%ls"]
    + ["%%bash\nls", "%%sh\nls", "%%script perl\nprint 1", "%sx ls", "%%sx\nls", "get_ipython().system('ls')"],
)
def test_other_programs_are_left_out_with_a_notice(kept_box: Box, source: str) -> None:
    result = kept_box.run_cell(source)
    assert result.ok, result.raised
    assert kinds(result) == ["stream"]
    assert result.outputs[0]["name"] == "stdout"  # anything on stderr is a zero for nbgrader
    assert text(result).startswith("[katze] ")
    assert "left out" in text(result)


def test_help_is_plain_text(kept_box: Box) -> None:
    assert "Return the number of items" in text(kept_box.run_cell("help(len)"))
    shown = text(kept_box.run_cell("len?"))
    assert "Return the number of items" in shown
    assert "\x1b" not in shown


def test_a_new_box_knows_only_what_a_new_notebook_knows(box: Box) -> None:
    result = box.run_cell("sorted(name for name in globals() if not name.startswith('_'))")
    assert text(result) == "['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']"


def test_an_error_ends_the_cell_and_is_shown(kept_box: Box) -> None:
    kept_box.run_cell("def fail(x):\n    return 1 / x")
    result = kept_box.run_cell("print('before')\nfail(0)\nprint('after')")
    assert not result.ok
    assert result.failure is Outcome.RAISED
    assert result.raised is not None
    assert (result.raised.type_name, result.raised.message) == ("ZeroDivisionError", "division by zero")
    assert (result.raised.line, result.raised.code) == (2, "return 1 / x")
    assert kinds(result) == ["stream", "error"]
    error = result.outputs[1]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    shown = "\n".join(error["traceback"])
    assert "return 1 / x" in shown
    assert "interactiveshell" not in shown
    assert "\x1b" not in shown
    assert kept_box.run_cell("1").ok


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(:\n    pass", "SyntaxError"),
        ("if True:\nx = 1", "IndentationError"),
        ("%nosuchmagic\n1/0", "UsageError"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("raise type('Own', (BaseException,), {})('x')", "Own"),
        ("input('name? ')", "EOFError"),
        ("return 3", "SyntaxError"),
    ],
)
def test_every_kind_of_error_is_shown(kept_box: Box, source: str, name: str) -> None:
    result = kept_box.run_cell(source)
    assert not result.ok
    assert result.raised is not None
    assert result.raised.type_name == name
    assert [output["ename"] for output in result.outputs if output["output_type"] == "error"] == [name]
    assert kept_box.run_cell("1").ok


@pytest.mark.parametrize(
    "body",
    [
        "def __str__(self): raise ValueError",
        "def __str__(self): return 3",
        "def __str__(self): return 'x' * 10_000_000",
        "def __str__(self): return '\\ud800'",
    ],
)
def test_errors_that_misbehave_are_shown_somehow(kept_box: Box, body: str) -> None:
    result = kept_box.run_cell(f"class Odd(Exception):\n    {body}\nraise Odd")
    assert not result.ok
    assert "Odd" in [output["ename"] for output in result.outputs]
    assert len(str(result.outputs)) < 100_000


PRINTS: dict[str, Any] = {
    "one string": "print('x' * 50_000_000)",
    "many displays": "for _ in range(3_000): display('x' * 100)",
    "alternating": "import sys\nfor _ in range(20_000): print('a'); print('b', file=sys.stderr)",
    "a long value": "'x' * 5_000_000",
}


@pytest.mark.parametrize("name", PRINTS)
def test_a_huge_output_is_cut_with_a_notice(fork_server: ForkServer, name: str) -> None:
    with fork_server.open_box(limits=Limits(output_bytes=100_000, memory_bytes=1 << 30)) as box:
        result = box.run_cell(PRINTS[name])
        assert result.ok
        assert len(str(result.outputs).encode()) < 400_000
        assert "[katze] The rest of this cell's output was left out" in text(result)
        assert text(box.run_cell("print('next')")) == "next\n"


LEARNERS = "from course_lib.checking import case, check, hint, progress, solution\nimport course_lib.show\n"


@pytest.mark.parametrize("call", ["check({})", "case({})", "hint({})", "solution({})", "progress()"])
def test_what_helps_a_learner_says_one_line_and_does_nothing(kept_box: Box, call: str) -> None:
    result = kept_box.run_cell(LEARNERS + call.format("'attention.scores'"))
    assert result.ok, result.raised
    (said,) = result.outputs
    assert said["text"].count("\n") == 1
    assert ("left to the grader" in said["text"]) == call.startswith("check")


def test_a_cell_that_goes_on_with_a_case_says_that_there_is_none(kept_box: Box) -> None:
    said = raised(kept_box, f"{LEARNERS}print(len(case('attention.scores').args))").message
    assert "There is no args: no case is handed out during grading." in said
