"""Llama's weights in `GPT`, and those of its relatives Mistral, Qwen2 and Qwen3.

All have the block of `GPTConfig.llama` (Touvron et al., 2023, "LLaMA"), with grouped queries. Mistral adds a sliding
window (Jiang et al., 2023), Qwen2 biases of queries, keys and values (Yang et al., 2024), Qwen3 a norm of queries and
keys (Yang et al., 2025). Their rotary positions turn number i of a query with number i + d_head / 2; ours turn
neighbors, as in the paper. The order of a query's numbers does not matter, so the rows of W_q and W_k are put in our
order; no score changes.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from torch import Tensor

from course_lib.configurations import Extension, GPTConfig, RotaryConfig
from course_lib.published.families import PublishedFamily
from course_lib.published.gpt2 import OUTPUT, classifier, lacks_output, one_or_several
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import SAME, Conversion, Plan, Source, activation_name, read_activation

TURNS = {"llama3": ("low_freq_factor", 1.0, "high_freq_factor", 4.0), "yarn": ("beta_slow", 1.0, "beta_fast", 32.0)}
"""Their names of our `few` and `many`, with their defaults."""


# --- Configurations --------------------------------------------------------------------------------------------


def _read_config(published: PublishedModel) -> GPTConfig:
    """Read the settings that Llama and its relatives share."""
    published.option("attention_bias", [False], default=False)
    published.option("mlp_bias", [False], default=False)
    config = published.config
    d_model, heads, vocab_size = (published.size(key) for key in ("hidden_size", "num_attention_heads", "vocab_size"))
    groups = heads if config.get("num_key_value_heads") is None else published.size("num_key_value_heads")
    d_head = None if config.get("head_dim") is None else published.size("head_dim")
    return GPTConfig.llama(
        vocab_size,
        d_model,
        heads,
        layers=published.size("num_hidden_layers"),
        d_ff=published.size("intermediate_size"),
        context_length=published.size("max_position_embeddings"),
        attention_dropout=published.number("attention_dropout", 0.0),
        activation=read_activation(published, "hidden_act", default="silu"),
        norm_epsilon=published.number("rms_norm_eps", 1e-6),
        tied_output=published.option("tie_word_embeddings", [True, False], default=False) or lacks_output(published),
        end_id=one_or_several(_known(published, "eos_token_id", vocab_size)),
        padding_id=next(iter(_known(published, "pad_token_id", vocab_size)), None),
        key_value_heads=None if groups == heads else groups,
        d_head=None if d_head is None or d_head * heads == d_model else d_head,
        rotary=_read_rotary(published),
    )


def _known(published: PublishedModel, key: str, vocab_size: int) -> tuple[int, ...]:
    """Return the ids of special tokens, except those outside the vocabulary."""
    found = published.config.get(key)
    several = found if isinstance(found, (list, tuple)) else [found]
    return tuple(token for token in several if type(token) is int and 0 <= token < vocab_size)


def _read_rotary(published: PublishedModel) -> RotaryConfig:
    """Read `rope_parameters`, or the two settings that it replaced."""
    settings = published.config.get("rope_parameters") or published.config.get("rope_scaling") or {}
    config = {"rope_theta": published.config.get("rope_theta", 10_000.0), **settings}
    rotary = PublishedModel(published.name, config, {})
    rotary.option("partial_rotary_factor", [1.0], default=1.0)
    key = "rope_type" if "rope_type" in config else "type"
    kind = rotary.option(key, ["default", *get_args(Extension)], default="default")
    base = rotary.number("rope_theta", 10_000.0)
    if kind == "default":
        return RotaryConfig(base)
    factor = rotary.number("factor", 1.0)
    if kind == "linear":
        return RotaryConfig(base, "linear", factor)
    for key in ("attention_factor", "mscale", "mscale_all_dim"):
        rotary.option(key, [None], default=None)
    few, few_default, many, many_default = TURNS[kind]
    trained = config.get("original_max_position_embeddings", published.config.get("max_position_embeddings"))
    return RotaryConfig(
        base,
        kind,
        factor,
        trained_context=PublishedModel(published.name, {"trained": trained}, {}).size("trained"),
        few=rotary.number(few, few_default),
        many=rotary.number(many, many_default),
    )


def _write_config(config: GPTConfig) -> dict[str, Any]:
    groups, d_head = config.block.kv_heads, config.block.head_dim
    return {
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.context_length,
        "hidden_size": config.d_model,
        "num_attention_heads": config.heads,
        "num_key_value_heads": groups,
        "head_dim": d_head,
        "num_hidden_layers": config.layers,
        "intermediate_size": config.d_ff,
        "attention_dropout": config.attention_dropout,
        "hidden_act": activation_name(config.activation),
        "rms_norm_eps": config.norm_epsilon,
        "tie_word_embeddings": config.tied_output,
        "bos_token_id": None,
        "eos_token_id": config.end_id,
        "pad_token_id": config.padding_id,
        "rope_parameters": _write_rotary(config.rotary or RotaryConfig()),
    }


def _write_rotary(rotary: RotaryConfig) -> dict[str, Any]:
    kind = rotary.extension or "default"
    settings: dict[str, Any] = {"rope_type": kind, "rope_theta": rotary.base}
    if kind != "default":
        settings["factor"] = rotary.factor
    if kind in TURNS:
        few, _, many, default = TURNS[kind]
        turns = {few: rotary.few, many: default if rotary.many is None else rotary.many}
        settings |= {**turns, "original_max_position_embeddings": rotary.trained_context}
    return settings


def _read_mistral(published: PublishedModel) -> GPTConfig:
    window = published.config.get("sliding_window")
    return replace(_read_config(published), window=None if window is None else published.size("sliding_window"))


def _write_mistral(config: GPTConfig) -> dict[str, Any]:
    return {**_write_config(config), "sliding_window": config.window}


def _read_qwen(published: PublishedModel, **own: Any) -> GPTConfig:
    config = replace(_read_config(published), **own)
    if not published.option("use_sliding_window", [True, False], default=False):
        return config
    first = published.config.get("max_window_layers", config.layers)
    every_kind = ["sliding_attention" if layer >= first else "full_attention" for layer in range(config.layers)]
    kinds = published.config.get("layer_types") or every_kind
    windowed = tuple(layer for layer, kind in enumerate(kinds) if kind == "sliding_attention")
    if len(kinds) != config.layers or {*kinds} - {"sliding_attention", "full_attention"}:
        raise ValueError(f"{published.name} was made with layer_types={kinds}; this library supports full and sliding")
    return replace(config, window=published.size("sliding_window"), windowed=windowed)


def _write_qwen(config: GPTConfig) -> dict[str, Any]:
    windowed = [config.window_of(layer) is not None for layer in range(config.layers)]
    return {
        **_write_config(config),
        "use_sliding_window": config.window is not None,
        "sliding_window": config.window,
        "max_window_layers": config.layers,
        "layer_types": ["sliding_attention" if near else "full_attention" for near in windowed],
    }


# --- Tensors ---------------------------------------------------------------------------------------------------


def _plan(model: Any) -> Plan:
    config: GPTConfig = model.config
    heads, groups, d_head = config.heads, config.block.kv_heads, config.block.head_dim
    paired = Conversion(partial(_as_neighbours, d_head=d_head), partial(_as_halves, d_head=d_head))
    rows = (heads * d_head, groups * d_head, groups * d_head)
    plan = {
        "embedding.weight": Source(("embed_tokens.weight",)),
        "norm.weight": Source(("norm.weight",)),
        "output.weight": Source(("embed_tokens.weight" if config.tied_output else OUTPUT,)),
    }
    for i in range(config.layers):
        ours, theirs = f"blocks.{i}", f"layers.{i}"
        for part in ("weight", "bias") if config.qkv_bias else ("weight",):
            names = tuple(f"{theirs}.self_attn.{name}_proj.{part}" for name in "qkv")
            plan[f"{ours}.self_attention.W_qkv.{part}"] = Source(names, (paired, paired, SAME), rows)
        if config.qk_norm:
            for name in ("q_norm", "k_norm"):
                plan[f"{ours}.self_attention.{name}.weight"] = Source((f"{theirs}.self_attn.{name}.weight",), paired)
        alike = {
            "add_and_norm_1.norm": "input_layernorm",
            "self_attention.W_o": "self_attn.o_proj",
            "add_and_norm_2.norm": "post_attention_layernorm",
            "feed_forward.W_1": "mlp.gate_proj",
            "feed_forward.V": "mlp.up_proj",
            "feed_forward.W_2": "mlp.down_proj",
        }
        plan |= {f"{ours}.{our}.weight": Source((f"{theirs}.{their}.weight",)) for our, their in alike.items()}
    return plan


def _as_neighbours(halves: Tensor, d_head: int) -> Tensor:
    """Reorder each head's rows from first half, second half to alternating: a b | x y becomes a x b y."""
    heads: Tensor = halves.unflatten(0, (-1, 2, d_head // 2))
    return heads.transpose(1, 2).flatten(0, 2)


def _as_halves(neighbours: Tensor, d_head: int) -> Tensor:
    heads: Tensor = neighbours.unflatten(0, (-1, d_head // 2, 2))
    return heads.transpose(1, 2).flatten(0, 2)


def _unused(model: Any) -> list[str]:
    """Return patterns of unused tensors: frequencies in older files, and a tied output, which repeats the embedding."""
    return [r"layers\.\d+\.self_attn\.rotary_emb\.inv_freq"] + [r"lm_head\.weight"] * model.config.tied_output


def _family(
    name: str,
    read_config: Callable[[PublishedModel], GPTConfig] = _read_config,
    write_config: Callable[[GPTConfig], dict[str, Any]] = _write_config,
) -> PublishedFamily:
    return PublishedFamily(
        model_type=name.lower(),
        architecture=f"{name}ForCausalLM",
        read_config=read_config,
        write_config=write_config,
        plan=_plan,
        body="model.",
        outside=(OUTPUT,),
        heads={"GPTClassifier": classifier(f"{name}ForSequenceClassification")},
        unused=_unused,
    )


LLAMAS = (
    _family("Llama"),
    _family("Mistral", _read_mistral, _write_mistral),
    _family("Qwen2", partial(_read_qwen, qkv_bias=True), _write_qwen),
    _family("Qwen3", partial(_read_qwen, qk_norm=True), _write_qwen),
)
"""Llama and its relatives, of any size."""
