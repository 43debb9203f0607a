"""The exercises of lesson 07: a language model's targets, loss, output and blocks, what it writes, and its size.

Built like those of `course_lib/exercises/attention.py`; read that file first. The model that `gpt.generate` writes with
is passed in, so that nobody's text hangs on somebody's model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import language_models
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import Kind, integer, kinds, predicted, sizes
from course_lib.exercises.correct import gpt as correct
from course_lib.exercises.correct.gpt import language_model
from course_lib.language_models import CausalLanguageModel, gpt_parameters
from course_lib.masking import causal_mask

LESSON = "07_gpt"
WITHHELD = ("course_lib.models", "course_lib.losses", "course_lib.language_models")

WORDS = ("I", "saw", "the", "dog", "running")
"""The vocabulary of S0's sentence."""

SENTENCES = torch.tensor([[0, 1, 2, 3, 4], [2, 3, 1, 2, 3]])
"""*I saw the dog running*, and *the dog saw the dog*."""


def _batched_kinds(generator: Generator) -> Iterator[Kind]:
    """Batches of sequences: as they come, in double precision, and transposed in memory."""
    batches = sizes(generator, 3)
    yield Kind("a batch of sequences", generator, (batches[0],))
    yield Kind("double precision", generator, (batches[1],), dtype=torch.float64)
    yield Kind("transposed in memory", generator, (batches[2],), transposed=True)


def _ids(generator: Generator, vocabulary: int, *shape: int) -> Tensor:
    return torch.randint(vocabulary, shape, generator=generator)


def _log_probs(logits: Tensor) -> Tensor:
    """Log-probabilities laid out in memory as the logits are."""
    return logits - logits.logsumexp(dim=-1, keepdim=True)


# gpt.shifted_targets -----------------------------------------------------------------------------------------


def _shifted_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog running", (SENTENCES[:1],))
    for name in ("a batch", "another batch"):
        batch, words = sizes(generator, 2)
        yield Case(name, (_ids(generator, 50, batch, words + 2),))
    yield Case("texts of two words", (_ids(generator, 50, integer(generator, 3, 6), 2),))
    longer = _ids(generator, 50, integer(generator, 9, 12), 3).T
    yield Case("transposed in memory", (longer,))


SHIFTED_TARGETS = Exercise(
    id="gpt.shifted_targets",
    lesson=LESSON,
    name="shifted_targets",
    title="Shifted targets",
    statement=(
        "shifted_targets(ids int64 [batch, words]) -> (inputs, targets), a tuple of two int64 [batch, words - 1]: what "
        "the model reads, and at each position the word that comes next."
    ),
    points=1,
    minutes=4,
    section="Every word is a question",
    source="S0, training transformer language models",
    reference=language_models.shifted_targets,
    cases=_shifted_cases,
    correct=correct.SHIFTED_TARGETS,
    misconceptions=(
        Misconception(
            "swapped",
            "Your answer has the two the wrong way round: the inputs are the targets. Return the words to read first, "
            "and the words to predict second.",
            lambda ids: (ids[:, 1:], ids[:, :-1]),
        ),
        Misconception(
            "not_shifted",
            "Your inputs and targets are the same words, so that the model would learn to repeat what it reads. The "
            "target at each position is the word behind it: ids[:, 1:].",
            lambda ids: (ids[:, :-1], ids[:, :-1]),
        ),
        Misconception(
            "nothing_cut_off",
            "Your inputs and targets are both the whole text. The inputs leave out the last word, which has no next "
            "one, and the targets the first.",
            lambda ids: (ids, ids),
        ),
        Misconception(
            "rolled_round",
            "Your targets are rolled round, so that after the last word the model should say the first. Cut off "
            "instead: the last word is never read, the first is never predicted.",
            lambda ids: (ids, ids.roll(-1, dims=1)),
        ),
        Misconception(
            "rolled_and_cut",
            "Your targets are the words before, not those behind. The target of position t is the word at t + 1: "
            "ids[:, 1:].",
            lambda ids: (ids[:, :-1], ids.roll(1, dims=1)[:, :-1]),
        ),
        Misconception(
            "inputs_not_cut",
            "Your inputs still have the last word, for which there is no target: one more input than targets. Leave "
            "it out: ids[:, :-1].",
            lambda ids: (ids, ids[:, 1:]),
        ),
        Misconception(
            "sentences_shifted",
            "Your answer shifts along the batch: each text's targets are another text. Words are the second "
            "dimension: ids[:, :-1] and ids[:, 1:].",
            lambda ids: (ids[:-1], ids[1:]),
        ),
        Misconception(
            "filled_up",
            "Your targets are filled up with a word 0 at the end, as if every text ended there. Leave the last word "
            "out of the inputs instead, so that both have words - 1 positions.",
            lambda ids: (ids, F.pad(ids[:, 1:], (0, 1))),
        ),
        Misconception(
            "pairs_only",
            "Your answer keeps only the last word as the target. Every word but the first is one: a text of n words "
            "gives n - 1 questions.",
            lambda ids: (ids[:, :-1], ids[:, -1]),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.lm_loss -------------------------------------------------------------------------------------------------


def _example_log_probs() -> Tensor:
    """Made-up log-probabilities of the five words behind each word that is read, [2, 4, 5]."""
    return torch.log_softmax(2 * torch.cos(torch.arange(40.0)).reshape(2, 4, 5), dim=-1)


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    """Without gradients: cross_entropy gives others for log_probs, and the same for the logits that these come from.

    Words of probability 0 stand at every other position only: to drop those positions is another mistake than 0 * -inf.
    """
    if not hidden:
        yield Case("worked example: I saw the dog running", (_example_log_probs(), SENTENCES[:, 1:]))
    for kind in _batched_kinds(generator):
        words, vocabulary = integer(generator, 11, 14), integer(generator, 15, 19)
        targets = _ids(generator, vocabulary, kind.leading[0], words)
        logits = 3 * kind.normal(words, vocabulary)
        yield Case(kind.name, (_log_probs(logits), targets))
    batch, words = sizes(generator, 2)
    logits = torch.randn(batch, words, 12, generator=generator)
    logits[:, ::2, ::3] = -math.inf
    possible = torch.tensor([word for word in range(12) if word % 3])
    targets = possible[_ids(generator, len(possible), batch, words)]
    yield Case("words of probability 0", (_log_probs(logits), targets), part="words of probability 0")


def _picked(log_probs: Tensor, targets: Tensor) -> Tensor:
    """The log-probability of each target, [batch, words]."""
    return log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


LM_LOSS = Exercise(
    id="gpt.lm_loss",
    lesson=LESSON,
    name="lm_loss",
    title="The loss of a batch",
    statement=(
        "lm_loss(log_probs [batch, words, vocabulary], targets int64 [batch, words]) -> a single number, a tensor "
        "without dimensions: the mean over all words of the batch of minus the log-probability of the target."
    ),
    points=3,
    minutes=12,
    section="One loss for a whole batch",
    source="S0, batching with NLLLoss",
    reference=language_models.lm_loss,
    cases=_loss_cases,
    parts={CORE: 2, "words of probability 0": 1},
    correct=correct.LM_LOSS,
    misconceptions=(
        Misconception(
            "reshaped_not_transposed",
            "Your answer gives NLLLoss [batch, vocabulary, words] by reshaping, which tears the rows of numbers apart. "
            "Reshape to [batch * words, vocabulary] instead, or exchange the two dimensions with transpose(1, 2).",
            lambda log_probs, targets: F.nll_loss(log_probs.reshape(len(log_probs), -1, targets.shape[1]), targets),
        ),
        Misconception(
            "targets_in_another_order",
            "Your answer flattens the targets in another order than the log-probabilities: one goes text by text, the "
            "other position by position. Flatten both in the same way: targets.flatten().",
            lambda log_probs, targets: F.nll_loss(log_probs.flatten(0, 1), targets.T.flatten()),
        ),
        Misconception(
            "sign_forgotten",
            "Your answer is negative. A log-probability is at most 0, and the loss is minus its mean.",
            lambda log_probs, targets: _picked(log_probs, targets).mean(),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over all words. Take the mean, so that the loss does not depend on the size of "
            "the batch.",
            lambda log_probs, targets: -_picked(log_probs, targets).sum(),
        ),
        Misconception(
            "summed_over_words",
            "Your answer sums over the words of a text and takes the mean over texts only. Take the mean over all "
            "words of the batch.",
            lambda log_probs, targets: -_picked(log_probs, targets).sum(dim=1).mean(),
        ),
        Misconception(
            "summed_over_texts",
            "Your answer takes the mean over the words of each text, but the sum over texts. Take the mean over all "
            "words of the batch.",
            lambda log_probs, targets: -_picked(log_probs, targets).mean(dim=1).sum(),
        ),
        Misconception(
            "not_averaged",
            "Your answer is one loss for each word. Take their mean: a single number.",
            lambda log_probs, targets: -_picked(log_probs, targets),
        ),
        Misconception(
            "not_averaged_and_flat",
            "Your answer is one loss for each word. Take their mean: a single number.",
            lambda log_probs, targets: -_picked(log_probs, targets).flatten(),
        ),
        Misconception(
            "only_the_last_word",
            "Your answer counts the last word of each text only. Every word is a question: take the mean over all of "
            "them.",
            lambda log_probs, targets: F.nll_loss(log_probs[:, -1], targets[:, -1]),
        ),
        Misconception(
            "only_the_first_text",
            "Your answer counts the first text of the batch only. Take the mean over all texts.",
            lambda log_probs, targets: F.nll_loss(log_probs[0], targets[0]),
        ),
        Misconception(
            "probabilities",
            "Your answer takes exp of the log-probabilities before it picks the targets'. NLLLoss wants the logarithms "
            "as they come: it only picks, averages and changes the sign.",
            lambda log_probs, targets: F.nll_loss(log_probs.exp().flatten(0, 1), targets.flatten()),
        ),
        Misconception(
            "logarithm_twice",
            "Your answer takes the logarithm once more, which is NaN for negative numbers. log_probs are logarithms "
            "already.",
            lambda log_probs, targets: F.nll_loss(log_probs.log().flatten(0, 1), targets.flatten()),
        ),
        Misconception(
            "perplexity",
            "Your answer is exp of the loss, the perplexity. The loss itself is asked for.",
            lambda log_probs, targets: torch.exp(F.nll_loss(log_probs.flatten(0, 1), targets.flatten())),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits: it divides by ln 2. The loss is in nats, as NLLLoss gives it.",
            lambda log_probs, targets: F.nll_loss(log_probs.flatten(0, 1), targets.flatten()) / math.log(2),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer takes the mean of all log-probabilities, those of wrong words too. Only the target's counts "
            "at each position.",
            lambda log_probs, targets: -log_probs.mean(),
        ),
        Misconception(
            "best_word",
            "Your answer uses the most probable word at each position, whatever the target is. A loss needs the "
            "targets: pick the log-probability of the right word.",
            lambda log_probs, targets: -log_probs.amax(dim=-1).mean(),
        ),
        Misconception(
            "shifted_again",
            "Your answer shifts once more. The targets are shifted already: the one at each position belongs to the "
            "log-probabilities at the same position.",
            lambda log_probs, targets: F.nll_loss(log_probs[:, :-1].flatten(0, 1), targets[:, 1:].flatten()),
        ),
        Misconception(
            "zero_times_infinity",
            "Your answer is right unless some word has probability 0, whose logarithm is -inf: 0 times that is NaN. "
            "Pick the target's number (NLLLoss, gather) instead of multiplying by a one-hot vector.",
            lambda log_probs, targets: -(F.one_hot(targets, log_probs.shape[-1]) * log_probs).sum(dim=-1).mean(),
        ),
        Misconception(
            "word_0_left_out",
            "Your answer passes over the places whose target is word 0, as if it were padding. Here it is a word "
            "like any other.",
            lambda log_probs, targets: -_picked(log_probs, targets)[targets != 0].mean(),
        ),
        Misconception(
            "every_target_at_every_place",
            "Your answer takes all targets at every place, log_probs[:, :, targets], and not the one that belongs "
            "there. gather picks one for each place.",
            lambda log_probs, targets: -log_probs[:, :, targets].mean(),
        ),
        Misconception(
            "zeros_averaged_too",
            "Your answer divides by the size of the vocabulary as well: is it a mean over a one-hot product, whose "
            "zeros count? Divide by the number of words alone.",
            lambda log_probs, targets: -_picked(log_probs, targets).sum() / log_probs.numel(),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.tied_logits ---------------------------------------------------------------------------------------------


def _logits_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        embedding = torch.tensor([[0.5, -1.0], [1.0, 0.5], [-1.0, -0.5], [2.0, 1.0], [0.5, 2.0]])
        states = torch.tensor([[1.0, -0.5], [0.0, 1.5], [2.0, 1.0], [-0.5, 2.0]])
        yield Case("worked example: I saw the dog", (states, embedding))
    for kind in kinds(generator):
        words, vocabulary = kind.sizes(2)
        d_model = kind.d_head()
        rows = Kind(kind.name, generator, dtype=kind.dtype, transposed=kind.transposed)
        yield Case(kind.name, (kind.normal(words, d_model), rows.normal(vocabulary + 20, d_model)), gradients=(0, 1))


TIED_LOGITS = Exercise(
    id="gpt.tied_logits",
    lesson=LESSON,
    name="tied_logits",
    title="Tied logits",
    statement=(
        "tied_logits(states [..., d_model], embedding [vocabulary, d_model]) -> [..., vocabulary]: the score of each "
        "word behind each state, the dot product of the state with the word's embedding."
    ),
    points=2,
    minutes=6,
    section="From a vector to a word",
    source="S0, P(w given context) = softmax(W h); Press and Wolf (2017)",
    reference=language_models.tied_logits,
    cases=_logits_cases,
    correct=correct.TIED_LOGITS,
    misconceptions=(
        Misconception(
            "softmax_taken",
            "Your answer is the probabilities already. Logits are the scores before the softmax: return W h.",
            lambda states, embedding: torch.softmax(states @ embedding.T, dim=-1),
        ),
        Misconception(
            "log_softmax_taken",
            "Your answer is the log-probabilities already. Logits are the scores before the softmax: return W h.",
            lambda states, embedding: torch.log_softmax(states @ embedding.T, dim=-1),
        ),
        Misconception(
            "scaled",
            "Your answer divides by √d_model, as attention does. The output layer does not: it is W h alone.",
            lambda states, embedding: states @ embedding.T / math.sqrt(states.shape[-1]),
        ),
        Misconception(
            "divided_by_d_model",
            "Your answer takes the mean over the dimensions. A dot product is the sum: W h alone.",
            lambda states, embedding: states @ embedding.T / states.shape[-1],
        ),
        Misconception(
            "cosine",
            "Your answer is the cosine of the angle: it divides by both lengths. A longer embedding makes a word more "
            "probable everywhere, and the model uses that: take the dot product as it is.",
            lambda states, embedding: F.normalize(states, dim=-1) @ F.normalize(embedding, dim=-1).T,
        ),
        Misconception(
            "embeddings_normalised",
            "Your answer brings the embeddings to length 1 first. A longer embedding makes a word more probable "
            "everywhere, and the model uses that: take the rows as they are.",
            lambda states, embedding: states @ F.normalize(embedding, dim=-1).T,
        ),
        Misconception(
            "distance",
            "Your answer scores words by how near their embedding is to the state (minus the distance). S0 takes the "
            "dot product.",
            lambda states, embedding: -(states.unsqueeze(-2) - embedding).norm(dim=-1),
        ),
        Misconception(
            "words_as_rows",
            "Your answer is transposed, [..., vocabulary, words]. Each state has a row of scores: states @ "
            "embedding.T.",
            lambda states, embedding: embedding @ states.transpose(-2, -1),
        ),
        Misconception(
            "most_probable_word",
            "Your answer is the id of the best word. Return the scores of all words; which of them to choose is "
            "another question.",
            lambda states, embedding: (states @ embedding.T).argmax(dim=-1),
        ),
        Misconception(
            "only_the_last_state",
            "Your answer scores the word behind the last state only. In training every state is asked: one row of "
            "scores for each.",
            lambda states, embedding: states[..., -1, :] @ embedding.T,
        ),
        Misconception(
            "embedding_detached",
            "The values are right, but no gradient reaches `embedding`: another tensor with its values is used "
            "(.detach(), .data, torch.tensor, nn.Parameter(...)). Tied means that both uses train the same matrix.",
            lambda states, embedding: states @ embedding.detach().T,
        ),
        Misconception(
            "states_detached",
            "The values are right, but no gradient reaches `states` (.detach(), .data, numpy), so that nothing below "
            "the output layer could learn.",
            lambda states, embedding: states.detach() @ embedding.T,
        ),
        Misconception(
            "no_gradients",
            "The values are right, but no gradient reaches the states or the embedding: the computation leaves torch "
            "somewhere (.detach(), numpy, no_grad). The model could not learn.",
            lambda states, embedding: (states @ embedding.T).detach(),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.causal_language_model -----------------------------------------------------------------------------------


def _model_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        construct = {"vocabulary": 5, "context": 4, "d_model": 6, "heads": 2, "layers": 1, "causal": True}
        yield _model_case("worked example: I saw the dog", generator, construct, SENTENCES[:, :-1])
    for name, causal, full in (
        ("a batch", True, False),
        ("as many words as the context", True, True),
        ("causal=False", False, False),
    ):
        batch, words = sizes(generator, 2)
        words += 2
        heads = integer(generator, 2, 4)
        construct = {
            "vocabulary": integer(generator, 20, 30),
            "context": words if full else words + integer(generator, 1, 4),
            "d_model": heads * integer(generator, 3, 6),
            "heads": heads,
            "layers": 2,
            "causal": causal,
        }
        ids = _ids(generator, int(construct["vocabulary"]), batch, words)
        yield _model_case(name, generator, construct, ids, part=CORE if causal else "without the mask")


def _model_case(name: str, generator: Generator, construct: dict[str, Any], ids: Tensor, part: str = CORE) -> Case:
    """A case with weights far from those that a new model begins with, so that each of them shows."""
    weights = {
        key: 0.4 * torch.randn(value.shape, generator=generator)
        for key, value in CausalLanguageModel(**construct).state_dict().items()
    }
    for key in weights:
        if "norm" in key and key.endswith("weight"):
            weights[key] += 1
    return Case(name, (ids,), construct=construct, weights=weights, weight_gradients=True, part=part)


def _through_blocks(model: CausalLanguageModel, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = block(x, mask).out
    return x


def _mask(model: CausalLanguageModel, ids: Tensor) -> Tensor | None:
    return causal_mask(ids.shape[1]) if model.causal else None


def _output(model: CausalLanguageModel, x: Tensor) -> Tensor:
    return model.norm(x) @ model.embedding.weight.T  # type: ignore[no-any-return]


def _embedded(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    return model.positions(model.embedding(ids))  # type: ignore[no-any-return]


def _with_mask(change: Callable[[Tensor], Tensor | None]) -> type[nn.Module]:
    """The model with another mask, made from the right one; without a mask where there should be none."""
    return language_model(
        lambda model, ids: _output(
            model,
            _through_blocks(model, _embedded(model, ids), change(causal_mask(ids.shape[1])) if model.causal else None),
        )
    )


def _with_input(embed: Callable[[CausalLanguageModel, Tensor], Tensor]) -> type[nn.Module]:
    """The model with other vectors at its bottom."""
    return language_model(
        lambda model, ids: _output(model, _through_blocks(model, embed(model, ids), _mask(model, ids)))
    )


def _with_output(finish: Callable[[CausalLanguageModel, Tensor], Tensor]) -> type[nn.Module]:
    """The model with something else made of its last block's vectors."""
    return language_model(
        lambda model, ids: finish(model, _through_blocks(model, _embedded(model, ids), _mask(model, ids)))
    )


def _norm_behind_every_block(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    x = _embedded(model, ids)
    for block in model.blocks:
        x = model.norm(block(x, _mask(model, ids)).out)
    return x @ model.embedding.weight.T


def _added_around_the_blocks(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    x = _embedded(model, ids)
    for block in model.blocks:
        x = x + block(x, _mask(model, ids)).out
    return _output(model, x)


def _side_by_side(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    x = _embedded(model, ids)
    for block in model.blocks:
        y = block(x, _mask(model, ids)).out
    return _output(model, y)


def _first_block_only(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    return _output(model, model.blocks[0](_embedded(model, ids), _mask(model, ids)).out)


def _same_block_again(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    x = _embedded(model, ids)
    for _ in model.blocks:
        x = model.blocks[0](x, _mask(model, ids)).out
    return _output(model, x)


def _beginnings(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    lengths = range(1, ids.shape[1] + 1) if model.causal else [ids.shape[1]]
    x = [_through_blocks(model, _embedded(model, ids[:, :length]), None) for length in lengths]
    return _output(model, torch.stack([states[:, -1] for states in x], dim=1) if model.causal else x[0])


CAUSAL_LANGUAGE_MODEL = Exercise(
    id="gpt.causal_language_model",
    lesson=LESSON,
    name="CausalLanguageModel",
    title="A causal language model",
    statement=(
        "class CausalLanguageModel(nn.Module): __init__(vocabulary, context, d_model, heads, layers, causal=True) is "
        "given; forward(ids int64 [batch, words]) -> logits [batch, words, vocabulary]: embedding, positions, blocks "
        "under a causal mask, norm, tied output."
    ),
    points=5,
    minutes=25,
    section="Only a decoder",
    source="S0, transformer language models; S2, transformer decoder (T-D)",
    reference=CausalLanguageModel,
    cases=_model_cases,
    parts={CORE: 4, "without the mask": 1},
    correct=correct.CAUSAL_LANGUAGE_MODEL,
    misconceptions=(
        Misconception(
            "always_causal",
            "Your model is right, but it always uses the mask. Where self.causal is False, let every word see every "
            "other: pass None as the mask.",
            language_model(
                lambda model, ids: _output(
                    model, _through_blocks(model, _embedded(model, ids), causal_mask(ids.shape[1]))
                )
            ),
        ),
        Misconception(
            "no_mask",
            "Your model reads the words that it is to predict: where self.causal is True no mask reaches the blocks. "
            "Pass the causal mask to each of them there, block(x, mask), and None only where self.causal is False.",
            _with_mask(lambda mask: None),
        ),
        Misconception(
            "keys_as_rows",
            "Your model uses the mask transposed: each word sees itself and the future, and not the past. Rows are "
            "queries: the allowed part is the lower triangle.",
            _with_mask(lambda mask: mask.T),
        ),
        Misconception(
            "mask_inverted",
            "Your model sees only the future: the mask is True where attention is forbidden, as torch's modules want "
            "it. In this course True means `may attend`.",
            _with_mask(lambda mask: ~mask),
        ),
        Misconception(
            "itself_forbidden",
            "Your mask forbids each word to see itself. The diagonal is allowed: a word knows itself, and what it is "
            "to predict is the next one.",
            _with_mask(lambda mask: mask.tril(diagonal=-1)),
        ),
        Misconception(
            "one_word_ahead",
            "Your mask also allows the next word, which is the very one to be predicted. Query i attends to keys 0 to "
            "i only.",
            _with_mask(lambda mask: torch.ones_like(mask).tril(diagonal=1)),
        ),
        Misconception(
            "no_positions",
            "Your model leaves out the positions. Let self.positions add them to the embeddings, before the first "
            "block.",
            _with_input(lambda model, ids: model.embedding(ids)),
        ),
        Misconception(
            "positions_twice",
            "Your model adds the positions twice. self.positions(x) returns x with them added already.",
            _with_input(lambda model, ids: model.embedding(ids) + model.positions(model.embedding(ids))),
        ),
        Misconception(
            "embedding_scaled",
            "Your model multiplies the embeddings by √d_model, as the translating transformer does. GPT does not.",
            _with_input(
                lambda model, ids: model.positions(model.embedding(ids) * math.sqrt(model.norm.weight.numel()))
            ),
        ),
        Misconception(
            "no_final_norm",
            "Your model leaves out the final norm. In pre-norm blocks nothing standardises what the last one returns: "
            "apply self.norm before the output.",
            _with_output(lambda model, x: x @ model.embedding.weight.T),
        ),
        Misconception(
            "side_by_side",
            "Each of your blocks reads the embeddings, and only the last one counts. Stack them: each block reads "
            "what the one below returned (x = block(x, mask).out).",
            language_model(_side_by_side),
        ),
        Misconception(
            "first_block_only",
            "Your model uses its first block only. Go through all of self.blocks.",
            language_model(_first_block_only),
        ),
        Misconception(
            "same_block_again",
            "Your model goes through its first block again and again. Each block has weights of its own: go through "
            "self.blocks, one after the other.",
            language_model(_same_block_again),
        ),
        Misconception(
            "norm_before_the_blocks",
            "Your model applies self.norm before the first block. It belongs behind the last one, before the output.",
            language_model(
                lambda model, ids: (
                    _through_blocks(model, model.norm(_embedded(model, ids)), _mask(model, ids))
                    @ model.embedding.weight.T
                )
            ),
        ),
        Misconception(
            "every_beginning_by_itself",
            "Your model reads each beginning of the text by itself, without the mask. It does not cheat, but it is "
            "another model, and slow: from the second block on, early words have seen later ones. One reading under "
            "the mask is asked for.",
            language_model(_beginnings),
        ),
        Misconception(
            "states_returned",
            "Your model returns the states, d_model numbers for each word. The output layer is missing: their dot "
            "products with all embeddings.",
            _with_output(lambda model, x: model.norm(x)),
        ),
        Misconception(
            "probabilities",
            "Your model returns probabilities. Return the logits, the scores before the softmax: the training loop "
            "takes the log-softmax of them.",
            _with_output(lambda model, x: torch.softmax(_output(model, x), dim=-1)),
        ),
        Misconception(
            "log_probabilities",
            "Your model returns log-probabilities. Return the logits, the scores before the softmax: the training "
            "loop takes the log-softmax of them.",
            _with_output(lambda model, x: torch.log_softmax(_output(model, x), dim=-1)),
        ),
        Misconception(
            "last_word_only",
            "Your model answers behind the last word only. Return logits for every position, [batch, words, "
            "vocabulary]: in training each of them is a question.",
            _with_output(lambda model, x: _output(model, x)[:, -1]),
        ),
        Misconception(
            "logits_scaled",
            "Your model divides the logits by √d_model. The output layer is W h alone.",
            _with_output(lambda model, x: _output(model, x) / math.sqrt(x.shape[-1])),
        ),
        Misconception(
            "output_detached",
            "The values are right, but the output layer is not the embedding itself but has its values only "
            "(.detach(), .data, torch.tensor): no gradient comes back that way. Use self.embedding.weight itself.",
            _with_output(lambda model, x: model.norm(x) @ model.embedding.weight.detach().T),
        ),
        Misconception(
            "norm_behind_every_block",
            "Your answer norms behind every block. The blocks have norms of their own inside; self.norm comes once, "
            "behind the last.",
            language_model(_norm_behind_every_block),
        ),
        Misconception(
            "added_around_the_blocks",
            "Your answer adds each block's input to its output. The residual connections are inside the blocks: go "
            "on with what a block returns.",
            language_model(_added_around_the_blocks),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.loss_without_mask ---------------------------------------------------------------------------------------


def _prediction_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog", (torch.tensor([2.5, 2.0, 1.5, 1.0]),))
    for kind in kinds(generator):
        (words,) = kind.sizes(1)
        yield Case(kind.name, (kind.normal(words).abs() + 0.5,))
    yield Case("a single word", (torch.rand(1, generator=generator) + 0.5,))


def _only(places: slice, honest: Tensor) -> Tensor:
    """The honest loss at these positions, 0 at the others."""
    kept = torch.zeros_like(honest)
    kept[..., places] = honest[..., places]
    return kept


LOSS_WITHOUT_MASK = Exercise(
    id="gpt.loss_without_mask",
    lesson=LESSON,
    name="loss_without_mask",
    title="Predict: the loss without a mask",
    statement=(
        "loss_without_mask(honest [..., words]) -> [..., words]: the lowest loss that a model can reach at each "
        "position without a mask, from that of an honest one; both read the same words and have the same targets."
    ),
    points=1,
    minutes=6,
    section="What would happen without the mask?",
    source="S0, a small problem with transformer language models",
    reference=language_models.loss_without_mask,
    cases=predicted(_prediction_cases),
    # A prediction has nothing to overflow or to differentiate: the mistakes are other predictions.
    correct=correct.LOSS_WITHOUT_MASK,
    misconceptions=(
        Misconception(
            "zero_everywhere",
            "Your prediction is right but for the last position. Its target is the word behind the last input: it is "
            "not there to be copied, and the model must guess as honestly as the other.",
            torch.zeros_like,
        ),
        Misconception(
            "nothing_changes",
            "Your prediction is that the mask makes no difference. But without it position t sees the word at t + 1, "
            "and that word is its target.",
            lambda honest: honest.clone(),
        ),
        Misconception(
            "as_good_as_the_last",
            "Your prediction is that every position is now as good as the last, which sees all words in any case. They "
            "see more than that: the next word is their target itself, and nothing is left to guess.",
            lambda honest: honest[..., -1:].expand_as(honest),
        ),
        Misconception(
            "one_place_further",
            "Your prediction is that each position is now as good as the next, since it knows one word more. But that "
            "word is the answer itself: copying it costs nothing.",
            lambda honest: torch.cat([honest[..., 1:], honest[..., -1:]], dim=-1),
        ),
        Misconception(
            "zero_but_the_first",
            "Your prediction keeps the loss of the first position. Its target, the second word, stands in the input "
            "too. The one position whose target is missing is the last.",
            lambda honest: _only(slice(0, 1), honest),
        ),
        Misconception(
            "only_the_last_is_zero",
            "Your prediction is the other way round: the last position is the only one that cannot copy, for the word "
            "behind the last input is not in the input.",
            lambda honest: _only(slice(0, -1), honest),
        ),
        Misconception(
            "half",
            "Your prediction halves the loss. There is nothing gradual about it: where the target stands in the "
            "input, it can be copied, and the loss goes to 0.",
            lambda honest: honest / 2,
        ),
        Misconception(
            "last_word_only",
            "Your prediction speaks of the last position only. Return a loss for every position.",
            lambda honest: honest[..., -1],
        ),
        Misconception(
            "endless",
            "Your prediction is an infinite loss. The model still learns, and all too well: where the target stands "
            "in the input it is copied.",
            lambda honest: torch.full_like(honest, math.inf),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.generate ------------------------------------------------------------------------------------------------


def _knows_the_sentence_by_heart(ids: Tensor) -> Tensor:
    """I saw the dog running, I saw the dog running, ..."""
    _require_ids(ids, len(WORDS))
    return 5.0 * F.one_hot((ids + 1) % len(WORDS), len(WORDS))


EXAMPLE_MODEL = Callback("model", _knows_the_sentence_by_heart)


@dataclass(frozen=True, eq=False)  # equal tensors are not equal in Python's sense
class _DrawnModel:
    """Logits that depend on every word so far and on their positions; beyond its context the model answers nonsense.

    Attributes:
        own: what each word says of the next.
        so_far: what it says of all that come after it.
        place: what each place says.
    """

    own: Tensor
    so_far: Tensor
    place: Tensor

    def __call__(self, ids: Tensor) -> Tensor:
        vocabulary, context = len(self.own), len(self.place)
        _require_ids(ids, vocabulary)
        places = torch.arange(ids.shape[1])
        before = self.so_far[ids].cumsum(dim=1) / (places + 1).sqrt().unsqueeze(-1)
        logits: Tensor = self.own[ids] + 3 * before + self.place[places % context]
        return logits if ids.shape[1] <= context else -logits


def _require_ids(ids: object, vocabulary: int) -> None:
    if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.is_floating_point():
        shape = list(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
        raise ValueError(f"the model reads ids of shape [batch, words], whole numbers, not {shape}")
    if ids.shape[1] == 0 or int(ids.min()) < 0 or int(ids.max()) >= vocabulary:
        raise ValueError(f"the model reads at least one word, with ids from 0 to {vocabulary - 1}")


def _generate_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the", (EXAMPLE_MODEL, torch.tensor([0, 1, 2]), 2, 8))
        yield Case("nothing to write", (EXAMPLE_MODEL, torch.tensor([3, 1]), 0, 8))
    for name, words, new_words, context, part in (
        ("a short prompt", 3, 6, 20, CORE),
        ("a prompt of one word", 1, 5, 6, CORE),
        ("a text that outgrows the context", 3, 9, 5, "long texts"),
        ("a prompt longer than the context", 9, 4, 4, "long texts"),
    ):
        vocabulary = integer(generator, 40, 60)
        drawn = torch.randn(2 * vocabulary + context, vocabulary, generator=generator)
        model = Callback("model", _DrawnModel(*drawn.split([vocabulary, vocabulary, context])))
        yield Case(name, (model, _ids(generator, vocabulary, words), new_words, context), part=part)
    own, so_far, place = torch.randn(80 + 12, 40, generator=generator).split([40, 40, 12])
    place[3, 0] = 100.0  # behind a prompt of two words the third new word is word 0, the lesson's full stop
    model = Callback("model", _DrawnModel(own, so_far, place))
    yield Case("word 0 on the way", (model, 1 + _ids(generator, 39, 2), 8, 12))


Model = Callable[[Tensor], Tensor]


def _written(
    model: Model,
    prompt: Tensor,
    new_words: int,
    read: Callable[[Tensor], Tensor],
    choose: Callable[[Tensor], Tensor] = lambda logits: logits[0, -1].argmax(),
) -> Tensor:
    """Text written by a loop that reads `read(text)` and chooses from the logits [1, words, vocabulary]."""
    ids = prompt
    for _ in range(new_words):
        ids = torch.cat([ids, choose(model(read(ids).unsqueeze(0))).reshape(1)])
    return ids


def _text_cut_to_the_window(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    ids = prompt
    for _ in range(new_words):
        ids = ids[-context:]
        ids = torch.cat([ids, model(ids.unsqueeze(0))[0, -1].argmax().reshape(1)])
    return ids


def _from_one_reading(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    word = model(prompt[-context:].unsqueeze(0))[0, -1].argmax()
    return torch.cat([prompt, word.expand(new_words)])


def _up_to_word_0(model: Model, prompt: Tensor, new_words: int, context: int, itself: bool = True) -> Tensor:
    ids = _written(model, prompt, new_words, lambda ids: ids[-context:])
    ends = (ids[len(prompt) :] == 0).nonzero()
    return ids[: len(prompt) + int(ends[0]) + itself] if len(ends) else ids


GENERATE = Exercise(
    id="gpt.generate",
    lesson=LESSON,
    name="generate",
    title="Writing",
    statement=(
        "generate(model, prompt int64 [words], new_words, context) -> int64 [words + new_words]: the prompt, and "
        "behind it the most probable next word, again and again; model(ids [batch, words]) gives logits [batch, words, "
        "vocabulary] and reads at most `context` words, the last ones."
    ),
    points=3,
    minutes=15,
    section="Let it write",
    source="S3, text generation; S2, greedy decoding",
    reference=language_models.generate,
    cases=_generate_cases,
    parts={CORE: 2, "long texts": 1},
    correct=correct.GENERATE,
    misconceptions=(
        Misconception(
            "context_ignored",
            "Your answer is right as long as the text fits into the context. Beyond it the model has no positions: "
            "give it the last `context` words only, ids[-context:].",
            lambda model, prompt, new_words, context: _written(model, prompt, new_words, lambda ids: ids),
        ),
        Misconception(
            "first_words_kept",
            "Your answer gives the model the first `context` words of a long text. What comes next depends on the last "
            "ones: ids[-context:].",
            lambda model, prompt, new_words, context: _written(model, prompt, new_words, lambda ids: ids[:context]),
        ),
        Misconception(
            "one_word_short_of_the_context",
            "Your answer gives the model one word fewer than its context holds. It can read all of `context` words: "
            "ids[-context:].",
            lambda model, prompt, new_words, context: _written(
                model, prompt, new_words, lambda ids: ids[-(context - 1) :]
            ),
        ),
        Misconception(
            "prompt_cut_once",
            "Your answer cuts the prompt to the context once, before the loop, and then the text grows beyond it. Cut "
            "at every step, and keep the whole text for the end.",
            lambda model, prompt, new_words, context: _written(model, prompt[-context:], new_words, lambda ids: ids),
        ),
        Misconception(
            "long_prompt_cut_off",
            "Your answer is right unless the prompt is longer than the context: then its first words are missing. Cut "
            "what the model reads, not the text itself.",
            lambda model, prompt, new_words, context: _written(
                model, prompt[-context:], new_words, lambda ids: ids[-context:]
            ),
        ),
        Misconception(
            "only_the_window_returned",
            "Your answer returns only the last `context` words. Cut what the model reads, not what you return: the "
            "text begins with the whole prompt.",
            lambda model, prompt, new_words, context: _written(model, prompt, new_words, lambda ids: ids[-context:])[
                -context:
            ],
        ),
        Misconception(
            "prompt_left_out",
            "Your answer is the new words only. Return the whole text, the prompt in front.",
            lambda model, prompt, new_words, context: _written(model, prompt, new_words, lambda ids: ids[-context:])[
                len(prompt) :
            ],
        ),
        # torch makes floats of an empty list, and stacks none: with nothing to write these two end differently.
        Misconception(
            "prompt_left_out_of_a_list",
            "Your answer is the new words only. Return the whole text, the prompt in front.",
            lambda model, prompt, new_words, context: torch.tensor(
                _written(model, prompt, new_words, lambda ids: ids[-context:])[len(prompt) :].tolist()
            ),
        ),
        Misconception(
            "prompt_left_out_of_a_stack",
            "Your answer is the new words only. Return the whole text, the prompt in front.",
            lambda model, prompt, new_words, context: torch.stack(
                list(_written(model, prompt, new_words, lambda ids: ids[-context:])[len(prompt) :])
            ),
        ),
        Misconception(
            "one_reading",
            "Your answer writes the word behind the prompt again and again. Append the new word, let the model read "
            "the longer text, and ask behind its last word: logits[0, -1].",
            _from_one_reading,
        ),
        Misconception(
            "only_the_last_word_read",
            "Your answer lets the model read the last word only. It needs all that stands before: the last `context` "
            "words.",
            lambda model, prompt, new_words, context: _written(model, prompt, new_words, lambda ids: ids[-1:]),
        ),
        Misconception(
            "first_position_asked",
            "Your answer takes the logits of the first position, which has read one word. The next word is behind the "
            "last position: logits[0, -1].",
            lambda model, prompt, new_words, context: _written(
                model, prompt, new_words, lambda ids: ids[-context:], lambda logits: logits[0, 0].argmax()
            ),
        ),
        Misconception(
            "position_before_the_last_asked",
            "Your answer takes the logits of the last position but one, which predict the last word of the text "
            "itself. The next word is behind the last position: logits[0, -1].",
            lambda model, prompt, new_words, context: _written(
                model, prompt, new_words, lambda ids: ids[-context:], lambda logits: logits[0, -2:][0].argmax()
            ),
        ),
        Misconception(
            "least_probable",
            "Your answer takes the least probable word (argmin). Take the most probable: argmax.",
            lambda model, prompt, new_words, context: _written(
                model, prompt, new_words, lambda ids: ids[-context:], lambda logits: logits[0, -1].argmin()
            ),
        ),
        Misconception(
            "one_word_too_many",
            "Your answer writes one word too many. Write exactly `new_words`.",
            lambda model, prompt, new_words, context: _written(
                model, prompt, new_words + 1, lambda ids: ids[-context:]
            ),
        ),
        Misconception(
            "one_word_too_few",
            "Your answer writes one word too few. Write exactly `new_words`.",
            lambda model, prompt, new_words, context: _written(
                model, prompt, new_words - 1, lambda ids: ids[-context:]
            ),
        ),
        Misconception(
            "stopped_at_the_full_stop",
            "Your answer is right until the model writes word 0, the full stop of this lesson: there it ends. Write "
            "exactly `new_words`; a text may have several sentences.",
            _up_to_word_0,
        ),
        Misconception(
            "stopped_before_the_full_stop",
            "Your answer is right until the model wants word 0, the full stop of this lesson: there it ends. Write "
            "exactly `new_words`; a text may have several sentences.",
            lambda model, prompt, new_words, context: _up_to_word_0(model, prompt, new_words, context, itself=False),
        ),
        Misconception(
            "length_of_the_whole",
            "Your answer stops when the whole text has `new_words` words. That many are to be added to the prompt.",
            lambda model, prompt, new_words, context: _written(
                model, prompt, max(0, new_words - len(prompt)), lambda ids: ids[-context:]
            ),
        ),
        Misconception(
            "batch_left_on",
            "Your answer is [1, words]: the dimension of the batch is still there. Remove it with squeeze(0).",
            lambda model, prompt, new_words, context: _written(
                model, prompt, new_words, lambda ids: ids[-context:]
            ).unsqueeze(0),
        ),
        Misconception(
            "text_cut_to_the_window",
            "Your answer is right as long as the text fits into the context. Later it drops the beginning for good: "
            "ids = ids[-context:]. Cut only what the model reads, and keep the text whole.",
            _text_cut_to_the_window,
        ),
    ),
    withheld=WITHHELD,
)


# gpt.fine_tuning_loss ----------------------------------------------------------------------------------------


def _fine_tuning_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        class_logits = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
        lm_logits = 2 * torch.cos(torch.arange(40.0)).reshape(2, 4, 5)
        yield Case(
            "worked example: I saw the dog running, weight 0.5",
            (class_logits, torch.tensor([0, 1]), lm_logits, SENTENCES[:, 1:], 0.5),
            gradients=(0, 2),
        )
    for kind in _batched_kinds(generator):
        (batch,), words, vocabulary = kind.leading, integer(generator, 8, 11), integer(generator, 12, 19)
        classes = integer(generator, 2, 5)
        yield Case(
            kind.name,
            (
                2 * torch.randn(batch, classes, generator=generator, dtype=kind.dtype),
                _ids(generator, classes, batch),
                2 * kind.normal(words, vocabulary),
                _ids(generator, vocabulary, batch, words),
                integer(generator, 2, 8) / 10 + 0.05,
            ),
            gradients=(0, 2),
        )
    yield Case(
        "weight 0",
        (
            torch.randn(3, 2, generator=generator),
            _ids(generator, 2, 3),
            torch.randn(3, 4, 6, generator=generator),
            _ids(generator, 6, 3, 4),
            0.0,
        ),
    )


def _lm(lm_logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(lm_logits.flatten(0, 1), targets.flatten())


FINE_TUNING_LOSS = Exercise(
    id="gpt.fine_tuning_loss",
    lesson=LESSON,
    name="fine_tuning_loss",
    title="The loss of fine-tuning",
    statement=(
        "fine_tuning_loss(class_logits [batch, classes], labels int64 [batch], lm_logits [batch, words, vocabulary], "
        "targets int64 [batch, words], weight) -> a single number: the mean cross-entropy of the labels, plus weight "
        "times that of the words."
    ),
    points=2,
    minutes=8,
    section="Fine-tuning",
    source="S2, GPT-1; Radford et al. (2018), section 3.2",
    reference=language_models.fine_tuning_loss,
    cases=_fine_tuning_cases,
    correct=correct.FINE_TUNING_LOSS,
    misconceptions=(
        Misconception(
            "no_auxiliary_loss",
            "Your answer is the loss of the labels alone. GPT-1 adds weight times the loss of language modelling.",
            lambda class_logits, labels, lm_logits, targets, weight: F.cross_entropy(class_logits, labels),
        ),
        Misconception(
            "auxiliary_loss_alone",
            "Your answer is the weighted loss of language modelling alone. The loss of the labels is missing.",
            lambda class_logits, labels, lm_logits, targets, weight: weight * _lm(lm_logits, targets),
        ),
        Misconception(
            "not_weighted",
            "Your answer adds the two losses as they are. Multiply that of language modelling by weight.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels) + _lm(lm_logits, targets)
            ),
        ),
        Misconception(
            "weight_on_the_labels",
            "Your answer multiplies the wrong loss by weight. The labels count in full, language modelling is "
            "weighted.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                weight * F.cross_entropy(class_logits, labels) + _lm(lm_logits, targets)
            ),
        ),
        Misconception(
            "both_weighted",
            "Your answer multiplies the sum of both losses by weight. The labels count in full.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                weight * (F.cross_entropy(class_logits, labels) + _lm(lm_logits, targets))
            ),
        ),
        Misconception(
            "logits_as_log_probabilities",
            "Your answer gives NLLLoss (or exercise 2's loss) the logits as they are. It wants log-probabilities: take "
            "the log-softmax first, or F.cross_entropy, which does.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels) + weight * F.nll_loss(lm_logits.flatten(0, 1), targets.flatten())
            ),
        ),
        Misconception(
            "mixture",
            "Your answer mixes the two losses with weights 1 - weight and weight. In GPT-1's equation 5 the labels "
            "count in full: the weights need not sum to 1.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                (1 - weight) * F.cross_entropy(class_logits, labels) + weight * _lm(lm_logits, targets)
            ),
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the auxiliary loss, so that training would make the language model worse. Add it.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels) - weight * _lm(lm_logits, targets)
            ),
        ),
        Misconception(
            "words_summed",
            "Your answer sums the loss over the words. Take the mean over all words of the batch.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels) + weight * _lm(lm_logits, targets) * targets.numel()
            ),
        ),
        Misconception(
            "words_summed_over_each_text",
            "Your answer sums the loss over the words of a text, and takes the mean over texts only. Take the mean "
            "over all words of the batch.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels) + weight * _lm(lm_logits, targets) * targets.shape[1]
            ),
        ),
        Misconception(
            "labels_summed",
            "Your answer sums the loss of the labels over the batch. Take the mean.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels, reduction="sum") + weight * _lm(lm_logits, targets)
            ),
        ),
        Misconception(
            "reshaped_not_transposed",
            "Your answer reshapes lm_logits to [batch, vocabulary, words], which tears the rows of numbers apart. "
            "Flatten to [batch * words, vocabulary], or exchange the dimensions with transpose(1, 2).",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels)
                + weight * F.cross_entropy(lm_logits.reshape(len(targets), -1, targets.shape[1]), targets)
            ),
        ),
        Misconception(
            "language_model_detached",
            "The value is right, but no gradient reaches `lm_logits` (.detach(), .item(), no_grad). An auxiliary loss "
            "that nobody learns from is no help.",
            lambda class_logits, labels, lm_logits, targets, weight: (
                F.cross_entropy(class_logits, labels) + weight * _lm(lm_logits.detach(), targets)
            ),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.count_parameters ----------------------------------------------------------------------------------------

GPT2_SIZES = {12: 768, 24: 1024, 36: 1280, 48: 1600}
"""The layers and d_model of GPT-2's four sizes (S3)."""


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        for layers, d_model in GPT2_SIZES.items():
            first = "worked example, the smallest GPT-2" if layers == 12 else f"GPT-2 with {layers} layers"
            yield Case(first, (50_257, 1024, d_model, layers, True))
    vocabulary, context = integer(generator, 1000, 9000), integer(generator, 100, 900)
    yield Case("another model", (vocabulary, context, integer(generator, 11, 99), integer(generator, 3, 9), True))
    yield Case("no blocks at all", (integer(generator, 50, 99), integer(generator, 5, 9), 12, 0, True))
    vocabulary, d_model = integer(generator, 1000, 9000), integer(generator, 11, 99)
    yield Case("an output of its own", (vocabulary, 1024, d_model, 4, False), part="an output of its own")


def _counted(
    vocabulary: int,
    context: int,
    d_model: int,
    layers: int,
    tied: bool,
    *,
    in_block: Callable[[int], int] = lambda d: 12 * d * d + 13 * d,
    outside: Callable[[int], int] = lambda d: 2 * d,
) -> int:
    """The count with something else in each block, or beside embeddings, blocks and output."""
    output = 0 if tied else vocabulary * d_model
    return (vocabulary + context) * d_model + layers * in_block(d_model) + outside(d_model) + output


COUNT_PARAMETERS = Exercise(
    id="gpt.count_parameters",
    lesson=LESSON,
    name="count_parameters",
    title="Counting parameters",
    statement=(
        "count_parameters(vocabulary, context, d_model, layers, tied) -> int: how many numbers a GPT-2 of these sizes "
        "learns, with feed-forward networks of width 4 d_model; `tied` says whether the output layer is the embedding."
    ),
    points=3,
    minutes=18,
    section="How large is GPT-2?",
    source="S3, GPT-2's four sizes; Radford et al. (2019), table 2",
    reference=gpt_parameters,
    cases=_count_cases,
    parts={CORE: 2, "an output of its own": 1},
    correct=correct.COUNT_PARAMETERS,
    misconceptions=(
        Misconception(
            "always_tied",
            "Your answer is right for tied outputs. Where `tied` is False, the output layer has a matrix of its own, "
            "vocabulary times d_model (without a bias).",
            lambda vocabulary, context, d_model, layers, tied: _counted(vocabulary, context, d_model, layers, True),
        ),
        Misconception(
            "output_counted_twice",
            "Your answer counts the output layer although it is tied. It is the embedding, and the same numbers are "
            "learned once: add it only where `tied` is False.",
            lambda vocabulary, context, d_model, layers, tied: _counted(vocabulary, context, d_model, layers, False),
        ),
        Misconception(
            "as_printed",
            "Your answer is what slide S3 and the paper's table 2 print, 117M for the smallest. These are GPT-2's "
            "blocks with the vocabulary of GPT-1, 40,478 words; count with the vocabulary that is given.",
            lambda vocabulary, context, d_model, layers, tied: round(
                _counted(40_478, context, d_model, layers, tied), -6
            ),
        ),
        Misconception(
            "vocabulary_of_gpt_1",
            "Your answer counts 40,478 words, the vocabulary of GPT-1, as the table on slide S3 seems to do. Count "
            "with the vocabulary that is given.",
            lambda vocabulary, context, d_model, layers, tied: _counted(40_478, context, d_model, layers, tied),
        ),
        Misconception(
            "no_biases",
            "Your answer leaves out the biases. Each of the linear layers in a block has one: 4 d_model for attention, "
            "5 d_model for the feed-forward network.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 12 * d * d + 4 * d
            ),
        ),
        Misconception(
            "no_norms",
            "Your answer leaves out the layer norms: gamma and beta, 2 d_model each; two in every block and one at the "
            "end.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 12 * d * d + 9 * d, outside=lambda d: 0
            ),
        ),
        Misconception(
            "no_final_norm",
            "Your answer leaves out the final layer norm, behind the last block: 2 d_model more.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, outside=lambda d: 0
            ),
        ),
        Misconception(
            "one_norm_in_a_block",
            "Your answer counts one layer norm in a block. There are two, one before attention and one before the "
            "feed-forward network.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 12 * d * d + 11 * d
            ),
        ),
        Misconception(
            "norms_without_beta",
            "Your answer counts d_model numbers for a layer norm. It has two for each dimension, gamma and beta.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 12 * d * d + 11 * d, outside=lambda d: d
            ),
        ),
        Misconception(
            "no_positions",
            "Your answer leaves out the positions. GPT-2 learns a vector for each of them: context times d_model.",
            lambda vocabulary, context, d_model, layers, tied: _counted(vocabulary, 0, d_model, layers, tied),
        ),
        Misconception(
            "no_biases_and_no_norms",
            "Your answer is the matrices alone, 12 d_model² in each block and the embeddings: a good estimate. The "
            "exact number has the biases and layer norms too.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 12 * d * d, outside=lambda d: 0
            ),
        ),
        Misconception(
            "no_output_projection",
            "Your answer counts three projections in attention, for queries, keys and values. The fourth, W_o, joins "
            "the heads: another d_model² and its bias.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 11 * d * d + 12 * d
            ),
        ),
        Misconception(
            "narrow_feed_forward",
            "Your answer has feed-forward networks of width d_model. They are four times as wide: 8 d_model² for the "
            "two matrices.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 6 * d * d + 10 * d
            ),
        ),
        Misconception(
            "one_block",
            "Your answer counts one block. There are `layers` of them, and each learns numbers of its own.",
            lambda vocabulary, context, d_model, layers, tied: _counted(vocabulary, context, d_model, 1, tied),
        ),
        Misconception(
            "own_output_with_bias",
            "Your answer is right for tied outputs. Where `tied` is False it gives the output layer a bias, and "
            "GPT-2's has none.",
            lambda vocabulary, context, d_model, layers, tied: (
                _counted(vocabulary, context, d_model, layers, tied) + (0 if tied else vocabulary)
            ),
        ),
        Misconception(
            "output_with_bias",
            "Your answer gives the output layer a bias. GPT-2's has none.",
            lambda vocabulary, context, d_model, layers, tied: (
                _counted(vocabulary, context, d_model, layers, tied) + vocabulary
            ),
        ),
        Misconception(
            "blocks_of_matrices_alone",
            "Your answer counts 12 d_model² in each block: the matrices alone. Each has a bias, and a block has two "
            "layer norms.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 12 * d * d
            ),
        ),
        Misconception(
            "one_layer_of_feed_forward",
            "Your answer counts one layer of the feed-forward network. There are two: up to 4 d_model, and down again.",
            lambda vocabulary, context, d_model, layers, tied: _counted(
                vocabulary, context, d_model, layers, tied, in_block=lambda d: 8 * d * d + 12 * d
            ),
        ),
        Misconception(
            "one_number_a_position",
            "Your answer counts one number for each position. A position has a vector of its own, of d_model numbers.",
            lambda vocabulary, context, d_model, layers, tied: _counted(vocabulary, 0, d_model, layers, tied) + context,
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    SHIFTED_TARGETS,
    LM_LOSS,
    TIED_LOGITS,
    CAUSAL_LANGUAGE_MODEL,
    LOSS_WITHOUT_MASK,
    GENERATE,
    FINE_TUNING_LOSS,
    COUNT_PARAMETERS,
)
"""In the order of the lesson."""
