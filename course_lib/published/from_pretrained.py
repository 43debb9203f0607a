"""Models whose weights are loaded by name, and saved in the same way.

    GPT.from_pretrained("gpt2")
    GPT.from_pretrained("Qwen/Qwen3-0.6B")
    BERT.from_pretrained("bert-base-uncased")
    SequenceClassifier.from_pretrained("distilbert/distilbert-base-uncased-finetuned-sst-2-english")
    Transformer.from_pretrained("Helsinki-NLP/opus-mt-en-de")
    model.save_pretrained("folder")

A model is saved as the published architecture that can hold it, so that the `transformers` library reads it too, and
otherwise in our own layout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self, cast

import torch
from torch import nn

from course_lib.ground.validation import check_device
from course_lib.published.families import PublishedFamily
from course_lib.published.hub import PublishedModel

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
"""What a model can compute in."""


class FromPretrained:
    """Adds `from_pretrained` and `save_pretrained` to a model that has published weights.

    Attributes:
        families: what it can be loaded from, and saved as: the first that can hold it.
    """

    families: ClassVar[tuple[PublishedFamily, ...]]

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> Self:
        """The model with published weights, or with those of `save_pretrained`, in evaluation mode.

        Args:
            name: of a model on the hub, such as "gpt2" or "bert-base-uncased", which is downloaded once; or a
                folder with `config.json` and `model.safetensors`.
            dtype: what its weights become.
            device: where it is put.

        Raises:
            TypeError: `dtype` is not one of torch's.
            FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
            ValueError: it has another architecture, it was published without this head, or its tensors do not fit; no
                model computes in `dtype`, or there is no such device.
        """
        _check_floating_type(dtype)
        device = check_device(device)
        families = {family.model_type: family for family in cls._all_families()}
        published = PublishedModel.read(name, *families)
        return cast(Self, cls._load(families[published.config["model_type"]], published, dtype, device))

    @classmethod
    def _all_families(cls) -> tuple[PublishedFamily, ...]:
        return cls.families

    @classmethod
    def _load(
        cls, family: PublishedFamily, published: PublishedModel, dtype: torch.dtype, device: torch.device
    ) -> nn.Module:
        return family.load(published, cls, dtype=dtype, device=device)  # type: ignore[arg-type]  # it is a module

    def save_pretrained(self, folder: str | Path) -> None:
        """Write `config.json` and `model.safetensors`, which `from_pretrained` reads again bit for bit.

        They are GPT-2's, BERT's or Marian's, for the `transformers` library as well, where those architectures can do
        what this model does, and our own otherwise. The weights keep their dtype, and what is tied stays tied.

        Args:
            folder: created if missing. What was in it stays as it was if the writing fails.

        Raises:
            OSError: the folder cannot be written to.
            ValueError: what the configuration says is tied differs, or no published architecture has such a head.
        """
        self.published().write(folder)

    def published(self) -> PublishedModel:
        """The same as a published model, of the first family that can hold it."""
        model = cast(Any, self)
        return next(family for family in self.families if family.can_hold(model.config)).published(model)


class HeadFromPretrained(FromPretrained):
    """Adds the same to a head: it is loaded, and saved, together with the model that it is on.

    Attributes:
        stands_on: what the model is called in the head, and in the names of its weights.
        body: the model's class.
        of_classes: whether the head is made for a number of classes.
    """

    stands_on: ClassVar[str]
    body: ClassVar[Any]
    of_classes: ClassVar[bool] = False

    @classmethod
    def _all_families(cls) -> tuple[PublishedFamily, ...]:
        return tuple(family for family in cls.body.families if cls.__name__ in family.heads)

    @classmethod
    def _load(
        cls, family: PublishedFamily, published: PublishedModel, dtype: torch.dtype, device: torch.device
    ) -> nn.Module:
        head = family.heads[cls.__name__]
        if absent := head.names - family.renamed(published).tensors.keys():
            raise ValueError(
                f"{published.name} was published without the head of a {cls.__name__} (it lacks {min(absent)}): put a "
                f"new one on {cls.body.__name__}.from_pretrained(...), to be trained"
            )
        names = head.plan["output.weight"].names if cls.of_classes else ()
        classes = [len(published.tensors[name]) for name in names]

        def build(config: Any) -> nn.Module:
            return cls(cls.body(config), *classes)  # type: ignore[call-arg, return-value]  # it is a module

        return family.load(published, build, (cls.stands_on, head), dtype=dtype, device=device)

    def published(self) -> PublishedModel:
        """The model with this head as a published model.

        Raises:
            ValueError: no published architecture has such a head on such a model.
        """
        model = cast(Any, self)
        body = getattr(model, self.stands_on)
        families = self._all_families() if type(body) is self.body else ()
        family = next((family for family in families if family.can_hold(body.config)), None)
        if family is None or getattr(model, "pooling", "pooled") != "pooled":
            raise ValueError(
                f"no published architecture has this {type(self).__name__} on this {type(body).__name__}: "
                "torch.save(model.state_dict(), file) keeps its weights"
            )
        found = family.published(model, (self.stands_on, family.heads[type(self).__name__]))
        return found.with_config(num_labels=len(model.output.weight)) if self.of_classes else found


def _check_floating_type(dtype: torch.dtype) -> None:
    known = ", ".join(map(str, DTYPES))
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype must be one of {known}, not {dtype!r}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {known}, not {dtype}")
