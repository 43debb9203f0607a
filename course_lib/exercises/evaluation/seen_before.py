"""Lesson 10, evaluation.seen_before: Was the test in the training data?"""

from collections.abc import Iterator, Sequence

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.exercises.evaluation.shared import Words, in_percent, random_sentence, split_words
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import evaluation


def _seen_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        test = [split_words("so the cat danced on the table"), split_words("a dog slept")]
        yield Case("worked example: the cat danced", (test, [split_words("the cat danced at night")], 3))
        yield Case("the same words reordered", ([split_words("table the on cat")], [split_words("on the table")], 2))
    test = [split_words("the a bc sat"), split_words("cat sat on it")]
    yield Case("the same letters, other words", (test, [split_words("the ab c"), split_words("cats at one it")], 2))
    for n in (2, 3):
        training = [random_sentence(generator, integer(generator, 6, 9)) for _ in range(3)]
        test = [random_sentence(generator, integer(generator, 7, 12)) for _ in range(3)]
        yield Case(f"n = {n}", (test, training, n))
    new, seen = [f"word{number}" for number in range(integer(generator, 3, 6))], random_sentence(generator, 5)
    noises = ["meow", "purr", "hiss"]
    yield Case("the end was seen, the beginning not", ([new + seen, seen + new], [[*seen, "meow"], ["purr"]], 3))
    yield Case("two runs that overlap", ([[*seen, *noises[:2]]], [seen[1:] + noises[:1], seen[4:] + noises[:2]], 3))
    yield Case("half a run in each of two sentences", ([noises + new], [noises[:2], noises[1:]], 3))
    yield Case("a run across two sentences", ([noises], [["so", *noises[:2]], [noises[2], "so"]], 3))
    yield Case("single words", ([[*new, "meow", "meow"], seen], [["meow", *seen[:1]]], 1))
    yield Case("no training data", ([seen, new], [], 2))
    yield Case("capitals", ([split_words("The cat sat")], [split_words("the cat sat")], 2))
    yield Case("fewer words than n", ([seen[:2], seen], [seen[:2], seen], 4), part="short sentences")
    yield Case("no words", ([[], seen], [seen], 2), part="short sentences")


def _seen_word_by_word(test: Sequence[Words], training: Sequence[Words], n: int) -> list[float]:
    known = {tuple(words[start : start + n]) for words in training for start in range(len(words) - n + 1)}
    shares = []
    for words in test:
        covered: set[int] = set()
        for start in range(len(words) - n + 1):
            if tuple(words[start : start + n]) in known:
                covered.update(range(start, start + n))
        share = len(covered) / max(len(words), 1)
        shares.append(share)
    return shares


_slip = edits_of(_seen_word_by_word)
_KNOWN = "for words in training for start in range(len(words) - n + 1)"
_OF_TRAINING, _IF = "tuple(words[start : start + n]) for words in training", "if tuple(words[start : start + n])"
_STARTS = "        for start in range(len(words) - n + 1):"
_COVER, _SHARE = "covered.update(range(start, start + n))", "len(covered) / max(len(words), 1)"


def _seen_by_text(test: Sequence[Words], training: Sequence[Words], n: int) -> list[float]:
    texts = [f" {' '.join(words)} " for words in training]
    shares = []
    for words in test:
        hits = [any(f" {' '.join(words[i : i + n])} " in text for text in texts) for i in range(len(words) - n + 1)]
        inside = [any(hits[max(place - n + 1, 0) : place + 1]) for place in range(len(words))]
        shares.append(sum(inside) / len(words) if words else 0.0)
    return shares


def _seen_by_steps(test: Sequence[Words], training: Sequence[Words], n: int) -> list[float]:
    """Goes once through each sentence and remembers up to where it is covered."""
    known = {" ".join(words[i : i + n]) for words in training for i in range(len(words) - n + 1)}
    shares = []
    for words in test:
        end = count = 0
        for start in range(len(words) - n + 1):
            if " ".join(words[start : start + n]) in known:
                count += start + n - max(end, start)
                end = start + n
        shares.append(count / (len(words) or 1))
    return shares


EXERCISE = Exercise(
    id="evaluation.seen_before",
    title="Was it in the training data?",
    statement=(
        "seen_before(test, training, n) -> list of floats, one for each test sentence: the share of its words that "
        "are in a run of n words that also occurs in a training sentence."
    ),
    minutes=20,
    difficulty=3,
    importance=4,
    section="The test that was in the training data",
    source="Touvron et al. (2023), Llama 2, appendix A.6",
    reference=evaluation.seen_before,
    cases=_seen_cases,
    parts={CORE: 3, "short sentences": 1},
    correct=(_seen_word_by_word, _seen_by_text, _seen_by_steps),
    steps=("shares",),
    hints=hints(
        idea=(
            "Collect every run of n words in the training data in a set, where lookups are fast. Then go through each "
            "test sentence, and mark the words of each run that is in the set."
        ),
        shapes=(
            "Write a run as a tuple of n words, because a set can't contain lists. Runs overlap, so you may mark a "
            "word several times, but it must count only once: mark positions, and count them at the end.",
            ("counted_again", "share_of_runs", "one_word_of_a_run"),
        ),
        outline=(
            "Make a set of all runs of n words in the training sentences.\n"
            "For each test sentence, start with all positions unmarked.\n"
            "Whenever n words in a row are in the set, mark their positions.\n"
            "The share is the number of marked positions divided by the number of words, or 0 if there are no words.",
            ("seen_or_not", "training_joined", "last_run_missing", "one_share_for_all"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer marks too few words of each run. Mark all n: words[start : start + n].",
            one_word_of_a_run=_slip((_COVER, "covered.add(start)")),
            one_word_too_few=_slip((_COVER, "covered.update(range(start, start + n - 1))")),
        ),
        *mistake(
            "Your answer is 0 or 1 for each sentence. Return the share of its words that were seen.",
            seen_or_not=_slip((_SHARE, "float(bool(covered))")),
            all_or_nothing=_slip((_SHARE, "float(0 < len(covered) == len(words))")),
        ),
        *mistake(
            "Your answer looks up runs of a different length. Only runs of n words count as seen.",
            words_alone=_slip(
                (_OF_TRAINING, "tuple(words[start : start + 1]) for words in training"),
                (_IF, "if tuple(words[start : start + 1])"),
                paired=False,
            ),
            any_known_word=_slip(
                (_SHARE, "sum(any(word in one for one in training) for word in words) / max(len(words), 1)")
            ),
            ends_count=_slip(
                (_KNOWN, "for words in training for start in range(len(words))"),
                (_STARTS, "        for start in range(len(words)):"),
                (_COVER, "covered.update(range(start, min(start + n, len(words))))"),
            ),
        ),
        *mistake(
            "Your answer treats different runs as the same. Compare the words exactly as they are, in the order in "
            "which they occur.",
            order_ignored=_slip(
                (_OF_TRAINING, "tuple(sorted(words[start : start + n])) for words in training"),
                (_IF, "if tuple(sorted(words[start : start + n]))"),
            ),
            lower_case=_slip((_IF, "if tuple(word.lower() for word in words[start : start + n])")),
        ),
        *mistake(
            "Your answer misses the last run of each sentence. There are len(words) - n + 1 runs.",
            last_run_missing=_slip((_STARTS, "        for start in range(len(words) - n):")),
            last_training_run_missing=_slip((_KNOWN, "for words in training for start in range(len(words) - n)")),
        ),
        *mistake(
            "Your answer leaves out sentences with fewer than n words. Give them a share of 0.",
            sentences_left_out=_slip(
                ("        shares.append(share)", "        if len(words) >= n:\n            shares.append(share)")
            ),
            alone=True,
        ),
        in_percent("a share from 0 to 1", _slip((_SHARE, "100 * len(covered) / max(len(words), 1)"))),
        *slips(
            _seen_word_by_word,
            share_of_runs=(
                "Your answer is the share of runs. Count the words that are in at least one run of the training data.",
                (_COVER, "covered.add(start)"),
                (_SHARE, "len(covered) / max(len(words) - n + 1, 1)"),
            ),
            counted_again=(
                "Your answer counts a word once for each run that contains it. Mark positions, and count each "
                "position once.",
                ("covered: set[int] = set()", "covered = []"),
                (_COVER, "covered.extend(range(start, start + n))"),
            ),
            words_for_positions=(
                "Your answer counts distinct words, so a repeated word counts only once. Mark positions instead.",
                (_COVER, "covered.update(words[start : start + n])"),
            ),
            training_joined=(
                "Your answer joins the training sentences, so a run may cross from one to the next. Keep them apart.",
                ("for words in training for", "for words in [sum(map(list, training), [])] for"),
            ),
            one_share_for_all=(
                "Your answer is a single share for all words of the test. Return a list: one share for each sentence.",
                ("shares.append(share)", "shares.append(len(covered))"),
                ("return shares", "return sum(shares) / max(sum(map(len, test)), 1)"),
            ),
            what_is_new=(
                "Your answer is the share of words that were not seen. Return the share of words that were seen.",
                (_SHARE, "1 - len(covered) / max(len(words), 1)"),
            ),
        ),
    ),
)
