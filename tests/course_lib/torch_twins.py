"""The weights of our layers, or their gradients, under the names that torch's own modules give theirs."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from course_lib.blocks import DecoderBlock, EncoderBlock, PostNorm, PreNorm
from course_lib.multihead import CrossAttention, MultiHeadAttention

Read = Callable[[Tensor], Tensor]
"""What is taken of a parameter."""


def shaken(model: nn.Module) -> nn.Module:
    """The model with every parameter drawn anew, so that no gain of 1 or bias of 0 hides a mistake."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


def gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def attention_weights(ours: MultiHeadAttention, name: str = "", read: Read = Tensor.detach) -> dict[str, Tensor]:
    """For `nn.MultiheadAttention`, or one inside a module, whose name ends with a dot."""
    layers = [ours.W_q, ours.W_kv] if isinstance(ours, CrossAttention) else [ours.W_qkv]
    return {
        f"{name}in_proj_weight": torch.cat([read(layer.weight) for layer in layers]),
        f"{name}in_proj_bias": torch.cat([read(layer.bias) for layer in layers]),
        f"{name}out_proj.weight": read(ours.W_o.weight),
        f"{name}out_proj.bias": read(ours.W_o.bias),
    }


def block_weights(ours: EncoderBlock | DecoderBlock, read: Read = Tensor.detach) -> dict[str, Tensor]:
    """For `nn.TransformerEncoderLayer` or `nn.TransformerDecoderLayer`."""
    weights = attention_weights(ours.self_attention, "self_attn.", read)
    if isinstance(ours, DecoderBlock):
        weights |= attention_weights(ours.cross_attention, "multihead_attn.", read)
    for number, layer in [(1, ours.feed_forward.W_1), (2, ours.feed_forward.W_2)]:
        weights |= {f"linear{number}.weight": read(layer.weight), f"linear{number}.bias": read(layer.bias)}
    joined = [module for module in ours.children() if isinstance(module, PostNorm | PreNorm)]
    for number, add_and_norm in enumerate(joined, start=1):
        weights |= {f"norm{number}.{part}": read(value) for part, value in add_and_norm.norm.named_parameters()}
    return weights
