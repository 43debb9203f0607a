"""Measures how checks judge answers that were written from the notebooks alone, and how long a check takes.

    python -m benchmarks.answers [--answers FOLDER] [--lesson 02_masking] [--seeds 20] [--json FILE] [--read 100]

Every answer is checked by `check`, as in a notebook, and timed; then it is judged with the hidden cases of some seeds.
The table counts right answers that were rejected, wrong ones that some seed accepted, and those whose name depends on
the seed. It sorts the other wrong answers by how they were rejected: with the mistake's name ("named"); with a sentence
that depends on this answer ("told"); only with sentences that more than half of the exercise's unnamed wrong answers
get too, and which therefore say little ("fact"); or only with numbers ("bare"). Whether a sentence is true, a person
must judge: --read prints that many random wrong answers with their verdicts.

The folder has one file per exercise, `<exercise>.py`, made of blocks, each below a line that says what it is:

    # %% right | with einsum
    # %% wrong | softmax over the queries | softmax_over_queries

The optional third field is the name that the mistake should get. A block is not a module: it runs together with what
its lesson's notebook imports and defines.
"""

import ast
import contextlib
import io
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from autograder.course.notebook_definitions import needed_of_notebook
from benchmarks.table import Row, arguments, report
from course_lib import exercises
from course_lib.checking import check
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.compare import Kind
from course_lib.judging.exercise import Exercise
from course_lib.judging.judge import judge, rule_broken
from course_lib.judging.observation import observe
from course_lib.judging.rules import Code
from course_lib.judging.verdict import Verdict
from course_lib.judging.wording.torch_words import explained

ROOT = Path(__file__).parents[1]
ANSWERS = ROOT / "tests" / "outside" / "answers"
_HEADER = re.compile(r"^# %% (right|wrong)(?: pair)? ?\| ([^\n]+?)(?: \| ([A-Za-z0-9_+]+))?$", re.MULTILINE)
_SLOWEST = 5


@dataclass(frozen=True)
class Block:
    """One answer.

    Attributes:
        right: whether it is right.
        told: what it does, in words.
        name: the name that its mistake should get; empty if none is required.
        code: its source.
    """

    right: bool
    told: str
    name: str
    code: str


@dataclass(frozen=True)
class Judged:
    """How an answer was judged.

    Attributes:
        exercise: the exercise's id.
        told: what the answer does, in words.
        right: whether it is right.
        outcome: "rejected", "accepted", "named", "told", "fact", "bare", or "passed" for a right one; "unsteady" if the
            name depends on the seed.
        name: the mistake's name in the verdict.
        sentences: the other sentences of the verdict, with numbers replaced.
        seconds: the processor time of `check`.
    """

    exercise: str
    told: str
    right: bool
    outcome: str
    name: str
    sentences: tuple[str, ...]
    seconds: float


def blocks(file: Path) -> Iterator[Block]:
    """Yield the answers in a file.

    Raises:
        ValueError: a header has the wrong form.
    """
    text = file.read_text(encoding="utf-8")
    headers = list(_HEADER.finditer(text))
    if len(headers) != text.count("# %%"):
        raise ValueError(f"{file}: a header is not of the form '# %% right | what it does'")
    for header, after in zip(headers, [*headers[1:], None], strict=True):
        code = text[header.end() : after.start() if after else None]
        yield Block(header[1] == "right", header[2], header[3] or "", code)


def answer(exercise: Exercise, code: str) -> Callable[..., Any]:
    """Run a block below the definitions from its notebook, and return what it defines."""
    notebook = ROOT / "notebooks" / exercise.lesson / f"{exercise.lesson}.ipynb"
    source = "\n".join([*map(ast.unparse, needed_of_notebook(notebook, code)), code])
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "<answer>", "exec"), namespace)
    found: Callable[..., Any] = namespace[exercise.name]
    return found


def judged(exercise: Exercise, block: Block, seeds: Sequence[int], key: AnswerKey) -> Judged:
    """Judge one answer, as in a notebook and with the hidden cases of every seed."""
    written = _written(exercise, block)
    began = time.process_time()
    shown = check(exercise.id, written)
    seconds = time.process_time() - began
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
    return Judged(exercise.id, block.told, block.right, outcome, name, tuple(_sentences(shown)), seconds)


def _written(exercise: Exercise, block: Block) -> Callable[..., Any]:
    """Return what a block defines. If it fails, as its cell would in a notebook, so does every call of the result."""
    try:
        return answer(exercise, block.code)
    except Exception as error:
        problem = error

    def fails(*_args: Any, **_kwargs: Any) -> None:
        raise problem

    return fails


def _outcome(block: Block, shown: Verdict, graded: Sequence[Verdict]) -> tuple[str, str]:
    if block.right:
        return ("passed" if shown.passed and all(verdict.passed for verdict in graded) else "rejected"), ""
    if any(verdict.passed for verdict in graded):
        return "accepted", ""
    names = {verdict.misconception.id if verdict.misconception else "" for verdict in (shown, *graded)}
    if len(names) > 1:
        return "unsteady", ", ".join(sorted(names))
    (name,) = names
    return ("named" if name else "bare"), name


_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def _sentences(verdict: Verdict) -> Iterator[str]:
    """Yield the verdict's sentences besides the first difference and the exception, with numbers replaced."""
    failed = verdict.shown
    told = [verdict.note]
    if failed is not None:
        found = failed.difference
        is_bare = found is None or found.kind is Kind.VALUE or (found.kind is Kind.SHAPE and "key" not in found.actual)
        told += [verdict.relation, "" if found is None or is_bare else found.message]  # a missing key counts
        told += [explained(failed.actual.raised.message, failed.actual.raised.code) if failed.actual.raised else ""]
    yield from (_NUMBERS.sub("N", sentence) for sentence in told if sentence)


def _facts(results: Sequence[Judged]) -> set[tuple[str, str]]:
    """Return the sentences, each with its exercise, that more than half of the exercise's unnamed wrong answers get."""
    unnamed = [result for result in results if result.outcome == "bare"]
    of = Counter(result.exercise for result in unnamed)
    said = Counter((result.exercise, sentence) for result in unnamed for sentence in set(result.sentences))
    return {which for which, times in said.items() if times > 1 and 2 * times > of[which[0]]}


def told_apart(results: Sequence[Judged]) -> list[Judged]:
    """Return the results, with "bare" outcomes split into "told", "fact" and "bare"."""
    facts = _facts(results)

    def outcome(result: Judged) -> str:
        if result.outcome != "bare" or not result.sentences:
            return result.outcome
        return "fact" if all((result.exercise, sentence) in facts for sentence in result.sentences) else "told"

    return [replace(result, outcome=outcome(result)) for result in results]


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="the folder (default: %(default)s)")
    parser.add_argument("--lesson", action="append", help="only this lesson; may be given several times")
    parser.add_argument("--seeds", type=int, default=3, help="how many sets of hidden cases (default: %(default)s)")
    parser.add_argument("--read", type=int, default=0, help="only print so many wrong answers with their verdicts")
    options = parser.parse_args()
    chosen = exercises.named(options.lesson or exercises.LESSONS)
    answered = [(one, list(blocks(file))) for one in chosen if (file := options.answers / f"{one.id}.py").is_file()]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, KATZE_WORK=folder),
    ):  # keeps this out of the user's own progress
        if options.read:
            wrong = [(exercise, block) for exercise, written in answered for block in written if not block.right]
            for exercise, block in random.Random(0).sample(wrong, min(options.read, len(wrong))):
                print(f"{exercise.id}: {block.told}\n{block.code}\n{check(exercise.id, _written(exercise, block))}\n")
            return 0
        results = told_apart(
            [
                judged(exercise, block, range(1, options.seeds + 1), key)
                for exercise, written in answered
                for key in [AnswerKey(exercise)]
                for block in written
            ]
        )
    for result in results:
        if result.outcome in ("rejected", "accepted", "unsteady"):
            print(f"{result.outcome}: {result.exercise}: {result.told} {result.name}".rstrip())
    report("answers from outside", list(_rows(results)), None)
    worst = {result.exercise: result.seconds for result in sorted(results, key=lambda result: result.seconds)}
    slowest = sorted(worst.items(), key=lambda one: one[1], reverse=True)[:_SLOWEST]
    print("slowest checks: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in slowest))
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
    for outcome in ("accepted", "named", "told", "fact", "bare", "unsteady"):
        yield Row.of(f"of them {outcome}", outcomes[outcome], None, "answers", more=False)
    for kind, is_right in (("right", True), ("wrong", False)):
        seconds = [result.seconds for result in results if result.right is is_right]
        median = 1000 * statistics.median(seconds) if seconds else 0.0
        yield Row.of(f"median of a check of a {kind} one, processor time", median, None, "ms", more=False)


if __name__ == "__main__":
    sys.exit(main())
