import ast
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy
import pytest
import torch
from torch import Tensor, nn

from course_lib.judging.exercise import Case
from course_lib.judging.observation import Foreign, Outcome, Raised, cotangent, gradient_names, observe, raised_by

VECTOR = Case("a vector", (torch.tensor([1.0, 2.0]),), gradients=(0,))


def test_a_call_that_returns_gives_its_value_and_gradient() -> None:
    seen = observe(lambda x: 3 * x, VECTOR)
    assert seen.returned
    assert torch.equal(seen.value, torch.tensor([3.0, 6.0]))
    assert not seen.value.requires_grad
    torch.testing.assert_close(seen.gradients[0], 3 * cotangent(torch.zeros(2)))


def test_a_detached_result_has_no_gradient() -> None:
    assert observe(lambda x: (3 * x).detach(), VECTOR).gradients == (None,)
    assert observe(lambda x: torch.ones(2), VECTOR).gradients == (None,)


@pytest.mark.parametrize(
    ("case", "change", "modified"),
    [
        (Case("two", (torch.zeros(2), torch.zeros(2))), lambda x, y: y.add_(1), (1,)),
        (VECTOR, lambda x: x.mul_(2), (0,)),
        (Case("nan", (torch.tensor([float("nan")]),)), lambda x: x + 1, ()),
        (Case("a dict", ({("a", "b"): 1},)), lambda words: words.update({("new",): 1}), (0,)),
    ],
)
def test_inputs_are_copies_and_changes_to_them_are_noticed(
    case: Case, change: Callable[..., Any], modified: tuple[int, ...]
) -> None:
    before = repr(case.args)
    seen = observe(change, case)
    assert seen.returned
    assert seen.modified == modified
    assert repr(case.args) == before


def test_a_transposed_input_stays_non_contiguous() -> None:
    case = Case("transposed", (torch.randn(2, 3).T,))
    assert observe(lambda x: x.is_contiguous(), case).value is False


def test_an_exception_is_recorded_with_the_line_that_raised_it() -> None:
    def fail(x: Tensor) -> Tensor:
        return x[5]

    seen = observe(fail, VECTOR)
    assert not seen.returned
    assert seen.failure is Outcome.RAISED
    assert seen.raised.type_name == "IndexError"
    assert seen.raised.code == "return x[5]"


def test_a_cell_that_is_no_python_is_told_by_its_line_and_not_by_its_file() -> None:
    with pytest.raises(SyntaxError) as caught:
        ast.parse("x = 1\ndef double(x)\n    return x\n", "<ipython-input-1-885ece051acf>")
    caught.value.__traceback__ = None
    assert raised_by(caught.value) == Raised("SyntaxError", "expected ':'", 2, "def double(x)")


def test_what_an_answer_evaluates_itself_is_told_by_the_answers_own_line() -> None:
    def evaluate(x: Tensor) -> Tensor:
        return eval("1 +")

    raised = observe(evaluate, VECTOR).raised
    assert raised.code.startswith('return eval("1 +")')


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (SystemExit(0), Outcome.RAISED),
        (NotImplementedError(), Outcome.NOT_ATTEMPTED),  # the stub's
        (NotImplementedError("not for this dtype"), Outcome.RAISED),  # torch's own
        (MemoryError(), Outcome.OUT_OF_MEMORY),
    ],
)
def test_an_exception_stands_for_an_outcome(error: BaseException, failure: Outcome) -> None:
    def fail(x: Tensor) -> Tensor:
        raise error

    assert observe(fail, VECTOR).failure is failure


def test_what_is_not_plain_data_is_kept_as_its_type_name_only() -> None:
    assert observe(lambda x: [x.numpy(force=True).astype(object)], VECTOR).value == [Foreign("numpy.ndarray of object")]


class Noisy(Tensor):
    @classmethod
    def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("this is the answer's own code")


class Loud(nn.Parameter):
    pass


class Two(NamedTuple):
    first: Tensor
    second: int

    def __iter__(self) -> Any:
        raise AssertionError("this is the answer's own code")


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        (lambda x: torch.ones(2).as_subclass(Noisy), torch.ones(2)),
        (lambda x: torch.ones(2).as_subclass(Loud), torch.ones(2)),
        (lambda x: nn.Parameter(torch.ones(2)), torch.ones(2)),
        (lambda x: Two(x, 3), (VECTOR.args[0], 3)),
        (lambda x: torch.ones(2, 3).shape, (2, 3)),
        (lambda x: torch.ones(2, 3).max(dim=1), (torch.ones(2), torch.tensor([0, 0]))),
    ],
)
def test_what_is_a_tensor_or_a_tuple_is_taken_as_one(made: Callable[[Tensor], Any], plain: Any) -> None:
    value = observe(made, VECTOR).value
    assert type(value) is type(plain)
    torch.testing.assert_close(value, plain)


def test_numpys_scalars_are_pythons() -> None:
    scores = numpy.array([0.25, 0.5])
    letter = numpy.array(list("BEA"))[1]
    returned = [scores.argmax(), scores.max(), numpy.float32(0.5), numpy.uint8(255), scores[1] > 0.3, letter]
    value = observe(lambda x: returned, VECTOR).value
    assert value == [1, 0.5, 0.5, 255, True, "E"]
    assert [type(item) for item in value] == [int, float, float, int, bool, str]


def test_numpys_text_as_a_key_is_text() -> None:
    letter = numpy.array(list("BEA"))[1]
    value = observe(lambda x: {letter: 1, (letter, "b"): 2}, VECTOR).value
    assert value == {"E": 1, ("E", "b"): 2}
    assert [type(key) for key in value] == [str, tuple]


def test_only_numpys_own_scalars_are_pythons() -> None:
    class Lookalike(numpy.float64):
        def __float__(self) -> float:
            raise AssertionError("this is the answer's own code")

    others = [Lookalike(0.5), numpy.float16(0.5), numpy.timedelta64(1), numpy.complex128(1), numpy.ones(1, complex)]
    value = observe(lambda x: others, VECTOR).value
    assert [type(item) for item in value] == [Foreign] * len(others)
    assert value[1:] == [
        Foreign(f"numpy.{name}") for name in ("float16", "timedelta64", "complex128", "ndarray of complex128")
    ]


@pytest.mark.parametrize("pretended", [int, list, dict, numpy.int64])
def test_a_type_that_claims_to_equal_another_is_foreign(pretended: type) -> None:
    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            return True

        def __hash__(cls) -> int:
            return hash(pretended)

    class Pretender(metaclass=Meta):
        pass

    assert type(observe(lambda x: Pretender(), VECTOR).value) is Foreign


def test_a_module_is_built_loaded_and_differentiated() -> None:
    case = Case(
        "a linear layer",
        (torch.ones(1, 2),),
        construct={"in_features": 2, "out_features": 1, "bias": False},
        weights={"weight": torch.tensor([[2.0, 3.0]])},
        gradients=(0,),
        weight_gradients=True,
    )
    seen = observe(nn.Linear, case)
    assert gradient_names(case, ["x"]) == ["x", "weight"]
    assert seen.value.item() == 5.0
    scale = cotangent(torch.zeros(1, 1)).item()
    torch.testing.assert_close(seen.gradients[0], torch.tensor([[2.0, 3.0]]) * scale)
    torch.testing.assert_close(seen.gradients[1], torch.ones(1, 2) * scale)


@pytest.mark.parametrize(("training", "kept"), [(False, 1.0), (True, 0.0)])
def test_a_module_drops_only_where_a_case_trains_it(training: bool, kept: float) -> None:
    case = Case("all dropped", (torch.ones(3),), construct={"p": 1.0}, training=training)
    assert torch.equal(observe(nn.Dropout, case).value, torch.full((3,), kept))


def test_lots_are_the_same_in_every_run_and_leave_the_notebooks_own_alone() -> None:
    case = Case("half dropped", (torch.ones(100),), construct={"p": 0.5}, training=True)
    before = torch.random.get_rng_state()
    first = observe(nn.Dropout, case).value
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.rand(1)
    assert torch.equal(observe(nn.Dropout, case).value, first)
    assert 0 < int((first == 0).sum()) < 100


class _Now(nn.Identity):
    def __init__(self, wide: int, narrow: int = 1) -> None:
        super().__init__()
        self.sizes = wide, narrow

    def forward(self, x: Tensor) -> tuple[int, ...]:
        return self.sizes


class _Once(_Now):
    def __init__(self, width: int, narrow: int = 1) -> None:
        super().__init__(width, narrow)


class _Whatever(_Now):
    def __init__(self, **sizes: int) -> None:
        super().__init__(**sizes)


class _Both(_Now):
    """Knows the name of today, and gives that of yesterday another meaning."""

    def __init__(self, wide: int, width: int = 3) -> None:
        super().__init__(wide, width)


@pytest.mark.parametrize(
    ("written", "formerly", "sizes"),
    [
        (_Now, {"wide": "width"}, (2, 1)),
        (_Once, {"wide": "width"}, (2, 1)),
        (_Once, {"wide": "width", "narrow": "length"}, (2, 1)),
        (_Whatever, {"wide": "width"}, (2, 1)),
        (_Both, {"wide": "width"}, (2, 3)),
        (_Once, {}, None),
        (_Once, {"wide": "length"}, None),
    ],
)
def test_a_class_from_before_a_renaming_is_built_under_its_names(
    written: type[nn.Module], formerly: dict[str, str], sizes: tuple[int, int] | None
) -> None:
    seen = observe(written, Case("built", (torch.ones(2),), construct={"wide": 2}, formerly=formerly))
    assert seen.value == sizes


def test_a_class_that_is_not_a_module_is_told_so() -> None:
    case = Case("built", (torch.ones(1),), construct={}, weights={"weight": torch.ones(1)})
    seen = observe(dict, case)
    assert "torch.nn.Module" in seen.raised.message


@pytest.mark.parametrize("kind", [dict, Counter, OrderedDict])
def test_every_usual_dict_is_plain_data(kind: type) -> None:
    seen = observe(lambda: kind({("a", "b"): 2, "c": 1}), Case("no arguments"))
    assert seen.value == {("a", "b"): 2, "c": 1}
    assert type(seen.value) is dict
    assert type(observe(lambda: defaultdict(int, a=1), Case("no arguments")).value) is dict


@pytest.mark.parametrize("key", [1, None, ("a", 1), (("a",),), frozenset("a")])
def test_other_keys_than_strings_and_tuples_of_strings_are_foreign(key: object) -> None:
    told = "dict whose keys are not all strings or tuples of strings"
    assert observe(lambda: {key: 1}, Case("no arguments")).value == Foreign(told)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_an_answer_may_use_autograd_whatever_the_notebook_has_set(
    mode: Callable[[], AbstractContextManager[None]],
) -> None:
    def slope(x: Tensor) -> Tensor:
        x = x.requires_grad_()
        return torch.autograd.grad((x**2).sum(), x)[0]

    with mode():
        x = torch.tensor([1.0, 2.0])
        assert torch.equal(observe(slope, Case("a slope", (x,))).value, 2 * x)
        seen = observe(lambda x: x**2, Case("a square", (torch.tensor([3.0]),), gradients=(0,)))
        assert seen.gradients[0] is not None


def test_a_module_whose_gradients_nobody_asks_for_may_leave_torch() -> None:
    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            return torch.from_numpy((x * self.weight).numpy())

    weights = {"weight": torch.tensor([2.0, 3.0])}
    assert observe(Scale, Case("no gradients", (torch.ones(2),), weights=weights)).returned


def test_weights_in_double_precision_stay_as_exact_as_they_are() -> None:
    weights = {"weight": torch.full((1, 1), 1 / 3, dtype=torch.float64), "bias": torch.zeros(1, dtype=torch.float64)}
    case = Case("double", (torch.ones(1, dtype=torch.float64),), construct={"in_features": 1, "out_features": 1})
    seen = observe(nn.Linear, replace(case, weights=weights, weight_gradients=True))
    assert seen.value.item() == 1 / 3
    assert [gradient is not None and gradient.dtype for gradient in seen.gradients] == [torch.float64] * 2
