"""Honest answers pass, however they are written; nearly right ones do not, and slips in them are named."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib import exercises
from course_lib.judging.observation import Outcome
from course_lib.judging.rules import Code
from course_lib.masking import causal_mask
from course_lib.references.heads_and_blocks import LayerNorm
from tests.course_lib.exercises.judging import named, verdict

Step = Callable[[Tensor], Tensor]


class _InOnePass(LayerNorm):
    """The mean of the squares less the square of the mean, in the precision of x: less exact."""

    def forward(self, x: Tensor) -> Tensor:
        mean, square = x.mean(-1, keepdim=True), (x * x).mean(-1, keepdim=True)
        return self.weight * (x - mean) / torch.sqrt(square - mean**2 + self.epsilon) + self.bias


class _ByAProduct(LayerNorm):
    """The mean as a product with 1 / d, which is rounded."""

    def forward(self, x: Tensor) -> Tensor:
        share = x.new_full((x.shape[-1], 1), 1 / x.shape[-1])
        centred = x - x @ share
        return self.weight * centred / torch.sqrt(centred**2 @ share + self.epsilon) + self.bias


class _FilledWhereNoTokenIs(nn.Module):
    def __init__(self, d_model: int, classes: int) -> None:
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states: Tensor, starts: Tensor) -> Tensor:
        scores = self.output(torch.take_along_dim(states, starts.unsqueeze(-1), dim=1))
        return scores.masked_fill((starts == 0).unsqueeze(-1), 0.0)


def _returning_parameters(
    W: Tensor, b: Tensor, batches: list[tuple[Tensor, Tensor]], rate: float, clip: float
) -> tuple[Tensor, Tensor, Tensor]:
    parameters = [nn.Parameter(W.clone()), nn.Parameter(b.clone())]
    optimizer, losses = torch.optim.SGD(parameters, lr=rate), []
    for x, expected in batches:
        optimizer.zero_grad()
        losses.append(F.cross_entropy(x @ parameters[0] + parameters[1], expected))
        losses[-1].backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
    return *parameters, torch.stack(losses)


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("attention.scale", lambda scores, d_head: scores / torch.sqrt(torch.tensor(d_head, dtype=torch.float32))),
        ("attention.scale", lambda scores, d_head: scores / numpy.sqrt(d_head)),
        ("attention.weights", lambda scaled: (scaled - scaled.logsumexp(-1, keepdim=True)).exp()),
        (
            "attention.scaled_dot_product",
            lambda q, k, v: (q @ k.mT / torch.sqrt(torch.tensor(q.size(-1)))).softmax(-1) @ v,
        ),
        ("masking.masked_weights", lambda scaled, mask: (scaled + (1 - mask.float()) * -1e9).softmax(-1) * mask),
        (
            "masking.masked_weights",
            lambda scaled, mask: torch.softmax(scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min), -1) * mask,
        ),
        (
            "masking.masked_weights",
            lambda scaled, mask: torch.nan_to_num(scaled.masked_fill(mask == 0, -torch.inf).softmax(-1)),
        ),
        ("heads_and_blocks.layer_norm", _InOnePass),
        ("heads_and_blocks.layer_norm", _ByAProduct),
        ("encoder_decoder.training_loop", _returning_parameters),
        ("bert.token_classifier", _FilledWhereNoTokenIs),
    ],
)
def test_an_honest_answer_passes(exercise_id: str, answer: Callable[..., object]) -> None:
    for seed in range(10):
        assert verdict(exercise_id, answer, seed).passed


def _three_left_out_by_zero(table: Tensor, words: list[str], a: str, b: str, c: str, count: int) -> list[str]:
    unit = table / table.norm(dim=-1, keepdim=True)
    rows = [words.index(word) for word in (a, b, c)]
    alike = unit @ (unit[rows[1]] - unit[rows[0]] + unit[rows[2]])
    alike[rows] = 0
    return [words[row] for row in alike.topk(count).indices.tolist()]


def _in_whole_multiples(first: str, second: str) -> bool:
    shorter, longer = sorted((first.split(), second.split()), key=len)
    return sorted(shorter * (len(longer) // len(shorter))) == sorted(longer)


def _shares_to_one_decimal(first: str, second: str) -> bool:
    texts = (first.split(), second.split())
    shares = [{word: round(text.count(word) / len(text), 1) for word in text} for text in texts]
    return shares[0] == shares[1]


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("words_in_a_bag.look_up", lambda table, ids: table[ids].squeeze(0)),
        ("words_in_a_bag.look_up", lambda table, ids: table[ids].squeeze()),
        ("words_in_a_bag.analogy", _three_left_out_by_zero),
        ("words_in_a_bag.same_vector", _in_whole_multiples),
        ("words_in_a_bag.same_vector", _shares_to_one_decimal),
        ("words_in_a_bag.majority", lambda training, test: (test == training.median()).float().mean()),
        ("words_in_a_bag.majority", lambda training, test: (test == training.float().mean().round()).float().mean()),
        ("primer.last_words", lambda x: x[:, -1].squeeze()),
        ("primer.bags_of_words", lambda ids, n: torch.stack([torch.bincount(row) for row in ids])),
        ("primer.split", lambda x, y, o, n: (x[o][: len(x) // 2], y[o][: len(x) // 2], x[o][-n:], y[o][-n:])),
    ],
)
def test_the_visible_cases_tell_nearly_right_answers_too(exercise_id: str, answer: Callable[..., object]) -> None:
    assert not verdict(exercise_id, answer, seed=None).passed


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("primer.distance_danced", lambda p: (p[:, -1] - p[:, 0]).pow(2).sum(1) ** 0.5, "end_minus_start"),
        ("primer.distance_danced", lambda p: p.diff(dim=1).norm(dim=2).sum(), "all_cats_together"),
        ("primer.distance_danced", lambda p: p.diff(dim=1).flatten(1).norm(dim=1), "root_at_the_end"),
        ("primer.loss_gradient", lambda w, x, y: (x * (x @ w - y)[:, None]).mean(0), "factor_2_missing"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


def test_a_list_of_the_right_numbers_is_told_what_is_missing() -> None:
    found = verdict("words_in_a_bag.look_up", lambda table, ids: table[ids].tolist())
    assert found.outcome is Outcome.WRONG
    assert "should be a torch.Tensor" in found.text()


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([[1, 3]], "step takes the ids of one sentence, [tokens], not a tensor of shape [1, 2]"),
        ([1.0, 3.0], "an int64 tensor [tokens] that begins with <s>"),
        ([], "an int64 tensor [tokens] that begins with <s>"),
        ([1, 99], "step takes the ids 0 to 12, but it was given [1, 99]"),
    ],
)
def test_a_step_says_what_it_takes(tokens: list[float], said: str) -> None:
    def asks(step: Step, start_id: int, end_id: int, max_new_tokens: int) -> Tensor:
        return step(torch.tensor(tokens))

    assert said in verdict("decoding.greedy", asks, None).text().replace("\n        ", " ")


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        (lambda source: (source != 0).unsqueeze(1).float(), "a mask is a boolean tensor"),
        (lambda source: source != 0, "]: unsqueeze(0) adds the batch, unsqueeze(1) the queries"),
        (lambda source: causal_mask(source.shape[1]), "]: unsqueeze(0) adds the batch, unsqueeze(1) the queries"),
        (lambda source: source[0] != 0, "a mask is [batch, queries, keys], where batch and"),
        (lambda source: (source != 0)[:, None, None], "a mask is [batch, queries, keys], where batch and"),
    ],
)
def test_a_mask_of_another_kind_is_refused_by_the_blocks(mask: Callable[[Tensor], Tensor], told: str) -> None:
    def answer(source: Tensor, target: Tensor, embed_source: Any, encoder: Any, *rest: object) -> Any:
        return encoder[0](embed_source(source), mask(source))

    found = verdict("encoder_decoder.encode_and_decode", answer)
    raised = [result.actual.raised.message for result in found.cases if result.actual.raised]
    assert raised
    assert all(told in message for message in raised)


def test_ids_that_are_forgotten_are_asked_for() -> None:
    def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
        learned = []
        while len(learned) < merges and (counts := count(words)):
            learned.append(choose(counts, ids))
            words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
        return learned

    worked_example, *_ = verdict("subwords.learn_merges", learn).cases
    assert "the token 'ay' has no id: give every merged token the next one" in worked_example.message


@pytest.mark.parametrize(
    ("exercise_id", "own", "value", "name"),
    [
        (
            "clipped_ngrams",
            "from nltk.translate.bleu_score import modified_precision as p",
            "p(x)",
            "modified_precision",
        ),
        ("corpus_bleu", "import sacrebleu.metrics as m", "m.BLEU()", "sacrebleu"),
        ("corpus_bleu", "from course_lib.evaluation import metrics", "metrics.bleu(x)", "course_lib.evaluation"),
        ("word_error_rate", "import jiwer", "jiwer.compute(x)", "jiwer"),
    ],
)
def test_a_library_is_no_answer(exercise_id: str, own: str, value: str, name: str) -> None:
    exercise = exercises.find(f"evaluation.{exercise_id}")
    rule = Code([own, f"def {exercise.name}(*x):\n    return {value}"]).broken_rule(
        exercise.name, exercise.forbidden_names
    )
    assert rule is not None
    assert rule.name == name
