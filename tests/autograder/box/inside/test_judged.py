"""A test cell shows what it would in a notebook, and its end is seen without IPython's help."""

import pytest

from autograder.box.box import Box


@pytest.mark.parametrize(
    ("source", "shown", "number"),
    [
        ("1.5", ["execute_result"], 1.5),
        ("print('a')\n2", ["stream", "execute_result"], 2.0),
        ("True", ["execute_result"], None),
        ("'1.5'", ["execute_result"], None),
        ("None", [], None),
        ("x = 3", [], None),
        ("", [], None),
        ("10 ** 400", ["execute_result"], None),
        ("float('nan')", ["execute_result"], None),
        ("import asyncio\nawait asyncio.sleep(0)\n0.25", ["execute_result"], 0.25),
        ("await __import__('asyncio').sleep(0, 0.5)", ["execute_result"], 0.5),
        ("display(1)", ["display_data"], None),
        ("import matplotlib.pyplot as plt\nplt.plot([1]);\nNone", ["display_data"], None),
    ],
)
def test_what_is_shown_and_the_number_at_the_end(
    kept_box: Box, source: str, shown: list[str], number: float | None
) -> None:
    done = kept_box.run_cell(source, is_test=True)
    assert done.ok, done.raised
    assert [output["output_type"] for output in done.outputs] == shown
    assert done.number == number


def test_names_and_numbers_go_on_as_in_a_notebook(box: Box) -> None:
    box.run_cell("x = 3;")
    assert box.run_cell("y = x + 1\ny", is_test=True).outputs[0]["execution_count"] == 2
    assert box.run_cell("_2 + Out[2] + y").outputs[0]["data"]["text/plain"] == "12"


@pytest.mark.parametrize(
    ("source", "raised", "line", "code"),
    [
        ("x = 1\nassert x == 2, 'one'", "AssertionError", 2, "assert x == 2, 'one'"),
        ("x = 1\nx()", "TypeError", 2, "x()"),
        ("x = (", "SyntaxError", 1, "x = ("),
        ("exit()", "", 0, ""),
        ("raise SystemExit(0)", "SystemExit", 1, "raise SystemExit(0)"),
        ("next(iter([]))", "StopIteration", 1, "next(iter([]))"),
        ("await 3", "TypeError", 1, "await 3"),
    ],
)
def test_how_it_raised(kept_box: Box, source: str, raised: str, line: int, code: str) -> None:
    done = kept_box.run_cell(source, is_test=True)
    found = ("", 0, "") if done.raised is None else (done.raised.type_name, done.raised.line, done.raised.code)
    assert found == (raised, line, code)
    assert [output["ename"] for output in done.outputs] == ([raised] if raised else [])


def test_an_event_loop_that_runs_nothing_is_no_success(box: Box) -> None:
    box.run_cell("get_ipython().loop_runner = lambda coroutine: coroutine.close()")
    done = box.run_cell("await __import__('asyncio').sleep(0)", is_test=True)
    assert done.raised is not None
    assert done.raised.type_name == "NotFinished"
