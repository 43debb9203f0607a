"""Adds loading by name, and saving, to models and heads.

    GPT.from_pretrained("gpt2")
    GPT.from_pretrained("Qwen/Qwen3-0.6B")
    BERT.from_pretrained("bert-base-uncased")
    SequenceClassifier.from_pretrained("distilbert/distilbert-base-uncased-finetuned-sst-2-english")
    Transformer.from_pretrained("Helsinki-NLP/opus-mt-en-de")
    model.save_pretrained("folder")

If a published architecture can hold a model, it is saved as that, so that the `transformers` library reads it too;
otherwise in our own layout.
"""

from pathlib import Path
from typing import Any, ClassVar, Self, cast

import torch
from torch import nn

from course_lib.ground.validation import check_device
from course_lib.published.families import PublishedFamily
from course_lib.published.hub import PublishedModel

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
"""The dtypes that a model can compute in."""


class FromPretrained:
    """Adds `from_pretrained` and `save_pretrained` to a model that has published weights.

    Attributes:
        families: the families that it can be loaded from; it is saved as the first that can hold it.
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
        """Load a model with published weights, or with those of `save_pretrained`, in evaluation mode.

        Args:
            name: the name of a model on the hub, such as "gpt2" or "bert-base-uncased", which is downloaded once; or a
                folder with `config.json` and `model.safetensors`.
            dtype: the dtype of the loaded weights.
            device: where to put the model.

        Raises:
            TypeError: `dtype` is not a torch dtype.
            FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
            ValueError: the model has another architecture, was published without this head, or its tensors do not fit;
                no model computes in `dtype`; or there is no such device.
        """
        known = f"dtype must be one of {', '.join(map(str, DTYPES))}, not"
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"{known} {dtype!r}")
        if dtype not in DTYPES:
            raise ValueError(f"{known} {dtype}")
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
        """Write `config.json` and `model.safetensors`, which `from_pretrained` restores bit for bit.

        They are in the layout of GPT-2, BERT or Marian, for the `transformers` library as well, if that architecture
        can do what this model does, and otherwise in our own. Weights keep their dtype, and tied ones stay tied.

        Args:
            folder: created if missing. If writing fails, its old content stays as it was.

        Raises:
            OSError: the folder cannot be written to.
            ValueError: tensors that the configuration calls tied differ, or no published architecture has such a head.
        """
        self.published().write(folder)

    def published(self) -> PublishedModel:
        """Return this model as a published one, of the first family that can hold it."""
        model = cast(Any, self)
        return next(family for family in self.families if family.can_hold(model.config)).published(model)


class HeadFromPretrained(FromPretrained):
    """Adds loading and saving to a head, together with the model that it is on.

    Attributes:
        stands_on: the name of the model within the head, and in the names of its weights.
        body: the model's class.
        of_classes: whether the head takes a number of classes.
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
        """Return the model with this head as a published model.

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
