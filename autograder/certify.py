"""Certifies exercises: proves that checks tell right answers from wrong ones, and known mistakes from each other.

For every exercise, the reference and all its `correct` answers must pass on the visible cases (which students see), and
together with hidden cases of several seeds (which the grader sees). The stub and every misconception must fail on the
visible cases alone, and each misconception must be named by its own id. No pair of mistakes may be named as a third.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from torch import Tensor

from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey
from course_lib.judging.compare import floating_dtypes, result_difference
from course_lib.judging.diagnosis import diagnose
from course_lib.judging.edits import EditDoesNotFit, Edited
from course_lib.judging.errors import UnusableExercises
from course_lib.judging.exercise import Callback, Case, Exercise, Value
from course_lib.judging.given import Given
from course_lib.judging.judge import judge, observe_cases
from course_lib.judging.observation import Outcome, observe
from course_lib.judging.steps import steps_of
from course_lib.judging.verdict import Verdict

SEEDS = (PUBLIC_SEED, 1, 2)
"""Seeds of the hidden cases for which a certificate must hold; it should hold for any others as well."""

MIN_CORRECT = 3
"""Number of right answers that an exercise needs besides its reference."""

MIN_MISCONCEPTIONS = 6
"""Number of known mistakes that an exercise needs, unless its `few_mistakes` gives a reason."""

MIN_HIDDEN = 3
"""Number of hidden cases that an exercise needs."""

TABLE = range(399)
"""Seeds whose hidden cases somebody might collect in a table. Nobody knows the seed that a course uses."""

FRESH = range(2**64, 2**64 + 20)
"""Seeds of the hidden cases that are looked up in that table."""

MOST_KNOWN = 0.5
"""The share of those that the table may contain: an empty sequence, for example, is the same for all seeds."""


@dataclass(frozen=True)
class Certificate:
    """The results of certifying an exercise.

    Attributes:
        exercise: the exercise.
        correct: right answers, including the reference: their number, and how many passed.
        misconceptions: known mistakes: their number, how many were rejected, and how many were named.
        stub_rejected: whether the released, empty answer earns nothing.
        failures: a sentence for each failed requirement.
    """

    exercise: Exercise
    correct: tuple[int, int]
    misconceptions: tuple[int, int, int]
    stub_rejected: bool
    failures: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every requirement is met."""
        return not self.failures

    def record(self) -> dict[str, Any]:
        """Return the certificate as JSON data."""
        return {
            "id": self.exercise.id,
            "points": self.exercise.points,
            "correct": list(self.correct),
            "misconceptions": list(self.misconceptions),
            "stub_rejected": self.stub_rejected,
        }


def certify(exercises: Iterable[Exercise], stubs: Mapping[str, str], seeds: Sequence[int] = SEEDS) -> list[Certificate]:
    """Return a certificate for each exercise.

    Args:
        exercises: the exercises.
        stubs: the code of each released answer cell, by exercise id (see `released_stubs`).
        seeds: the seeds of the hidden cases; everything must hold for each of them.
    """
    found = []
    for exercise in exercises:
        try:
            found.append(_certificate(exercise, stubs.get(exercise.id), seeds))
        except Exception as error:  # the course's cases and reference are programs and may fail in any way
            found.append(_failed(exercise, error))
    return found


def print_table(certificates: Sequence[Certificate], console: Console) -> None:
    """Print a table with a line for each exercise, then every failure."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("exercise", overflow="fold")
    for heading in ("points", "right\npass", "wrong\nfail", "wrong\nnamed", "stub\nfails"):
        table.add_column(heading, justify="right", no_wrap=True)
    for certificate in certificates:
        correct, passed = certificate.correct
        known, rejected, named = certificate.misconceptions
        table.add_row(
            f"{certificate.exercise.id}{'' if certificate.holds else '  FAILS'}",
            str(certificate.exercise.points),
            f"{passed}/{correct}",
            f"{rejected}/{known}",
            f"{named}/{known}",
            "yes" if certificate.stub_rejected else "NO",
        )
    console.print(table)
    for certificate in certificates:
        for failure in certificate.failures:
            console.print(f"{certificate.exercise.id}: {failure}", markup=False, highlight=False)


def _failed(exercise: Exercise, error: Exception) -> Certificate:
    """Return the certificate of an exercise whose cases cannot be made, or whose reference fails."""
    failure = str(error).removeprefix(f"{exercise.id}: ")
    if not isinstance(error, UnusableExercises):
        where = traceback.extract_tb(error.__traceback__)[-1]
        failure = f"{type(error).__name__}: {failure} ({Path(where.filename).name}, line {where.lineno})"
    return Certificate(
        exercise, (1 + len(exercise.correct), 0), (len(exercise.misconceptions), 0, 0), False, (failure,)
    )


def _certificate(exercise: Exercise, stub: str | None, seeds: Sequence[int]) -> Certificate:
    failures = [*_make_up(exercise), *_case_failures(exercise, seeds)]
    visible = AnswerKey(exercise)
    keys = [visible.with_hidden(seed) for seed in seeds]
    failures += _reference_failures(keys[-1])
    passed = rejected = named = 0

    for number, answer in enumerate((exercise.reference, *exercise.correct)):
        name = f"correct answer {number}" if number else "the reference"
        wrong = [verdict for verdict in _verdicts(keys, answer) if not verdict.passed]
        passed += not wrong
        failures += [f"{name} is not accepted: {_first_failure(verdict)}" for verdict in wrong[:1]]

    for mistake in exercise.misconceptions:
        (verdict,) = _verdicts([visible], mistake.answer)  # hidden cases do not affect the name
        given = verdict.misconception.id if verdict.misconception else "nothing"
        rejected += not verdict.passed
        named += given == mistake.id
        if verdict.passed:
            failures.append(f"the misconception {mistake.id} is accepted: add a case that shows it to be wrong")
        elif given != mistake.id:
            failures.append(f"the misconception {mistake.id} is named {given}: add a case that tells them apart")

    failures += _pair_failures(exercise, visible)
    stub_failures = list(_stub_failures(visible, stub))
    return Certificate(
        exercise,
        correct=(1 + len(exercise.correct), passed),
        misconceptions=(len(exercise.misconceptions), rejected, named),
        stub_rejected=not stub_failures,
        failures=(*failures, *stub_failures),
    )


def _make_up(exercise: Exercise) -> Iterator[str]:
    """Yield what the exercise itself lacks."""
    if len(exercise.correct) < MIN_CORRECT:
        yield f"has {len(exercise.correct)} correct answers besides the reference; at least {MIN_CORRECT} are needed"
    if len(exercise.misconceptions) < MIN_MISCONCEPTIONS and not exercise.few_mistakes:
        yield (
            f"has {len(exercise.misconceptions)} misconceptions; at least {MIN_MISCONCEPTIONS} are needed, or a reason "
            "in `few_mistakes`"
        )
    for misconception in exercise.misconceptions:
        if isinstance(misconception.answer, Edited):
            yield from _edit_failures(exercise, misconception.id, misconception.answer)
    ids = [misconception.id for misconception in exercise.misconceptions]
    yield from (f"has two misconceptions called {name}" for name in sorted(set(ids)) if ids.count(name) > 1)


def _edit_failures(exercise: Exercise, name: str, edited: Edited) -> Iterator[str]:
    """Yield what is wrong with a mistake that is an edit: the edited answer is not known to be right, or the edit does
    not fit.
    """
    if edited.right not in (exercise.reference, *exercise.correct):
        yield f"the misconception {name} edits {edited.right.__name__}: add that to the right answers"
    try:
        compile(edited.source, f"<{name}>", "exec")
    except (EditDoesNotFit, SyntaxError) as problem:
        yield f"the misconception {name}: {problem}"


def _case_failures(exercise: Exercise, seeds: Sequence[int]) -> Iterator[str]:
    """Yield what is wrong with the cases: too few, none for a part, or hidden ones that could be memorized."""
    for kind, cases in (("visible", exercise.visible_cases()), ("hidden", exercise.hidden_cases(seeds[0]))):
        parts = {case.part for case in cases}
        yield from (f"no {kind} case belongs to the part {part!r}" for part in exercise.parts if part not in parts)
        yield from (f"a {kind} case belongs to the unknown part {part!r}" for part in parts - set(exercise.parts))
        yield from _single_precision_only(exercise, kind, cases)
    if exercise.steps and any(case.secret or not steps_of(exercise, case) for case in exercise.visible_cases()[:1]):
        yield (
            f"steps ({', '.join(exercise.steps)}) are variables of the reference that hold plain data in the first "
            "case, and a prediction has none"
        )
    drawn = [list(map(_entry, exercise.hidden_cases(seed))) for seed in seeds]
    if len(drawn[0]) < MIN_HIDDEN:
        yield f"has {len(drawn[0])} hidden cases; at least {MIN_HIDDEN} are needed"
    if len(drawn) > 1 and all(other == drawn[0] for other in drawn[1:]):
        yield "the hidden cases don't depend on their seed"
    elif not exercise.memorisable and (known := _known_share(exercise)) > MOST_KNOWN:
        yield (
            f"a table of the hidden cases of {len(TABLE)} seeds holds {known:.0%} of those of other seeds: draw them "
            "from a larger range, or say in `memorisable` why that is impossible"
        )


def _known_share(exercise: Exercise) -> float:
    """Return the share of fresh hidden cases that a table of many seeds' cases contains; 0 if no table can contain most
    of them.

    If a tenth of these seeds have none of the cases, the whole table has few, so it is not drawn.
    """
    if not any(_fits_a_table(_passed(case)) for case in exercise.hidden_cases(FRESH[0])):
        return 0.0  # other seeds would not change that, and drawing takes time
    drawn = [case for seed in FRESH for case in exercise.hidden_cases(seed)]
    entries = [_entry(case) for case in drawn if _fits_a_table(_passed(case))]
    if len(entries) <= MOST_KNOWN * len(drawn):
        return 0.0
    known = 0
    for seeds in (TABLE[::10], TABLE):
        table = {_entry(case) for seed in seeds for case in exercise.hidden_cases(seed) if _fits_a_table(_passed(case))}
        known = sum(entry in table for entry in entries)
        if not known:
            break
    return known / len(drawn)


def _passed(case: Case) -> list[Value]:
    return [case.args, case.kwargs, case.construct, case.weights]


def _fits_a_table(value: Value) -> bool:
    """Return whether a value has no floating-point tensors, which are drawn anew each time, and no callbacks."""
    if isinstance(value, Tensor):
        return not value.is_floating_point()
    return not isinstance(value, (Callback, Given)) and all(map(_fits_a_table, _inside(value)))


def _inside(value: Value) -> Iterable[Value]:
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()


def _entry(case: Case) -> str:
    return repr(_listed(_passed(case)))


def _listed(value: Value) -> Value:
    """Return a value with lists instead of tensors, whose text contains every number."""
    if isinstance(value, Tensor):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, Mapping):
        return {key: _listed(inside) for key, inside in value.items()}
    return [_listed(inside) for inside in value] if isinstance(value, (list, tuple)) else value


def _single_precision_only(exercise: Exercise, kind: str, cases: Sequence[Case]) -> Iterator[str]:
    """Yield a failure if floating-point numbers go in and come out, but never in double precision."""
    dtypes = [floating_dtypes(case) for case in cases]
    if any(dtypes) and {torch.float64} not in dtypes:
        case = next(case for case, found in zip(cases, dtypes, strict=True) if found)
        if _has_floats(observe(exercise.reference, case).value):
            yield f"no {kind} case is in double precision: an answer that always computes in float32 would pass"


def _has_floats(value: Value) -> bool:
    if isinstance(value, Tensor):
        return value.is_floating_point()
    return isinstance(value, float) or any(map(_has_floats, _inside(value)))


def _reference_failures(key: AnswerKey) -> Iterator[str]:
    """Yield where the reference changes its result or its arguments, or returns a value that is not finite."""
    for case, first in zip(key.cases, key.expected, strict=True):
        again = observe(key.exercise.reference, case)
        tensors = [first.value, *first.gradients]
        if first.returned != again.returned or (first.returned and result_difference(case, first, again)):
            yield f"the reference returns something else when called again on {case.name!r}"
        if not all(torch.isfinite(t).all() for t in tensors if isinstance(t, Tensor)):
            yield f"the reference returns infinity or NaN on {case.name!r}"
        if any(gradient is None for gradient in first.gradients):
            yield f"the reference has no gradient on {case.name!r}"
        if first.modified:
            yield f"the reference changes its arguments on {case.name!r}"


def _pair_failures(exercise: Exercise, key: AnswerKey) -> Iterator[str]:
    """Yield where a pair of mistakes is named as a third. One may hide the other; then either name is right."""
    for pair in exercise.pairs:
        answer = partial(observe, pair.answer)
        observations = observe_cases(key.visible, answer)
        named = diagnose(key, observations, partial(observe_cases, answer=answer), one_mistake=True).misconception
        if named is not None and named.id not in pair.id.split("+"):
            yield f"the mistakes {pair.id} at once are named {named.id}: add a case that tells them apart"


def _stub_failures(key: AnswerKey, stub: str | None) -> Iterator[str]:
    if stub is None:
        yield "the release has no answer cell for it: write one in the lesson, and run `katze release`"
        return
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(stub, f"<stub of {key.exercise.id}>", "exec"), namespace)  # our own released cell
    except Exception as error:
        yield f"the stub cannot be run: {type(error).__name__}: {error}"
        return
    if key.exercise.name not in namespace:
        yield f"the stub does not define {key.exercise.name}"
        return
    (verdict,) = _verdicts([key], namespace[key.exercise.name])
    if verdict.outcome is not Outcome.NOT_ATTEMPTED or verdict.points:
        yield f"the stub is {verdict.outcome} with {verdict.points} points, not {Outcome.NOT_ATTEMPTED} with none"


def _verdicts(keys: Iterable[AnswerKey], answer: Callable[..., Value]) -> list[Verdict]:
    return [judge(key, lambda case: observe(answer, case)) for key in keys]


def _first_failure(verdict: Verdict) -> str:
    case = next(result for result in verdict.cases if not result.passed)
    return f"{case.case.name}: {case.message}"
