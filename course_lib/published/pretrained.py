"""Published weights in our models: GPT-2's in `GPT`, BERT's in `BERT`, Marian's in `Transformer`.

    GPT.from_pretrained("gpt2")
    BERT.from_pretrained("bert-base-uncased")
    Transformer.from_pretrained("Helsinki-NLP/opus-mt-en-de")

The architectures are the same as ours, so that loading is a matter of names: a plan says for each of our tensors
which published ones it is made from. What differs is in the plans:

- GPT-2 stores the weights of its linear layers as [in, out]; torch's are [out, in].
- BERT and Marian store W_q, W_k and W_v separately; ours are one below the other, in `W_qkv` or `W_kv`.
- Marian's positions are all the sines, then all the cosines, where the paper's alternate. The dimensions of
  d_model have no order of their own, so those of every weight are put in the order that ours have; no score changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.blocks import Activation
from course_lib.ground.optional import needed_for
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.heads import MaskedLanguageModel, NextSentencePredictor
from course_lib.positions import SinusoidalPositions
from course_lib.published.hub import WHOLE, Plan, PublishedModel, Source, load_weights, weights_and_bias

ACTIVATION_NAMES: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
"""What published configurations call the activations."""

NEVER = -1e4
"""A score that no word is written with; finite even in half precision, so that a loss stays finite."""

Model = TypeVar("Model")


def load(model: type[Model], name: str | Path) -> Model:
    """A model of one of our classes with published weights: what `from_pretrained` calls.

    Raises:
        TypeError: no weights are published for this class.
        FileNotFoundError, ValueError: as for `PublishedModel.read` and `load_weights`.
    """
    loaders: dict[type, Callable[[str | Path], Any]] = {GPT: load_gpt, BERT: load_bert, Transformer: load_marian}
    if model not in loaders:
        raise TypeError(f"there are no published weights for {model.__name__}")
    return cast(Model, loaders[model](name))


# --- GPT-2 -----------------------------------------------------------------------------------------------------


def load_gpt(name: str | Path = "gpt2") -> GPT:
    """GPT-2 of any size (Radford et al., 2019).

    Raises:
        FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
        ValueError: it has another architecture, or its tensors do not fit.
    """
    published = _without_prefix(PublishedModel.read(name, "gpt2"), "transformer.")
    with torch.device("meta"):
        model = GPT(_gpt_config(published))
    plan = _gpt_plan(model.config)
    # Causal masks were once stored with the weights; a tied output is the embedding once more.
    unused = [r"h\.\d+\.attn\.(bias|masked_bias)"] + ["lm_head.weight"] * model.config.tied_output
    load_weights(model, published, plan, unused=unused)
    return model.eval()


def _gpt_config(published: PublishedModel) -> GPTConfig:
    published.option("scale_attn_weights", [True], default=True)
    published.option("scale_attn_by_inverse_layer_idx", [False], default=False)
    published.option("add_cross_attention", [False], default=False)
    d_model, vocabulary = published.size("n_embd"), published.size("vocab_size")
    config = published.config
    return GPTConfig(
        vocabulary=vocabulary,
        context=published.size("n_positions"),
        d_model=d_model,
        heads=published.size("n_head"),
        layers=published.size("n_layer"),
        d_hidden=4 * d_model if config.get("n_inner") is None else published.size("n_inner"),
        dropout=published.number("resid_pdrop", 0.1),
        attention_dropout=published.number("attn_pdrop", 0.1),
        activation=_activation(published, "activation_function", default="gelu_new"),
        norm_epsilon=published.number("layer_norm_epsilon", 1e-5),
        tied_output=published.option("tie_word_embeddings", [True, False], default=True),
        end_id=_gpt_end(published, vocabulary),
    )


def _gpt_end(published: PublishedModel, vocabulary: int) -> int | None:
    """The id that ends a text. GPT-2's own is given even where a smaller vocabulary lacks it: no text ends then."""
    gpt2s = 50_256
    found = published.config.get("eos_token_id", gpt2s)
    if found is None or (found == gpt2s and vocabulary <= gpt2s):
        return None
    return published.word("eos_token_id", gpt2s, vocabulary)


def _gpt_plan(config: GPTConfig) -> Plan:
    plan = {
        "embedding.weight": Source(("wte.weight",)),
        "positions.encoding": Source(("wpe.weight",)),
        "output.weight": Source(("wte.weight" if config.tied_output else "lm_head.weight",)),
        **weights_and_bias("norm", "ln_f"),
    }
    for i in range(config.layers):
        ours, theirs = f"blocks.{i}", f"h.{i}"
        plan |= weights_and_bias(f"{ours}.add_and_norm_1.norm", f"{theirs}.ln_1")
        plan |= weights_and_bias(f"{ours}.self_attention.W_qkv", f"{theirs}.attn.c_attn", change=torch.t)
        plan |= weights_and_bias(f"{ours}.self_attention.W_o", f"{theirs}.attn.c_proj", change=torch.t)
        plan |= weights_and_bias(f"{ours}.add_and_norm_2.norm", f"{theirs}.ln_2")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_1", f"{theirs}.mlp.c_fc", change=torch.t)
        plan |= weights_and_bias(f"{ours}.feed_forward.W_2", f"{theirs}.mlp.c_proj", change=torch.t)
    return plan


# --- BERT ------------------------------------------------------------------------------------------------------


def load_bert(name: str | Path = "bert-base-uncased") -> BERT:
    """BERT of any size, and what has its architecture, such as MiniLM (Devlin et al., 2019). Heads are left out.

    Raises:
        FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
        ValueError: it has another architecture, or its tensors do not fit.
    """
    published = _published_bert(name)
    with torch.device("meta"):
        model = BERT(_bert_config(published))
    load_weights(model, published, _bert_plan(model.config), unused=[*_BERT_UNUSED, r"cls\..*"])
    return model.eval()


def load_masked_language_model(name: str | Path = "bert-base-uncased") -> MaskedLanguageModel:
    """BERT with the head that it was pre-trained with, to guess masked words.

    A model may have been published without the pooler, which this head does not use; its weights are new then.

    Raises:
        FileNotFoundError, ValueError: as for `load_bert`.
    """
    published = _published_bert(name)
    with torch.device("meta"):
        model = MaskedLanguageModel(BERT(_bert_config(published)))
    plan = _masked_language_plan(model.bert.config)
    unused = [*_BERT_UNUSED, r"cls\.predictions\.decoder\.(weight|bias)", r"cls\.seq_relationship\..*"]
    load_weights(model, _with_a_pooler(published, model.bert.config), plan, unused=unused)
    return model.eval()


def load_next_sentence_predictor(name: str | Path = "bert-base-uncased") -> NextSentencePredictor:
    """BERT with the other head of its pre-training: does the second text follow the first?

    Raises:
        FileNotFoundError, ValueError: as for `load_bert`.
    """
    published = _published_bert(name)
    with torch.device("meta"):
        model = NextSentencePredictor(BERT(_bert_config(published)))
    plan = _next_sentence_plan(model.bert.config)
    load_weights(model, published, plan, unused=[*_BERT_UNUSED, r"cls\.predictions\..*"])
    return model.eval()


def save_bert(folder: Path, words: MaskedLanguageModel, sentences: NextSentencePredictor) -> None:
    """Write a BERT with the two heads of its pre-training as published ones are, for `load_bert` and for others.

    Args:
        folder: where to; made if need be.
        words: the model with its first head.
        sentences: the same model with its second.

    Raises:
        ValueError: the heads are on different models.
    """
    if words.bert is not sentences.bert:
        raise ValueError("both heads must be on the same model, since it is written once")
    with needed_for("writing a model", package="safetensors"):
        from safetensors.torch import save_file
    config = words.bert.config
    tensors: dict[str, Tensor] = {}
    for head, plan in ((words, _masked_language_plan(config)), (sentences, _next_sentence_plan(config))):
        state = head.state_dict()
        for ours, source in plan.items():
            parts = state[ours].cpu().chunk(len(source.names))
            tensors |= {_with_prefix(name): part.contiguous() for name, part in zip(source.names, parts, strict=True)}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / WHOLE, metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(_published_config(config), indent=2) + "\n", encoding="utf-8")


def _with_prefix(name: str) -> str:
    return name if name.startswith("cls.") else f"bert.{name}"


def _published_config(config: BERTConfig) -> dict[str, Any]:
    """What `_bert_config` reads, and what the `transformers` library asks for besides."""
    return {
        "architectures": ["BertForPreTraining"],
        "model_type": "bert",
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.context,
        "hidden_size": config.d_model,
        "num_attention_heads": config.heads,
        "num_hidden_layers": config.layers,
        "intermediate_size": config.d_hidden,
        "type_vocab_size": config.segments,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.attention_dropout,
        "hidden_act": next(theirs for theirs, ours in ACTIVATION_NAMES.items() if ours == config.activation),
        "layer_norm_eps": config.norm_epsilon,
    }


_BERT_UNUSED = [r"embeddings\.position_ids"]  # 0, 1, 2, ...: once stored with the weights


def _published_bert(name: str | Path) -> PublishedModel:
    """A published BERT under today's names: BERT's own files say gamma and beta for a layer norm's weight and bias."""
    published = _without_prefix(PublishedModel.read(name, "bert"), "bert.")
    tensors = {
        theirs.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): tensor
        for theirs, tensor in published.tensors.items()
    }
    return PublishedModel(published.name, published.config, tensors)


def _with_a_pooler(published: PublishedModel, config: BERTConfig) -> PublishedModel:
    """The same, with a new pooler where none was published; initialised as BERT was."""
    new = {
        "pooler.dense.weight": 0.02 * torch.randn(config.d_model, config.d_model),
        "pooler.dense.bias": torch.zeros(config.d_model),
    }
    return PublishedModel(published.name, published.config, new | dict(published.tensors))


def _bert_config(published: PublishedModel) -> BERTConfig:
    published.option("position_embedding_type", ["absolute"], default="absolute")
    published.option("is_decoder", [False], default=False)
    return BERTConfig(
        vocabulary=published.size("vocab_size"),
        context=published.size("max_position_embeddings"),
        d_model=published.size("hidden_size"),
        heads=published.size("num_attention_heads"),
        layers=published.size("num_hidden_layers"),
        d_hidden=published.size("intermediate_size"),
        segments=published.size("type_vocab_size"),
        dropout=published.number("hidden_dropout_prob", 0.1),
        attention_dropout=published.number("attention_probs_dropout_prob", 0.1),
        activation=_activation(published, "hidden_act", default="gelu"),
        norm_epsilon=published.number("layer_norm_eps", 1e-12),
    )


def _bert_plan(config: BERTConfig) -> Plan:
    plan = {
        "embedding.weight": Source(("embeddings.word_embeddings.weight",)),
        "positions.encoding": Source(("embeddings.position_embeddings.weight",)),
        "segment_embedding.weight": Source(("embeddings.token_type_embeddings.weight",)),
        **weights_and_bias("norm", "embeddings.LayerNorm"),
        **weights_and_bias("pooler", "pooler.dense"),
    }
    for i in range(config.layers):
        ours, theirs = f"blocks.{i}", f"encoder.layer.{i}"
        projections = [f"{theirs}.attention.self.{name}" for name in ("query", "key", "value")]
        plan |= weights_and_bias(f"{ours}.self_attention.W_qkv", *projections)
        plan |= weights_and_bias(f"{ours}.self_attention.W_o", f"{theirs}.attention.output.dense")
        plan |= weights_and_bias(f"{ours}.add_and_norm_1.norm", f"{theirs}.attention.output.LayerNorm")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_1", f"{theirs}.intermediate.dense")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_2", f"{theirs}.output.dense")
        plan |= weights_and_bias(f"{ours}.add_and_norm_2.norm", f"{theirs}.output.LayerNorm")
    return plan


def _masked_language_plan(config: BERTConfig) -> Plan:
    plan = _within("bert", _bert_plan(config))
    plan |= weights_and_bias("dense", "cls.predictions.transform.dense")
    plan |= weights_and_bias("norm", "cls.predictions.transform.LayerNorm")
    plan["output.weight"] = plan["bert.embedding.weight"]
    plan["output.bias"] = Source(("cls.predictions.bias",))
    return plan


def _next_sentence_plan(config: BERTConfig) -> Plan:
    return _within("bert", _bert_plan(config)) | weights_and_bias("output", "cls.seq_relationship")


# --- Marian ----------------------------------------------------------------------------------------------------


def load_marian(name: str | Path) -> Transformer:
    """A MarianMT translator, such as "Helsinki-NLP/opus-mt-en-de" (Junczys-Dowmunt et al., 2018).

    A translation begins with padding's id: that is what Marian's decoder reads first. It must not write it, though,
    and padding's embedding is published as zeros, so that its score, 0, would often be the largest: here it is far
    below all others. (The `transformers` library forbids it when it generates.)

    Raises:
        FileNotFoundError: there is no such folder or model, or the hub cannot be reached.
        ValueError: it has another architecture, or its tensors do not fit.
    """
    published = _without_prefix(PublishedModel.read(name, "marian"), "model.")
    with torch.device("meta"):
        model = Transformer(_marian_config(published))
    # The shared embedding may be stored up to three times more, and the computed positions next to it.
    unused = [r"(encoder|decoder)\.embed_(tokens|positions)\.weight", r"lm_head\.weight"]
    load_weights(model, published, _marian_plan(model.config), unused=unused)
    model.positions = SinusoidalPositions(model.config.d_model)  # computed, so not among the published weights
    with torch.no_grad():
        model.output.bias[model.config.padding_id] = NEVER
    return model.eval()


def _marian_config(published: PublishedModel) -> TransformerConfig:
    published.option("scale_embedding", [True], default=False)
    published.option("share_encoder_decoder_embeddings", [True], default=True)
    published.option("tie_word_embeddings", [True], default=True)
    published.option("normalize_before", [False], default=False)
    published.option("normalize_embedding", [False], default=False)
    published.option("add_final_layer_norm", [False], default=False)
    heads, d_hidden = published.size("encoder_attention_heads"), published.size("encoder_ffn_dim")
    published.option("decoder_attention_heads", [heads], default=heads)
    published.option("decoder_ffn_dim", [d_hidden], default=d_hidden)
    vocabulary = published.size("vocab_size")
    padding_id = published.word("pad_token_id", vocabulary - 1, vocabulary)
    return TransformerConfig(
        source_vocabulary=vocabulary,
        target_vocabulary=vocabulary,
        d_model=published.size("d_model"),
        heads=heads,
        d_hidden=d_hidden,
        encoder_layers=published.size("encoder_layers"),
        decoder_layers=published.size("decoder_layers"),
        dropout=published.number("dropout", 0.1),
        attention_dropout=published.number("attention_dropout", 0.0),
        activation=_activation(published, "activation_function", default="gelu"),
        tied_output=True,
        shared_embeddings=True,
        output_bias=True,
        padding_id=padding_id,
        start_id=published.word("decoder_start_token_id", padding_id, vocabulary),
        end_id=published.word("eos_token_id", 0, vocabulary),
    )


def _marian_plan(config: TransformerConfig) -> Plan:
    shared = Source(("shared.weight",), _alternate_last)
    plan = {f"{name}.weight": shared for name in ("source_embedding", "target_embedding", "output")}
    plan["output.bias"] = Source(("final_logits_bias",), torch.flatten)
    for i in range(config.encoder_layers):
        ours, theirs = f"encoder.{i}", f"encoder.layers.{i}"
        plan |= _marian_attention(f"{ours}.self_attention", f"{theirs}.self_attn")
        plan |= _writing(f"{ours}.add_and_norm_1.norm", f"{theirs}.self_attn_layer_norm")
        plan |= _marian_feed_forward(f"{ours}.feed_forward", theirs)
        plan |= _writing(f"{ours}.add_and_norm_2.norm", f"{theirs}.final_layer_norm")
    for i in range(config.decoder_layers):
        ours, theirs = f"decoder.{i}", f"decoder.layers.{i}"
        plan |= _marian_attention(f"{ours}.self_attention", f"{theirs}.self_attn")
        plan |= _writing(f"{ours}.add_and_norm_1.norm", f"{theirs}.self_attn_layer_norm")
        plan |= _marian_cross_attention(f"{ours}.cross_attention", f"{theirs}.encoder_attn")
        plan |= _writing(f"{ours}.add_and_norm_2.norm", f"{theirs}.encoder_attn_layer_norm")
        plan |= _marian_feed_forward(f"{ours}.feed_forward", theirs)
        plan |= _writing(f"{ours}.add_and_norm_3.norm", f"{theirs}.final_layer_norm")
    return plan


def _marian_attention(ours: str, theirs: str) -> Plan:
    projections = [f"{theirs}.{name}" for name in ("q_proj", "k_proj", "v_proj")]
    plan = weights_and_bias(f"{ours}.W_qkv", *projections, change=_alternate_last)
    return plan | _writing(f"{ours}.W_o", f"{theirs}.out_proj")


def _marian_cross_attention(ours: str, theirs: str) -> Plan:
    plan = weights_and_bias(f"{ours}.W_q", f"{theirs}.q_proj", change=_alternate_last)
    plan |= weights_and_bias(f"{ours}.W_kv", f"{theirs}.k_proj", f"{theirs}.v_proj", change=_alternate_last)
    return plan | _writing(f"{ours}.W_o", f"{theirs}.out_proj")


def _marian_feed_forward(ours: str, theirs: str) -> Plan:
    reading = weights_and_bias(f"{ours}.W_1", f"{theirs}.fc1", change=_alternate_last)
    return reading | _writing(f"{ours}.W_2", f"{theirs}.fc2")


def _writing(ours: str, theirs: str) -> Plan:
    """A layer whose outputs are d_model, or a norm: the rows of its weight and its bias are put in our order."""
    return {f"{ours}.{part}": Source((f"{theirs}.{part}",), _alternate_first) for part in ("weight", "bias")}


def _alternate_last(halves: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
    """From first half, second half to alternating: a b c | x y z becomes a x b y c z."""
    two_rows: Tensor = halves.unflatten(-1, (2, -1))
    return two_rows.transpose(-1, -2).flatten(-2)


def _alternate_first(halves: Float[Tensor, "d_model ..."]) -> Float[Tensor, "d_model ..."]:
    return _alternate_last(halves.movedim(0, -1)).movedim(-1, 0)


# --- For all ---------------------------------------------------------------------------------------------------


def _without_prefix(published: PublishedModel, prefix: str) -> PublishedModel:
    """The same tensors, without what a model with a head puts before its body's names."""
    tensors = {name.removeprefix(prefix): tensor for name, tensor in published.tensors.items()}
    return PublishedModel(published.name, published.config, tensors)


def _within(name: str, plan: Plan) -> Plan:
    return {f"{name}.{ours}": source for ours, source in plan.items()}


def _activation(published: PublishedModel, key: str, default: str) -> Activation:
    return ACTIVATION_NAMES[published.option(key, ACTIVATION_NAMES, default)]
