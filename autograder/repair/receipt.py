"""The receipt: what was repaired, in sentences for the student and the instructor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.words import count

_SENTENCES = {
    "stripped": ("The grading information of {n} had been removed (some editors do that) and was rebuilt.", "cell"),
    "settings": ("The grading settings of {names} differed from the lesson's, which are used.", ""),
    "unknown": ("A cell that claims to be graded as {names}, unknown in this lesson, counts as an ordinary one.", ""),
    "found": ("The answer to {names} was found in another cell than its own.", ""),
    "no_answer": ("There is no answer cell for {names}, and no other cell defines what is asked for there.", ""),
    "retyped": ("The cell of {names} had been given another type and was changed back.", ""),
    "copies": ("There are several copies of the answer to {names}; all of them run, in order.", ""),
    "written_copies": ("There are several copies of the written answer {names}; the last one is graded.", ""),
    "untouched_copy": ("A copy of the cell of {names} in which nothing was written was left out.", ""),
    "stub": ("The cell of {names}, which undid the answer in another cell, is shown as text and does not run.", ""),
    "imports": ("The lesson's imports ({names}) were missing in front of the first answer and were put back.", ""),
    "missing": ("The check of {names} was missing and was put back.", ""),
    "missing_written": ("The written question {names} was missing and was put back, without an answer.", ""),
    "told": ("Nothing is written in the cell of {names}, but elsewhere there may be an answer: a person decides.", ""),
    "edited": ("The check of {names} had been changed and was restored.", ""),
    "own_code": ("Your code in the check of {names} was kept, in a cell of its own.", ""),
    "extra_check": ("A further copy of the check of {names} was left out.", ""),
    "moved": ("The check of {names} came before its answer and was moved after it.", ""),
}


def receipt(events: Mapping[str, Sequence[str]]) -> list[str]:
    """One sentence for each kind of repair, in a fixed order."""
    sentences = []
    for kind, (sentence, unit) in _SENTENCES.items():
        if kind in events:
            names = list(dict.fromkeys(events[kind]))
            sentences.append(sentence.format(n=count(len(events[kind]), unit), names=_listed(names)))
    return sentences


def _listed(names: Sequence[str], most: int = 8) -> str:
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
