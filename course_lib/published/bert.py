"""BERT's weights in `BERT`, and in the heads of its pre-training (Devlin et al., 2019).

BERT stores W_q, W_k and W_v separately; ours are one below the other, in `W_qkv`. Its own files say gamma and beta for
a layer norm's weight and bias.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from course_lib.models import BERT, BERTConfig
from course_lib.objectives.heads import MaskedLanguageModel, NextSentencePredictor
from course_lib.published.families import PublishedFamily
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import (
    Plan,
    Source,
    activation_name,
    load_weights,
    published_tensors,
    read_activation,
    weights_and_bias,
    within,
)


def _read_config(published: PublishedModel) -> BERTConfig:
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
        activation=read_activation(published, "hidden_act", default="gelu"),
        norm_epsilon=published.number("layer_norm_eps", 1e-12),
    )


def _write_config(config: BERTConfig) -> dict[str, Any]:
    return {
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.context,
        "hidden_size": config.d_model,
        "num_attention_heads": config.heads,
        "num_hidden_layers": config.layers,
        "intermediate_size": config.d_hidden,
        "type_vocab_size": config.segments,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.attention_dropout,
        "hidden_act": activation_name(config.activation),
        "layer_norm_eps": config.norm_epsilon,
    }


def _plan(model: BERT) -> Plan:
    plan = {
        "embedding.weight": Source(("embeddings.word_embeddings.weight",)),
        "positions.encoding": Source(("embeddings.position_embeddings.weight",)),
        "segment_embedding.weight": Source(("embeddings.token_type_embeddings.weight",)),
        **weights_and_bias("norm", "embeddings.LayerNorm"),
        **weights_and_bias("pooler", "pooler.dense"),
    }
    for i in range(model.config.layers):
        ours, theirs = f"blocks.{i}", f"encoder.layer.{i}"
        projections = [f"{theirs}.attention.self.{name}" for name in ("query", "key", "value")]
        plan |= weights_and_bias(f"{ours}.self_attention.W_qkv", *projections)
        plan |= weights_and_bias(f"{ours}.self_attention.W_o", f"{theirs}.attention.output.dense")
        plan |= weights_and_bias(f"{ours}.add_and_norm_1.norm", f"{theirs}.attention.output.LayerNorm")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_1", f"{theirs}.intermediate.dense")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_2", f"{theirs}.output.dense")
        plan |= weights_and_bias(f"{ours}.add_and_norm_2.norm", f"{theirs}.output.LayerNorm")
    return plan


def _plain_name(name: str) -> str:
    name = name.removeprefix(BODY)
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


BODY = "bert."
"""What the names of all tensors begin with but for the heads', where a model has a head."""

POSITIONS = r"embeddings\.position_ids"
"""0, 1, 2, ...: once stored with the weights."""

BERTS = PublishedFamily(
    model=BERT,
    model_type="bert",
    architecture="BertModel",
    read_config=_read_config,
    write_config=_write_config,
    plan=_plan,
    plain_name=_plain_name,
    unused=lambda _model: [POSITIONS, r"cls\..*"],
)
"""BERT of any size, and what has its architecture, such as MiniLM. Heads are left out."""


# --- With the heads of its pre-training ------------------------------------------------------------------------


def load_masked_language_model(name: str | Path = "bert-base-uncased") -> MaskedLanguageModel:
    """BERT with the head that it was pre-trained with, to guess masked words.

    A model may have been published without the pooler, which this head does not use; its weights are new then.

    Raises:
        FileNotFoundError, ValueError: as for `BERT.from_pretrained`.
    """
    published = PublishedModel.read(name, BERTS.model_type).renamed(_plain_name)
    with torch.device("meta"):
        model = MaskedLanguageModel(BERT(_read_config(published)))
    unused = [POSITIONS, r"cls\.predictions\.decoder\.(weight|bias)", r"cls\.seq_relationship\..*"]
    load_weights(model, _with_a_pooler(published, model.bert.config), _masked_language_plan(model.bert), unused=unused)
    return model.eval()


def load_next_sentence_predictor(name: str | Path = "bert-base-uncased") -> NextSentencePredictor:
    """BERT with the other head of its pre-training: does the second text follow the first?

    Raises:
        FileNotFoundError, ValueError: as for `BERT.from_pretrained`.
    """
    published = PublishedModel.read(name, BERTS.model_type).renamed(_plain_name)
    with torch.device("meta"):
        model = NextSentencePredictor(BERT(_read_config(published)))
    load_weights(model, published, _next_sentence_plan(model.bert), unused=[POSITIONS, r"cls\.predictions\..*"])
    return model.eval()


def save_bert(folder: str | Path, words: MaskedLanguageModel, sentences: NextSentencePredictor) -> None:
    """Write a BERT with the two heads of its pre-training, as published ones have them; without, `save_pretrained`.

    Args:
        folder: where to; made if need be.
        words: the model with its first head.
        sentences: the same model with its second.

    Raises:
        ValueError: the heads are on different models.
    """
    if words.bert is not sentences.bert:
        raise ValueError("both heads must be on the same model, since it is written once")
    body = BERTS.published(words.bert)
    tensors = published_tensors(words, _masked_language_plan(words.bert))
    tensors |= published_tensors(sentences, _next_sentence_plan(words.bert))
    config = {**body.config, "architectures": ["BertForPreTraining"]}
    whole = PublishedModel("BertForPreTraining", config, tensors)
    whole.renamed(lambda name: name if name.startswith("cls.") else BODY + name).write(folder)


def _with_a_pooler(published: PublishedModel, config: BERTConfig) -> PublishedModel:
    """The same, with a new pooler where none was published; initialised as BERT was."""
    new = {
        "pooler.dense.weight": 0.02 * torch.randn(config.d_model, config.d_model),
        "pooler.dense.bias": torch.zeros(config.d_model),
    }
    return replace(published, tensors=new | dict(published.tensors))


def _masked_language_plan(bert: BERT) -> Plan:
    plan = within("bert", _plan(bert))
    plan |= weights_and_bias("dense", "cls.predictions.transform.dense")
    plan |= weights_and_bias("norm", "cls.predictions.transform.LayerNorm")
    plan["output.weight"] = plan["bert.embedding.weight"]
    plan["output.bias"] = Source(("cls.predictions.bias",))
    return plan


def _next_sentence_plan(bert: BERT) -> Plan:
    return within("bert", _plan(bert)) | weights_and_bias("output", "cls.seq_relationship")
