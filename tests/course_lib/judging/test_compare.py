import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from course_lib.judging.compare import (
    RELATIVE_TOLERANCE,
    Difference,
    Kind,
    Strictness,
    Tolerance,
    difference,
    tolerance,
    value_difference,
)
from course_lib.judging.exercise import Case, Value
from course_lib.judging.observation import Foreign, observe

E = torch.tensor([[1.0, -2.0], [3.0, 4.0]])


def kind(expected: object, actual: object) -> Kind | None:
    found = value_difference(expected, actual, "the result")
    return found.kind if found else None


def told(expected: object, actual: object) -> str:
    found = value_difference(expected, actual, "the result")
    return found.message


def differs(case: Case, right: Callable[..., Any], wrong: Callable[..., Any]) -> Difference:
    found = difference(case, observe(right, case), observe(wrong, case), ["x", "b", "c"])
    assert found is not None
    return found


def test_type_dtype_and_shape_come_before_values() -> None:
    assert kind(E, E.tolist()) is Kind.TYPE
    assert kind(E, None) is Kind.TYPE
    assert kind(E, Foreign("numpy.ndarray")) is Kind.TYPE
    assert kind(E, E.double()) is Kind.DTYPE
    assert kind(E.bool(), E) is Kind.DTYPE
    assert kind(E, E.unsqueeze(0)) is Kind.SHAPE
    assert kind(E, E + 1) is Kind.VALUE
    assert kind(E, E.clone()) is None
    assert kind(E, E.to("meta")) is Kind.DEVICE


def test_the_first_differing_index_and_both_numbers_are_named() -> None:
    actual = E.clone()
    actual[1, 0] = 7
    assert "1 of 4 entries differ, first at index [1, 0]: expected 3, got 7" in told(E, actual)


def test_a_result_elsewhere_is_told_the_way_back() -> None:
    assert "should have device cpu, but its device is meta: .cpu() brings it back" in told(E, E.to("meta"))
    for described, way in (
        ("float32, strided, cuda", "it is on the device cuda, and .cpu() brings it back"),
        ("float32, sparse_coo, cpu", ".to_dense()"),
        ("complex64, strided, cpu", "a common dtype"),
    ):
        assert way in told(E, Foreign(f"torch.Tensor ({described})"))


def test_entry_by_entry_a_small_number_counts_as_much_as_a_large_one() -> None:
    rates = torch.tensor([1e-6, 1e-2])
    nearly = rates * torch.tensor([1.02, 1.0])
    assert value_difference(rates, nearly, "the result") is None
    assert value_difference(rates, nearly, "the result", Strictness(entrywise=True)) is not None
    assert value_difference(rates, rates * (1 + 1e-5), "the result", Strictness(entrywise=True)) is None
    infinite = torch.tensor([math.inf, 1.0])
    assert value_difference(infinite, infinite.nan_to_num(), "the result", Strictness(entrywise=True)) is not None


def test_a_plain_float_is_as_exact_as_the_tensors_that_it_comes_of() -> None:
    for dtype, kind_of in ((torch.float32, None), (torch.float64, Kind.VALUE)):
        case = Case("a mean", (E.to(dtype),))
        expected, actual = (observe(answer, case) for answer in (lambda x: 0.3, lambda x: 0.3 + 1e-7))
        found = difference(case, expected, actual)
        assert (found.kind if found else None) is kind_of


def test_what_is_changed_in_place_is_told_before_what_that_does_to_gradients() -> None:
    def in_place(x: torch.Tensor) -> torch.Tensor:
        y = (x * x).detach()
        x += 1
        return y

    assert differs(Case("squares", (E,), gradients=(0,)), lambda x: x * x, in_place).kind is Kind.MODIFIED


@pytest.mark.parametrize("dtype", list(RELATIVE_TOLERANCE))
def test_the_tolerance_follows_from_the_dtype(dtype: torch.dtype) -> None:
    expected = E.to(dtype)
    just_inside, outside = tolerance(expected) * 0.5, tolerance(expected) * 3
    wide = expected.double()
    assert kind(expected, (wide + just_inside).to(dtype)) is None
    assert kind(expected, (wide + outside).to(dtype)) is Kind.VALUE


def test_a_small_wrong_tensor_does_not_pass_for_being_small() -> None:
    assert kind(torch.tensor([1e-6, 2e-6]), torch.zeros(2)) is Kind.VALUE


def test_infinities_and_nan_must_be_where_they_are_expected() -> None:
    inf, nan = float("inf"), float("nan")
    assert kind(torch.tensor([inf, nan]), torch.tensor([inf, nan])) is None
    assert kind(torch.tensor([inf, 1.0]), torch.tensor([-inf, 1.0])) is Kind.VALUE
    assert kind(torch.tensor([0.0, 1.0]), torch.tensor([nan, 1.0])) is Kind.VALUE
    assert kind(torch.tensor([inf, 1.0]), torch.tensor([inf, 2.0])) is Kind.VALUE


def test_integers_and_booleans_are_exact() -> None:
    assert kind(torch.tensor([1, 2]), torch.tensor([1, 3])) is Kind.VALUE
    assert kind(torch.tensor([True]), torch.tensor([False])) is Kind.VALUE
    assert kind(3, 4) is Kind.VALUE
    assert kind(True, 1) is Kind.TYPE


def test_a_plain_number_may_come_from_single_precision_and_be_whole() -> None:
    assert kind(2 / 3, torch.tensor(2 / 3).item()) is None
    assert kind(2 / 3, 0.6667) is Kind.VALUE
    assert kind(1.0, 1) is None
    assert kind(0.5, 1) is Kind.VALUE
    assert kind(0.5, 10**400) is Kind.VALUE
    assert kind(0.5, -(10**400)) is Kind.VALUE
    assert kind(1.0, True) is Kind.TYPE
    assert kind(1, 1.0) is Kind.TYPE


def test_a_tensor_in_place_of_a_number_is_told_how_to_become_one() -> None:
    for expected, actual in ((1.0, torch.tensor(1.0)), (1, torch.tensor([1]))):
        assert "but it is a torch.Tensor: its .item() is a plain number." in told(expected, actual)
    assert kind(1.0, E) is Kind.TYPE


def test_numbers_that_print_alike_are_told_apart() -> None:
    expected = torch.tensor([[0.5, -0.630207], [1.0, 2.0]], dtype=torch.float64) / 3
    found = value_difference(expected, expected.float().double(), "the result")
    assert found.expected != found.actual
    assert "right to only about 7 digits. Were they computed in single precision somewhere" in found.message
    for other in (expected * 1.001, expected + 1e-9, expected * torch.nan):
        assert "digits" not in told(expected, other)
    assert "digits" not in told(E, E * (1 + 1e-4))


def test_a_difference_knows_where_in_a_value_it_is() -> None:
    found = value_difference((E, {"a": [E, E]}), (E, {"a": [E, E + 1]}), "the result")
    assert found.path == (1, "a", 1)


def test_lists_tuples_and_dicts_are_walked() -> None:
    assert kind((E, E), (E, E + 1)) is Kind.VALUE
    assert kind((E, E), (E,)) is Kind.SHAPE
    assert kind([E], (E,)) is Kind.TYPE
    assert kind({"a": 1.0}, {"a": 1.0 + 1e-12}) is None
    assert kind({"a": 1.0}, {"b": 1.0}) is Kind.SHAPE


def test_keys_that_are_missing_or_too_many_are_named() -> None:
    expected = {("a", "b"): 2, ("b", "c"): 1}
    assert told(expected, {("a", "b"): 2}) == "The result lacks 1 key: ('b', 'c')."
    assert told(expected, {**expected, "ab": 1, ("x",): 3}) == "The result has 2 keys too many: 'ab', ('x',)."
    assert told(expected, {**expected, ("a", "b"): 3}) == "('a', 'b') of the result should be 2, not 3."
    many = {str(number): number for number in range(9)}
    assert told(many, {}) == "The result lacks 9 keys: '0', '1', '2', '3' and 5 more."


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        ("x", "reaches x, while b and c get one: somewhere between it "),
        ("xb", "reaches x and b, while c gets one: somewhere between them "),
        ("xbc", "reaches x, b and c: somewhere between them "),
    ],
)
def test_what_a_gradient_reaches_tells_where_it_is_cut_off(cut: str, said: str) -> None:
    case = Case("three", tuple(torch.ones(3) for _ in "xbc"), gradients=(0, 1, 2))

    def total(*given: Tensor) -> Tensor:
        x, b, c = (one.detach() if name in cut else one for name, one in zip("xbc", given, strict=True))
        return x + 2 * b + 3 * c

    found = differs(case, lambda x, b, c: x + 2 * b + 3 * c, total)
    assert found.kind is Kind.GRADIENT
    assert said in found.message


def half_without_gradient(x: Tensor) -> Tensor:
    with torch.no_grad():
        half = x.clone()
    return x + half


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (half_without_gradient, "torch.no_grad()"),
        (lambda x: x + x.detach(), "torch.no_grad()"),
        (lambda x: 2 * x.clamp(max=1.5) + (x - 1.5).clamp(min=0).detach() * 2, "torch.no_grad()"),
        (lambda x: torch.where(x > 0, 2 * x, (x - 2).sqrt()), "torch.where"),
        (lambda x: 2 * x + ((x - 2).sqrt() * 0).nan_to_num() * 0, "torch.where"),
        (lambda x: 3 * x, ""),
        (lambda x: (2 * x).detach(), ""),
    ],
)
def test_where_the_values_are_right_a_wrong_gradient_is_explained(answer: Callable[[Tensor], Tensor], why: str) -> None:
    case = Case("a vector", (torch.tensor([1.0, 2.0]),), gradients=(0,))
    message = differs(case, lambda x: x * 2, answer).message
    assert ("In the gradient of x" in message) is ("The values are right. Usually" in message) is bool(why)
    assert why in message.partition("Usually")[2]


@pytest.mark.parametrize(
    ("argument", "change", "copied"),
    [
        (torch.ones(2), lambda x: x.add_(1), "x.clone()"),
        ([("a", "b")], lambda x: x.pop(), "list(x)"),
        ({"a": 1}, lambda x: x.clear(), "dict(x)"),
        ([torch.ones(2)], lambda x: x[0].add_(1), "copy.deepcopy(x)"),
        ({"a": [1]}, lambda x: x["a"].clear(), "copy.deepcopy(x)"),
    ],
)
def test_who_changes_an_argument_is_told_how_to_copy_it(
    argument: Value, change: Callable[[Any], object], copied: str
) -> None:
    case = Case("an argument", (argument,))
    changed = differs(case, lambda x: 1, lambda x: (change(x), 1)[1])
    assert "changed x in place" in changed.message
    assert f"work on a copy {'that shares nothing with it ' if 'deep' in copied else ''}({copied})" in changed.message


def test_more_than_one_value_is_told_as_such() -> None:
    alone = "The result should be a torch.Tensor alone, but your answer returns "
    assert told(E, (E + 1, E.clone())) == f"{alone}2 values: return only item 1, which is right."
    assert told(E, (E + 1, E + 2)) == f"{alone}2 values: return only the one that was asked for."
    assert told(E, [E + 1, E.clone()]) == f"{alone}2 values: return only item 1, which is right."
    assert told(E, (E,)) == f"{alone}a tuple around one value: return only the value itself, which is right."
    assert told(E, ()) == "The result should be a torch.Tensor, but it is a tuple."
    numbers = "The result should be a torch.Tensor, but it is a {} of numbers: torch.tensor(...) makes one."
    assert told(E, [True, False]) == numbers.format("list")
    assert told(E, ([1.0, 2], [3, 4])) == numbers.format("tuple")
    assert told(E, (1.0, E + 1)) == f"{alone}2 values: return only the one that was asked for."
    together = "The result should be one torch.Tensor, but it is a "
    assert told(E, [E[0], E[1]]) == f"{together}list of 2 tensors: torch.stack(...) turns them into one."
    assert told(E, (E[0], E[1])) == f"{together}tuple of 2 tensors: torch.stack(...) turns them into one."
    assert told(E, [E[0], E[0], E[1]]) == f"{together}list of 3 tensors: put them together with torch.stack(...)."
    ways = "put them together with torch.stack(...) or torch.cat(...)."
    assert told(E, [E[:1], E[1:]]) == f"{together}list of 2 tensors: {ways}"
    nest = f"{together}list of 2 tensors, numbers or lists of them: put them together with torch.stack(...)."
    assert told(E, [[E[0, 0], 1.0], [E[1, 0], E[1, 1]]]) == nest
    assert told(E, ["1", 2]) == f"{alone}2 values: return only the one that was asked for."
    nested: object = E
    for _ in range(30):
        nested = (nested,) * 8
    assert told(E, nested) == f"{alone}8 values: return only the one that was asked for."


def test_a_course_s_tolerance_stands_in_place_of_the_dtype_s() -> None:
    case = Case("a", (torch.tensor([1.0, 2.0, 4.0]),), gradients=(0,))
    right = observe(lambda x: x * x, case)
    off = observe(lambda x: x * x * 1.0005, case)  # by 5e-4 of the largest, its gradient too
    assert difference(case, right, off) is not None
    assert difference(case, right, off, tolerance=Tolerance(relative=1e-3)) is None
    assert difference(case, right, off, tolerance=Tolerance(relative=1e-4)) is not None
    assert difference(case, right, off, tolerance=Tolerance(absolute=0.01)) is None
    assert difference(case, right, off, tolerance=Tolerance(absolute=0.001)) is not None
    hair = observe(lambda x: x * x * (1 + 1e-6), case)
    assert difference(case, right, hair) is None
    assert difference(case, right, hair, tolerance=Tolerance(relative=1e-9)) is not None
    assert difference(case, right, hair, tolerance=Tolerance(absolute=1e-9)) is None  # beside the dtype's


def test_a_course_s_tolerance_holds_for_each_entry_where_entries_are_compared() -> None:
    tiny = torch.tensor([1.0, 1e-6])
    strict = Strictness(entrywise=True, tolerance=Tolerance(relative=1e-2))
    assert value_difference(tiny, tiny * 1.005, "the result", strict) is None
    assert value_difference(tiny, tiny + torch.tensor([0.0, 1e-7]), "the result", strict) is not None
    either = Strictness(entrywise=True, tolerance=Tolerance(relative=1e-2, absolute=1e-6))
    assert value_difference(tiny, tiny + torch.tensor([0.0, 1e-7]), "the result", either) is None
    assert str(either.tolerance) == "1e-06, or 0.01 of the largest number"
