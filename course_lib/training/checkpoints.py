"""Checkpoints: training runs saved so that they can be resumed, bit for bit; and the mean of several.

A file is written beside its place and moved there whole: stop the program, or pull the plug, and the last checkpoint is
complete. Reading a file runs nothing in it (`course_lib.ground.torch_files`).
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.ground.files import put_in_place
from course_lib.ground.torch_files import read_torch_file
from course_lib.training.optimizers import Optimizers

FORMAT = "katze-training-1"
_NAME = re.compile(r"step-(\d{8})\.pt")


class CheckpointError(ValueError):
    """A checkpoint cannot be used: it is cut off, is not a checkpoint, or comes from another model."""


@dataclass(frozen=True)
class Checkpoints:
    """Where to save a training run, and how often.

    Attributes:
        folder: holds the files, named after their steps; it is created if it is missing.
        every: the number of steps from one checkpoint to the next; the last step is always saved.
        keep: how many of the newest to keep.
        pause: the least seconds between two checkpoints, except for the last `keep` of a run.
    """

    folder: Path
    every: int = 1000
    keep: int = 1
    pause: float = 0.0

    def __post_init__(self) -> None:
        if self.every < 1 or self.keep < 1:
            raise ValueError(f"every and keep must be at least 1, got {self.every} and {self.keep}")

    def are_due(self, step: int, last: int, seconds: float) -> bool:
        """Return whether to save after this step.

        Args:
            step: the step that was just taken.
            last: the run's last step, which is always saved.
            seconds: the time since the checkpoint before.
        """
        if step == last:
            return True
        return step % self.every == 0 and (step > last - self.keep * self.every or seconds >= self.pause)

    def files(self) -> list[Path]:
        """Return the saved files, newest last."""
        return sorted(path for path in Path(self.folder).glob("step-*.pt") if _NAME.fullmatch(path.name))

    def save(self, step: int, content: Mapping[str, Any]) -> Path:
        """Save a step's content, then remove checkpoints that are too old."""
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"step-{step:08d}.pt"
        write_checkpoint(path, content)
        for old in self.files()[: -self.keep]:
            old.unlink()
        return path


class BackgroundSaves:
    """Writes checkpoints one after another while training continues."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        """Write nothing yet; `save` does."""
        self._checkpoints = checkpoints
        self._writer = ThreadPoolExecutor(1, "checkpoints")
        self._last: Future[Path] | None = None

    def save(self, step: int, content: Mapping[str, Any]) -> None:
        """Begin to save a step's content, which may change from now on.

        Raises:
            OSError: the checkpoint before could not be written.
        """
        content = _copied(content, {})
        self.wait()
        self._last = self._writer.submit(self._checkpoints.save, step, content)

    def wait(self) -> None:
        """Wait until the last checkpoint is written.

        Raises:
            OSError: the checkpoint could not be written.
        """
        if self._last is not None:
            self._last.result()
            self._last = None

    def close(self) -> None:
        """Finish the current checkpoint, and write no more."""
        self._writer.shutdown()


def _copied(held: Any, seen: dict[tuple[object, ...], Tensor]) -> Any:
    """Copy a value to new memory on the CPU; tensors that share memory, such as tied weights, still do in the copy."""
    if isinstance(held, Tensor):
        place = (held.data_ptr(), held.dtype, held.shape, held.stride())
        if place not in seen:
            seen[place] = held.detach().to("cpu", copy=True)
        return seen[place]
    if isinstance(held, Mapping):
        return {name: _copied(part, seen) for name, part in held.items()}
    return [_copied(part, seen) for part in held] if isinstance(held, list) else held


def write_checkpoint(path: Path | str, content: Mapping[str, Any]) -> None:
    """Write a checkpoint whole or not at all."""
    with put_in_place(Path(path)) as unfinished:
        torch.save({"format": FORMAT, **content}, unfinished)


def read_checkpoint(path: Path | str) -> dict[str, Any]:
    """Read a checkpoint, on the CPU.

    Raises:
        CheckpointError: the file is cut off or damaged, or is not a checkpoint of a training run.
        OSError: the file cannot be read.
    """
    try:
        content = read_torch_file(path)
    except ValueError as error:
        raise CheckpointError(f"{error}; remove it to continue from the one before") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise CheckpointError(f"{path} is not a training checkpoint: expected format {FORMAT!r}, got {found!r}")
    return content


_COMPILED = "_orig_mod."
"""The part of weights' names that `torch.compile` adds when it wraps a model, or a part of one."""


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Return a model's weights and buffers, by their names in the uncompiled model."""
    return uncompiled(model.state_dict())


def uncompiled(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the same weights, by their names in the uncompiled model."""
    return {name.replace(_COMPILED, ""): tensor for name, tensor in weights.items()}


def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Load what `weights_of` returns, whether the model is compiled or not."""
    model.load_state_dict({name: weights[name.replace(_COMPILED, "")] for name in model.state_dict()})


def check_weights(found: Mapping[str, Tensor], expected: Mapping[str, Tensor], path: Path | str) -> None:
    """Refuse weights that are not a model's, before any of them is loaded.

    Raises:
        CheckpointError: the message names the first that is missing, unexpected, or of another shape.
    """
    for name in expected:
        if name not in found:
            raise CheckpointError(f"{path} is from another model: it has no {name}")
    for name, tensor in found.items():
        if name not in expected:
            raise CheckpointError(f"{path} is from another model: it has {name}, which this one lacks")
        theirs, ours = list(tensor.shape), list(expected[name].shape)
        if theirs != ours:
            raise CheckpointError(f"{path} is from another model: its {name} is {theirs}, this one's {ours}")


def check_optimizer(found: Mapping[str, Any], optimizer: Optimizers, path: Path | str) -> None:
    """Refuse the state of an optimizer of other parameters, before any of it is loaded.

    Raises:
        CheckpointError: the groups of parameters differ, or a parameter had another shape.
    """
    theirs = [len(group["params"]) for group in found["param_groups"]]
    ours = [len(group["params"]) for group in optimizer.param_groups]
    if theirs != ours:
        raise CheckpointError(
            f"{path} is from another training run: its trained parameters: {_joined(theirs)}, this one's: "
            f"{_joined(ours)}; freeze the same ones"
        )
    moved = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for number, parameter in enumerate(moved):
        for name, tensor in found["state"].get(number, {}).items():
            if tensor.dim() and tensor.shape != parameter.shape:
                raise CheckpointError(
                    f"{path} is from another training run: {name} of its trained parameter {number} is "
                    f"{list(tensor.shape)}, this one's is {list(parameter.shape)}; freeze the same ones"
                )


def _joined(counts: Sequence[int]) -> str:
    return " + ".join(map(str, counts))


def average_weights(paths: Sequence[Path | str]) -> dict[str, Tensor]:
    """Return the mean of several checkpoints' weights, such as the last ones of a run: Vaswani et al. (2017), 6.1.

    The mean often translates better than any of them. It is computed in double precision; anything but floating-point
    numbers, such as a counter, comes from the last checkpoint.

    Raises:
        ValueError: there are no checkpoints.
        CheckpointError: a checkpoint cannot be read, or they are of different models.
    """
    if not paths:
        raise ValueError("there are no checkpoints to average")
    total: dict[str, Tensor] = {}
    for path in paths:
        weights: dict[str, Tensor] = read_checkpoint(path)["model"]
        check_weights(weights, total or weights, path)
        for name, tensor in weights.items():
            wide = tensor.double() if tensor.is_floating_point() else tensor
            total[name] = total[name] + wide if name in total and tensor.is_floating_point() else wide
    return {
        name: (total[name] / len(paths)).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in weights.items()
    }
