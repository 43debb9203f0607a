"""Plans: every tensor in its place, or none; and back again."""

from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from course_lib.blocks import Activation
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import (
    TURNED,
    Source,
    activation_name,
    load_weights,
    published_tensors,
    read_activation,
    weights_and_bias,
)

WEIGHTS = {"dense.weight": torch.arange(6.0).view(2, 3), "dense.bias": torch.tensor([7.0, 8.0])}


def published(**tensors: Tensor) -> PublishedModel:
    """A published model of these tensors; a double underscore stands for a dot."""
    return PublishedModel("toy", {}, {name.replace("__", "."): tensor for name, tensor in tensors.items()})


class TestLoading:
    PLAN = weights_and_bias("0", "dense")

    def test_what_was_tied_stays_tied_and_learns(self) -> None:
        with torch.device("meta"):
            model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
            model[1].weight = model[0].weight
        both = Source(("a",))
        load_weights(model, published(a=torch.eye(3)), {"0.weight": both, "1.weight": both})
        assert model[0].weight is model[1].weight
        assert model[0].weight.requires_grad
        assert model(torch.ones(1, 3)).tolist() == [[1.0, 1.0, 1.0]]

    def test_weights_lie_row_by_row_in_memory(self) -> None:
        model = nn.Sequential(nn.Linear(3, 2, bias=False))
        turned = Source(("a",), TURNED)
        load_weights(model, published(a=torch.ones(3, 2)), {"0.weight": turned})
        assert model[0].weight.is_contiguous()

    @pytest.mark.parametrize(
        ("tensors", "message"),
        [
            ({"dense__weight": torch.ones(2, 3)}, r"^toy lacks dense.bias$"),
            ({}, r"^toy lacks dense.bias, dense.weight$"),
            (
                {"dense__weight": torch.ones(2, 3), "dense__bias": torch.ones(2), "more__weight": torch.ones(1)},
                r"^toy has tensors that this model has no place for: more.weight$",
            ),
            (
                {"dense__weight": torch.ones(2, 3), "dense__bias": torch.ones(4)},
                r"^dense.bias of toy would be \[4\] here, but config.json asks for \[2\]$",
            ),
        ],
    )
    def test_changes_all_or_nothing(self, tensors: dict[str, Tensor], message: str) -> None:
        model = nn.Sequential(nn.Linear(3, 2))
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        with pytest.raises(ValueError, match=message):
            load_weights(model, published(**tensors), self.PLAN)
        assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())

    @pytest.mark.parametrize(
        ("a", "b", "shapes"),
        [
            (torch.ones(3, 2), torch.ones(4, 2), r"a \[3, 2\] and b \[4, 2\]"),
            (torch.ones(1, 3, 2), torch.ones(3, 2), r"a \[1, 3, 2\] and b \[3, 2\]"),
        ],
    )
    def test_parts_that_cannot_be_put_together_are_named(self, a: Tensor, b: Tensor, shapes: str) -> None:
        model = nn.Linear(3, 4, bias=False)
        with pytest.raises(ValueError, match=rf"^{shapes} of toy cannot become \[4, 3\], which config.json asks for$"):
            load_weights(model, published(a=a, b=b), {"weight": Source(("a", "b"), TURNED)})

    def test_what_is_said_to_be_unused_is_left_out(self) -> None:
        tensors = WEIGHTS | {"masks.0": torch.ones(1), "masks.1": torch.ones(1)}
        load_weights(
            nn.Sequential(nn.Linear(3, 2)), PublishedModel("toy", {}, tensors), self.PLAN, unused=[r"masks\.\d"]
        )
        with pytest.raises(ValueError, match=r"no place for: masks.0, masks.1$"):
            load_weights(
                nn.Sequential(nn.Linear(3, 2)), PublishedModel("toy", {}, tensors), self.PLAN, unused=[r"masks"]
            )

    def test_a_long_list_is_cut_short(self) -> None:
        tensors = WEIGHTS | {f"extra.{i}": torch.ones(1) for i in range(9)}
        with pytest.raises(ValueError, match=r"extra.0, extra.1, extra.2, extra.3 and 5 more$"):
            load_weights(nn.Sequential(nn.Linear(3, 2)), PublishedModel("toy", {}, tensors), self.PLAN)

    def test_a_plan_must_cover_the_model(self) -> None:
        with pytest.raises(ValueError, match=r"the plan and the model disagree about 1.bias, 1.weight"):
            load_weights(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2)), PublishedModel("toy", {}, WEIGHTS), self.PLAN)


def test_what_is_tied_is_saved_once() -> None:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    both = {"0.weight": Source(("a",)), "1.weight": Source(("a",))}
    with pytest.raises(ValueError, match=r"1.weight should be tied to the tensor saved as a, but differs from it"):
        published_tensors(model, both)
    model[1].weight = model[0].weight
    assert torch.equal(published_tensors(model, both)["a"], model[0].weight)


@pytest.mark.parametrize("activation", get_args(Activation))
def test_every_activation_has_a_published_name(activation: Activation) -> None:
    published = PublishedModel("toy", {"act": activation_name(activation)}, {})
    assert read_activation(published, "act", "relu") == activation
