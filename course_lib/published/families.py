"""Families of published models: for each architecture what it takes to load one into ours and to save ours as one.

A new architecture is a new `PublishedFamily`: how its configuration is read and written, and a plan of its tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from course_lib.positions import SinusoidalPositions
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import Plan, load_weights, published_tensors

Model = TypeVar("Model", GPT, BERT, Transformer)
Config = GPTConfig | BERTConfig | TransformerConfig


def _as_loaded(_model: nn.Module, _published: PublishedModel) -> None:
    """Nothing more to do."""


@dataclass(frozen=True)
class PublishedFamily(Generic[Model]):
    """One published architecture, and how it is ours.

    Attributes:
        model: our class.
        model_type: what `config.json` calls the architecture.
        architecture: what the `transformers` library calls the model, head included.
        read_config: our configuration, from theirs; ValueError where it asks for what our model cannot do.
        write_config: theirs, from ours.
        plan: which published tensor is which of a model's.
        plain_name: the plan's name of a published tensor, whether its model has a head or not.
        full_name: the name that a tensor of the plan is saved under.
        unused: patterns of published tensors that our model has no use for.
        finish: what is left to do once the weights are loaded.
    """

    model: type[Model]
    model_type: str
    architecture: str
    read_config: Callable[[PublishedModel], Any]
    write_config: Callable[[Any], Mapping[str, Any]]
    plan: Callable[[Model], Plan]
    plain_name: Callable[[str], str] = str
    full_name: Callable[[str], str] = str
    unused: Callable[[Model], list[str]] = lambda _model: []
    finish: Callable[[Model, PublishedModel], None] = _as_loaded

    def load(
        self, published: PublishedModel, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> Model:
        """Our model with its weights, in evaluation mode.

        Raises:
            ValueError: its configuration asks for what our model cannot do, or its tensors do not fit.
        """
        published = published.renamed(self.plain_name)
        with torch.device("meta"):
            model = self.model(self.read_config(published))
        load_weights(model, published, self.plan(model), unused=self.unused(model), dtype=dtype, device=device)
        if isinstance(model, Transformer):  # its positions are computed, so not among the published weights
            model.positions = SinusoidalPositions(model.config.d_model).to(device, dtype)
        with torch.no_grad():
            self.finish(model, published)
        return model.eval()

    def can_hold(self, model: Model) -> bool:
        """Whether this architecture's configuration says all that the model's does: read again, it is the same."""
        try:
            again: Config = self.read_config(PublishedModel("", self.write_config(model.config), {}))
        except ValueError:
            return False
        return again == model.config

    def published(self, model: Model) -> PublishedModel:
        """Our model as one of this family."""
        dtype = next(model.parameters()).dtype
        config = {
            "architectures": [self.architecture],
            "model_type": self.model_type,
            "dtype": str(dtype).removeprefix("torch."),
            **self.write_config(model.config),
        }
        tensors = published_tensors(model, self.plan(model))
        return PublishedModel(self.architecture, config, tensors).renamed(self.full_name)
