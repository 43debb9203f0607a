"""Models whose published weights can be loaded by name."""

from __future__ import annotations

from pathlib import Path
from typing import Self


class FromPretrained:
    """Adds `from_pretrained` to a model that has published weights."""

    @classmethod
    def from_pretrained(cls, name: str | Path) -> Self:
        """The model with published weights, in evaluation mode, in single precision, on the CPU.

        Args:
            name: of a model on the hub, such as "gpt2" or "bert-base-uncased", which is downloaded once; or a
                folder with `config.json` and `model.safetensors`.

        Raises:
            FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
            ValueError: it has another architecture, or its tensors do not fit.
        """
        # Only when called: loading comes after the models, since it has to know all of them.
        from course_lib.published.pretrained import load

        return load(cls, name)
