"""Lesson 06, decoding.top_k: Top-k."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, integer, slips
from course_lib.exercises.decoding.shared import AFTER_DIE_KATZE, TEN_TOKENS, distributions, divided_wrongly
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import decoding


def _top_k_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{TEN_TOKENS}, k = 3", (AFTER_DIE_KATZE, 3))
    for name, probabilities in distributions(generator, 6):
        yield Case(name, (probabilities, min(integer(generator, 2, 5), probabilities.shape[-1])))
    probabilities = torch.softmax(torch.randn(2, 7, generator=generator), dim=-1)
    yield Case("k = 1", (probabilities, 1))
    yield Case("k = all of them", (probabilities, 7))
    larger = integer(generator, 8, 60)
    yield Case(f"7 tokens, k = {larger}", (probabilities, larger), part="k beyond the vocabulary")


def _top_k_by_ranks(probabilities: Tensor, k: int) -> Tensor:
    ranks = probabilities.argsort(dim=-1, descending=True).argsort(dim=-1)
    stay = ranks < k
    kept = probabilities * stay
    restricted = kept / kept.sum(dim=-1, keepdim=True)
    return restricted


_STAYS = "ranks < k"
_RETURN = "return restricted"


def _top_k_by_threshold(probabilities: Tensor, k: int) -> Tensor:
    least = probabilities.topk(min(k, probabilities.shape[-1]), dim=-1).values[..., -1:]
    kept = torch.where(probabilities >= least, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def _top_k_by_scatter(probabilities: Tensor, k: int) -> Tensor:
    values, positions = torch.topk(probabilities, min(k, probabilities.shape[-1]))
    return torch.zeros_like(probabilities).scatter(-1, positions, values / values.sum(-1, keepdim=True))


EXERCISE = Exercise(
    id="decoding.top_k",
    title="Top-k",
    statement=(
        "top_k(probabilities [..., vocab_size], k) -> [..., vocab_size]: keep the k most probable tokens, divided by "
        "their sum; all others are 0. If k is larger than the vocabulary, keep all tokens."
    ),
    minutes=10,
    difficulty=2,
    importance=4,
    section="Only the k most probable words",
    source="Fan et al. (2018); Holtzman et al. (2020)",
    reference=decoding.top_k,
    cases=and_turned_around(_top_k_cases),
    parts={CORE: 2, "k beyond the vocabulary": 1},
    correct=(_top_k_by_ranks, _top_k_by_threshold, _top_k_by_scatter),
    hints=hints(
        idea=(
            "The tokens you keep stay in proportion, so divide them by their sum. `torch.topk` gives the largest "
            "values and their positions, but doesn't accept a k above the vocabulary size."
        ),
        shapes=(
            "`topk` along the last dimension gives values and positions, both `[..., k]`. Sum each row with keepdim. "
            "`scatter` puts the values back at their positions, in a tensor of zeros with the shape of the "
            "probabilities.",
            (
                "sorted_order",
                "only_k_numbers",
                "one_sum_for_all_rows",
                "sum_over_the_first_dimension",
                "along_the_first_dimension",
                "one_limit_for_all_rows",
            ),
        ),
    ),
    misconceptions=(
        *divided_wrongly(_top_k_by_ranks),
        *slips(
            _top_k_by_ranks,
            least_probable=(
                "Your answer keeps the k least probable tokens. Sort in descending order, or use torch.topk.",
                ("descending=True", "descending=False"),
            ),
            first_in_the_vocabulary=(
                "Your answer keeps the first k tokens of the vocabulary. Keep the k most probable tokens, wherever "
                "they are.",
                (_STAYS, "(torch.arange(ranks.shape[-1]) < k).expand_as(ranks)"),
            ),
            one_too_few=(
                "Your answer keeps one token fewer than k. Keep the k-th most probable token as well: use >=, not >.",
                (_STAYS, "ranks < k - 1"),
            ),
            one_too_many=("Your answer keeps one token more than k. Keep only k.", (_STAYS, "ranks < k + 1")),
            only_the_best=(
                "Your answer keeps only the best token, whatever k is. Use the last value that topk returns as the "
                "threshold: [..., -1:].",
                (_STAYS, "ranks < 1"),
            ),
            all_but_one_at_most=(
                "Your answer drops the least probable token when k is the vocabulary size or larger. Keep all tokens: "
                "min(k, probabilities.shape[-1]).",
                (_STAYS, "ranks < min(k, ranks.shape[-1] - 1)"),
            ),
            along_the_first_dimension=(
                "Your answer takes the most probable tokens along the first dimension, which mixes the texts of a "
                "batch. Use the last dimension, the vocabulary: dim=-1.",
                ("argsort(dim=-1, ", "argsort(dim=0, "),
                ("argsort(dim=-1)", "argsort(dim=0)"),
            ),
            one_limit_for_all_rows=(
                "Your answer uses the first row's threshold for all rows. Use the threshold of each row: .values[..., "
                "-1:].",
                (_STAYS, "probabilities >= probabilities[ranks < k].reshape(-1, min(k, ranks.shape[-1]))[0].min()"),
            ),
            k_of_all_rows_together=(
                "Your answer keeps the k most probable tokens of all rows together. Keep k tokens in each row: "
                "topk(k, dim=-1), without flatten.",
                (
                    "probabilities.argsort(dim=-1, descending=True).argsort(dim=-1)",
                    "probabilities.flatten().argsort(descending=True).argsort().view_as(probabilities)",
                ),
            ),
            sorted_order=(
                "Your answer is sorted: token 0 gets the probability of the most probable token. Leave each "
                "probability at its token's position.",
                (_RETURN, "return restricted.sort(dim=-1, descending=True).values"),
            ),
            only_k_numbers=(
                "Your answer returns only the k probabilities it kept. Return a probability for every token of the "
                "vocabulary, with 0 for those you drop.",
                (_RETURN, "return restricted.sort(dim=-1, descending=True).values[..., :k]"),
            ),
        ),
    ),
)
