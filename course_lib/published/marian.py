"""MarianMT's weights in `Transformer` (Junczys-Dowmunt et al., 2018), such as "Helsinki-NLP/opus-mt-en-de".

- Marian stores W_q, W_k and W_v separately; ours are stacked in `W_qkv` or `W_kv`.
- Its positions are all the sines, then all the cosines, where the paper's alternate. The order of d_model's dimensions
  does not matter, so every weight is put in our order; no score changes.
- A translation begins with the padding id, which Marian's decoder reads first. The decoder must not write it, but the
  padding embedding is published as zeros, so its score, 0, would often be the largest: here it is set far below all
  others. (The `transformers` library forbids the padding id in generation.)
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.configurations import TransformerConfig
from course_lib.published.families import PublishedFamily
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import Conversion, Plan, Source, activation_name, read_activation, weights_and_bias

NEVER = -1e4
"""A score so low that the token is never written; finite even in half precision, so that a loss stays finite."""

KEPT = "keep_padding_bias"
"""The setting in `config.json` that keeps the padding score as it is, for models that we trained with it."""

POSITIONS = 1024
"""The number of positions to write for a saved model; our models compute any number."""


def _read_config(published: PublishedModel) -> TransformerConfig:
    published.option("scale_embedding", [True], default=False)
    published.option("share_encoder_decoder_embeddings", [True], default=True)
    published.option("tie_word_embeddings", [True], default=True)
    published.option("normalize_before", [False], default=False)
    published.option("normalize_embedding", [False], default=False)
    published.option("add_final_layer_norm", [False], default=False)
    heads, d_ff = published.size("encoder_attention_heads"), published.size("encoder_ffn_dim")
    published.option("decoder_attention_heads", [heads], default=heads)
    published.option("decoder_ffn_dim", [d_ff], default=d_ff)
    vocab_size = published.size("vocab_size")
    padding_id = published.token("pad_token_id", vocab_size - 1, vocab_size)
    return TransformerConfig(
        source_vocab_size=vocab_size,
        target_vocab_size=vocab_size,
        d_model=published.size("d_model"),
        heads=heads,
        d_ff=d_ff,
        encoder_layers=published.size("encoder_layers"),
        decoder_layers=published.size("decoder_layers"),
        dropout=published.number("dropout", 0.1),
        attention_dropout=published.number("attention_dropout", 0.0),
        activation=read_activation(published, "activation_function", default="gelu"),
        tied_output=True,
        shared_embeddings=True,
        output_bias=True,
        padding_id=padding_id,
        start_id=published.token("decoder_start_token_id", padding_id, vocab_size),
        end_id=published.token("eos_token_id", 0, vocab_size),
    )


def _write_config(config: TransformerConfig) -> dict[str, Any]:
    return {
        "vocab_size": config.target_vocab_size,
        "d_model": config.d_model,
        "encoder_attention_heads": config.heads,
        "decoder_attention_heads": config.heads,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": config.d_ff,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": 0.0,
        "activation_function": activation_name(config.activation),
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "static_position_embeddings": True,
        "max_position_embeddings": POSITIONS,
        "is_encoder_decoder": True,
        "pad_token_id": config.padding_id,
        "decoder_start_token_id": config.start_id,
        "eos_token_id": config.end_id,
        "forced_eos_token_id": None,
        KEPT: True,
    }


def _plan(model: Any) -> Plan:
    shared = Source(("shared.weight",), LAST)
    plan = {f"{name}.weight": shared for name in ("source_embedding", "target_embedding", "output")}
    plan["output.bias"] = Source((BIAS,), Conversion(torch.flatten, lambda bias: bias.unsqueeze(0)))
    for i in range(model.config.encoder_layers):
        ours, theirs = f"encoder.{i}", f"encoder.layers.{i}"
        plan |= _attention(f"{ours}.self_attention", f"{theirs}.self_attn")
        plan |= _writing(f"{ours}.add_and_norm_1.norm", f"{theirs}.self_attn_layer_norm")
        plan |= _feed_forward(f"{ours}.feed_forward", theirs)
        plan |= _writing(f"{ours}.add_and_norm_2.norm", f"{theirs}.final_layer_norm")
    for i in range(model.config.decoder_layers):
        ours, theirs = f"decoder.{i}", f"decoder.layers.{i}"
        plan |= _attention(f"{ours}.self_attention", f"{theirs}.self_attn")
        plan |= _writing(f"{ours}.add_and_norm_1.norm", f"{theirs}.self_attn_layer_norm")
        plan |= _cross_attention(f"{ours}.cross_attention", f"{theirs}.encoder_attn")
        plan |= _writing(f"{ours}.add_and_norm_2.norm", f"{theirs}.encoder_attn_layer_norm")
        plan |= _feed_forward(f"{ours}.feed_forward", theirs)
        plan |= _writing(f"{ours}.add_and_norm_3.norm", f"{theirs}.final_layer_norm")
    return plan


def _attention(ours: str, theirs: str) -> Plan:
    projections = [f"{theirs}.{name}" for name in ("q_proj", "k_proj", "v_proj")]
    plan = weights_and_bias(f"{ours}.W_qkv", *projections, change=LAST)
    return plan | _writing(f"{ours}.W_o", f"{theirs}.out_proj")


def _cross_attention(ours: str, theirs: str) -> Plan:
    plan = weights_and_bias(f"{ours}.W_q", f"{theirs}.q_proj", change=LAST)
    plan |= weights_and_bias(f"{ours}.W_kv", f"{theirs}.k_proj", f"{theirs}.v_proj", change=LAST)
    return plan | _writing(f"{ours}.W_o", f"{theirs}.out_proj")


def _feed_forward(ours: str, theirs: str) -> Plan:
    reading = weights_and_bias(f"{ours}.W_1", f"{theirs}.fc1", change=LAST)
    return reading | _writing(f"{ours}.W_2", f"{theirs}.fc2")


def _writing(ours: str, theirs: str) -> Plan:
    """Plan a layer with d_model outputs, or a norm: the rows of its weight and its bias are put in our order."""
    return {f"{ours}.{part}": Source((f"{theirs}.{part}",), FIRST) for part in ("weight", "bias")}


def _alternate(halves: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
    """Reorder from first half, second half to alternating: a b c | x y z becomes a x b y c z."""
    two_rows: Tensor = halves.unflatten(-1, (2, -1))
    return two_rows.transpose(-1, -2).flatten(-2)


def _halve(alternating: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
    """Reorder back: a x b y c z becomes a b c | x y z."""
    pairs: Tensor = alternating.unflatten(-1, (-1, 2))
    return pairs.transpose(-1, -2).flatten(-2)


LAST = Conversion(_alternate, _halve)
"""For tensors whose last dimension is d_model, in the other order."""

FIRST = Conversion(
    lambda halves: _alternate(halves.movedim(0, -1)).movedim(-1, 0),
    lambda alternating: _halve(alternating.movedim(0, -1)).movedim(-1, 0),
)
"""For tensors whose first dimension is."""


def _forbid_padding(model: Any, published: PublishedModel) -> None:
    if not published.option(KEPT, [True, False], default=False):
        model.output.bias[model.config.padding_id] = NEVER


BIAS = "final_logits_bias"
"""The bias of the output layer."""

MARIAN = PublishedFamily(
    model_type="marian",
    architecture="MarianMTModel",
    read_config=_read_config,
    write_config=_write_config,
    plan=_plan,
    body="model.",
    outside=(BIAS,),
    # The shared embedding may be stored up to three more times, and so may the computed positions.
    unused=lambda _model: [r"(encoder|decoder)\.embed_(tokens|positions)\.weight", r"lm_head\.weight"],
    finish=_forbid_padding,
)
"""Marian's translators of any size."""
