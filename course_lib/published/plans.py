"""Plans: which published tensor is which of ours, and how to convert between them in both directions.

A plan says for each of our tensors which published ones it is made from. The architectures match ours, so loading and
saving mostly change names; anything else is a `Conversion`, which can be undone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from course_lib.blocks import Activation
from course_lib.published.hub import PublishedModel

SHOWN = 4
"""The number of names that an error lists before it counts the rest."""


@dataclass(frozen=True)
class Conversion:
    """Converts a published tensor to ours, and ours to a published one.

    Attributes:
        ours: makes our tensor from theirs.
        theirs: makes their tensor from ours, which undoes `ours`.
    """

    ours: Callable[[Tensor], Tensor]
    theirs: Callable[[Tensor], Tensor]


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


SAME = Conversion(_as_it_is, _as_it_is)
"""No conversion."""

TURNED = Conversion(torch.t, torch.t)
"""Transposes [in, out] to torch's [out, in]."""


@dataclass(frozen=True)
class Source:
    """The published tensors that one of ours is made from.

    Attributes:
        names: the published tensors; several are stacked.
        change: the conversion of each of them before that, or one conversion for each.
        rows: the number of rows of each in our tensor; None if all have equally many.
        new: makes our tensor, from its shape, if theirs were not published; None if they are required.
    """

    names: tuple[str, ...]
    change: Conversion | tuple[Conversion, ...] = SAME
    rows: tuple[int, ...] | None = None
    new: Callable[[torch.Size], Tensor] | None = None

    def ours(self, theirs: Sequence[Tensor]) -> Tensor:
        """Make our tensor from the published ones."""
        parts = [change.ours(tensor) for change, tensor in zip(self._changes, theirs, strict=True)]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def theirs(self, ours: Tensor) -> list[Tensor]:
        """Make the published tensors from ours."""
        parts = ours.chunk(len(self.names)) if self.rows is None else ours.split(list(self.rows))
        return [change.theirs(part).contiguous() for change, part in zip(self._changes, parts, strict=True)]

    @property
    def _changes(self) -> tuple[Conversion, ...]:
        return self.change if isinstance(self.change, tuple) else (self.change,) * len(self.names)


Plan = dict[str, Source]
"""The source of each of our tensors, by its name in the model's state."""


def weights_and_bias(ours: str, *theirs: str, change: Conversion = SAME) -> Plan:
    """Plan the two tensors of a layer, whose names end alike in both; only the weight is converted."""
    return {
        f"{ours}.weight": Source(tuple(f"{name}.weight" for name in theirs), change),
        f"{ours}.bias": Source(tuple(f"{name}.bias" for name in theirs)),
    }


def within(name: str, plan: Plan) -> Plan:
    """Return the plan of a model that is part of another under this name."""
    return {f"{name}.{ours}": source for ours, source in plan.items()}


# --- From theirs to ours ---------------------------------------------------------------------------------------


def load_weights(
    model: nn.Module,
    published: PublishedModel,
    plan: Plan,
    *,
    unused: Sequence[str] = (),
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> set[str]:
    """Give a model its published weights, all of them or none.

    They replace the model's own, which therefore need no memory: the model may be created on the device "meta". A
    parameter with two names, such as a tied output, is one parameter again.

    Args:
        model: ours; every tensor of its state must be in the plan.
        published: the published model.
        plan: the plan of its tensors.
        unused: patterns of published names that our model does not use.
        dtype: the dtype of the loaded weights.
        device: where to put them.

    Returns:
        The names of our tensors that are new, since they were not published.

    Raises:
        ValueError: a tensor is missing, unknown, or of another shape; then nothing is changed.
    """
    state = model.state_dict()
    if plan.keys() != state.keys():
        raise ValueError(f"the plan and the model disagree about {_listed(plan.keys() ^ state.keys())}")
    plan = {ours: _found(source, published) for ours, source in plan.items()}
    wanted = {name for source in plan.values() for name in source.names}
    missing = wanted - published.tensors.keys()
    if missing:
        raise ValueError(f"{published.name} lacks {_listed(missing)}")
    ignored = re.compile("|".join(f"(?:{pattern})" for pattern in unused) or "(?!)")
    unexpected = {name for name in published.tensors.keys() - wanted if not ignored.fullmatch(name)}
    if unexpected:
        raise ValueError(f"{published.name} has tensors that this model has no place for: {_listed(unexpected)}")
    tied = tied_names(model)
    again = {name for names in tied.values() for name in names}
    converted = {
        ours: _converted(source, published, state[ours].shape, dtype, device)
        for ours, source in plan.items()
        if ours not in again
    }
    converted |= {name: converted[first] for first, names in tied.items() for name in names}
    model.load_state_dict(converted, assign=True)
    for first, others in tied.items():
        for name in others:
            owner, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(owner), attribute, model.get_parameter(first))
    return {ours for ours, source in plan.items() if not source.names}


def _found(source: Source, published: PublishedModel) -> Source:
    """Return the source, without names if none of them was published and our tensor may be new."""
    return source if source.new is None or published.tensors.keys() & {*source.names} else replace(source, names=())


def _converted(
    source: Source, published: PublishedModel, wanted: torch.Size, dtype: torch.dtype, device: torch.device | str
) -> Tensor:
    if not source.names and source.new is not None:
        return source.new(wanted).to(device, dtype)
    tensors = {name: published.tensors[name] for name in source.names}
    try:
        found = source.ours([tensor.to(device, dtype) for tensor in tensors.values()])
    except RuntimeError:  # raised by torch for too many dimensions, or different widths
        shapes = " and ".join(f"{name} {list(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(
            f"{shapes} of {published.name} cannot become {list(wanted)}, which config.json asks for"
        ) from None
    if found.shape != wanted:
        names = " and ".join(source.names)
        raise ValueError(
            f"{names} of {published.name} would be {list(found.shape)} here, but config.json asks for {list(wanted)}"
        )
    return found.contiguous()


def tied_names(model: nn.Module) -> dict[str, list[str]]:
    """Return the first name of each parameter that has several, with its other names."""
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(parameter, []).append(name)
    return {first: others for first, *others in names.values() if others}


def _listed(names: Iterable[str]) -> str:
    first, more = sorted(names)[:SHOWN], len(set(names)) - SHOWN
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


# --- From ours to theirs ---------------------------------------------------------------------------------------


def published_tensors(model: nn.Module, plan: Plan) -> dict[str, Tensor]:
    """Return a model's weights under their published names, on the CPU, as `load_weights` reads them.

    Raises:
        ValueError: two of our tensors are one in the plan, but differ; or a learned tensor is not in the plan.
    """
    tensors: dict[str, Tensor] = {}
    state = model.state_dict()
    if extra := state.keys() - plan.keys():
        raise ValueError(f"there is no place for {_listed(extra)}; merge_lora(model) folds in what add_lora added")
    for ours, source in plan.items():
        if not source.names:
            if state[ours].any():
                raise ValueError(f"there is no place for {ours}: the published model has none, so it must be zeros")
            continue
        for name, tensor in zip(source.names, source.theirs(state[ours].cpu()), strict=True):
            if name in tensors and not torch.equal(tensors[name], tensor):
                raise ValueError(f"{ours} should be tied to the tensor saved as {name}, but differs from it")
            tensors[name] = tensor
    return tensors


# --- Settings --------------------------------------------------------------------------------------------------

ACTIVATION_NAMES: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
"""The names of activations in published configurations."""


def read_activation(published: PublishedModel, key: str, default: str) -> Activation:
    """Return our name of the activation in a published configuration.

    Raises:
        ValueError: we lack this activation.
    """
    return ACTIVATION_NAMES[published.option(key, ACTIVATION_NAMES, default)]


def activation_name(activation: Activation) -> str:
    """Return the published name of one of our activations."""
    return next(theirs for theirs, ours in ACTIVATION_NAMES.items() if ours == activation)
