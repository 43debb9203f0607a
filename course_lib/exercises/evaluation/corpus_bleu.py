"""Lesson 10, evaluation.corpus_bleu: BLEU of a corpus."""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.exercises.evaluation.shared import in_percent
from course_lib.judging.exercise import CORE, Callback, Case, Exercise
from course_lib.judging.ready_made import METRICS
from course_lib.references import evaluation

Counts = Sequence[Sequence[tuple[int, int]]]
Lengths = Sequence[tuple[int, Sequence[int]]]
Penalty = Callable[[int, int], float]

_PENALTY = Callback("penalty", evaluation.brevity_penalty)


def _sentence(generator: Generator, length: int, longest: int = 4) -> list[tuple[int, int]]:
    """Counts of a sentence of so many words; of its n-grams fewer match the longer they are."""
    totals = [max(length - n, 0) for n in range(longest)]
    shares = [0.8 - 0.12 * n + 0.1 * float(torch.rand((), generator=generator)) for n in range(longest)]
    return [(math.ceil(share * total), total) for share, total in zip(shares, totals, strict=True)]


def _bleu_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        felix = [(10, 10), (8, 9), (6, 8), (4, 7)]
        yield Case("worked example: the cat did (not) dance", ([felix], [(10, [11])], _PENALTY))
    for name, references, part in (("one reference", 1, CORE), ("several references", 3, "several references")):
        said = [integer(generator, 12, 40), integer(generator, 6, 11), integer(generator, 20, 60)]
        counts = [_sentence(generator, words) for words in said]
        right = [
            [words + 5 + 4 * i for i in torch.randperm(references, generator=generator).tolist()] for words in said
        ]
        yield Case(f"three sentences, {name}", (counts, list(zip(said, right, strict=True)), _PENALTY), part=part)
    words = integer(generator, 15, 30)
    both = [_sentence(generator, words), _sentence(generator, 9)]
    yield Case("one sentence too long, one too short", (both, [(words, [words - 6]), (9, [18])], _PENALTY))
    yield Case("as long as the references", (both, [(words, [words]), (9, [9])], _PENALTY))
    near, nearer = [words - 3, words + 9, words + 2], [7, 14, 9]
    yield Case("the nearest is longer", (both, [(words, near), (9, nearer)], _PENALTY), part="several references")
    yield Case(
        "two are equally near",
        (both, [(words, [words + 4, words - 4]), (9, [6, 12])], _PENALTY),
        part="several references",
    )
    for longest in (1, 2):
        counts = [_sentence(generator, words, longest), _sentence(generator, 2, longest)]
        yield Case(f"up to {longest} words", (counts, [(words, [words + 3]), (2, [4])], _PENALTY))
    short = [_sentence(generator, words), [(2, 2), (1, 1), (0, 0), (0, 0)]]
    yield Case("a sentence of two words", (short, [(words, [words + 2]), (2, [2])], _PENALTY))
    place = integer(generator, 0, 3)
    hopeless = [[(0, total) if n == place else (right, total) for n, (right, total) in enumerate(one)] for one in both]
    yield Case("one precision is 0", (hopeless, [(words, [words]), (9, [9])], _PENALTY), part="a precision of 0")
    yield Case("no n-grams of three words", (short[1:], [(2, [2])], _PENALTY), part="a precision of 0")


def _bleu_step_by_step(counts: Counts, lengths: Lengths, penalty: Penalty) -> float:
    said = sum(length for length, _ in lengths)
    right = sum(min(sorted(several), key=lambda one: abs(one - length)) for length, several in lengths)
    sums = [tuple(map(sum, zip(*pairs, strict=True))) for pairs in zip(*counts, strict=True)]
    some = [matched / max(total, 1) for matched, total in sums]
    if not all(some):
        return 0.0
    mean = math.prod(some) ** (1 / len(some))
    return mean * penalty(said, right)


_slip = edits_of(_bleu_step_by_step)
_NEAREST, _SOME = "min(sorted(several), key=lambda one: abs(one - length))", "matched / max(total, 1)"
_MEAN, _PRODUCT = "math.prod(some) ** (1 / len(some))", "math.prod(some)"
_PENALIZED, _RETURN = "penalty(said, right)", "mean * penalty(said, right)"


def _bleu_by_logarithms(counts: Counts, lengths: Lengths, penalty: Penalty) -> float:
    logarithm = 0.0
    for n in range(len(counts[0])):
        matched, total = (sum(sentence[n][which] for sentence in counts) for which in (0, 1))
        if matched == 0:
            return 0.0
        logarithm += math.log(matched / total)
    right = sum(sorted(several, key=lambda one: (abs(one - length), one))[0] for length, several in lengths)
    return penalty(sum(words for words, _ in lengths), right) * math.exp(logarithm / len(counts[0]))


def _bleu_of_tensors(counts: Counts, lengths: Lengths, penalty: Penalty) -> float:
    matched, total = torch.tensor(counts, dtype=torch.float64).sum(dim=0).unbind(dim=-1)
    mean = (matched / total).nan_to_num(0.0).log().mean().exp().item()
    right = sum(min((abs(one - length), one) for one in several)[1] for length, several in lengths)
    return mean * penalty(sum(length for length, _ in lengths), right)


EXERCISE = Exercise(
    id="evaluation.corpus_bleu",
    title="BLEU",
    statement=(
        "corpus_bleu(counts, lengths, penalty) -> float: the geometric mean of the corpus's precisions times "
        "penalty(total length of the hypotheses, total length of the closest references); 0 if any precision is 0."
    ),
    minutes=20,
    difficulty=3,
    importance=5,
    section="Putting BLEU together",
    source="S1, BLEU; Papineni et al. (2002), sections 2.2.2 and 2.3",
    reference=evaluation.corpus_bleu,
    cases=_bleu_cases,
    parts={CORE: 2, "several references": 1, "a precision of 0": 1},
    correct=(_bleu_step_by_step, _bleu_by_logarithms, _bleu_of_tensors),
    steps=("said", "right", "precisions", "mean"),
    hints=hints(
        idea=(
            "Add up matched counts, totals and lengths over all sentences before you divide. The geometric mean of n "
            "numbers is the n-th root of their product. If you prefer logarithms, watch out for the logarithm of 0."
        ),
        shapes=(
            "`counts` is a list of sentences, each a list of N pairs. You need the reverse: N lists of pairs, one "
            "pair from each sentence. Each list gives one precision.",
            ("mean_of_sentences", "precisions_averaged"),
        ),
        outline=(
            "Add up the lengths of all hypotheses.\n"
            "For each sentence, find the closest reference length (the shorter one if two are equally close), and add "
            "these up.\n"
            "For each n, add up the matches, add up the totals, and divide.\n"
            "If any precision is 0, return 0. Otherwise multiply the root of their product by the penalty.",
            ("first_reference", "shortest_reference", "longer_of_two", "zeros_left_out", "zeros_made_small"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer averages over sentences. Add up their counts and lengths, then compute one BLEU.",
            mean_of_sentences=lambda counts, lengths, penalty: (
                sum(evaluation.corpus_bleu([a], [b], penalty) for a, b in zip(counts, lengths, strict=True))
                / len(counts)
            ),
            precisions_averaged=_slip(
                (_SOME, "sum(m / max(t, 1) for m, t in pairs) / len(pairs)"),
                ("matched, total in sums", "pairs in zip(*counts)"),
            ),
            penalties_averaged=_slip(
                (_PENALIZED, f"sum(penalty(length, {_NEAREST}) for length, several in lengths) / len(lengths)")
            ),
        ),
        *mistake(
            "Your answer uses the wrong reference length. Use the one that is closest to the hypothesis's length.",
            first_reference=_slip((_NEAREST, "several[0]"), paired=False),
            shortest_reference=_slip((_NEAREST, "min(several)"), paired=False),
            longest_reference=_slip((_NEAREST, "max(several)"), paired=False),
            mean_reference=_slip((_NEAREST, "sum(several) / len(several)"), paired=False),
        ),
        *mistake(
            "Your answer takes the wrong one of two equally close references. Take the shorter one.",
            longer_of_two=_slip(("sorted(several)", "sorted(several, reverse=True)"), paired=False),
            first_of_two=_slip(("sorted(several)", "several"), paired=False),
        ),
        *mistake(
            "Your answer is not 0 where a precision is 0. Return 0: without smoothing, a single 0 makes the product 0.",
            zeros_left_out=_slip(("in sums]", "in sums if matched]"), paired=False),
            zeros_made_small=_slip((_SOME, "max(matched, 1e-9) / max(total, 1)"), paired=False),
            nan_for_zero=_slip(("0.0", "math.nan"), paired=False),
        ),
        *mistake(
            "Your answer takes the arithmetic mean of the precisions. Take the n-th root of their product.",
            arithmetic_mean=_slip((_MEAN, "sum(some) / len(some)"), ("not all(some)", "False")),
        ),
        *mistake(
            "Your answer does not take the n-th root of the product of n precisions. Write ** (1 / n), with the "
            "parentheses.",
            root_forgotten=_slip((_MEAN, _PRODUCT)),
            always_the_fourth_root=_slip((_MEAN, "math.prod(some) ** 0.25")),
            divided_after_the_power=_slip((_MEAN, "math.prod(some) / len(some)")),
        ),
        *mistake(
            "Your answer does not multiply the mean by the full penalty. Multiply after you have taken the root.",
            penalty_forgotten=_slip((_RETURN, "mean")),
            penalty_under_the_root=_slip((_PRODUCT, f"({_PENALIZED} * {_PRODUCT})"), (_RETURN, "mean")),
        ),
        *mistake(
            "Your answer swaps the lengths in the call to penalty. The hypotheses' length comes first.",
            lengths_swapped=_slip((_PENALIZED, "penalty(right, said)")),
        ),
        in_percent("a share from 0 to 1", _slip((_RETURN, "100 * mean * penalty(said, right)"))),
    ),
    forbidden=(METRICS,),
)
