"""Lesson 11, die_katze.choose_checkpoint: Which checkpoint to keep."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import die_katze


def _checkpoint_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: patience of two", ([3.0, 2.0, 2.5, 2.4, 1.0], 2))
        yield Case("several equally good ones", ([3.0, 2.0, 2.0, 2.0, 2.0], 2))
        yield Case("a new best one in time", ([3.0, 2.0, 2.5, 1.5, 1.6], 2))
        yield Case("better than the one before, but not the best", ([2.0, 3.0, 2.9, 2.8, 1.0], 3))
        yield Case("a single measurement", ([4.0], 3))
    for name in ("a run", "another run", "a third"):
        fall = 4 - torch.rand(7, generator=generator).cumsum(0) / 3
        rise = fall.min() + 0.1 + torch.rand(9, generator=generator)
        patience = integer(generator, 2, 5)
        late = [float(fall.min()) - 1]
        yield Case(name, ([*fall.tolist(), *rise.tolist(), *late], patience))
    steady = (5 - torch.rand(20, generator=generator).cumsum(0) / 9).tolist()
    yield Case("better every time", (steady, integer(generator, 1, 4)))
    noisy = (torch.rand(24, generator=generator) + torch.linspace(4, 1, 24)).tolist()
    yield Case("up and down", (noisy, integer(generator, 3, 6)))


def _one_by_one(losses: Sequence[float], patience: int) -> tuple[int, int]:
    best = 0
    for i, loss in enumerate(losses):
        if loss < losses[best]:
            best = i
        waited = i - best
        if i and waited >= patience:
            break
    return best, i + 1


_slip = edits_of(_one_by_one)
_BETTER, _WAITED, _END = "loss < losses[best]", "waited = i - best", "waited >= patience"


def _with_a_counter(losses: Sequence[float], patience: int) -> tuple[int, int]:
    lowest, where, waited = float("inf"), 0, 0
    for number, loss in enumerate(losses, start=1):
        if loss < lowest:
            lowest, where, waited = loss, number - 1, 0
        else:
            waited += 1
            if waited >= patience:
                return where, number
    return where, len(losses)


def _by_running_minimum(losses: Sequence[float], patience: int) -> tuple[int, int]:
    lowest = list(accumulate(losses, min))
    for end in range(patience, len(losses)):
        if lowest[end] == lowest[end - patience]:
            return losses.index(lowest[end]), end + 1
    return losses.index(lowest[-1]), len(losses)


EXERCISE = Exercise(
    id="die_katze.choose_checkpoint",
    title="Which checkpoint to keep",
    statement=(
        "choose_checkpoint(losses list of float, patience int) -> (best, seen), two ints. best: the index of the "
        "smallest loss, the earliest if several are equal. seen: how many losses were measured before patience ended "
        "the training."
    ),
    points=3,
    minutes=12,
    difficulty=3,
    importance=4,
    section="Which checkpoint?",
    source='Prechelt (1998), "Early Stopping - But When?"',
    reference=die_katze.choose_checkpoint,
    cases=_checkpoint_cases,
    correct=(_one_by_one, _with_a_counter, _by_running_minimum),
    hints=hints(
        idea=(
            "Go through the losses one by one, as training does, and remember the index of the smallest so far. A "
            "loss after the end of training is never measured, however good it looks in the list.",
            ("hindsight", "never_stops"),
        ),
        shapes=(
            "Return two ints. The first int is an index, counted from 0. The second is the number of measurements, one "
            "more than the index of the last one.",
            ("counted_from_one", "place_of_the_last"),
        ),
    ),
    misconceptions=(
        *slips(
            _one_by_one,
            never_waits_anew=(
                "Your answer counts all measurements without a new best. Reset the count at a new best: only "
                "`patience` measurements in a row without one end the run.",
                (_WAITED, "waited = i + 1 - len(set(accumulate(losses[: i + 1], min)))"),
            ),
            latest_of_equals=(
                "Your answer takes the latest of equally good checkpoints, and also resets the count there. Only a "
                "smaller loss is a new best: <, not <=.",
                (_BETTER, "loss <= losses[best]"),
            ),
            never_stops=(
                "Your answer never stops before the end of the list. Stop after `patience` measurements in a row "
                "without a new best.",
                (_END, "False"),
            ),
            one_too_patient=(
                "Your answer waits one measurement longer than `patience`. Stop at the `patience`-th measurement in a "
                "row without a new best.",
                (_END, "waited > patience"),
            ),
            one_too_hasty=(
                "Your answer stops one measurement too early. Stop at the `patience`-th measurement in a row without "
                "a new best.",
                (_END, "waited >= patience - 1"),
            ),
            worse_than_the_one_before=(
                "Your answer compares each loss with the previous one. A loss can fall for a while without being a "
                "new best: count the measurements since the best.",
                (_WAITED, "waited = next((n for n in range(i) if losses[i - n] < losses[i - n - 1]), i)"),
            ),
            last_one_kept=(
                "Your answer keeps the last checkpoint. Keep the one with the smallest loss.",
                ("return best", "return i"),
            ),
            largest_loss=(
                "Your answer treats the largest loss as the best. Smaller is better.",
                (_BETTER, "loss > losses[best]"),
            ),
            counted_from_one=(
                "Your answer counts the checkpoints from 1. Count from 0.",
                ("return best", "return best + 1"),
            ),
            place_of_the_last=(
                "Your second number is the index of the last measurement. Return how many there were, which is one "
                "more.",
                (", i + 1", ", i"),
            ),
            swapped=(
                "Your answer has the two numbers swapped. Return the best checkpoint first, then how many were "
                "measured.",
                ("best, i + 1", "i + 1, best"),
            ),
        ),
        *mistake(
            "Your answer takes the best of all losses, even those after the end of training. You can only keep a "
            "checkpoint that was measured by then.",
            hindsight=_slip(("return best", "return losses.index(min(losses))"), paired=False),
        ),
    ),
)
