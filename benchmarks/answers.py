"""How answers written from the notebooks alone are judged, and how long a check takes.

    python -m benchmarks.answers [--answers FOLDER] [--lesson 02_masking] [--seeds 20] [--json FILE]

Every answer is checked as in a notebook, by `check`, and timed; then with the hidden cases of some seeds. It counts
right answers that were rejected, wrong ones that were accepted under any seed, and, of the rejected ones, those whose
mistake was named, told in a sentence, or only shown; and those whose name depends on the seed.

A folder holds one file per exercise, `<exercise>.py`, in blocks, with a line above each that says what it is:

    # %% right | with einsum
    # %% wrong | softmax over the queries | softmax_over_queries

The third field, if there is one, is the name that the mistake should get. A block is not a module: it runs with
what its lesson's notebook imports and gives.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from autograder.course.given import needed_of_notebook
from benchmarks.table import Row, report
from course_lib import exercises
from course_lib.checking import AnswerKey, Exercise, Verdict, check, judge, observe
from course_lib.checking.judge import rule_broken
from course_lib.checking.rules import Code

ROOT = Path(__file__).parents[1]
ANSWERS = ROOT / "tests" / "outside" / "answers"
_HEADER = re.compile(r"^# %% (right|wrong)(?: pair)? ?\| ([^\n]+?)(?: \| ([A-Za-z0-9_+]+))?$", re.MULTILINE)
_SLOWEST = 5


@dataclass(frozen=True)
class Block:
    """One answer.

    Attributes:
        right: whether it is right.
        told: what it does.
        name: the name that its mistake should get; empty where none is asked for.
        code: its source.
    """

    right: bool
    told: str
    name: str
    code: str


@dataclass(frozen=True)
class Judged:
    """What became of an answer.

    Attributes:
        exercise: the exercise's id.
        told: what the answer does.
        right: whether it is right.
        outcome: "rejected", "accepted", "named", "told", "shown", or "passed" for a right one; "unsteady" where the
            name depends on the seed.
        name: the name it got.
        seconds: what `check` took in this process.
    """

    exercise: str
    told: str
    right: bool
    outcome: str
    name: str
    seconds: float


def blocks(file: Path) -> Iterator[Block]:
    """The answers of a file.

    Raises:
        ValueError: a header is not of the form that is asked for.
    """
    text = file.read_text(encoding="utf-8")
    headers = list(_HEADER.finditer(text))
    if len(headers) != text.count("# %%"):
        raise ValueError(f"{file}: a header is not of the form '# %% right | what it does'")
    for header, after in zip(headers, [*headers[1:], None], strict=True):
        code = text[header.end() : after.start() if after else None]
        yield Block(header[1] == "right", header[2], header[3] or "", code)


def answer(exercise: Exercise, code: str) -> Callable[..., Any]:
    """What a block defines."""
    source = with_given(exercise, code)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "<answer>", "exec"), namespace)
    found: Callable[..., Any] = namespace[exercise.name]
    return found


def with_given(exercise: Exercise, code: str) -> str:
    """A block with what its notebook gives in front."""
    notebook = ROOT / "notebooks" / exercise.lesson / f"{exercise.lesson}.ipynb"
    return "\n".join([*map(ast.unparse, needed_of_notebook(notebook, code)), code])


def judged(exercise: Exercise, block: Block, seeds: Sequence[int], key: AnswerKey) -> Judged:
    """One answer, checked as in a notebook and with the hidden cases of every seed."""
    written = answer(exercise, block.code)
    began = time.perf_counter()
    shown = check(exercise.id, written)
    seconds = time.perf_counter() - began
    assert shown is not None
    rule = Code([block.code]).broken_rule(exercise.name, exercise.forbidden_names)
    if rule is not None:
        shown, graded = rule_broken(exercise, rule.name), []
    else:
        with contextlib.redirect_stdout(io.StringIO()):
            graded = [
                judge(key.with_hidden(seed), lambda case: observe(written, case, exercise.forbidden_names))
                for seed in seeds
            ]
    outcome, name = _outcome(block, shown, graded)
    return Judged(exercise.id, block.told, block.right, outcome, name, seconds)


def _outcome(block: Block, shown: Verdict, graded: Sequence[Verdict]) -> tuple[str, str]:
    if block.right:
        return ("passed" if shown.passed and all(verdict.passed for verdict in graded) else "rejected"), ""
    if any(verdict.passed for verdict in graded):
        return "accepted", ""
    names = {verdict.misconception.id if verdict.misconception else "" for verdict in (shown, *graded)}
    if len(names) > 1:
        return "unsteady", ", ".join(sorted(names))
    (name,) = names
    return ("named" if name else "told" if _says_what_to_do(graded[0] if graded else shown) else "shown"), name


_BARE = re.compile(r"entries differ, first at index|: it differs\.|should be .{1,60}, not |differs in its value")
"""What a verdict says where it only shows the difference."""


def _says_what_to_do(verdict: Verdict) -> bool:
    """Whether a verdict says more than that the numbers differ: a note, or a sentence after the difference."""
    if verdict.note or not verdict.cases:
        return True
    first = next((result for result in verdict.cases if not result.passed), None)
    if first is None or first.hidden:
        return False
    return not (_BARE.search(first.message) and first.message.count(". ") == 0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="the folder (default: %(default)s)")
    parser.add_argument("--lesson", action="append", help="only this lesson; may be given several times")
    parser.add_argument("--seeds", type=int, default=3, help="how many sets of hidden cases (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write what became of every answer")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    results = [
        judged(exercise, block, range(1, options.seeds + 1), key)
        for lesson in options.lesson or exercises.LESSONS
        for exercise in exercises.of_lesson(lesson)
        if (file := options.answers / f"{exercise.id}.py").is_file()
        for key in [AnswerKey(exercise)]
        for block in blocks(file)
    ]
    for result in results:
        if result.outcome in ("rejected", "accepted", "unsteady"):
            print(f"{result.outcome}: {result.exercise}: {result.told} {result.name}".rstrip())
    report("answers from outside", list(_rows(results)), None)
    print("slowest checks: " + ", ".join(f"{name} {seconds:.2f} s" for seconds, name in _slowest(results)))
    if options.json:
        records = [asdict(result) for result in results]
        options.json.write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(any(result.outcome in ("rejected", "accepted", "unsteady") for result in results))


def _rows(results: Sequence[Judged]) -> Iterator[Row]:
    outcomes = Counter(result.outcome for result in results)
    right, wrong = sum(result.right for result in results), sum(not result.right for result in results)
    yield Row.of("right answers", right, None, "answers", more=True)
    yield Row.of("of them rejected", outcomes["rejected"], None, "answers", more=False)
    yield Row.of("wrong answers", wrong, None, "answers", more=True)
    for outcome in ("accepted", "named", "told", "shown", "unsteady"):
        yield Row.of(f"of them {outcome}", outcomes[outcome], None, "answers", more=False)
    median = statistics.median(result.seconds for result in results) if results else 0.0
    yield Row.of("median of a check", 1000 * median, None, "ms", more=False)


def _slowest(results: Sequence[Judged]) -> list[tuple[float, str]]:
    by_exercise: dict[str, float] = {}
    for result in results:
        by_exercise[result.exercise] = max(by_exercise.get(result.exercise, 0.0), result.seconds)
    return sorted(((seconds, name) for name, seconds in by_exercise.items()), reverse=True)[:_SLOWEST]


if __name__ == "__main__":
    sys.exit(main())
