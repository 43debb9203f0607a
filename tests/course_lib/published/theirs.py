"""Small models of random weights, as the `transformers` library makes, saves and computes them."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers

SMALL_GPT = {"vocab_size": 61, "n_positions": 32, "n_embd": 24, "n_layer": 3, "n_head": 4}
SMALL_BERT = {
    "vocab_size": 61,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 32,
}
SMALL_MARIAN = {
    "vocab_size": 61,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 32,
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": 60,
    "eos_token_id": 0,
    "forced_eos_token_id": None,
    "decoder_start_token_id": 60,
}
IDS = torch.tensor([[2, 17, 33, 5, 9, 41], [2, 50, 8, 3, 1, 1]])
MASK = torch.tensor([[True] * 6, [True, True, True, True, False, False]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]])


def published(model: transformers.PreTrainedModel, folder: Path) -> transformers.PreTrainedModel:
    """A model of that library with random weights, none of them left at 0 or 1, saved as it saves a trained one."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias += torch.randn(model.final_logits_bias.shape, generator=generator)
    model.save_pretrained(folder)
    return model.eval()


def gpt2(folder: Path, **changes: Any) -> transformers.GPT2LMHeadModel:
    return published(transformers.GPT2LMHeadModel(transformers.GPT2Config(**(SMALL_GPT | changes))), folder)


def bert(folder: Path, **changes: Any) -> transformers.BertForPreTraining:
    return published(transformers.BertForPreTraining(transformers.BertConfig(**(SMALL_BERT | changes))), folder)


def marian(folder: Path, **changes: Any) -> transformers.MarianMTModel:
    return published(transformers.MarianMTModel(transformers.MarianConfig(**(SMALL_MARIAN | changes))), folder)


def edit_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
