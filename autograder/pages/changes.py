"""Reports what a lesson's points do not show: decisions about exercises, exercises that could not be graded, and points
by hand that were given for another text or another maximum.
"""

from collections.abc import Iterator, Sequence

from autograder.gradebook.record import Record
from autograder.words import count, some


def remarks_on_changes(lesson: str, results: Sequence[Record]) -> Iterator[str]:
    """Yield sentences for an instructor about a lesson."""
    yield from (
        f"{lesson}: {decided}." for decided in dict.fromkeys(one for result in results for one in result.decided)
    )
    ungraded: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for one in result.ungraded:
            ungraded.setdefault((one.exercise, one.note), []).append(result.student)
    for (exercise, why), names in ungraded.items():
        yield f"{lesson}: {exercise} has no score for {some(names)}. {why or 'It could not be graded.'}"
    changed = [result.student for result in results if result.changed]
    if changed:
        yield (
            f"{lesson}: changed after a person gave points, which count until the answer is read again: "
            f"{some(changed)}."
        )
    students: dict[tuple[str, float, float], int] = {}
    for result in results:
        for cell in result.by_hand:
            if cell.shared is not None:
                key = cell.cell, cell.shared[1], cell.max_points
                students[key] = students.get(key, 0) + 1
    for (name, before, now), number in students.items():
        yield (
            f"{lesson}: points given by hand to {count(number, 'student')} for {name}, out of {before:g}, are scaled "
            f"to {now:g}."
        )
