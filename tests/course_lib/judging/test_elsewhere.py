"""What is made on the CPU is found, and only that."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from course_lib.judging.elsewhere import MixedDevices
from course_lib.judging.exercise import Case
from course_lib.judging.observation import observe

X = torch.tensor([[3.0, -1.0, 2.0], [0.0, 5.0, -4.0]])
ON_THE_CPU = torch.arange(3.0)


class Buffered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("steps", torch.arange(3.0), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + self.steps


class Kept(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.steps = torch.arange(3.0)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + self.steps


def in_a_context(x: Tensor) -> Tensor:
    with x.device:
        return x + torch.arange(3)


def by_entries(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    for i, row in enumerate(x.tolist()):
        for j, number in enumerate(row):
            out[i, j] = number + float(x[i, j] > 0)
    return out


RIGHT: dict[str, Callable[[Tensor], Tensor]] = {
    "device=x.device": lambda x: x + torch.arange(3, device=x.device),
    "to the device": lambda x: x + torch.arange(3).to(x.device),
    "to x": lambda x: x + torch.arange(3).to(x),
    "of its type": lambda x: x + torch.arange(3.0).type_as(x),
    "new": lambda x: x.new_ones(3) + x.new_tensor([1, 2, 3]) * x,
    "like x": lambda x: torch.where(x > 0, x, torch.zeros_like(x)) @ torch.ones_like(x).T,
    "in a context": in_a_context,
    "if it is on a GPU": lambda x: x + (torch.ones(3).cuda() if x.is_cuda else torch.ones(3)),
    "by entries": by_entries,
    "a number as a tensor": lambda x: x * torch.tensor(2.0) + torch.where(x > 0, x, torch.tensor(0.0)),
    "indices from the CPU": lambda x: x[:, torch.tensor([2, 0, 1])],
    "in its place": lambda x: x.clone().masked_fill_(x < 0, 0.0).add_(1),
    "shapes of the CPU": lambda x: x.view_as(torch.ones(2, 3)) + x[0].expand_as(torch.ones(2, 3)),
    "there and back": lambda x: x.cpu().to(x.device) + x,
    "stacked": lambda x: torch.stack([row.sum() for row in x]),
}

WRONG: dict[str, Callable[[Tensor], Tensor]] = {
    "arange": lambda x: x + torch.arange(3),
    "from outside": lambda x: x + ON_THE_CPU,
    "a list": lambda x: x * torch.tensor([1.0, 2.0, 3.0]),
    "a mask": lambda x: x.masked_fill(torch.ones(3, 3).tril()[:2] == 0, 0.0),
    "joined": lambda x: torch.cat([x, torch.zeros(2, 1)], dim=1),
    "written anew": lambda x: torch.tensor(x.tolist()),
    "filled": lambda x: torch.zeros(2, 3).add_(x),
    "the CPU by name": lambda x: x + torch.arange(3, device="cpu"),
    "brought back": lambda x: x.cpu() + 1,
}


@pytest.mark.parametrize("way", RIGHT)
def test_what_is_made_beside_the_input_is_right(way: str) -> None:
    seen, plain = (observe(RIGHT[way], Case("", (X,), elsewhere=elsewhere)) for elsewhere in (True, False))
    assert seen.returned, seen.raised
    assert torch.equal(seen.value, plain.value)


@pytest.mark.parametrize("way", WRONG)
def test_what_is_made_on_the_cpu_is_found(way: str) -> None:
    assert observe(WRONG[way], Case("", (X,))).returned
    raised = observe(WRONG[way], Case("", (X,), elsewhere=True)).raised
    assert raised.type_name == MixedDevices.__name__


@pytest.mark.parametrize(
    ("made", "returned"),
    [
        (lambda n, device=None: torch.ones(n, n, device=device).tril() > 0, True),
        (lambda n, device=None: torch.tensor([[i >= j for j in range(n)] for i in range(n)], device=device), True),
        (lambda n, device=None: torch.ones(n, n).tril().to(device) > 0, True),
        (lambda n, device: torch.ones(n, n, device=torch.device(device)).tril() > 0, True),
        (lambda n, **where: torch.ones(n, n, **where).tril() > 0, True),
        (lambda n: torch.ones(n, n).tril() > 0, True),  # of an earlier version, and called as it was then
        (lambda n, device=None: torch.ones(n, n).tril() > 0, False),
        (lambda n, device=None: torch.ones(n, n, device=device) * torch.arange(n).ge(torch.arange(n)[:, None]), False),
        (lambda n, device=None: torch.ones(n, n, device="cpu").tril() > 0, False),
        (lambda n, **where: torch.ones(n, n).tril() > 0, False),
    ],
)
def test_a_device_is_asked_for_where_the_input_is_a_number(made: Callable[..., Tensor], returned: bool) -> None:
    seen = observe(made, Case("", (3,), {"device": "cuda:0"}, elsewhere=True, formerly={"device": ""}))
    assert seen.returned == returned
    if returned:
        assert torch.equal(seen.value, torch.ones(3, 3).tril() > 0)
    else:
        assert seen.raised.type_name == MixedDevices.__name__


def test_an_answer_that_only_a_device_stops_is_called_without_one() -> None:
    def refused(n: int, device: str = "cpu") -> Tensor:
        if str(device) != "cpu":
            raise RuntimeError("no such device here")
        return torch.arange(n, device=device)

    assert observe(refused, Case("", (3,), {"device": "cuda:0"}, elsewhere=True)).returned


@pytest.mark.parametrize(("answer", "returned"), [(Buffered, True), (Kept, False)])
def test_a_module_takes_its_buffers_along_and_nothing_else(answer: type[nn.Module], returned: bool) -> None:
    case = Case("", (X,), weights={"weight": torch.ones(3)}, elsewhere=True)
    assert observe(answer, case).returned == returned


def test_another_error_is_no_matter_of_devices() -> None:
    def refused(x: Tensor) -> Tensor:
        if x.is_cuda:
            raise RuntimeError("no such device here")
        return x

    assert observe(refused, Case("", (X,), elsewhere=True)).returned
