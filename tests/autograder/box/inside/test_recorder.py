from typing import Any

import pytest

from autograder.box.frames import Json
from autograder.box.inside.recorder import Recorder
from autograder.box.protocol import (
    MAX_ERROR_BYTES,
    MAX_NODES,
    MAX_OUTPUTS,
    CellResult,
    decode_cell,
    encode_cell,
    output_bytes,
)


def recorded(limit: int = 1000) -> Recorder:
    recorder = Recorder(limit)
    recorder.start()
    return recorder


def test_nothing_is_recorded_outside_a_cell() -> None:
    recorder = Recorder(1000)
    recorder.stream("stdout", "before")
    recorder.start()
    recorder.stop()
    recorder.stream("stdout", "after")
    recorder.display({"text/plain": "after"}, {})
    recorder.notice("after")
    recorder.start()
    assert recorder.stop() == []


@pytest.mark.parametrize("text", ["x" * 5000, "ä" * 5000], ids=["ASCII", "two bytes each"])
def test_what_goes_beyond_the_limit_is_replaced_by_one_notice(text: str) -> None:
    recorder = recorded(limit=101)
    recorder.stream("stdout", text)
    recorder.stream("stdout", "more")
    recorder.display({"text/plain": "more"}, {})
    recorder.notice("more")
    [output] = recorder.stop()
    kept, _, notice = output["text"].partition("\n")
    assert 100 <= len(kept.encode()) <= 101
    assert notice == "[katze] The rest of this cell's output was left out: it shows more than 101 bytes.\n"


def test_an_error_is_shown_even_then_and_shortened_from_the_front() -> None:
    recorder = recorded(limit=10)
    recorder.stream("stdout", "x" * 100)
    recorder.error("ValueError", "no", ["first", "y" * 30_000, "ValueError: no"])
    error = recorder.stop()[-1]
    assert (error["ename"], error["evalue"]) == ("ValueError", "no")
    assert error["traceback"][-1] == "ValueError: no"
    assert "first" not in error["traceback"]
    assert sum(map(len, error["traceback"])) <= 20_000


def test_a_display_can_be_updated_as_often_as_it_was_shown() -> None:
    recorder = recorded()
    for _ in range(2):
        recorder.display({"text/plain": "old"}, {}, display_id="a")
    recorder.display({"text/plain": "other"}, {}, display_id="b")
    recorder.display({"text/plain": "new"}, {"width": 1}, display_id="a", update=True)
    recorder.display({"text/plain": "nowhere"}, {}, display_id="c", update=True)
    outputs = recorder.stop()
    assert [output["data"]["text/plain"] for output in outputs] == ["new", "new", "other"]
    assert outputs[0]["metadata"] == {"width": 1}


def test_clearing_now_and_later() -> None:
    recorder = recorded()
    recorder.stream("stdout", "a")
    recorder.clear()
    recorder.stream("stdout", "b")
    recorder.clear(wait=True)
    recorder.stream("stdout", "c")
    assert [output["text"] for output in recorder.stop()] == ["c"]
    recorder.start()
    recorder.stream("stdout", "kept")
    recorder.clear(wait=True)
    assert [output["text"] for output in recorder.stop()] == ["kept"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"image/png": b"hello"}, {"image/png": "aGVsbG8="}),
        ({"application/json": {"a": [1]}}, {"application/json": {"a": [1]}}),
        ({"application/json": {"a": float("nan")}}, {}),
        ({"application/json": {"a": object()}}, {}),
        ({"text/plain": object(), "text/html": "x"}, {"text/html": "x"}),
        ({"text/plain": "\ud800"}, {"text/plain": "\ufffd"}),
        ({"no mime": "x", "text/plain": "x"}, {"text/plain": "x"}),
        ({"application/json": [0] * MAX_NODES, "text/plain": "x"}, {"text/plain": "x"}),
        ({"application/json": {"x" * 1000: 0}, "text/plain": "x"}, {"text/plain": "x"}),
    ],
)
def test_only_what_a_notebook_can_hold_is_kept(given: dict[str, Any], kept: dict[str, Any]) -> None:
    recorder = recorded(limit=1 << 20)
    recorder.display(given, {"bad": object()})
    assert recorder.stop() == [{"output_type": "display_data", "data": kept, "metadata": {}}]


def shows_much(limit: int, *shown: str) -> list[dict[str, Json]]:
    """What a cell that shows as much as it can leaves behind."""
    recorder = recorded(limit)
    for what in shown:
        for number in range(5_000):
            if what == "text":
                recorder.stream("stdout", "\n" * 1000)
            elif what == "notices":
                recorder.notice("of some length")
            elif what == "displays":
                recorder.display({"text/plain": "\n" * 1000}, {})
            elif what == "values":
                recorder.display({"application/json": [number] * 200}, {})
            else:
                recorder.error("Error", "ä" * 100_000, ["\n"] * 2_000)
                break
    return recorder.stop()


@pytest.mark.parametrize("shown", ["text", "notices", "displays", "values", "errors"])
def test_whatever_is_shown_stays_within_what_a_grader_accepts(shown: str) -> None:
    limit = 50_000 if shown != "values" else 1 << 30
    outputs = shows_much(limit, shown, "errors")
    assert sum(map(output_bytes, outputs)) <= limit + MAX_ERROR_BYTES
    assert outputs[-1]["output_type"] == "error"
    assert decode_cell(encode_cell(CellResult(outputs, ok=True))).outputs == outputs


def test_errors_are_limited_in_number() -> None:
    recorder = recorded()
    for _ in range(MAX_OUTPUTS + 1):
        recorder.error("Error", "", [""])
    recorder.stream("stdout", "more")
    assert len(recorder.stop()) == MAX_OUTPUTS
