"""Models loaded and saved: the family that fits is found here.

    GPT.from_pretrained("gpt2")
    GPT.from_pretrained("Qwen/Qwen3-0.6B")
    BERT.from_pretrained("bert-base-uncased")
    Transformer.from_pretrained("Helsinki-NLP/opus-mt-en-de")
    model.save_pretrained("folder")

A model is saved as the published architecture that can hold it, so that the `transformers` library reads it too, and
otherwise in our own layout.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import nn

from course_lib.ground.refusals import require_device
from course_lib.models import BERT, GPT, Transformer
from course_lib.published.bert import BERTS
from course_lib.published.families import PublishedFamily
from course_lib.published.gpt2 import GPT2
from course_lib.published.hub import PublishedModel
from course_lib.published.llama import LLAMAS
from course_lib.published.marian import MARIAN
from course_lib.published.own import OWN_BERT, OWN_GPT, OWN_TRANSFORMER

Families = tuple[PublishedFamily[Any], ...]

FAMILIES: dict[type[nn.Module], Families] = {
    GPT: (GPT2, *LLAMAS, OWN_GPT),
    BERT: (BERTS, OWN_BERT),
    Transformer: (MARIAN, OWN_TRANSFORMER),
}
"""What each of our models can be loaded from, and saved as: the first that can hold it."""

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
"""What a model can compute in."""

Model = TypeVar("Model")


def load(
    model: type[Model],
    name: str | Path,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Model:
    """A model of one of our classes with published weights: what `from_pretrained` calls.

    Raises:
        TypeError: no weights are published for this class; `dtype` is none of torch's.
        FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
        ValueError: it has another architecture, or its tensors do not fit; no model computes in `dtype`, or there is no
            such device.
    """
    families = {family.model_type: family for family in _families(cast("type[nn.Module]", model))}
    _require_floating_type(dtype)
    device = require_device(device)
    published = PublishedModel.read(name, *families)
    return cast(Model, families[published.config["model_type"]].load(published, dtype, device))


def save_model(model: nn.Module, folder: str | Path) -> None:
    """Write a model of one of our classes: what `save_pretrained` calls.

    Raises:
        TypeError: the model is of another class.
        ValueError: what its configuration says is tied differs.
        OSError: the folder cannot be written to.
    """
    family = next(family for family in _families(type(model)) if family.can_hold(model))
    family.published(model).write(folder)


def _families(model: type[nn.Module]) -> Families:
    if model not in FAMILIES:
        raise TypeError(f"there are no published weights for {model.__name__}, only for {_names(FAMILIES)}")
    return FAMILIES[model]


def _names(models: Iterable[type]) -> str:
    return ", ".join(model.__name__ for model in models)


def _require_floating_type(dtype: torch.dtype) -> None:
    known = ", ".join(map(str, DTYPES))
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype must be one of {known}, not {dtype!r}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {known}, not {dtype}")
