"""BERT's weights in `BERT` and in the heads on it, and those of its relatives RoBERTa and DistilBERT.

All have BERT's blocks. They store W_q, W_k and W_v separately; ours are stacked in `W_qkv`. RoBERTa's positions begin
after its padding id, and DistilBERT has neither segments nor a pooler. Models are always saved as a BERT.

Devlin et al. (2019); Liu et al. (2019), "RoBERTa"; Sanh et al. (2019), "DistilBERT".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from course_lib.configurations import BERTConfig
from course_lib.published.families import PublishedFamily, PublishedHead
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import (
    SAME,
    Conversion,
    Plan,
    Source,
    activation_name,
    read_activation,
    weights_and_bias,
)

POSITIONS = r"embeddings\.position_ids"
"""The positions 0, 1, 2, ..., which older files store with the weights."""


# --- Configurations --------------------------------------------------------------------------------------------


def _read_bert(published: PublishedModel) -> BERTConfig:
    published.option("position_embedding_type", ["absolute"], default="absolute")
    published.option("is_decoder", [False], default=False)
    return BERTConfig(
        vocab_size=published.size("vocab_size"),
        context_length=published.size("max_position_embeddings"),
        d_model=published.size("hidden_size"),
        heads=published.size("num_attention_heads"),
        layers=published.size("num_hidden_layers"),
        d_ff=published.size("intermediate_size"),
        segments=published.size("type_vocab_size"),
        dropout=published.number("hidden_dropout_prob", 0.1),
        attention_dropout=published.number("attention_probs_dropout_prob", 0.1),
        activation=read_activation(published, "hidden_act", default="gelu"),
        norm_epsilon=published.number("layer_norm_eps", 1e-12),
    )


def _write_bert(config: BERTConfig) -> dict[str, Any]:
    return {
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.context_length,
        "hidden_size": config.d_model,
        "num_attention_heads": config.heads,
        "num_hidden_layers": config.layers,
        "intermediate_size": config.d_ff,
        "type_vocab_size": config.segments,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.attention_dropout,
        "hidden_act": activation_name(config.activation),
        "layer_norm_eps": config.norm_epsilon,
    }


def _read_roberta(published: PublishedModel) -> BERTConfig:
    """Read BERT's configuration, but with the first position after the padding id."""
    before = published.token("pad_token_id", 1, published.size("vocab_size")) + 1
    context_length = published.size("max_position_embeddings") - before
    return _read_bert(published.with_config(max_position_embeddings=context_length))


def _read_distilbert(published: PublishedModel) -> BERTConfig:
    return BERTConfig(
        vocab_size=published.size("vocab_size"),
        context_length=published.size("max_position_embeddings"),
        d_model=published.size("dim"),
        heads=published.size("n_heads"),
        layers=published.size("n_layers"),
        d_ff=published.size("hidden_dim"),
        segments=1,
        dropout=published.number("dropout", 0.1),
        attention_dropout=published.number("attention_dropout", 0.1),
        activation=read_activation(published, "activation", default="gelu"),
        pooler_activation="relu",
    )


# --- Tensors ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Names:
    """A relative's names for the parts of a block; the block's number goes into each."""

    block: str = "encoder.layer"
    projections: tuple[str, ...] = ("attention.self.query", "attention.self.key", "attention.self.value")
    W_o: str = "attention.output.dense"
    norm_1: str = "attention.output.LayerNorm"
    W_1: str = "intermediate.dense"
    W_2: str = "output.dense"
    norm_2: str = "output.LayerNorm"


_BERT_NAMES = _Names()


def _plan(model: Any, names: _Names = _BERT_NAMES, *, last_positions: bool = False) -> Plan:
    config: BERTConfig = model.config
    last = Conversion(partial(_last_rows, count=config.context_length), SAME.theirs)
    plan = {
        "embedding.weight": Source(("embeddings.word_embeddings.weight",)),
        "positions.encoding": Source(("embeddings.position_embeddings.weight",), last if last_positions else SAME),
        "segment_embedding.weight": Source(("embeddings.token_type_embeddings.weight",), new=torch.zeros),
        **weights_and_bias("norm", "embeddings.LayerNorm"),
        "pooler.weight": Source(("pooler.dense.weight",), new=_normal),
        "pooler.bias": Source(("pooler.dense.bias",), new=torch.zeros),
    }
    for i in range(config.layers):
        ours, theirs = f"blocks.{i}", f"{names.block}.{i}"
        projections = [f"{theirs}.{name}" for name in names.projections]
        plan |= weights_and_bias(f"{ours}.self_attention.W_qkv", *projections)
        plan |= weights_and_bias(f"{ours}.self_attention.W_o", f"{theirs}.{names.W_o}")
        plan |= weights_and_bias(f"{ours}.add_and_norm_1.norm", f"{theirs}.{names.norm_1}")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_1", f"{theirs}.{names.W_1}")
        plan |= weights_and_bias(f"{ours}.feed_forward.W_2", f"{theirs}.{names.W_2}")
        plan |= weights_and_bias(f"{ours}.add_and_norm_2.norm", f"{theirs}.{names.norm_2}")
    return plan


def _last_rows(positions: Tensor, count: int) -> Tensor:
    return positions[len(positions) - count :]


def _normal(shape: torch.Size) -> Tensor:
    """Draw weights as BERT's were initialized."""
    return 0.02 * torch.randn(shape)


def _todays_name(name: str) -> str:
    """Return today's name of a tensor: older BERT files say gamma and beta for a layer norm's weight and bias."""
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


# --- Heads -----------------------------------------------------------------------------------------------------


def _heads(name: str, masked: Mapping[str, str], output: str = "classifier", **pooler: str) -> dict[str, PublishedHead]:
    """Return the heads that BERT and its relatives have.

    Args:
        name: the beginning of the class names in the `transformers` library.
        masked: the names of "dense", "norm" and "bias" in the head that predicts tokens.
        output: the name of the layer that scores classes in the head on the pooler's vector.
        pooler: the names of the pooler in that head, if it belongs to the head.
    """
    body = weights_and_bias("pooler", pooler["pooler"]) if pooler else {}
    tokens = weights_and_bias("dense", masked["dense"]) | weights_and_bias("norm", masked["norm"])
    tokens |= {
        "output.weight": Source(("embeddings.word_embeddings.weight",)),
        "output.bias": Source((masked["bias"],)),
    }
    return {
        "SequenceClassifier": PublishedHead(
            f"{name}ForSequenceClassification", weights_and_bias("output", output), body, pooled=True
        ),
        "TokenClassifier": PublishedHead(f"{name}ForTokenClassification", weights_and_bias("output", "classifier")),
        "QuestionAnswering": PublishedHead(f"{name}ForQuestionAnswering", weights_and_bias("output", "qa_outputs")),
        "MaskedLanguageModel": PublishedHead(f"{name}ForMaskedLM", tokens),
    }


_PREDICTIONS = "cls.predictions"
BERT_FAMILY = PublishedFamily(
    model_type="bert",
    architecture="BertModel",
    read_config=_read_bert,
    write_config=_write_bert,
    plan=_plan,
    body="bert.",
    bare=True,
    plain_name=_todays_name,
    heads={
        **_heads(
            "Bert",
            {
                "dense": f"{_PREDICTIONS}.transform.dense",
                "norm": f"{_PREDICTIONS}.transform.LayerNorm",
                "bias": f"{_PREDICTIONS}.bias",
            },
        ),
        "MultipleChoice": PublishedHead("BertForMultipleChoice", weights_and_bias("output", "classifier"), pooled=True),
        "NextSentencePredictor": PublishedHead(
            "BertForNextSentencePrediction", weights_and_bias("output", "cls.seq_relationship"), pooled=True
        ),
    },
    unused=lambda _model: [POSITIONS, r"cls\.predictions\.decoder\.(weight|bias)"],
)
"""BERT of any size, and models with its architecture, such as MiniLM."""


def _roberta(model_type: str, name: str) -> PublishedFamily:
    return PublishedFamily(
        model_type=model_type,
        architecture=f"{name}Model",
        read_config=_read_roberta,
        write_config=None,
        plan=partial(_plan, last_positions=True),
        body="roberta.",
        heads={
            **_heads(
                *(name, {"dense": "lm_head.dense", "norm": "lm_head.layer_norm", "bias": "lm_head.bias"}),
                output="classifier.out_proj",
                pooler="classifier.dense",
            ),
            "MultipleChoice": PublishedHead(
                f"{name}ForMultipleChoice", weights_and_bias("output", "classifier"), pooled=True
            ),
        },
        unused=lambda _model: [POSITIONS, r"lm_head\.decoder\.(weight|bias)"],
    )


_DISTILBERT_NAMES = _Names(
    "transformer.layer",
    ("attention.q_lin", "attention.k_lin", "attention.v_lin"),
    *("attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm"),
)
_POOLER = "pre_classifier"
DISTILBERT = PublishedFamily(
    model_type="distilbert",
    architecture="DistilBertModel",
    read_config=_read_distilbert,
    write_config=None,
    plan=partial(_plan, names=_DISTILBERT_NAMES),
    body="distilbert.",
    heads={
        **_heads(
            *("DistilBert", {"dense": "vocab_transform", "norm": "vocab_layer_norm", "bias": "vocab_projector.bias"}),
            pooler=_POOLER,
        ),
        "MultipleChoice": PublishedHead(
            *("DistilBertForMultipleChoice", weights_and_bias("output", "classifier")),
            body=weights_and_bias("pooler", _POOLER),
            pooled=True,
        ),
    },
    unused=lambda _model: [POSITIONS, r"vocab_projector\.weight"],
)

BERTS = (BERT_FAMILY, _roberta("roberta", "Roberta"), _roberta("xlm-roberta", "XLMRoberta"), DISTILBERT)
"""BERT and its relatives, of any size."""


def save_bert(folder: str | Path, tokens: Any, sentences: Any) -> None:
    """Save a BERT with both heads of its pre-training, like published ones; `save_pretrained` saves it without.

    Args:
        folder: where to save it; created if missing.
        tokens: the model with its first head, a `MaskedLanguageModel`.
        sentences: the same model with its second head, a `NextSentencePredictor`.

    Raises:
        ValueError: the heads are on different models.
    """
    if tokens.bert is not sentences.bert:
        raise ValueError("both heads must be on the same model, since it is written once")
    first, second = tokens.published(), sentences.published()
    config = {**first.config, "architectures": ["BertForPreTraining"]}
    PublishedModel("BertForPreTraining", config, {**first.tensors, **second.tensors}).write(folder)
