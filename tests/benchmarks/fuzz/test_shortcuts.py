"""Shortcuts: the walk finds what is right in every case, and outlives what it calls."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Generator, Tensor, nn

from autograder.box import Level, Zygote
from benchmarks.fuzz import __main__ as fuzz
from benchmarks.fuzz import shortcuts
from benchmarks.fuzz.shortcuts import Report, Shortcut
from course_lib import exercises
from course_lib.checking import Case, Exercise
from course_lib.checking.ready_made import ReadyMade


@pytest.fixture(scope="module")
def zygote(processes: None) -> Iterator[Zygote]:
    with Zygote(level=Level.L2, limits=shortcuts.LIMITS) as zygote:
        yield zygote


def times(x: Tensor, n: int) -> Tensor:
    return x * n


def cases_of_times(generator: Generator, hidden: bool) -> Iterator[Case]:
    yield Case("2 + 2, 2 * 2 and 2 ** 2 are the same", (torch.tensor([2.0, 2.0]), 2))
    yield Case("three numbers", (torch.tensor([1.0, 3.0, 5.0]), 3))
    yield Case("four numbers", (torch.tensor([1.0, 2.0, 3.0, 4.0]), 1))


TIMES = Exercise(
    id="toy.times",
    lesson="toy",
    name="times",
    title="Times",
    statement="times(x, n): n times x.",
    points=1,
    minutes=1,
    section="",
    source="",
    reference=times,
    cases=cases_of_times,
    misconceptions=(),
    correct=(),
    forbidden=(ReadyMade("times", ("mul",)),),
)


def test_what_is_right_in_every_case_is_found_and_what_ends_the_box_is_passed_over(zygote: Zygote) -> None:
    names = ["torch:add", "os:_exit", "torch:pow", "torch:mul", "torch:div"]
    report = shortcuts.walk(zygote, TIMES, names)
    assert report.shortcuts == (Shortcut(1, "torch.mul(x, n)", ("aten.mul",), 1.0, barred=True),)
    assert (report.walked, report.ended) == (5, ("os:_exit",))
    assert shortcuts.walk(zygote, TIMES, names) == report


def test_an_exercise_is_walked(zygote: Zygote) -> None:
    names = ["torch:softmax", "torch.nn.functional:softmax", "torch:log_softmax", "torch:sigmoid", "torch.nn:Softmax"]
    [one, two] = shortcuts.walk(zygote, exercises.find("attention.weights"), names).shortcuts
    assert (one.calls, one.call, one.operators) == (1, "torch.softmax(scaled, -1)", ("aten._softmax",))
    assert one.others == ("torch.nn.Softmax", "torch.nn.functional.softmax")
    assert (two.calls, two.call) == (2, "(torch.log_softmax(scaled, -1)).exp()")
    assert one.barred
    assert two.barred
    assert one.points == 3


def cases_of_linear(generator: Generator, hidden: bool) -> Iterator[Case]:
    for words in (2, 3):
        weights = {"weight": torch.randn(4, 3, generator=generator), "bias": torch.randn(4, generator=generator)}
        x = torch.randn(words, 3, generator=generator)
        yield Case(f"{words} words", (x,), construct={"in_features": 3, "out_features": 4}, weights=weights)


def test_a_module_gets_the_weights_of_a_class_and_is_compared_with_it(zygote: Zygote) -> None:
    linear = replace(TIMES, id="toy.linear", name="Linear", reference=nn.Linear, cases=cases_of_linear, forbidden=())
    report = shortcuts.walk(zygote, linear, ["torch.nn:Bilinear", "torch.nn:Linear", "torch.nn:ReLU", "torch:exp"])
    [found] = report.shortcuts
    assert found.call == "loaded(torch.nn.Linear(in_features, out_features), weights)(input)"
    assert found.points is None


def test_private_and_public_callables_are_collected_once(zygote: Zygote) -> None:
    names = shortcuts.callables(zygote, ("torch",))
    assert len(set(names)) == len(names)
    assert {"torch:softmax", "torch:ops.aten._sparse_softmax", "torch._refs:softmax", "torch.nn:Softmax"} <= set(names)
    assert {"torch:Tensor.softmax", "torch.optim.adam:adam", "torch.distributions:SoftmaxTransform"} <= set(names)
    assert not {name for name in names if name.startswith(("torch.distributed", "torch._inductor"))}


def test_cases_are_chosen_that_tell_answers_apart() -> None:
    [(first, four), (_, nine), *others] = shortcuts.chosen_cases(TIMES)
    assert first.name.startswith("2 + 2")
    assert four.tolist() == [4.0, 4.0]
    assert nine.tolist() == [3.0, 9.0, 15.0]
    assert others == []  # what comes back in the last case is its own argument
    assert shortcuts.chosen_cases(exercises.find("decoding.greedy")) == []  # it is given a function


def test_ways_begin_with_the_natural_one() -> None:
    case = Case("", (torch.zeros(2, 3), torch.zeros(4, 3)))
    ways = list(shortcuts.ways(["q", "k"], case))
    texts = [text for text, _, _ in ways]
    assert ("f(q, dim=-2, mask=k[..., None])", 1, ["dim", "mask"]) in ways
    assert texts[:3] == ["f(q, k)", "f(k, q)", "f(q)"]
    assert {
        "f(q, k.mT)",
        "f(q, q.shape[-1:], k)",
        "f(q[(None,) * (4 - q.ndim)], k[(None,) * (4 - k.ndim)])",
        "f(q, dim=-1)",
    } <= set(texts)


def test_findings_are_written_and_read_again(tmp_path: Path) -> None:
    found = Shortcut(2, "f('\"', x)", ("aten.exp",), 1.5, True, ("torch.a", "torch.b"))
    report = Report("attention.weights", (found,), 7)
    text = shortcuts.written({"attention.scale": {"note": "why"}, "attention.weights": shortcuts.table(report)})
    assert tomllib.loads(text) == {
        "attention.scale": {"note": "why"},
        "attention.weights": {
            "walked": 7,
            "shortcuts": [
                {
                    "call": "f('\"', x)",
                    "how": "two calls: aten.exp",
                    "points": 1.5,
                    "barred": True,
                    "others": ["torch.a", "torch.b"],
                }
            ],
        },
    }
    assert "# Walked: 1 of " in text
    assert "each for the reason below: attention.scale. Not yet: " in " ".join(text.replace("#", "").split())


def test_the_findings_of_this_repository_are_of_its_exercises() -> None:
    known = {exercise.id for exercise in exercises.all()}
    found = shortcuts.read(shortcuts.FILE)
    assert found.keys() <= known
    assert shortcuts.written(found) == shortcuts.FILE.read_text(encoding="utf-8")


@pytest.mark.usefixtures("processes")
def test_the_mode_is_one_of_the_fuzzers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz", "shortcuts", "decoding.greedy"])
    monkeypatch.setattr(shortcuts, "FILE", tmp_path / "found.toml")
    monkeypatch.setattr(shortcuts, "callables", lambda zygote, packages: [])
    assert fuzz.main() == 0
    assert capsys.readouterr().out.startswith("decoding.greedy: not walked")
    assert "decoding.greedy" in shortcuts.read(tmp_path / "found.toml")
