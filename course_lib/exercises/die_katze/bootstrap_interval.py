"""Lesson 11, die_katze.bootstrap_interval: How sure is the score."""

import math
from collections.abc import Callable, Iterator

import numpy
import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import Callback, Case, Exercise
from course_lib.references import die_katze


def _short_bleu(sums: Tensor) -> float:
    """BLEU of single words and pairs, from (matched, said) of each and the reference's length."""
    one, words, two, pairs, wanted = (float(number) for number in sums)
    penalty = min(1.0, math.exp(1 - wanted / words))
    return 100 * penalty * math.sqrt(one / words * two / pairs)


def _error_rate(sums: Tensor) -> float:
    """Return the share that is missing, with one added above and below: it changes with how much is scored."""
    one, words, two, _pairs, wanted = (float(number) for number in sums)
    return (words - one + wanted - two + 1) / (words + wanted + 1)


_SCORE, _OTHER = (Callback("score", score, most_calls=10_000) for score in (_short_bleu, _error_rate))


def _sentences(generator: Generator, count: int) -> Tensor:
    words = torch.randint(5, 18, (count,), generator=generator)
    one = (words * (0.4 + 0.6 * torch.rand(count, generator=generator))).long().clamp(min=2)
    two = (one * torch.rand(count, generator=generator)).long().clamp(min=1)
    wanted = words + torch.randint(-1, 4, (count,), generator=generator)
    return torch.stack([one, words, two, words - 1, wanted], dim=1)


def _interval_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        counts = torch.tensor([[6, 6, 5, 5, 6], [4, 8, 2, 7, 9], [5, 10, 1, 9, 10]])
        drawn = torch.tensor([[0, 1, 2], [0, 0, 1], [2, 2, 1], [1, 2, 0], [0, 0, 0]])
        yield Case("worked example: three sentences, five samples", (counts, drawn, _SCORE))
    count = integer(generator, 8, 30)
    for name, samples, score in (
        ("some samples", 20, _SCORE),
        ("another score", 41, _OTHER),
        ("other sentences", 41, _SCORE),
    ):
        drawn = torch.randint(count, (samples, count), generator=generator)
        yield Case(name, (_sentences(generator, count), drawn, score))
    yield Case("one sentence, one sample", (_sentences(generator, 1), torch.zeros(1, 1, dtype=torch.int64), _OTHER))


Score = Callable[[Tensor], float]


def _sample_by_sample(counts: Tensor, drawn: Tensor, score: Score) -> tuple[float, float]:
    scores = [score(counts[sample].sum(0)) for sample in drawn]
    low, high = numpy.quantile(scores, (0.025, 0.975)).tolist()
    return low, high


_slip = edits_of(_sample_by_sample)
_SUMS, _ENDS, _RETURN = "counts[sample].sum(0)", "0.025, 0.975", "return low, high"
_QUANTILES, _DEVIATION = f"numpy.quantile(scores, ({_ENDS}))", "numpy.mean(scores) + numpy.std(scores, ddof=1)"


def _by_sorting(counts: Tensor, drawn: Tensor, score: Score) -> tuple[float, float]:
    scores = sorted(score(torch.stack([counts[i] for i in sample.tolist()]).sum(0)) for sample in drawn)

    def at(share: float) -> float:
        position = share * (len(scores) - 1)
        below = math.floor(position)
        above = min(below + 1, len(scores) - 1)
        return scores[below] + (position - below) * (scores[above] - scores[below])

    return at(0.025), at(0.975)


def _by_how_often(counts: Tensor, drawn: Tensor, score: Score) -> tuple[float, float]:
    often = torch.stack([sample.bincount(minlength=len(counts)) for sample in drawn])
    scores = [score(row) for row in often @ counts]
    low, high = numpy.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


EXERCISE = Exercise(
    id="die_katze.bootstrap_interval",
    title="How sure is the score?",
    statement=(
        "bootstrap_interval(counts int64 [sentences, kinds], drawn int64 [samples, sentences], score) -> (low, high), "
        "two floats: the 2.5% and 97.5% quantiles of the samples' scores. score([kinds]) takes sums of counts."
    ),
    points=4,
    minutes=20,
    difficulty=4,
    importance=4,
    section="How sure is the score?",
    source="Koehn (2004), section 3; Post (2018)",
    reference=die_katze.bootstrap_interval,
    cases=_interval_cases,
    correct=(_sample_by_sample, _by_sorting, _by_how_often),
    steps=("scores",),
    hints=hints(
        idea=(
            "Each row of `drawn` is a possible test set, drawn from the real one with replacement. Score each of "
            "these sets as a corpus, and see how far the scores spread.",
            ("mean_of_sentences", "drawn_ignored", "not_put_back"),
        ),
        shapes=(
            "`counts[sample]` is `[sentences, kinds]`; a sentence drawn twice has two rows. The sum over `dim=0` is "
            "`[kinds]`, which is what `score` takes. The scores are `[samples]`.",
            ("one_sample_too_few",),
        ),
        outline=(
            "For each sample, take its sentences' rows of counts.\n"
            "Add up the rows and pass the sums to `score`.\n"
            "Collect one score per sample.\n"
            "Return their quantiles at 0.025 and 0.975; `torch.quantile` computes them.",
            ("ninety_percent", "smallest_and_largest", "by_the_deviation"),
        ),
    ),
    misconceptions=(
        *slips(
            _sample_by_sample,
            means_of_counts=(
                "Your answer passes the mean counts of a sample to `score`. Pass the sums: their score can be "
                "different.",
                (_SUMS, "counts[sample].double().mean(0)"),
            ),
            whole_places=(
                "Your answer picks two of the sorted scores. A quantile may lie between two scores: interpolate "
                "linearly, as torch.quantile does.",
                (_QUANTILES, f"numpy.array([sorted(scores)[int(end * len(scores))] for end in ({_ENDS})])"),
            ),
            mean_of_sentences=(
                "Your answer averages the scores of single sentences. Add up the counts of a sample first, then score "
                "the sums once: that is the corpus score.",
                (f"score({_SUMS})", "sum(map(score, counts[sample])) / len(sample)"),
            ),
            not_put_back=(
                "Your answer counts a sentence once even if it was drawn several times. Count it as often as it was "
                "drawn: that is what makes the samples differ.",
                ("[sample]", "[sample.unique()]"),
            ),
        ),
        *mistake(
            "Your answer scores the whole test set each time, so both ends are the same. Use only the sentences in "
            "each row of `drawn`.",
            drawn_ignored=_slip((_SUMS, "counts.sum(0)"), paired=False),
        ),
        *mistake(
            "Your interval does not cover 95% of the samples. Cut off 2.5% at each end: take the quantiles at 0.025 "
            "and 0.975.",
            ninety_percent=_slip((_ENDS, "0.05, 0.95")),
            lower_end_alone=_slip((_ENDS, "0.05, 1.0")),
            smallest_and_largest=_slip((_ENDS, "0.0, 1.0")),
            quartiles=_slip((_ENDS, "0.25, 0.75")),
        ),
        *mistake(
            "Your answer uses the mean and the standard deviation, which assumes a normal distribution. Take the "
            "quantiles of the samples' scores.",
            by_the_deviation=_slip((_QUANTILES, f"({_DEVIATION} * numpy.array([-1.96, 1.96]))"), paired=False),
            one_deviation=_slip((_QUANTILES, f"({_DEVIATION} * numpy.array([-1.0, 1.0]))"), paired=False),
        ),
        *slips(
            _sample_by_sample,
            upside_down=("Your answer returns the upper end first. Return (low, high).", (_RETURN, "return high, low")),
            width=(
                "Your answer is the middle of the interval and half its width. Return the two ends.",
                (_RETURN, "return (low + high) / 2, (high - low) / 2"),
            ),
            one_sample_too_few=(
                "Your answer leaves out the last sample. Score every row of `drawn`.",
                ("in drawn", "in drawn[:-1]"),
            ),
        ),
    ),
)
