"""Published models: found on the hub or in a folder, read as plain tensors, and checked name by name.

A published model is a folder with `config.json` and the weights, as safetensors or, where only that exists, as torch's
older file. Nothing in either is run. `course_lib.published.pretrained` says which of its tensors is which of ours.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.ground.optional import needed_for
from course_lib.ground.torch_files import first_line, read_torch_file

WHOLE = "model.safetensors"
"""The weights in one file."""

INDEX = "model.safetensors.index.json"
"""Where the weights are in several files: which tensor is in which."""

SHOWN = 4
"""How many names an error lists before it says how many more there are."""


@dataclass(frozen=True)
class PublishedModel:
    """What was found.

    Attributes:
        name: as it was asked for.
        config: the contents of `config.json`.
        tensors: the weights by their published names.
    """

    name: str
    config: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    @classmethod
    def read(cls, name: str | Path, model_type: str) -> PublishedModel:
        """Find and read a model of one kind.

        Args:
            name: a folder, or a model's name on the hub, such as "gpt2"; it is downloaded once.
            model_type: the kind that `config.json` must name, such as "bert".

        Raises:
            FileNotFoundError: there is no such folder, it lacks a file, or the hub cannot be reached.
            ValueError: it is another kind, or a file cannot be read as what it should be.
        """
        folder = find_folder(name)
        config = _read_config(folder)
        found = config.get("model_type")
        if found != model_type:
            raise ValueError(f"{name} holds a model of type {found!r}, not of {model_type!r}")
        return cls(str(name), config, _read_tensors(folder))

    def option(self, key: str, choices: Iterable[Any], default: Any) -> Any:
        """A setting that must be one of those that our models know.

        Raises:
            ValueError: it is not.
        """
        value = self.config.get(key, default)
        allowed = list(choices)
        if value not in allowed:
            known = " or ".join(repr(choice) for choice in allowed)
            raise ValueError(f"{self.name} was made with {key}={value!r}; this library knows {known}")
        return value

    def size(self, key: str) -> int:
        """A number that `config.json` must give.

        Raises:
            ValueError: it does not, or it is not a positive whole number.
        """
        value = self.config.get(key)
        if type(value) is not int or value < 1:  # True is an int as well
            raise self._wrong(key, "a positive whole number")
        return value

    def number(self, key: str, default: float) -> float:
        """A number that `config.json` may give.

        Raises:
            ValueError: it gives something else.
        """
        value = self.config.get(key, default)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise self._wrong(key, "a number")
        return float(value)

    def word(self, key: str, default: int, vocabulary: int) -> int:
        """The id of a special word, one of the vocabulary's.

        Raises:
            ValueError: it is none.
        """
        value = self.config.get(key, default)
        if type(value) is not int or not 0 <= value < vocabulary:
            raise self._wrong(key, f"an id from 0 to {vocabulary - 1}", default)
        return value

    def _wrong(self, key: str, expected: str, default: Any = None) -> ValueError:
        found = self.config.get(key, default)
        return ValueError(f"config.json of {self.name} must give {key} as {expected}, not {found!r}")


# --- Finding and reading ---------------------------------------------------------------------------------------


def find_folder(name: str | Path) -> Path:
    """The folder of a published model: a local one, or one from the hub's cache, downloaded first if need be.

    Raises:
        FileNotFoundError: there is no such folder, and no such model on the hub, or the hub cannot be reached.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if isinstance(name, Path) or name.startswith((".", "/", "~")):
        raise FileNotFoundError(f"there is no folder {name}")
    return _from_hub(name)


def _from_hub(name: str) -> Path:
    with needed_for("a model from the hub", package="huggingface_hub"):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    texts = [
        "config.json",
        "*.txt",
        "tokenizer*.json",
        "vocab.json",
        WHOLE,
        INDEX,
        "model-?????-of-?????.safetensors",
    ]
    try:
        folder = Path(snapshot_download(name, allow_patterns=texts))
        if not (folder / WHOLE).is_file() and not (folder / INDEX).is_file():
            folder = Path(snapshot_download(name, allow_patterns=["config.json", "pytorch_model.bin"]))
    except LocalEntryNotFoundError:
        raise FileNotFoundError(
            f"{name} is neither a folder nor in the cache, and the hub cannot be reached: "
            "connect once, or give a folder with config.json and model.safetensors"
        ) from None
    except (HfHubHTTPError, HFValidationError) as error:
        raise FileNotFoundError(f"{name} is neither a folder nor a model on the hub: {first_line(error)}") from None
    return folder


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no config.json, so it holds no model")
    return read_json(path)


def read_json(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises:
        ValueError: it is not JSON, or holds something else.
        OSError: it cannot be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold an object, not {type(content).__name__}")
    return content


def _read_tensors(folder: Path) -> dict[str, Tensor]:
    """All weights, from one file or from the parts that an index names; other files may be next to them."""
    whole, index, old = folder / WHOLE, folder / INDEX, folder / "pytorch_model.bin"
    if whole.is_file():
        return _read_safetensors(whole)
    if index.is_file():
        return {name: tensor for part in _parts(index) for name, tensor in _read_safetensors(part).items()}
    if old.is_file():
        return _read_pickled(old)
    raise FileNotFoundError(f"{folder} has neither {WHOLE} nor {old.name}")


def _parts(index: Path) -> list[Path]:
    """The files that an index names, all of them in its own folder."""
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


# --- Their tensors as ours -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where one of our tensors comes from.

    Attributes:
        names: published tensors; several are put one below the other.
        change: what is done to each of them first.
    """

    names: tuple[str, ...]
    change: Callable[[Tensor], Tensor] = torch.Tensor.float


Plan = dict[str, Source]
"""For each of our tensors, by its name in the model's state, where it comes from."""


def weights_and_bias(ours: str, *theirs: str, change: Callable[[Tensor], Tensor] = torch.Tensor.float) -> Plan:
    """The two tensors of a layer, under the same endings in both; only the weight is changed."""
    return {
        f"{ours}.weight": Source(tuple(f"{name}.weight" for name in theirs), change),
        f"{ours}.bias": Source(tuple(f"{name}.bias" for name in theirs)),
    }


def load_weights(model: nn.Module, published: PublishedModel, plan: Plan, *, unused: Sequence[str] = ()) -> None:
    """Give a model its published weights, all of them or none, in single precision.

    They replace the model's own, so that those need no memory: the model may be made on the device "meta". What was
    one parameter under two names, such as a tied output, is one again.

    Args:
        model: ours; every tensor of its state must be in the plan.
        published: where from.
        plan: which tensor is which.
        unused: patterns of published names that our model has no use for.

    Raises:
        ValueError: a tensor is missing, is not known, or has another shape; nothing was changed then.
    """
    state = model.state_dict()
    if plan.keys() != state.keys():
        raise ValueError(f"the plan and the model disagree about {_listed(plan.keys() ^ state.keys())}")
    wanted = {name for source in plan.values() for name in source.names}
    missing = wanted - published.tensors.keys()
    if missing:
        raise ValueError(f"{published.name} lacks {_listed(missing)}")
    ignored = re.compile("|".join(f"(?:{pattern})" for pattern in unused) or "(?!)")
    unexpected = {name for name in published.tensors.keys() - wanted if not ignored.fullmatch(name)}
    if unexpected:
        raise ValueError(f"{published.name} has tensors that this model has no place for: {_listed(unexpected)}")
    converted = {ours: _converted(source, published, state[ours].shape) for ours, source in plan.items()}
    for ours, tensor in converted.items():
        if tensor.shape != state[ours].shape:
            names = " and ".join(plan[ours].names)
            raise ValueError(
                f"{names} of {published.name} would be {list(tensor.shape)} here, "
                f"but config.json asks for {list(state[ours].shape)}"
            )
    tied = _tied_names(model)
    model.load_state_dict({ours: tensor.contiguous() for ours, tensor in converted.items()}, assign=True)
    for first, others in tied.items():
        for name in others:
            owner, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(owner), attribute, model.get_parameter(first))


def _converted(source: Source, published: PublishedModel, wanted: torch.Size) -> Tensor:
    tensors = {name: published.tensors[name] for name in source.names}
    try:
        parts = [source.change(tensor).float() for tensor in tensors.values()]
        return parts[0] if len(parts) == 1 else torch.cat(parts)
    except RuntimeError:  # of torch, for too many dimensions, or different widths
        found = " and ".join(f"{name} {list(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(
            f"{found} of {published.name} cannot become {list(wanted)}, which config.json asks for"
        ) from None


def _tied_names(model: nn.Module) -> dict[str, list[str]]:
    """For each parameter with several names the first one, and the others."""
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(parameter, []).append(name)
    return {first: others for first, *others in names.values() if others}


def _listed(names: Iterable[str]) -> str:
    first, more = sorted(names)[:SHOWN], len(set(names)) - SHOWN
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")
