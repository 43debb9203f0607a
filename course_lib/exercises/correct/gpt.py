"""Right answers to the exercises of lesson 07 (`course_lib/exercises/gpt.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.blocks import BlockConfig, EncoderBlock
from course_lib.from_scratch.language_models import CausalLanguageModel
from course_lib.masking import causal_mask
from course_lib.positions import LearnedPositions

Model = Callable[[Tensor], Tensor]


def language_model(compute: Callable[[CausalLanguageModel, Tensor], Tensor]) -> type[nn.Module]:
    """A class like `from_scratch.language_models.CausalLanguageModel` whose forward is `compute(model, ids)`."""

    class Computed(CausalLanguageModel):
        def forward(self, ids: Tensor) -> Tensor:
            return compute(self, ids)

    return Computed


# gpt.shifted_targets


def _shifted_by_index(ids: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(ids.shape[1] - 1)
    return ids[:, places], ids[:, places + 1]


def _shifted_by_loop(ids: Tensor) -> tuple[Tensor, Tensor]:
    inputs, targets = [], []
    for text in ids.tolist():
        pairs = list(zip(text, text[1:], strict=False))
        inputs.append([word for word, _ in pairs])
        targets.append([word for _, word in pairs])
    return torch.tensor(inputs), torch.tensor(targets)


def _shifted_by_windows(ids: Tensor) -> tuple[Tensor, Tensor]:
    pairs = ids.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1]


SHIFTED_TARGETS = (
    _shifted_by_index,
    _shifted_by_loop,
    _shifted_by_windows,
    lambda ids: (ids[:, : ids.size(1) - 1].clone(), ids[:, 1:].clone()),
    lambda ids: (ids.narrow(1, 0, ids.shape[1] - 1), ids.narrow(1, 1, ids.shape[1] - 1)),
    lambda ids: (torch.from_numpy(ids.numpy()[:, :-1]), torch.from_numpy(ids.numpy()[:, 1:])),
    lambda ids: (ids[..., :-1], ids.roll(-1, dims=-1)[..., :-1]),
    lambda ids: (ids.T[:-1].T, ids.T[1:].T),
)


# gpt.lm_loss


def _loss_by_loop(log_probs: Tensor, targets: Tensor) -> Tensor:
    losses = [
        -log_probs[text, place, targets[text, place]]
        for text in range(targets.shape[0])
        for place in range(targets.shape[1])
    ]
    return torch.stack(losses).mean()


def _loss_by_text(log_probs: Tensor, targets: Tensor) -> Tensor:
    criterion = nn.NLLLoss(reduction="sum")
    total = torch.zeros((), dtype=log_probs.dtype)
    for one, right in zip(log_probs, targets, strict=True):
        total = total + criterion(one, right)
    return total / targets.numel()


def _loss_in_double(log_probs: Tensor, targets: Tensor) -> Tensor:
    picked = torch.take_along_dim(log_probs.double(), targets[..., None], dim=2)
    return (-picked.sum() / picked.numel()).to(log_probs.dtype)


def _loss_by_vmap(log_probs: Tensor, targets: Tensor) -> Tensor:
    rows = log_probs.reshape(-1, log_probs.shape[-1])
    picked: Tensor = torch.func.vmap(lambda row, word: row.gather(0, word[None])[0])(rows, targets.reshape(-1))
    return -picked.mean()


LM_LOSS = (
    _loss_by_loop,
    _loss_by_text,
    _loss_in_double,
    _loss_by_vmap,
    lambda log_probs, targets: nn.NLLLoss()(log_probs.reshape(-1, log_probs.shape[-1]), targets.reshape(-1)),
    lambda log_probs, targets: F.nll_loss(log_probs.transpose(1, 2), targets),
    lambda log_probs, targets: F.cross_entropy(log_probs.flatten(0, 1), targets.flatten()),
    lambda log_probs, targets: -log_probs.gather(-1, targets.unsqueeze(-1)).mean(),
    lambda log_probs, targets: -log_probs.flatten(0, 1)[torch.arange(targets.numel()), targets.flatten()].mean(),
    lambda log_probs, targets: -log_probs[F.one_hot(targets, log_probs.shape[-1]).bool()].mean(),
)


# gpt.tied_logits


def _logits_by_loop(states: Tensor, embedding: Tensor) -> Tensor:
    return torch.stack([(states * row).sum(dim=-1) for row in embedding], dim=-1)


def _logits_by_layer(states: Tensor, embedding: Tensor) -> Tensor:
    layer = nn.Linear(embedding.shape[1], embedding.shape[0], bias=False, device="meta", dtype=embedding.dtype)
    result: Tensor = torch.func.functional_call(layer, {"weight": embedding}, (states,))
    return result


TIED_LOGITS = (
    _logits_by_loop,
    _logits_by_layer,
    F.linear,
    lambda states, embedding: torch.einsum("...d,vd->...v", states, embedding),
    lambda states, embedding: (embedding @ states.transpose(-2, -1)).transpose(-2, -1),
    lambda states, embedding: torch.tensordot(states, embedding, dims=([-1], [1])),
    lambda states, embedding: (states.unsqueeze(-2) * embedding).sum(dim=-1),
    lambda states, embedding: (states.double() @ embedding.double().T).to(states.dtype),
    lambda states, embedding: torch.func.vmap(lambda row: states @ row, out_dims=-1)(embedding),
)


# gpt.causal_language_model


@language_model
def _model_with_a_mask(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    words = ids.shape[1]
    mask = torch.ones(words, words, dtype=torch.bool).tril() if model.causal else None
    x = model.embedding(ids) + model.positions.encoding[:words]
    for block in model.blocks:
        x = block(x, mask).out
    return F.linear(model.norm(x), model.embedding.weight)


@language_model
def _model_with_a_mask_for_each_text(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    batch, words = ids.shape
    mask = causal_mask(words) if model.causal else torch.ones(words, words, dtype=torch.bool)
    x = model.positions(F.embedding(ids, model.embedding.weight))
    for layer in range(len(model.blocks)):
        x = model.blocks[layer](x, mask.expand(batch, words, words)).out
    return torch.einsum("bwd,vd->bwv", model.norm(x), model.embedding.weight)


@language_model
def _model_that_reads_every_beginning(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    """Once for each length, and only the last place is asked; under the mask, for the sake of the blocks above."""

    def read(beginning: Tensor) -> Tensor:
        x = model.positions(model.embedding(beginning))
        for block in model.blocks:
            x = block(x, is_causal=model.causal).out
        logits: Tensor = model.norm(x) @ model.embedding.weight.T
        return logits

    if not model.causal:
        return read(ids)
    return torch.stack([read(ids[:, : length + 1])[:, -1] for length in range(ids.shape[1])], dim=1)


@language_model
def _model_text_by_text(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    texts = []
    for text in ids:
        x = model.positions(model.embedding.weight[text].unsqueeze(0))
        for block in model.blocks:
            x = block(x, is_causal=model.causal).out
        texts.append(model.norm(x) @ model.embedding.weight.T)
    return torch.cat(texts)


@language_model
def _model_with_weights_asked_for(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    x = model.positions(model.embedding(ids))
    for block in model.blocks:
        x = block(x, None, is_causal=model.causal, need_weights=True).out
    return torch.matmul(model.norm(x), model.embedding.weight.transpose(0, 1))


@language_model
def _model_block_by_block(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    """Pre-norm blocks written out, with attention by hand."""
    x = F.one_hot(ids, model.embedding.num_embeddings).to(model.embedding.weight) @ model.embedding.weight
    x = x + model.positions.encoding[torch.arange(ids.shape[1])]
    blocks: Any = model.blocks
    for block in blocks:
        heads = block.self_attention.heads
        y = block.add_and_norm_1.norm(x)
        q, k, v = (
            piece.unflatten(-1, (heads, -1)).transpose(1, 2) for piece in block.self_attention.W_qkv(y).chunk(3, -1)
        )
        out = F.scaled_dot_product_attention(q, k, v, is_causal=model.causal)
        x = x + block.self_attention.W_o(out.transpose(1, 2).flatten(2))
        x = x + block.feed_forward(block.add_and_norm_2.norm(x))
    return F.linear(F.layer_norm(x, x.shape[-1:], model.norm.weight, model.norm.bias), model.embedding.weight)


class _ModelLaidOutAnew(nn.Module):
    """As a student may lay it out: the parameters' names kept, the mask a buffer that is not saved."""

    def __init__(
        self, vocabulary: int, context: int, d_model: int, heads: int, layers: int, causal: bool = True
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.positions = LearnedPositions(d_model, context)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu", norm_first=True)
        self.blocks = nn.ModuleList([EncoderBlock(config) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        mask = torch.ones(context, context, dtype=torch.bool)
        self.mask: Tensor
        self.register_buffer("mask", mask.tril() if causal else mask, persistent=False)

    def states(self, ids: Tensor) -> Tensor:
        words = ids.shape[1]
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, self.mask[:words, :words]).out
        out: Tensor = self.norm(x)
        return out

    def forward(self, ids: Tensor) -> Tensor:
        return self.states(ids) @ self.embedding.weight.t()


CAUSAL_LANGUAGE_MODEL = (
    _model_with_a_mask,
    _model_with_a_mask_for_each_text,
    _model_that_reads_every_beginning,
    _model_text_by_text,
    _model_with_weights_asked_for,
    _model_block_by_block,
    _ModelLaidOutAnew,
)


# gpt.loss_without_mask


def _prediction_in_place(honest: Tensor) -> Tensor:
    losses = honest.clone()
    losses[..., :-1] = 0
    return losses


def _prediction_by_loop(honest: Tensor) -> Tensor:
    words = honest.shape[-1]
    return torch.stack([honest[..., t] * (t == words - 1) for t in range(words)], dim=-1)


def _prediction_in_numpy(honest: Tensor) -> Tensor:
    losses = numpy.zeros_like(honest.numpy())
    losses[..., -1] = honest.numpy()[..., -1]
    return torch.from_numpy(losses)


LOSS_WITHOUT_MASK = (
    _prediction_in_place,
    _prediction_by_loop,
    _prediction_in_numpy,
    lambda honest: torch.cat([torch.zeros_like(honest[..., :-1]), honest[..., -1:]], dim=-1),
    lambda honest: F.pad(honest[..., -1:], (honest.shape[-1] - 1, 0)),
    lambda honest: torch.where(torch.arange(honest.shape[-1]) == honest.shape[-1] - 1, honest, 0.0),
    lambda honest: honest * F.one_hot(torch.tensor(honest.shape[-1] - 1), honest.shape[-1]),
    lambda honest: torch.zeros_like(honest).index_copy(-1, torch.tensor([honest.shape[-1] - 1]), honest[..., -1:]),
)


# gpt.generate


def _writing_lists(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    words = prompt.tolist()
    while len(words) < len(prompt) + new_words:
        logits = model(torch.tensor([words[-context:]]))
        words.append(int(logits[0, -1].argmax()))
    return torch.tensor(words)


def _writing_in_place(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    text = torch.zeros(len(prompt) + new_words, dtype=torch.long)
    text[: len(prompt)] = prompt
    for end in range(len(prompt), len(text)):
        text[end] = model(text[None, max(0, end - context) : end])[:, -1].argmax(dim=-1)
    return text


def _writing_recursively(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    if new_words == 0:
        return prompt
    word = torch.log_softmax(model(prompt[-context:].view(1, -1))[0, -1], dim=0).topk(1).indices
    return _writing_recursively(model, torch.cat((prompt, word)), new_words - 1, context)


def _writing_a_batch_of_two(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    texts = prompt.repeat(2, 1)
    for _ in range(new_words):
        best = torch.softmax(model(texts[:, -context:])[:, -1, :].double(), dim=-1).max(dim=-1).indices
        texts = torch.hstack([texts, best.unsqueeze(1)])
    return texts[1]


def _writing_with_numpy(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    words = prompt.numpy()
    for _ in range(new_words):
        scores = model(torch.from_numpy(words[-context:].copy()).reshape(1, -1)).numpy()[0, -1]
        words = numpy.append(words, scores.argmax())
    return torch.from_numpy(words.copy())


def _writing_by_sorting(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    ids, window = prompt.clone(), prompt[-context:]
    for _ in range(new_words):
        word = model(window.unsqueeze(0))[0][-1].sort(descending=True).indices[:1]
        ids = torch.cat([ids, word])
        window = torch.cat([window, word])[-context:]
    return ids


GENERATE = (
    _writing_lists,
    _writing_in_place,
    _writing_recursively,
    _writing_a_batch_of_two,
    _writing_with_numpy,
    _writing_by_sorting,
)


# gpt.fine_tuning_loss


def _fine_tuning_by_modules(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    criterion = nn.CrossEntropyLoss()
    total: Tensor = criterion(class_logits, labels) + weight * criterion(lm_logits.transpose(1, 2), targets)
    return total


def _fine_tuning_by_loop(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    classes = [-F.log_softmax(row, dim=0)[label] for row, label in zip(class_logits, labels, strict=True)]
    words = [
        -F.log_softmax(lm_logits[text, place], dim=0)[targets[text, place]]
        for text in range(targets.shape[0])
        for place in range(targets.shape[1])
    ]
    return torch.stack(classes).mean() + weight * torch.stack(words).mean()


def _fine_tuning_by_logsumexp(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    def loss(logits: Tensor, right: Tensor) -> Tensor:
        return (logits.logsumexp(dim=-1) - logits.gather(-1, right.unsqueeze(-1)).squeeze(-1)).mean()

    return loss(class_logits, labels) + weight * loss(lm_logits, targets)


def _fine_tuning_text_by_text(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    total = F.cross_entropy(class_logits, labels, reduction="sum")
    for logits, right in zip(lm_logits, targets, strict=True):
        total = total + weight * F.cross_entropy(logits, right)
    return total / len(labels)


def _fine_tuning_in_double(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    words = F.nll_loss(lm_logits.double().log_softmax(-1).flatten(0, 1), targets.flatten())
    return torch.add(F.cross_entropy(class_logits.double(), labels), words, alpha=weight).to(class_logits.dtype)


FINE_TUNING_LOSS = (
    _fine_tuning_by_modules,
    _fine_tuning_by_loop,
    _fine_tuning_by_logsumexp,
    _fine_tuning_text_by_text,
    _fine_tuning_in_double,
)


# gpt.count_parameters


def _count_a_model(vocabulary: int, context: int, d_model: int, layers: int, tied: bool) -> int:
    """By building it, on a device that holds no numbers."""
    with torch.device("meta"):
        parts = [nn.Embedding(vocabulary, d_model), nn.Embedding(context, d_model), nn.LayerNorm(d_model)]
        config = BlockConfig(d_model, 1, 4 * d_model)
        parts += [EncoderBlock(config) for _ in range(layers)]
        parts += [] if tied else [nn.Linear(d_model, vocabulary, bias=False)]
    return sum(parameter.numel() for part in parts for parameter in part.parameters())


def _count_shapes(vocabulary: int, context: int, d_model: int, layers: int, tied: bool) -> int:
    wide = 4 * d_model
    block = [(d_model, 3 * d_model), (3 * d_model,), (d_model, d_model), (d_model,)]
    block += [(d_model, wide), (wide,), (wide, d_model), (d_model,)] + [(d_model,)] * 4
    shapes = [(vocabulary, d_model), (context, d_model), *(block * layers), (d_model,), (d_model,)]
    if not tied:
        shapes.append((d_model, vocabulary))
    return sum(math.prod(shape) for shape in shapes)


def _count_by_adding(vocabulary: int, context: int, d_model: int, layers: int, tied: bool) -> int:
    total = vocabulary * d_model
    total += context * d_model
    for _ in range(layers):
        total += 3 * d_model * (d_model + 1) + d_model * (d_model + 1)
        total += 4 * d_model * (d_model + 1) + d_model * (4 * d_model + 1)
        total += 2 * d_model + 2 * d_model
    total += 2 * d_model
    if tied is False:
        total += d_model * vocabulary
    return total


def _count_torchs_layers(vocabulary: int, context: int, d_model: int, layers: int, tied: bool) -> int:
    layer = nn.TransformerEncoderLayer(d_model, 1, 4 * d_model, device="meta")
    one = sum(parameter.numel() for parameter in layer.parameters())
    return (vocabulary * (1 if tied else 2) + context + 2) * d_model + layers * one


COUNT_PARAMETERS = (
    _count_a_model,
    _count_shapes,
    _count_by_adding,
    _count_torchs_layers,
    lambda vocabulary, context, d_model, layers, tied: (
        (vocabulary * (2 - tied) + context + layers * (12 * d_model + 13) + 2) * d_model
    ),
)
