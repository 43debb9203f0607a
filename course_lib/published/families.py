"""Families of published models: what it takes to load each architecture into our models, and to save ours as one.

To add an architecture, add a `PublishedFamily`: how to read and write its configuration, a plan of its tensors, and its
published heads. Our models list the families that they can be (`FromPretrained.families`).
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from course_lib.positions import SinusoidalPositions
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import Plan, load_weights, published_tensors, within


@dataclass(frozen=True)
class PublishedHead:
    """One of our heads, as an architecture publishes it.

    Attributes:
        architecture: the name of the model with this head in the `transformers` library.
        plan: where the head's own tensors come from.
        body: where tensors of the model below come from, if they have other places with this head.
        pooled: whether the head reads the pooler's vector.
    """

    architecture: str
    plan: Plan
    body: Plan = field(default_factory=dict)
    pooled: bool = False

    @property
    def names(self) -> set[str]:
        """The names of the head's published tensors."""
        return {name for source in (*self.plan.values(), *self.body.values()) for name in source.names}


@dataclass(frozen=True)
class PublishedFamily:
    """One published architecture, and how it corresponds to ours.

    Attributes:
        model_type: the architecture's name in `config.json`.
        architecture: the model's name in the `transformers` library.
        read_config: makes our configuration from theirs; raises a ValueError if our model cannot do what theirs says.
        write_config: makes their configuration from ours; None if our models are saved as another family.
        plan: the plan of a model's tensors.
        body: the prefix of all tensors' names except the head's, in a model with a head.
        outside: the tensors of the plan without this prefix.
        bare: whether a model without a head is saved without the prefix, too.
        plain_name: returns today's name of a tensor, for older names.
        heads: the published heads, by the names of our classes.
        unused: returns patterns of published tensors that our model does not use.
        finish: called after the weights are loaded.
    """

    model_type: str
    architecture: str
    read_config: Callable[[PublishedModel], Any]
    write_config: Callable[[Any], Mapping[str, Any]] | None
    plan: Callable[[Any], Plan]
    body: str = ""
    outside: tuple[str, ...] = ()
    bare: bool = False
    plain_name: Callable[[str], str] = str
    heads: Mapping[str, PublishedHead] = field(default_factory=dict)
    unused: Callable[[Any], list[str]] = lambda _model: []
    finish: Callable[[Any, PublishedModel], None] = lambda _model, _published: None

    def load(
        self,
        published: PublishedModel,
        make: Callable[[Any], nn.Module],
        on: tuple[str, PublishedHead] | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> nn.Module:
        """Return our model with its published weights, in evaluation mode.

        Args:
            published: the published model.
            make: makes our model from its configuration.
            on: the attribute of a head that holds its model, and how the head is published; None for a model alone.
            dtype: the dtype of the loaded weights.
            device: where to put the model.

        Raises:
            ValueError: our model cannot do what the configuration says, or the tensors do not fit.
        """
        published = self.renamed(published)
        with torch.device("meta"):
            model = make(self.read_config(published))
        body: Any = model if on is None else model.get_submodule(on[0])
        plan = self.plan(body)
        if on is not None:
            plan = within(on[0], plan | on[1].body) | on[1].plan
        others = {name for head in self.heads.values() for name in head.names}
        unused = [*self.unused(body), *others.difference(*(source.names for source in plan.values()))]
        new = load_weights(model, published, plan, unused=unused, dtype=dtype, device=device)
        if (on is None or on[1].pooled) and any(name.endswith("pooler.weight") for name in new):
            warnings.warn(f"{published.name} has no pooler: this one is new, and has to be trained first", stacklevel=4)
        positions = getattr(body, "positions", None)
        if isinstance(positions, SinusoidalPositions):  # computed, so not among the published weights
            body.positions = SinusoidalPositions(body.config.d_model).to(device, dtype)
        with torch.no_grad():
            self.finish(body, published)
        return model.eval()

    def renamed(self, published: PublishedModel) -> PublishedModel:
        """Return the tensors under the plan's names, whether the model has a head or not."""
        return published.renamed(lambda name: self.plain_name(name.removeprefix(self.body)))

    def can_hold(self, config: Any) -> bool:
        """Return whether this architecture can express our configuration: written and read again, it is the same."""
        if self.write_config is None:
            return False
        try:
            return bool(self.read_config(PublishedModel("", self.write_config(config), {})) == config)
        except ValueError:
            return False

    def published(self, model: nn.Module, on: tuple[str, PublishedHead] | None = None) -> PublishedModel:
        """Return our model as a published one of this family; `on` is as for `load`.

        Raises:
            ValueError: tensors that the configuration calls tied differ, or a learned tensor has no place.
        """
        body: Any = model if on is None else model.get_submodule(on[0])
        assert self.write_config is not None
        config = {
            "architectures": [self.architecture if on is None else on[1].architecture],
            "model_type": self.model_type,
            "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
            **self.write_config(body.config),
        }
        plan, outside = self.plan(body), {*self.outside}
        if on is not None:
            plan = within(on[0], plan | on[1].body) | on[1].plan
            outside |= on[1].names.difference(*(source.names for source in self.plan(body).values()))
        tensors = published_tensors(model, plan)
        prefix = "" if on is None and self.bare else self.body
        return PublishedModel(self.architecture, config, tensors).renamed(
            lambda name: name if name in outside else prefix + name
        )
