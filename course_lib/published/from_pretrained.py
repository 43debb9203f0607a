"""Models whose weights are loaded by name, and saved in the same way."""

from __future__ import annotations

from pathlib import Path
from typing import Self, cast

import torch
from torch import nn


class FromPretrained:
    """Adds `from_pretrained` and `save_pretrained` to a model that has published weights."""

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
            TypeError: `dtype` is none of torch's.
            FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
            ValueError: it has another architecture, or its tensors do not fit; no model computes in `dtype`, or there
                is no such device.
        """
        # Only when called: loading comes after the models, since it has to know all of them.
        from course_lib.published.pretrained import load

        return load(cls, name, dtype=dtype, device=device)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write `config.json` and `model.safetensors`, which `from_pretrained` reads again bit for bit.

        They are GPT-2's, BERT's or Marian's, for the `transformers` library as well, where those architectures can do
        what this model does, and our own otherwise. The weights keep their dtype, and what is tied stays tied.

        Args:
            folder: made if need be. What was in it stays as it was if the writing fails.

        Raises:
            OSError: the folder cannot be written to.
            ValueError: what the configuration says is tied differs.
        """
        from course_lib.published.pretrained import save_model

        save_model(cast(nn.Module, self), folder)
