"""The fuzzers: a short run of each, and proof that a finding would be one."""

import os
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.box.endings import BoxLost
from benchmarks.fuzz import __main__ as fuzz
from benchmarks.fuzz import mutations, notebooks, wire
from benchmarks.fuzz.pages import harm, require_harmless

SHORT = settings(max_examples=40, suppress_health_check=list(HealthCheck))


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", fuzz.TARGETS)
@SHORT
@given(random=st.randoms(use_true_random=False))
def test_nothing_is_found(name: str, random: Random) -> None:
    target = fuzz.TARGETS[name]
    target.run(target.make(random))


@SHORT
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_json_is_a_notebook_or_none(value: object) -> None:
    notebooks.run_notebook(
        mutations.written(Random(5), {"cells": [value, {"source": value, "metadata": value}], "metadata": value})
    )


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_a_seed_stands_for_an_input(name: str) -> None:
    assert fuzz.drawn(name, 7) == fuzz.drawn(name, 7)
    assert len({fuzz.drawn(name, seed) for seed in range(20)}) > 5


@pytest.mark.usefixtures("processes")
def test_an_unspoiled_answer_of_a_box_is_read() -> None:
    """Otherwise the fuzzer would only ever see refusals."""
    reached = set()
    for seed in range(200):
        data = fuzz.drawn("wire", seed)
        with wire._hostile_box(data) as box:
            try:
                reached.add(type(box.run_cell("1")).__name__)
                reached |= {type(one.value).__name__ for one in box.observe_cases("f", wire._key().cases[:2])}
            except BoxLost as lost:
                reached.add(str(lost.outcome))
    assert {"CellResult", "Tensor", "list", "dict", "str", "Foreign", "died"} <= reached


@pytest.mark.parametrize(
    "fragment", ["<script>1</script>", "<p onclick=a()>", "<a href='javascript:1'>", "<img src=//a>"]
)
def test_harm_is_found(fragment: str) -> None:
    assert harm(f"<p>text</p>{fragment}")
    with pytest.raises(AssertionError):
        require_harmless(fragment)


def test_what_is_harmless_is_not_harm() -> None:
    require_harmless("<p class=a>1 &lt; 2 <a href='https://a'>a</a><img alt='' src='data:image/png;base64,AAAA'></p>")


def broken(data: bytes) -> None:
    raise KeyError("a slip")


def hanging(data: bytes) -> None:
    time.sleep(100)


def dying(data: bytes) -> None:
    os._exit(3)


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    ("run", "problem"),
    [(broken, "KeyError in test_fuzz.py"), (hanging, "it takes too long"), (dying, "the process ended with 3")],
)
def test_a_finding_is_told_once_and_its_input_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], run: object, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(fuzz, "BATCH", 3)
    monkeypatch.setitem(fuzz.TARGETS, "text", fuzz.Target(notebooks.make_text, run))
    assert fuzz.fuzz(["text"], 11, batches=1) == 1
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 2
    assert told[0].startswith(f"text 11: {problem}")
    assert (tmp_path / "build/fuzz/text-11.bin").read_bytes() == fuzz.drawn("text", 11)


@pytest.mark.usefixtures("processes")
def test_a_saved_input_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    saved = tmp_path / "text-3.bin"
    saved.write_bytes(b"<script>")
    monkeypatch.setattr("sys.argv", ["fuzz", "--replay", str(saved)])
    assert fuzz.main() == 0
    monkeypatch.setitem(fuzz.TARGETS, "text", fuzz.Target(notebooks.make_text, broken))
    with pytest.raises(KeyError):
        fuzz.main()


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("status", [40, 9, 11, 64])
def test_every_way_to_end_has_a_sentence(status: int) -> None:
    """Found by this fuzzer: a real-time signal has no name in Python."""
    data = status.to_bytes(4, "big")
    with wire._hostile_box(data) as box, pytest.raises(BoxLost, match="ended by"):
        box.run_cell("1")
