"""LoRA: teach a large model something new without changing its weights.

Beside some weights, a product of two narrow matrices learns; in the end it is added to them.

    W x + (alpha / rank) B A x          A: [rank, d_in], random;  B: [d_out, rank], 0 at first

Hu et al. (2021), "LoRA: Low-Rank Adaptation of Large Language Models", section 4. An adapted layer is itself a linear
layer, not a parametrization of its weight: that would compute all of W + B A in every call, and leave no place for
dropout before A.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Generator, Tensor, nn

from course_lib.ground.validation import check_at_least, check_not_negative, check_probability, check_texts

LEARNED = ("A", "B", "scale")
"""What an adapted layer has besides its weight and bias; `scale` is not learned, but saved with the matrices."""


class AdaptedLinear(nn.Linear):
    """A frozen linear layer, and the matrices that are learned beside it.

    Parameters:
        weight, bias: the layer's own, frozen.
        A: [rank, d_in].
        B: [d_out, rank].
    """

    def __init__(
        self, layer: nn.Linear, rank: int, alpha: float, dropout: float, generator: Generator | None = None
    ) -> None:
        """Share the layer's parameters; `generator`, on the CPU, draws A, with the standard deviation 1 / √d_in."""
        nn.Module.__init__(self)  # nn.Linear's own would draw new weights
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias
        narrow = torch.randn(rank, layer.in_features, generator=generator) / layer.in_features**0.5
        self.A = nn.Parameter(narrow.to(layer.weight))
        self.B = nn.Parameter(layer.weight.new_zeros(layer.out_features, rank))
        self.register_buffer("scale", layer.weight.new_tensor(alpha / rank))
        self.scale: Tensor
        self.dropout = nn.Dropout(dropout)
        self.train(layer.training)

    def forward(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_out"]:
        """Return the layer's own output plus what was learned."""
        return super().forward(x) + self.scale * F.linear(F.linear(self.dropout(x), self.A), self.B)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Return an ordinary layer with the same outputs and this layer's parameters, changing the weight in place."""
        self.weight += self.scale * (self.B @ self.A)
        layer = nn.Linear(self.in_features, self.out_features, bias=self.bias is not None, device="meta")
        layer.weight, layer.bias = self.weight, self.bias
        return layer.train(self.training)


def add_lora(
    model: nn.Module,
    rank: int = 8,
    alpha: float = 16.0,
    targets: Sequence[str] = ("W_qkv", "W_o"),
    *,
    dropout: float = 0.0,
    generator: Generator | None = None,
) -> None:
    """Freeze a model and let it learn beside its linear layers, in all blocks; at first its outputs do not change.

    Pass only the model, as in `add_lora(classifier.encoder)`, to let a head around it keep learning in full. Before you
    save the model in a published format, merge what was learned: the format has no place for it.

    Args:
        model: changed in place.
        rank: the number of numbers between the two learned matrices.
        alpha: the learned product is added alpha / rank times.
        targets: the names of the layers. `CrossAttention` has W_q and W_kv; feed-forward networks have W_1 and W_2.
        dropout: the probability of dropping a value of a layer's input, in training, on its way into the learned
            matrices.
        generator: draws the first weights, on the CPU; None for torch's own.

    Raises:
        TypeError: `targets` is one name, or `rank` no whole number.
        ValueError: the model already has adapted layers, has no linear layer of such a name, or has one that shares its
            weight with another layer; or a size is out of range.
    """
    check_texts(targets)
    check_at_least(1, rank=rank)
    check_not_negative(alpha=alpha)
    check_probability(dropout=dropout)
    if _adapted(model):
        raise ValueError("the model has adapted layers already: merge_lora(model) folds them in")
    layers = _targeted(model, targets)
    model.requires_grad_(False)
    for name, layer in layers.items():
        model.set_submodule(name, AdaptedLinear(layer, rank, alpha, dropout, generator))


def merge_lora(model: nn.Module) -> None:
    """Fold what was learned into the weights: the model is an ordinary one again, and can be trained in full.

    Raises:
        ValueError: `add_lora` was not called on it.
    """
    for name, layer in _check_adapted(model).items():
        model.set_submodule(name, layer.merged())
    model.requires_grad_(True)


def lora_state(model: nn.Module) -> dict[str, Tensor]:
    """Return the learned matrices alone, by name, with their scale, not copied: small enough to keep for every task.

    Raises:
        ValueError: `add_lora` was not called on the model.
    """
    layers = _check_adapted(model).items()
    return {f"{name}.{part}": getattr(layer, part).detach() for name, layer in layers for part in LEARNED}


@torch.no_grad()
def load_lora(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Load what `lora_state` returned, including the scale, into a model with the same adapted layers.

    Raises:
        ValueError: the model has no adapted layers, or others; then nothing is loaded.
    """
    ours = lora_state(model)
    for name in [*ours, *state]:
        theirs, expected = (list(held[name].shape) if name in held else None for held in (state, ours))
        if theirs != expected:
            raise ValueError(
                f"this was learned beside other layers or with another rank: its {name} is {theirs}, this model's "
                f"{expected}; call add_lora as it was called then"
            )
    for name, tensor in ours.items():
        tensor.copy_(state[name])


def _adapted(model: nn.Module) -> dict[str, AdaptedLinear]:
    return {name: layer for name, layer in model.named_modules() if isinstance(layer, AdaptedLinear)}


def _check_adapted(model: nn.Module) -> dict[str, AdaptedLinear]:
    found = _adapted(model)
    if not found:
        raise ValueError("the model has no adapted layers: add_lora(model) adds them")
    return found


def _targeted(model: nn.Module, targets: Sequence[str]) -> dict[str, nn.Linear]:
    """Return the linear layers of these names, by their full names in the model."""
    # A subclass may be used without being called, as in torch's own attention.
    layers = {name: layer for name, layer in model.named_modules() if name and type(layer) is nn.Linear}
    there = {name.rpartition(".")[2] for name in layers}
    unknown = [target for target in targets if target not in there]
    if unknown or not targets:
        wrong = f"no linear layer {unknown[0]!r}" if unknown else "nothing in targets"
        raise ValueError(f"there is {wrong}; the model's linear layers are {', '.join(sorted(there))}")
    uses = Counter(id(weight) for _, weight in model.named_parameters(remove_duplicate=False))
    found = {name: layer for name, layer in layers.items() if name.rpartition(".")[2] in targets}
    for name, layer in found.items():
        if uses[id(layer.weight)] > 1:
            raise ValueError(
                f"{name} shares its weight with another layer, which would change with it; leave it out of targets"
            )
    return found
