import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from bs4 import BeautifulSoup
from torch import Tensor

from course_lib.judging.exercise import Callback, Case
from course_lib.judging.observation import Outcome
from course_lib.judging.render import call_text, value_text, with_code
from tests.course_lib.judging.samples import DOUBLE, verdict_on


def test_a_wrong_answer_shows_the_call_both_values_and_the_mistake() -> None:
    verdict = verdict_on(lambda x: x**2)
    for shown in (verdict.text(), verdict.html()):
        assert "You squared x; double it instead." in shown
        assert "double(x=tensor[3])" in shown
        assert "[2.0000, 4.0000, 6.0000]" in shown
        assert "[1.0000, 4.0000, 9.0000]" in shown
        assert "0 of 3 points" in shown


def test_a_call_names_the_callbacks_and_the_tensors_inside_a_list() -> None:
    blocks = [Callback("block", torch.relu), Callback("block", torch.relu)]
    case = Case("lists", (blocks, [(torch.ones(2, 3), torch.tensor([1]))], [[1, 2]]))
    assert "[block, block], " in call_text(DOUBLE, case)
    assert "[(tensor[2, 3], int64 tensor[1])], " in call_text(DOUBLE, case)
    assert "[[1, 2]])" in call_text(DOUBLE, case)


def test_a_share_of_almost_one_reads_as_such() -> None:
    assert "x=1 - 1e-12)" in call_text(DOUBLE, Case("almost everything", (1 - 1e-12,)))


@pytest.mark.parametrize(
    ("answer", "signs"),
    [
        (lambda x: x + x, [("✓", "passed")]),
        (lambda x: 2 * x.abs(), [("✓", "passed"), ("✗", "failed")]),
        (lambda x: x**3, [("✗", "failed")]),
    ],
    ids=["right", "partly", "wrong"],
)
def test_a_screen_reader_reads_its_signs_as_words(
    answer: Callable[[Tensor], Tensor], signs: list[tuple[str, str]]
) -> None:
    page = BeautifulSoup(verdict_on(answer).html(), "html.parser")
    read = {(sign.text, str(sign["aria-label"])) for sign in page.select("li [role=img]")}
    assert sorted(read) == signs
    assert {sign.parent["role"] for sign in page.find_all(string=re.compile("[✓✗]"))} == {"img"}


def test_hidden_inputs_and_numbers_are_never_shown() -> None:
    def leaks(x: Tensor) -> Tensor:
        if x.shape == (4,):
            raise ValueError(f"the hidden input is {x.tolist()}")
        return 2 * x

    verdict = verdict_on(leaks, seed=5)
    hidden = DOUBLE.hidden_cases(5)[0].args[0].tolist()
    assert verdict.outcome is Outcome.RAISED
    for shown in (verdict.text(), verdict.html()):
        assert "ValueError" in shown
        assert str(hidden[0])[:6] not in shown
        assert "hidden input is" not in shown


def test_what_comes_from_an_answer_is_escaped() -> None:
    def attack(x: Tensor) -> str:
        return "<script>alert(1)</script>"

    def attack_by_error(x: Tensor) -> str:
        raise ValueError("<img src=x onerror=alert(1)>")

    for answer in (attack, attack_by_error):
        html = verdict_on(answer).html()
        assert "<script" not in html
        assert "<img" not in html


def test_what_stands_in_backticks_is_set_as_code_and_stays_escaped() -> None:
    assert with_code("Use `a < b`, not `b`.") == "Use <code>a &lt; b</code>, not <code>b</code>."
    assert with_code("`<script>`") == "<code>&lt;script&gt;</code>"
    assert with_code("a ` alone") == "a ` alone"


def test_an_answer_cannot_steer_the_terminal() -> None:
    def attack(x: Tensor) -> str:
        raise ValueError("\x1b]0;owned\x07\x1b[2J\u202e")

    text = verdict_on(attack).text()
    assert "ValueError" in text
    assert all(character.isprintable() or character == "\n" for character in text)


def test_nbgrader_reads_the_points_from_the_plain_text() -> None:
    assert "Right, 3 of 3 points" in verdict_on(lambda x: x + x).text()
    bundle = verdict_on(lambda x: (2 * x).clamp(max=1e6))._repr_mimebundle_()
    assert float(bundle["text/plain"]) == 2.0
    assert "Partly right" in bundle["text/html"]


def test_the_record_is_json() -> None:
    record = json.loads(json.dumps(verdict_on(lambda x: x**2, seed=2).record()))
    assert record["misconception"] == "squared"
    assert record["outcome"] == "wrong"
    assert [case["hidden"] for case in record["cases"]] == [False] * 4 + [True] * 2


def returning(expected: object, actual: object) -> str:
    exercise = replace(DOUBLE, reference=lambda x: expected, cases=lambda generator, hidden: [Case("any", (E,))])
    return verdict_on(lambda x: actual, replace(exercise, parts={"values": 3})).text()


def test_what_differs_inside_a_tuple_is_shown() -> None:
    text = returning((E, 2 * E, ["a", [1]]), (E, 3 * E, ["a", [1]]))
    assert "expected  item 1: [[2.0000, 4.0000],\n                           [6.0000, 8.0000]]" in text
    assert "got  item 1: [[ 3.0000,  6.0000],\n" in text
    nested = returning(({"a": [1, 2]},), ({"a": [1, 3]},))
    assert "expected  item 0, 'a', item 1: 2\n" in nested
    assert "got  item 0, 'a', item 1: 3" in nested
    assert "expected  ('a', 'b')\n" in returning(("a", "b"), ("a", "c"))


def test_tensors_that_print_alike_get_more_decimals() -> None:
    text = returning(E.double() / 3, (E / 3).double())
    assert "expected  [[0.33333333, 0.66666667],\n" in text
    assert "got  [[0.33333334, 0.66666669],\n" in text


def test_an_array_with_the_right_numbers_gets_no_more_decimals() -> None:
    assert "got  [[1.0000, 2.0000],\n" in returning(E.double(), E.double().numpy())


def test_small_inputs_are_shown_and_large_ones_are_not() -> None:
    assert "       x  [[1.0000, 2.0000],\n                   [3.0000, 4.0000]]" in returning(E, 2 * E)
    exercise = replace(DOUBLE, cases=lambda generator, hidden: [Case("any", (torch.ones(5, 5),))])
    text = verdict_on(lambda x: x, exercise).text()
    assert "called  double(x=tensor[5, 5])\n        expected" in text


def test_no_zero_has_a_minus() -> None:
    assert "got  [0.0000, 1.0000]" in returning(torch.tensor([2.0, 1.0]), torch.tensor([-1e-9, 1.0]))
    text = returning(torch.tensor([-0.0, 1.0]), torch.tensor([2.0, 1.0]))
    assert "expected 0, got 2" in " ".join(text.split())


E = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def test_a_batch_that_raises_is_set_beside_the_single_one_that_is_right() -> None:
    said = "It is right without leading dimensions (batch, heads); this case has some."

    def told(answer: Callable[[Tensor], Tensor], *inputs: Tensor) -> bool:
        exercise = replace(
            DOUBLE,
            reference=lambda x: x.mT @ x,
            parts={"values": 3},
            cases=lambda generator, hidden: [Case(str(x.shape), (x,)) for x in inputs],
        )
        verdict = verdict_on(answer, exercise)
        assert (said in verdict.html()) is (said in " ".join(verdict.text().split()))
        return said in verdict.html()

    one, batch, heads = torch.ones(3, 2), torch.ones(5, 3, 2), torch.ones(2, 5, 3, 2)
    turned = torch.ones(5, 2, 3).mT
    assert told(lambda x: x.transpose(0, 1) @ x, one, batch, heads)
    assert told(lambda x: x.transpose(0, 1) @ x, one, batch, turned)
    assert not told(lambda x: x.transpose(0, 1) @ x, one, turned)  # it may be for the memory
    assert not told(lambda x: x.transpose(0, 1) @ x, batch, heads)
    assert not told(lambda x: x.transpose(0, 1) @ x if x.ndim < 4 else x.mT @ x, one, batch, heads)
    assert not told(lambda x: 2 * x.transpose(0, 1) @ x, one, batch)
    assert not told(lambda x: x, one, batch)


def test_values_are_shown_whole_or_by_their_first_row() -> None:
    assert value_text(torch.tensor([[1.0, 2.0], [3.0, 4.0]])) == "[[1.0000, 2.0000],\n [3.0000, 4.0000]]"
    assert value_text(torch.tensor([True, False])) == "[True, False]"
    assert value_text(torch.tensor(3.0)) == "3.0000"
    assert value_text(torch.tensor([1e-9, 1.0])) == "[0.0000, 1.0000]"
    assert "tensor[100, 100], which begins" in value_text(torch.zeros(100, 100))
    assert value_text([torch.zeros(2), 1.5, "a"]) == "[tensor[2], 1.5, 'a']"
    assert value_text({"a": (1, 2)}) == "{'a': a tuple of 2}"
    assert value_text([("pl", "ay"), ("x" * 100,)]) == "[('pl', 'ay'), a tuple of 1]"
    assert value_text({("pl", "ay"): 2, "b": 1}) == "{('pl', 'ay'): 2, 'b': 1}"


@pytest.mark.parametrize(
    "value",
    [
        torch.empty(20_000_000, 0),
        torch.zeros([6] * 9, dtype=torch.uint8),
        [torch.zeros([6] * 9, dtype=torch.uint8)] * 3,
        [[0] * 1_000_000] * 20,
        {str(number): number for number in range(100_000)},
        {("x" * 1_000_000, str(number)): number for number in range(9)},
        "x" * 10_000_000,
        10**4000,
        torch.zeros([1] * 64),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_comes_back_is_shown_in_few_words(value: object) -> None:
    assert len(value_text(value)) < 2_000
    assert Case("unused").args == ()


def test_a_dtype_is_told_by_the_argument_that_has_it_and_stands_before_equal_numbers() -> None:
    text = returning(E, E.double())
    assert "The result should have dtype float32, but its dtype is float64. It should be the dtype of x." in " ".join(
        text.split()
    )
    assert "expected  float32 [[1.0000, 2.0000],\n" in text
    assert "got  float64 [[1.0000, 2.0000],\n" in text
    assert "the dtype of" not in returning(E.double(), E)
    assert "the dtype of" not in returning(E.bool(), E)


def test_what_has_left_torch_is_told_the_way_back() -> None:
    assert "it is a numpy.ndarray: compute with torch's functions" in " ".join(returning(E, E.numpy()).split())
    assert "it is a float: leave out .item()" in " ".join(returning(E.sum(), E.sum().item()).split())
    assert "leave out" not in returning(E, 1.0)


@pytest.mark.parametrize(("right", "told"), [(True, False), (False, True)])
def test_only_who_looks_for_a_mistake_hears_that_prints_are_not_shown(right: bool, told: bool) -> None:
    verdict = replace(verdict_on(lambda x: 2 * x if right else 3 * x), prints=True)
    for page in (verdict.text(), verdict.html()):
        assert ("What your answer prints is not shown here." in page) == told


def test_a_stub_is_no_alarm() -> None:
    def stub(x: Tensor) -> Tensor:
        raise NotImplementedError

    assert 'class="katze-verdict katze-open"' in verdict_on(stub).html()
    assert 'class="katze-verdict katze-fail"' in verdict_on(lambda x: x**2).html()
