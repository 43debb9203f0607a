"""Families of published models: for each architecture what it takes to load one into ours and to save ours as one.

A new architecture is a new `PublishedFamily`: how its configuration is read and written, a plan of its tensors, and the
heads that it is published with. Our models name the families that they can be (`FromPretrained.families`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from course_lib.positions import SinusoidalPositions
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import Plan, load_weights, published_tensors, within


def _as_loaded(_model: Any, _published: PublishedModel) -> None:
    """Nothing more to do."""


@dataclass(frozen=True)
class PublishedHead:
    """One of our heads, as an architecture publishes it.

    Attributes:
        architecture: what the `transformers` library calls the model with this head.
        plan: where the head's own tensors come from.
        body: where tensors of the model below come from that are elsewhere with this head.
        pooled: whether it reads the pooler's vector.
    """

    architecture: str
    plan: Plan
    body: Plan = field(default_factory=dict)
    pooled: bool = False

    @property
    def names(self) -> set[str]:
        """The published tensors that are the head's."""
        return {name for source in (*self.plan.values(), *self.body.values()) for name in source.names}


@dataclass(frozen=True)
class PublishedFamily:
    """One published architecture, and how it is ours.

    Attributes:
        model_type: what `config.json` calls the architecture.
        architecture: what the `transformers` library calls the model.
        read_config: our configuration, from theirs; ValueError where it asks for what our model cannot do.
        write_config: theirs, from ours; None if ours are saved as another family.
        plan: which published tensor is which of a model's.
        body: what the names of all tensors begin with but for the head's, where a model has one.
        outside: which of the plan's tensors have no such beginning.
        bare: whether the model by itself is saved without it, too.
        plain_name: today's name of a tensor that was called something else.
        heads: what it is published with, by the names of our classes.
        unused: patterns of published tensors that our model has no use for.
        finish: what is left to do once the weights are loaded.
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
    finish: Callable[[Any, PublishedModel], None] = _as_loaded

    def load(
        self,
        published: PublishedModel,
        make: Callable[[Any], nn.Module],
        on: tuple[str, PublishedHead] | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> nn.Module:
        """Our model with its weights, in evaluation mode.

        Args:
            published: what was found.
            make: our model, from its configuration.
            on: what a head calls the model that it is on, and how it is published; None for the model by itself.
            dtype: what the weights become.
            device: where to.

        Raises:
            ValueError: its configuration asks for what our model cannot do, or its tensors do not fit.
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
        if isinstance(positions, SinusoidalPositions):  # they are computed, so not among the published weights
            body.positions = SinusoidalPositions(body.config.d_model).to(device, dtype)
        with torch.no_grad():
            self.finish(body, published)
        return model.eval()

    def renamed(self, published: PublishedModel) -> PublishedModel:
        """The tensors by the names that the plan has, whether the model has a head or not."""
        return published.renamed(lambda name: self.plain_name(name.removeprefix(self.body)))

    def can_hold(self, config: Any) -> bool:
        """Return whether this architecture's configuration can say all that ours does: read again, it is the same."""
        if self.write_config is None:
            return False
        try:
            return bool(self.read_config(PublishedModel("", self.write_config(config), {})) == config)
        except ValueError:
            return False

    def published(self, model: nn.Module, on: tuple[str, PublishedHead] | None = None) -> PublishedModel:
        """Our model as one of this family; `on` is as for `load`.

        Raises:
            ValueError: what the configuration says is tied differs, or there is no place for what was learned.
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
