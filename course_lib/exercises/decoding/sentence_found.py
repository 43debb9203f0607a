"""Lesson 06, decoding.sentence_found: Predict first."""

from collections.abc import Iterator

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, mistake, predicted
from course_lib.exercises.decoding.shared import TREE
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import decoding


def _prediction_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    order = torch.randperm(3, generator=generator).tolist() if hidden else range(3)
    for position in order:
        beams = position + 1
        name = f"{beams} beam{'s' if beams > 1 else ''}"
        yield Case(name if hidden else f"{TREE}, {name}", (beams,))


def _found_in_a_row(beams: int) -> tuple[str, list[float]]:
    letter = ("B", "E", "A")[beams - 1]
    held = [0.27, 0.24, 0.216][:beams]  # “die Katze hat”, “eine Katze tanzte”, “die Katze tanzte”
    return letter, held


_slip = edits_of(_found_in_a_row)
_HELD, _EACH = "[0.27, 0.24, 0.216]", "[0.27, 0.24, 0.216][:beams]"


def _found_by_match(beams: int) -> tuple[str, list[float]]:
    match beams:
        case 1:
            return "B", [0.27]
        case 2:
            return "E", [0.27, 0.24]
        case _:
            return "A", [0.27, 0.24, 0.216]


def _found_by_products(beams: int) -> tuple[str, list[float]]:
    beginnings = {
        "die Katze hat": 0.6 * 0.9 * 0.5,
        "die Katze tanzte": 0.6 * 0.9 * 0.4,
        "die Katze tanzt": 0.6 * 0.9 * 0.1,
        "die Mieze tanzte": 0.6 * 0.1,
        "eine Katze tanzte": 0.4 * 0.6,
        "eine Katze hat": 0.4 * 0.4,
    }
    kept = sorted(beginnings, key=lambda beginning: -beginnings[beginning])[:beams]
    ends = {"die Katze hat": ("B", 0.6), "die Katze tanzte": ("A", 0.9), "eine Katze tanzte": ("E", 0.7)}
    best = max(kept, key=lambda beginning: beginnings[beginning] * ends[beginning][1])
    return ends[best][0], [beginnings[beginning] for beginning in kept]


EXERCISE = Exercise(
    id="decoding.sentence_found",
    title="Predict first",
    statement=(
        'sentence_found(beams) -> (letter, kept). letter: "A" to "F", the sentence that a search with 1, 2 or 3 beams '
        "writes. kept: the probabilities of the partial sentences it keeps after the third token, best first, not "
        "rounded."
    ),
    points=1,
    minutes=10,
    difficulty=3,
    importance=3,
    section="Where greedy decoding loses",
    source="S2, generating outputs (greedy); Wu et al. (2016), section 7",
    reference=decoding.sentence_found,
    cases=predicted(_prediction_cases),
    correct=(_found_in_a_row, _found_by_match, _found_by_products),
    hints=hints(
        idea=(
            "At each step, a search keeps the best partial sentences of one length, wherever they come from. After "
            "two tokens, “die Katze” has 0.6 · 0.9 = 0.54, “eine Katze” 0.4 · 1 = 0.4 and “die Mieze” 0.06. Two beams "
            "keep the first two; three keep all three."
        ),
        outline=(
            "Write down all first tokens with their probabilities, and keep the best of them, one for each beam.\n"
            "Extend each of them by every possible token, and multiply.\n"
            "Sort all the products together, and continue only from the best.\n"
            "After the third token, write down the products; then see which sentence the search writes.",
            (
                "each_beginning_continued_once",
                "one_beginning_continued",
                "one_of_two_continued",
                "each_beginning_kept",
                "second_best_word",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "With two beams you extend only “die Katze”, and drop “eine Katze”. Extend both: “eine Katze tanzte” (0.4 "
            "· 0.6) is more probable than “die Katze tanzte” (0.54 · 0.4).",
            one_beginning_continued=_slip(('"E"', '"A"'), (_HELD, "[0.27, 0.216, 0.054]")),
            one_of_two_continued=_slip(
                ('"E"', '"A"'), (_EACH, "[[0.27], [0.27, 0.216], [0.27, 0.24, 0.216]][beams - 1]")
            ),
        ),
        *mistake(
            "With three beams you keep “die Mieze tanzte” (0.06). One partial sentence may have several extensions "
            "among the best, and another none: “die Katze tanzte” (0.216) is more probable.",
            each_beginning_continued_once=_slip(('"A"', '"E"'), (_HELD, "[0.27, 0.24, 0.06]")),
            each_beginning_kept=_slip((_HELD, "[0.27, 0.24, 0.06]"), paired=False),
        ),
        *mistake(
            "With one beam you continue “die Katze” with “tanzte”. One beam keeps only the most probable extension, "
            "and “hat” is more probable (0.5 versus 0.4).",
            second_best_word=_slip(('"B"', '"A"'), (_EACH, "[[0.216], [0.27, 0.24], [0.27, 0.24, 0.216]][beams - 1]")),
        ),
        *mistake(
            "You predict the greedy sentence for every number of beams. More beams also keep other beginnings, such "
            "as “eine Katze tanzte” (0.24), which may lead to a more probable sentence.",
            width_changes_nothing=_slip(('"E"', '"B"'), ('"A"', '"B"')),
        ),
        *mistake(
            "You are right for one beam and for three. Two beams keep “die Katze hat” (0.27) and “eine Katze tanzte” "
            "(0.24), as you say. So the search drops “die Katze tanzte” (0.216), and cannot find A.",
            two_beams_are_enough=_slip(('"E"', '"A"')),
            alone=True,
        ),
        *mistake(
            "You miss that the third beam keeps “die Katze tanzte” (0.216). <e> follows it with probability 0.9, so A "
            "reaches 0.1944, which is more than E.",
            three_beams_do_not_suffice=_slip(('"A"', '"E"')),
        ),
        *mistake(
            "You predict the same sentence for two beams as for one. Two beams keep “die Katze hat” (0.27) and “eine "
            "Katze tanzte” (0.24). Keep multiplying: 0.27 · 0.6 = 0.162, but 0.24 · 0.7 = 0.168.",
            two_beams_as_one=_slip(('"E"', '"B"')),
        ),
        *mistake(
            "You predict the most probable sentence of all, A, for one beam. Follow the tree token by token: after "
            "“die Katze”, greedy decoding takes “hat” (0.5 versus 0.4).",
            always_the_best=_slip(('"B"', '"A"'), ('"E"', '"A"')),
            best_at_once=_slip(('"B"', '"A"')),
        ),
        *mistake(
            "You give only the probability of the third token. Multiply all three: 0.6 · 0.9 · 0.5 for “die Katze "
            "hat”.",
            last_words_alone=_slip((_HELD, "[0.5, 0.6, 0.4]")),
            last_words_alone_sorted=_slip((_EACH, "[[0.5], [0.6, 0.5], [0.6, 0.5, 0.4]][beams - 1]")),
        ),
        *mistake(
            "You stop after two tokens, with “die Katze” first. Multiply by the third token's probability as well: "
            "the product decides what the search keeps.",
            beginnings_of_two_words=_slip((_HELD, "[0.54, 0.4, 0.06]")),
        ),
        *mistake(
            "You give the probabilities of complete sentences. Stop after the third token, and give one "
            "probability per beam.",
            whole_sentences=_slip((_EACH, "[[0.162], [0.168, 0.162], [0.1944, 0.168, 0.162]][beams - 1]")),
            only_the_sentence_found=_slip((_EACH, "[[0.162], [0.168], [0.1944]][beams - 1]")),
        ),
        *mistake(
            "You give logarithms or rounded numbers. Give the products themselves, with all their digits.",
            logarithms=_slip(("held\n", "torch.tensor(held, dtype=torch.float64).log().tolist()\n")),
            rounded=_slip((_HELD, "[0.27, 0.24, 0.22]")),
            rounded_to_tenths=_slip((_HELD, "[0.3, 0.2, 0.2]")),
        ),
        *mistake(
            "Your letters and probabilities are right. Put the largest probability first.",
            best_last=_slip(("held\n", "held[::-1]\n")),
            alone=True,
        ),
        *mistake(
            "Your sentences and probabilities are right. Use capital letters.",
            small_letters=_slip(("letter,", "letter.lower(),")),
            alone=True,
        ),
    ),
    memorisable="Its whole input is one of three numbers, the beams that search one tree: it asks for a prediction.",
)
