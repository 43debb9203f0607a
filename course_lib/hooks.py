"""Shows where a model looks: records the attention weights of every block while the model runs."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from course_lib.attention import attention
from course_lib.multihead import MultiHeadAttention, MultiHeadOutput, split_heads

_OF_LESSON_04 = ("W_q", "W_k", "W_v", "W_o", "heads")


@contextmanager
def record_attention(model: nn.Module) -> Iterator[list[Float[Tensor, "batch heads queries keys"]]]:
    """Collect the attention weights of a model while it runs: one of the course's, or one built from its blocks.

        with record_attention(bert) as weights:
            bert(ids)

        alpha = torch.stack(weights)  # [layers, batch, heads, queries, keys]

    The model's results stay the same, up to rounding, although its attention takes the explicit path.

    Args:
        model: each `MultiHeadAttention` in it is watched, and each attention of lesson 04's form, which has W_q, W_k
            and W_v and is called as attention(x, memory, mask). To watch only some, pass an `nn.ModuleList` of them.

    Yields:
        A list to which each attention adds its weights when it is called. It keeps them after the block.
    """
    weights: list[Tensor] = []

    def ask(_module: nn.Module, arguments: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return arguments, {**named, "need_weights": True}

    def keep(_module: nn.Module, _arguments: Any, output: MultiHeadOutput) -> None:
        if output.alpha is not None:
            weights.append(output.alpha.detach())

    def look(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        given = inspect.signature(module.forward).bind(*arguments, **named).arguments.values()
        x, memory, mask = [*given, None][:3]
        q, k, v = (split_heads(y, module.heads) for y in (module.W_q(x), module.W_k(memory), module.W_v(memory)))
        weights.append(attention(q, k, v, None if mask is None else mask.unsqueeze(1)).alpha.detach())

    plain = [module for module in model.modules() if all(hasattr(module, name) for name in _OF_LESSON_04)]
    attentions = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    hooks = [
        *(module.register_forward_pre_hook(ask, with_kwargs=True) for module in attentions),
        *(module.register_forward_hook(keep) for module in attentions),
        *(module.register_forward_pre_hook(look, with_kwargs=True) for module in plain),
    ]
    try:
        yield weights
    finally:
        for hook in hooks:
            hook.remove()
