"""Functions that a case passes in are called over the wire; classes are built, loaded, called and differentiated there.

Both by toy exercises of their own, as later lessons will have them: greedy decoding with a step function, and a small
module that is given one.
"""

import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Generator, Tensor, nn

from autograder.box.box import Box
from autograder.box.endings import BoxLost
from autograder.box.fork_server.client import ForkServer
from autograder.box.frames import ProtocolError
from autograder.box.protocol import Decoder, Encoder, decode_call, decode_case, encode_case
from autograder.limits import Limits
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Callback, CallRefused, Case, Exercise, Misconception, Value
from course_lib.judging.judge import judge
from course_lib.judging.observation import Outcome, observe
from course_lib.judging.ready_made import SOFTMAX
from course_lib.judging.verdict import USED_BEFORE, Verdict
from course_lib.references.evaluation import edit_distance
from tests.autograder.box.conftest import asked
from tests.boxes import FORGE

WORDS = 7

Cases = Callable[[Generator, bool], Iterator[Case]]


def step_function(table: Tensor) -> Callable[[Tensor], Tensor]:
    """A language model of two words' memory: logits [batch, words] for ids [batch, length]."""

    def step(ids: Tensor) -> Tensor:
        if ids.dtype != torch.int64 or ids.ndim != 2:
            raise ValueError("step takes ids int64 [batch, length]")
        return torch.softmax(table[ids[:, -1]] + ids.shape[1] * table[0], dim=-1)

    return step


def greedy(step: Callable[[Tensor], Tensor], start: Tensor, length: int) -> Tensor:
    ids = start
    while ids.shape[1] < length:
        ids = torch.cat([ids, step(ids).argmax(dim=-1, keepdim=True)], dim=1)
    return ids


def _greedy_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for batch in (1, 3):
        table = torch.randn(WORDS, WORDS, generator=generator)
        start = torch.randint(WORDS, (batch, 2), generator=generator)
        yield Case(f"a batch of {batch}", (Callback("step", step_function(table)), start, 6))


def toy(
    reference: Callable[..., Value], cases: Cases, mistakes: tuple[Misconception, ...] = (), forbidden: Any = ()
) -> Exercise:
    """An exercise with nothing to read."""
    return Exercise(
        id=f"toy.{reference.__name__}",
        lesson="00_toy",
        name=reference.__name__,
        title="A toy",
        statement="A toy.",
        points=2,
        minutes=5,
        section="A toy",
        source="none",
        reference=reference,
        cases=cases,
        misconceptions=mistakes,
        correct=(),
        forbidden=forbidden,
    )


START_LEFT_OUT = Misconception("start_left_out", "Keep the start.", lambda *args: greedy(*args)[:, 2:])
GREEDY = toy(greedy, _greedy_cases, (START_LEFT_OUT,), (SOFTMAX,))

GREEDY_SOURCE = """
import torch
def greedy(step, start, length):
    ids = start.clone()
    for _ in range(length - start.shape[1]):
        best = step(ids).max(dim=-1).indices
        ids = torch.hstack([ids, best[:, None]])
    return ids
"""


def judged(box: Box, exercise: Exercise, source: str) -> Verdict:
    result = box.run_cell(source)
    assert result.ok, result.raised
    return judge(
        AnswerKey(exercise, 5), lambda case: asked(box, exercise.name, case, forbidden=exercise.forbidden_names)
    )


def observed(box: Box, source: str, callback: Callback, *args: Value) -> Value:
    box.run_cell(f"import torch\ndef answer(step, *args):\n    {source}")
    return asked(box, "answer", Case("", (callback, *args)))


FORGED = f"""{FORGE}
import gc, time
def place():
    [number] = {{o['id'] for o in gc.get_objects() if type(o) is dict and o.get('kind') == 'observe'}}
    return number + '.0'
def answer(*args):
"""
"""Begins an answer that knows the number of the question that is being answered, as a forger must."""

DOUBLE = Callback("step", lambda x: 2 * x, most_calls=5, most_entries=10)
TOO_MUCH = "more than 10 numbers, items and characters at once"
DISTANCE = Callback("distance", edit_distance)


class TestCallbacks:
    def test_a_right_answer_passes_in_the_box_and_in_a_notebook(self, kept_box: Box) -> None:
        assert judged(kept_box, GREEDY, GREEDY_SOURCE).passed
        names: dict[str, Value] = {}
        exec(GREEDY_SOURCE, names)
        key = AnswerKey(GREEDY)
        for case, expected in zip(key.visible, key.expected, strict=True):
            seen = observe(names["greedy"], case, GREEDY.forbidden_names)  # its step uses the softmax, and may
            assert torch.equal(seen.value, expected.value)

    def test_a_known_mistake_is_named(self, kept_box: Box) -> None:
        verdict = judged(kept_box, GREEDY, GREEDY_SOURCE.replace("return ids", "return ids[:, 2:]"))
        assert verdict.misconception is GREEDY.misconceptions[0]
        assert "called  greedy(step=step, start=int64 tensor[1, 2], length=6)" in verdict.text()

    def test_a_rule_holds_before_and_after_a_call(self, kept_box: Box) -> None:
        for line in ("x = torch.softmax(x, 0); step(x)", "step(x); torch.softmax(x, 0)"):
            kept_box.run_cell(f"import torch\ndef answer(step, x):\n    {line}\n    return x")
            case = Case("", (DOUBLE, torch.ones(2)))
            assert asked(kept_box, "answer", case, forbidden=GREEDY.forbidden_names).failure is Outcome.RULE_BROKEN

    def test_plain_data_of_all_kinds_crosses_both_ways(self, kept_box: Box) -> None:
        echo = Callback("echo", lambda *args, **kwargs: [args, kwargs])
        seen = observed(kept_box, "return step(1, 2.5, None, 'a', [True], key={'a': torch.ones(2).bool()})", echo)
        assert seen.value[0] == (1, 2.5, None, "a", [True])
        assert torch.equal(seen.value[1]["key"]["a"], torch.tensor([True, True]))

    def test_a_callback_may_be_inside_an_argument_or_build_a_class(self, kept_box: Box) -> None:
        kept_box.run_cell("def answer(model):\n    return model['step'](model['x'])")
        case = Case("", ({"step": DOUBLE, "x": torch.ones(2)},))
        assert torch.equal(asked(kept_box, "answer", case).value, 2 * torch.ones(2))
        assert torch.equal(observe(lambda model: model["step"](model["x"]), case).value, 2 * torch.ones(2))

    def test_what_it_raises_is_raised_in_the_answer(self, kept_box: Box) -> None:
        def fails(x: Tensor) -> Tensor:
            raise IndexError("no such word")

        seen = observed(kept_box, "return step(torch.ones(1))", Callback("step", fails))
        assert (seen.raised.type_name, seen.raised.message) == ("IndexError", "no such word")
        caught = "try: step(torch.ones(1))\n    except IndexError as error: return str(error)"
        assert observed(kept_box, caught, Callback("step", fails)).value == "no such word"

    @pytest.mark.parametrize(
        ("source", "kind", "said"),
        [
            ("return [step(torch.ones(1)) for _ in range(6)]", "CallRefused", "may be called at most 5 times"),
            ("return step(torch.ones(11))", "CallRefused", TOO_MUCH),
            ("return step([torch.ones(5), torch.ones(5)])", "CallRefused", TOO_MUCH),
            ("return step(object())", "TypeError", "not a object"),
            ("import numpy; return step([numpy.ones(10)])", "CallRefused", TOO_MUCH),
            ("return step(['a'] * 10)", "CallRefused", TOO_MUCH),
            ("return step(6 * 'a', 6 * 'b')", "CallRefused", TOO_MUCH),
            ("return step({5 * 'a': 5 * 'b'})", "CallRefused", TOO_MUCH),
            ("return step({('a',) * 9: 1})", "CallRefused", TOO_MUCH),
            ("return step([()] * 5, x=[None] * 5)", "CallRefused", TOO_MUCH),
            ("return step([torch.ones(0)] * 10)", "CallRefused", TOO_MUCH),
            ("import numpy; return step([numpy.ones(2, complex)])", "TypeError", "not a numpy.ndarray of complex128"),
        ],
    )
    def test_calls_are_limited_alike_in_the_box_and_in_a_notebook(
        self, kept_box: Box, source: str, kind: str, said: str
    ) -> None:
        names: dict[str, Value] = {}
        exec(f"import torch\ndef answer(step, *args):\n    {source}", names)
        for seen in (observed(kept_box, source, DOUBLE), observe(names["answer"], Case("", (DOUBLE,)))):
            assert seen.failure is Outcome.RAISED
            assert seen.raised.type_name == kind
            assert said in seen.raised.message

    def test_calls_are_counted_anew_for_each_case(self, kept_box: Box) -> None:
        kept_box.run_cell("def answer(step, x):\n    for _ in range(5): x = step(x)\n    return x")
        seen = list(kept_box.observe_cases("answer", [Case("", (DOUBLE, torch.ones(1)))] * 3))
        assert [one.value.item() for one in seen] == [32.0] * 3

    def test_an_answer_that_goes_on_calling_loses_its_box(self, quick_box: Box) -> None:
        source = "while True:\n        try: step(torch.ones(1))\n        except Exception: pass"
        with pytest.raises(BoxLost) as lost:
            observed(quick_box, source, DOUBLE)
        assert lost.value.outcome is Outcome.DIED

    def test_all_calls_share_the_time_of_one(self, fork_server: ForkServer) -> None:
        endless = Callback("step", lambda x: x, most_calls=10**9)
        with fork_server.open_box(limits=Limits(call_seconds=0.5)) as box, pytest.raises(BoxLost) as lost:
            observed(box, "while True: step(1)", endless)
        assert lost.value.outcome is Outcome.TIMED_OUT

    @pytest.mark.parametrize(
        ("work", "outcome"),
        [
            (lambda n: sum(range(10**n)), Outcome.TIMED_OUT),  # no line of Python, at which it could be stopped
            (lambda n: list(iter(int, 1)), Outcome.TIMED_OUT),
            (lambda n: time.sleep(100 * n), Outcome.TIMED_OUT),
            (lambda n: os.abort(), Outcome.DIED),
        ],
    )
    def test_what_a_callback_costs_is_the_answers(
        self, fork_server: ForkServer, work: Callable[[int], Value], outcome: Outcome
    ) -> None:
        limits = Limits(call_seconds=0.5, wall_seconds=5.0)
        with fork_server.open_box(limits=limits) as box, pytest.raises(BoxLost) as lost:
            observed(box, "return step(18)", Callback("step", work))
        assert lost.value.outcome is outcome

    def test_memory_is_refused_to_a_callback_and_the_next_call_is_answered(self, quick_box: Box) -> None:
        greedy = Callback("step", lambda n: len(bytearray(10**n)))
        grown = Callback("step", lambda n: len([*range(10**n)]))
        dense = Callback("step", lambda n: torch.ones(10**n).numel())
        for callback in (greedy, grown, dense):
            assert observed(quick_box, "return step(9)", callback).failure is Outcome.OUT_OF_MEMORY
            assert observed(quick_box, "return step(2)", callback).value == 100

    def test_long_lists_never_reach_the_function(self, kept_box: Box) -> None:
        """Their table would have two billion entries."""
        seen = observed(kept_box, "return step(['a'] * 45_000, ['b'] * 45_000)", DISTANCE)
        assert seen.raised.type_name == "CallRefused"
        assert observed(kept_box, "return step('kitten', 'sitting')", DISTANCE).value == 3

    @pytest.mark.parametrize(
        "call",
        [
            '{"callback": 1, "args": [], "kwargs": {}}',
            '{"callback": -1, "args": [], "kwargs": {}}',
            '{"callback": True, "args": [], "kwargs": {}}',
            '{"callback": 0, "args": [{"callback": [0, "x"]}], "kwargs": {}}',
            '{"callback": 0, "args": [{"tensor": 0}], "kwargs": {}}',
            '{"callback": 0, "args": []}',
            "[]",
            "None",
        ],
    )
    def test_a_forged_call_is_a_broken_protocol(self, box: Box, call: str) -> None:
        assert box.run_cell(f"{FORGED}    send({{'id': place(), 'kind': 'call', 'call': {call}}}); time.sleep(9)").ok
        with pytest.raises(BoxLost) as lost:
            asked(box, "answer", Case("", (DOUBLE,)), hidden=False)
        assert lost.value.outcome is Outcome.DIED
        assert "broke the protocol" in lost.value.reason

    def test_nobody_calls_where_nothing_was_passed_in(self, box: Box) -> None:
        assert box.run_cell(f"{FORGED}    send({{'id': place(), 'kind': 'call', 'call': {{}}}})").ok
        with pytest.raises(BoxLost, match="an answer of the wrong kind"):
            asked(box, "answer", Case(""), hidden=False)

    def test_only_a_box_takes_callbacks(self) -> None:
        encoder = Encoder()
        data = encode_case(Case("", (DOUBLE, DOUBLE)), encoder)
        assert encoder.callbacks == [DOUBLE, DOUBLE]
        asked: list[Value] = []
        arrived = decode_case(data, Decoder([], lambda number, *args: asked.append((number, args))))
        arrived.args[1].function(3)
        assert asked == [(1, (3,))]
        with pytest.raises(ProtocolError, match="unknown tag"):
            decode_case(data, Decoder([]))
        with pytest.raises(ProtocolError, match="no callback"):
            decode_call({"callback": 2, "args": [], "kwargs": {}}, Decoder([]), range(2))

    def test_a_callback_shares_nothing_with_the_answer(self) -> None:
        kept = torch.ones(2)
        callback = Callback("step", lambda x: kept)

        def answer(step: Callable[[Tensor], Tensor]) -> Tensor:
            return step(torch.ones(1)).zero_()

        assert torch.equal(observe(answer, Case("", (callback,))).value, torch.zeros(2))
        assert torch.equal(kept, torch.ones(2))
        with pytest.raises(CallRefused):
            callback.call(10_000, [], {})


class Recurrent(nn.Module):
    def __init__(self, size: int, squash: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.squash = squash
        self.weight = nn.Parameter(torch.zeros(size, size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        return self.squash(x) @ self.weight / math.sqrt(len(self.bias)) + self.bias


def _recurrent_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for size in (2, 3):
        yield Case(
            f"size {size}",
            (torch.randn(4, size, generator=generator),),
            construct={"size": size, "squash": Callback("squash", torch.tanh)},
            weights={
                "weight": torch.randn(size, size, generator=generator),
                "bias": torch.randn(size, generator=generator),
            },
            weight_gradients=True,
        )


RECURRENT = toy(Recurrent, _recurrent_cases)

RECURRENT_SOURCE = """
import math, torch
from torch import nn
class Recurrent(nn.Module):
    def __init__(self, size, squash):
        super().__init__()
        self.squash, self.scale = squash, size ** -0.5
        self.weight = nn.Parameter(torch.randn(size, size))
        self.bias = nn.Parameter(torch.randn(size))
        self.dropout = nn.Dropout(0.5)
    def forward(self, x):
        return self.dropout(torch.addmm(self.bias, self.squash(x) * self.scale, self.weight))
"""


class TestClasses:
    def test_a_class_is_built_loaded_called_and_differentiated(self, kept_box: Box) -> None:
        verdict = judged(kept_box, RECURRENT, RECURRENT_SOURCE)
        assert verdict.passed, verdict.text()
        assert len(verdict.cases) == 8, "two visible and two hidden ones, and the first of each twice more"

    def test_what_a_class_keeps_of_an_earlier_call_is_found(self, kept_box: Box) -> None:
        keeping = RECURRENT_SOURCE.replace(
            "        return", "        self.x = x = getattr(self, 'x', x)\n        return"
        )
        verdict = judged(kept_box, RECURRENT, keeping)
        assert [result.passed for result in verdict.cases] == [True, True, False, False] * 2
        assert verdict.cases[2].message.startswith(USED_BEFORE)
