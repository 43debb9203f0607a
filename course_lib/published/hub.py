"""Published models: finds them on the hub or in a folder, reads them as plain tensors, and writes them.

A published model is a folder with `config.json` and the weights, as safetensors or, if there is nothing else, as
torch's older file. Nothing in either runs. `course_lib.published.plans` maps its tensors to ours.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from course_lib.ground.files import put_in_place
from course_lib.ground.optional import needed_for
from course_lib.ground.torch_files import first_line, read_torch_file

CONFIG = "config.json"
"""The file with a model's kind and sizes."""

WHOLE = "model.safetensors"
"""The weights in a single file."""

INDEX = "model.safetensors.index.json"
"""The index of weights in several files: which tensor is in which."""


@dataclass(frozen=True)
class PublishedModel:
    """A published model that was read.

    Attributes:
        name: its name as requested.
        config: the contents of `config.json`.
        tensors: the weights, by their published names.
    """

    name: str
    config: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    @classmethod
    def read(cls, name: str | Path, *model_types: str) -> PublishedModel:
        """Find and read a model of one of these kinds.

        Args:
            name: a folder, or a model's name on the hub, such as "gpt2"; it is downloaded once.
            model_types: the kinds that `config.json` may name, such as "bert".

        Raises:
            FileNotFoundError: there is no such folder, it lacks a file, or the hub cannot be reached.
            ValueError: the model is of another kind, or a file does not have the expected content.
        """
        folder = find_folder(name)
        config = _read_config(folder)
        found = config.get("model_type")
        if found not in model_types:
            wanted = " or ".join(repr(model_type) for model_type in model_types)
            raise ValueError(f"{name} holds a model of type {found!r}, not of {wanted}")
        return cls(str(name), config, _read_tensors(folder))

    def renamed(self, rename: Callable[[str], str]) -> PublishedModel:
        """Return the same tensors under other names."""
        return replace(self, tensors={rename(name): tensor for name, tensor in self.tensors.items()})

    def with_config(self, **changes: Any) -> PublishedModel:
        """Return the same model with other settings."""
        return replace(self, config={**self.config, **changes})

    def write(self, folder: str | Path) -> None:
        """Write both files beside their places first, so that the old ones stay until both are complete.

        Args:
            folder: created if missing; other files in it are left alone.

        Raises:
            OSError: the folder cannot be written to.
        """
        with needed_for("writing a model", package="safetensors"):
            from safetensors import SafetensorError
            from safetensors.torch import save_file
        folder = Path(folder).expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        with put_in_place(folder / WHOLE) as weights, put_in_place(folder / CONFIG) as config:
            try:
                save_file(dict(self.tensors), weights, metadata={"format": "pt"})
            except SafetensorError as error:
                raise OSError(f"{folder} cannot be written to: {first_line(error)}") from None
            config.write_text(json.dumps(self.config, indent=2) + "\n", encoding="utf-8")

    def option(self, key: str, choices: Iterable[Any], default: Any) -> Any:
        """Return a setting, which must be a value that our models support.

        Raises:
            ValueError: the value is not supported.
        """
        value = self.config.get(key, default)
        allowed = list(choices)
        if value not in allowed:
            known = " or ".join(repr(choice) for choice in allowed)
            raise ValueError(f"{self.name} was made with {key}={value!r}; this library supports {known}")
        return value

    def size(self, key: str) -> int:
        """Return a number that `config.json` must give.

        Raises:
            ValueError: the number is missing, or is not a positive whole number.
        """
        value = self.config.get(key)
        if type(value) is not int or value < 1:  # True is an int, too
            raise self._wrong(key, "a positive whole number")
        return value

    def number(self, key: str, default: float) -> float:
        """Return a number that `config.json` may give.

        Raises:
            ValueError: the setting is not such a number.
        """
        value = self.config.get(key, default)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise self._wrong(key, "a number")
        return float(value)

    def token(self, key: str, default: int, vocab_size: int) -> int:
        """Return the id of a special token, which must be in the vocabulary.

        Raises:
            ValueError: the id is not in the vocabulary.
        """
        value = self.config.get(key, default)
        if type(value) is not int or not 0 <= value < vocab_size:
            raise self._wrong(key, f"an id from 0 to {vocab_size - 1}", default)
        return value

    def tokens(self, key: str, default: Any, vocab_size: int) -> tuple[int, ...]:
        """Return the ids of special tokens: one, several or none.

        Raises:
            ValueError: an id is not in the vocabulary.
        """
        value = self.config.get(key, default)
        several = value if isinstance(value, (list, tuple)) else [value] * (value is not None)
        if not all(type(token) is int and 0 <= token < vocab_size for token in several):
            raise self._wrong(key, f"an id from 0 to {vocab_size - 1}, or as a list of them", default)
        return tuple(several)

    def _wrong(self, key: str, expected: str, default: Any = None) -> ValueError:
        found = self.config.get(key, default)
        return ValueError(f"config.json of {self.name} must give {key} as {expected}, not {found!r}")


# --- Finding and reading ---------------------------------------------------------------------------------------


TEXTS = (
    CONFIG,
    *("*.txt", "tokenizer*.json", "vocab.json", "source.spm", "target.spm"),
    *("special_tokens_map.json", "sentence_bert_config.json"),
)
"""The files to read besides weights: the configuration, and how to cut texts."""

WEIGHTS = (WHOLE, INDEX, "model-?????-of-?????.safetensors")


def find_folder(name: str | Path, *, weights: bool = True) -> Path:
    """Return the folder of a published model: a local one, or the hub's cache, downloading it first if needed.

    Args:
        name: the name of a folder, or of a model on the hub.
        weights: whether to download the weights, too.

    Raises:
        FileNotFoundError: there is no such folder, and no such model on the hub, or the hub cannot be reached.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if isinstance(name, Path) or name.startswith((".", "/", "~")):
        raise FileNotFoundError(f"there is no folder {name}")
    return _from_hub(name, weights)


def _from_hub(name: str, weights: bool) -> Path:
    with needed_for("a model from the hub", package="huggingface_hub"):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    try:
        folder = Path(snapshot_download(name, allow_patterns=[*TEXTS, *WEIGHTS] if weights else [*TEXTS]))
        if weights and not (folder / WHOLE).is_file() and not (folder / INDEX).is_file():
            folder = Path(snapshot_download(name, allow_patterns=[CONFIG, "pytorch_model.bin"]))
    except LocalEntryNotFoundError:
        raise FileNotFoundError(
            f"{name} is neither a folder nor in the cache, and the hub cannot be reached: "
            "connect once, or give a folder with config.json and model.safetensors"
        ) from None
    except (HfHubHTTPError, HFValidationError) as error:
        raise FileNotFoundError(f"{name} is neither a folder nor a model on the hub: {first_line(error)}") from None
    return folder


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no config.json, so it holds no model")
    return read_json(path)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds.

    Raises:
        ValueError: the file is not JSON, or holds something else.
        OSError: the file cannot be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold an object, not {type(content).__name__}")
    return content


def _read_tensors(folder: Path) -> dict[str, Tensor]:
    """Read all weights, from one file or from the parts that an index names; other files may be beside them."""
    whole, index, old = folder / WHOLE, folder / INDEX, folder / "pytorch_model.bin"
    if whole.is_file():
        return _read_safetensors(whole)
    if index.is_file():
        return {name: tensor for part in _parts(index) for name, tensor in _read_safetensors(part).items()}
    if old.is_file():
        return _read_pickled(old)
    raise FileNotFoundError(f"{folder} has neither {WHOLE} nor {old.name}")


def _parts(index: Path) -> list[Path]:
    """Return the files that an index names, all of them in its own folder."""
    names = read_json(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise ValueError(f'{index} must say under "weight_map" in which file each tensor is')
    parts = [index.parent / name for name in sorted(set(names.values()))]
    for part in parts:
        if part.parent != index.parent:
            raise ValueError(f"{index} must name files of its own folder, not {part}")
        if not part.is_file():
            raise FileNotFoundError(f"{part} is missing, which {index.name} names")
    return parts


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    with needed_for("a published model", package="safetensors"):
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    try:
        return load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged or not a safetensors file: {first_line(error)}") from None


def _read_pickled(path: Path) -> dict[str, Tensor]:
    tensors = read_torch_file(path)
    if not isinstance(tensors, dict) or not all(isinstance(value, Tensor) for value in tensors.values()):
        raise ValueError(f"{path} must hold tensors by name, and nothing else")
    return tensors
