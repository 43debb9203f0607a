"""GPT-2's weights in `GPT` (Radford et al., 2019).

GPT-2 stores the weights of its linear layers as [in, out]; torch's are [out, in].
"""

import re
from typing import Any

import torch

from course_lib.configurations import GPTConfig
from course_lib.published.families import PublishedFamily, PublishedHead
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import TURNED, Plan, Source, activation_name, read_activation, weights_and_bias

END = 50_256
"""GPT-2's own end of a text, unless the configuration names another."""

OUTPUT = "lm_head.weight"
"""The output layer, if it is not tied."""


def _read_config(published: PublishedModel) -> GPTConfig:
    published.option("scale_attn_weights", [True], default=True)
    published.option("scale_attn_by_inverse_layer_idx", [False], default=False)
    published.option("add_cross_attention", [False], default=False)
    d_model, vocab_size = published.size("n_embd"), published.size("vocab_size")
    config = published.config
    ends = _ends(published, vocab_size)
    return GPTConfig(
        vocab_size=vocab_size,
        context_length=published.size("n_positions"),
        d_model=d_model,
        heads=published.size("n_head"),
        layers=published.size("n_layer"),
        d_ff=4 * d_model if config.get("n_inner") is None else published.size("n_inner"),
        dropout=published.number("resid_pdrop", 0.1),
        attention_dropout=published.number("attn_pdrop", 0.1),
        activation=read_activation(published, "activation_function", default="gelu_new"),
        norm_epsilon=published.number("layer_norm_epsilon", 1e-5),
        tied_output=published.option("tie_word_embeddings", [True, False], default=True) or lacks_output(published),
        end_id=one_or_several(ends),
        padding_id=_padding(config.get("pad_token_id"), ends, vocab_size),
    )


def lacks_output(published: PublishedModel) -> bool:
    """Return whether a model was published without an output layer, so that its embedding is used instead."""
    return bool(published.tensors) and OUTPUT not in published.tensors


def _ends(published: PublishedModel, vocab_size: int) -> tuple[int, ...]:
    """Return the ids that end a text. Files name GPT-2's even if a smaller vocabulary lacks it; then no text ends."""
    if published.config.get("eos_token_id", END) == END and vocab_size <= END:
        return ()
    return published.tokens("eos_token_id", END, vocab_size)


def one_or_several(ids: tuple[int, ...]) -> int | tuple[int, ...] | None:
    """Return the ids as a configuration stores them: none, one, or a tuple."""
    return ids if len(ids) > 1 else next(iter(ids), None)


def _padding(found: Any, ends: tuple[int, ...], vocab_size: int) -> int | None:
    """Return the padding id, or None if it is not a separate token: the end of a text, or outside the vocabulary."""
    return found if type(found) is int and 0 <= found < vocab_size and found not in ends else None


def _write_config(config: GPTConfig) -> dict[str, Any]:
    return {
        "vocab_size": config.vocab_size,
        "n_positions": config.context_length,
        "n_embd": config.d_model,
        "n_head": config.heads,
        "n_layer": config.layers,
        "n_inner": config.d_ff,
        "resid_pdrop": config.dropout,
        "embd_pdrop": config.dropout,
        "attn_pdrop": config.attention_dropout,
        "activation_function": activation_name(config.activation),
        "layer_norm_epsilon": config.norm_epsilon,
        "tie_word_embeddings": config.tied_output,
        "bos_token_id": next(iter(config.end_ids), None),
        "eos_token_id": config.end_id,
        "pad_token_id": config.padding_id,
    }


def _plan(model: Any) -> Plan:
    config: GPTConfig = model.config
    plan = {
        "embedding.weight": Source(("wte.weight",)),
        "positions.encoding": Source(("wpe.weight",)),
        "output.weight": Source(("wte.weight" if config.tied_output else OUTPUT,)),
        **weights_and_bias("norm", "ln_f"),
    }
    for i in range(config.layers):
        ours, theirs = f"blocks.{i}", f"h.{i}"
        plan |= weights_and_bias(f"{ours}.add_and_norm_1.norm", f"{theirs}.ln_1")
        plan |= weights_and_bias(f"{ours}.self_attention.W_qkv", f"{theirs}.attn.c_attn", change=TURNED)
        plan |= weights_and_bias(f"{ours}.self_attention.W_o", f"{theirs}.attn.c_proj", change=TURNED)
        plan |= weights_and_bias(f"{ours}.add_and_norm_2.norm", f"{theirs}.ln_2")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_1", f"{theirs}.mlp.c_fc", change=TURNED)
        plan |= weights_and_bias(f"{ours}.feed_forward.W_2", f"{theirs}.mlp.c_proj", change=TURNED)
    return plan


def _unused(model: Any) -> list[str]:
    """Return patterns of unused tensors: causal masks in older files, and a tied output, a copy of the embedding."""
    return [r"h\.\d+\.attn\.(bias|masked_bias)"] + [re.escape(OUTPUT)] * model.config.tied_output


def classifier(architecture: str) -> PublishedHead:
    """Return a published classifier: a linear layer on the last token's vector, without the bias that ours has."""
    return PublishedHead(
        architecture, {"output.weight": Source(("score.weight",)), "output.bias": Source((), new=torch.zeros)}
    )


GPT2 = PublishedFamily(
    model_type="gpt2",
    architecture="GPT2LMHeadModel",
    read_config=_read_config,
    write_config=_write_config,
    plan=_plan,
    body="transformer.",
    outside=(OUTPUT,),
    heads={"GPTClassifier": classifier("GPT2ForSequenceClassification")},
    unused=_unused,
)
"""GPT-2 of any size."""
