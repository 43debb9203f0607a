"""A verdict as HTML, for notebooks and feedback, and as plain text, for terminals."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.ground.style_sheet import style_sheet
from course_lib.judging.arrays import Array
from course_lib.judging.compare import Difference, Kind, short_repr
from course_lib.judging.exercise import CORE, Callback, Case, Exercise, Value
from course_lib.judging.given import Given
from course_lib.judging.observation import ENDINGS, Foreign, Outcome, argument_name, with_article

if TYPE_CHECKING:  # the verdict imports this module
    from course_lib.judging.verdict import CaseResult, Verdict

MOST_ENTRIES = 64
"""Tensors up to this many entries are shown whole; larger ones by shape and first row."""

SMALL_INPUT = 24
"""Inputs up to this many entries are shown with a failed case."""

MOST_ITEMS = 8
"""The number of items to show of lists, tuples and dicts."""

_SHORT = 20
"""Strings up to this many characters are shown whole inside another value."""

DECIMALS = 4
"""Numbers in tensors are shown with this many decimals."""

TEXT_WIDTH = 80
"""The width of a terminal, in columns: sentences are wrapped to fit, including their indentation."""

_DETAILS_WIDTH = TEXT_WIDTH - 8
"""The indentation of a case's details."""

HEADINGS = {
    Outcome.PASSED: "Right",
    Outcome.WRONG: "Not yet right",
    Outcome.RAISED: "Your answer raised an exception",
    Outcome.TIMED_OUT: "Stopped: it did not finish in time",
    Outcome.OUT_OF_MEMORY: "Stopped: it asked for too much memory",
    Outcome.DIED: "Stopped: Python itself exited",
    Outcome.NEVER_DEFINED: "Not defined yet",
    Outcome.NOT_ATTEMPTED: "Not written yet",
    Outcome.RULE_BROKEN: "A rule of this exercise is broken",
    Outcome.UNREADABLE: "Could not be read",
    Outcome.UNGRADED: "Could not be graded",
}


def drawn(draw: Callable[[Verdict], str], verdict: Verdict) -> tuple[str, str]:
    """Draw a verdict, and return it with an empty text; if that fails, return its plain form and the error.

    A verdict counts even if it cannot be drawn: no defect here may cost anybody a grade.

    Args:
        draw: `verdict_text` or `verdict_html`.
        verdict: what to draw.
    """
    try:
        return draw(verdict), ""
    except Exception as error:
        problem = f"the verdict on {verdict.exercise.id} is shown plain: {type(error).__name__}: {error}"
        plain = "\n".join(_plain_lines(verdict))
        return f"<pre>{escape(plain)}</pre>" if draw is verdict_html else plain, problem


def _plain_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the verdict without its details: the points, the name of the mistake, and which cases passed."""
    yield f"{verdict.exercise.id}: {heading(verdict)}, {score(verdict)}"
    if verdict.misconception is not None or verdict.note:
        yield verdict.note if verdict.misconception is None else verdict.misconception.message
    for result in verdict.cases:
        if not result.hidden:
            yield f"  {'ok  ' if result.passed else 'FAIL'}  {result.case.name}"
    hidden = [result.passed for result in verdict.cases if result.hidden]
    if hidden:
        yield f"  {len(hidden)} hidden cases: {sum(hidden)} right"
    if not verdict.passed:
        yield "More cannot be shown here; your points do not depend on it."


def case_message(verdict: Verdict, result: CaseResult) -> str:
    """Return the sentence about a case, with the relation if the case is shown in detail; a plain one if that fails."""
    try:
        return f"{result.message} {verdict.relation if result is verdict.shown else ''}".strip()
    except Exception as error:
        return f"This case ended as {result.outcome}; the reason cannot be shown ({type(error).__name__})."


def heading(verdict: Verdict) -> str:
    """Return the verdict in a few words; "Partly right" if some part earned points."""
    if not verdict.passed and verdict.points:
        return "Partly right"
    return HEADINGS[verdict.outcome]


def score(verdict: Verdict) -> str:
    """Return the points in words: "2 of 3 points", or "no score" if the answer could not be graded."""
    if verdict.points is None:
        return f"no score (out of {verdict.max_points})"
    return f"{verdict.points:g} of {verdict.max_points} point{'s' if verdict.max_points != 1 else ''}"


def lead(verdict: Verdict) -> str:
    """Return the sentence that the student should read first; empty if the cases say it all."""
    if verdict.misconception is not None:
        return verdict.misconception.message
    if verdict.note:
        return verdict.note
    if verdict.outcome is Outcome.NOT_ATTEMPTED:
        return f"Write {verdict.exercise.name}, run it, and check again."
    return _changes_its_arguments(verdict)


def _changes_its_arguments(verdict: Verdict) -> str:
    """Return the first sentence if arguments were changed wherever the core part fails; empty otherwise."""
    failures = [result for result in verdict.cases if not result.passed]
    telling = [result for result in failures if result.case.part == CORE] or failures
    if not telling or not all(result.actual.modified for result in telling):
        return ""
    places = sorted({place for result in telling for place in result.actual.modified})
    names = " and ".join(argument_name(place, verdict.exercise.parameters) for place in places)
    right = "The values are right, but your" if all(map(_is_modified, failures)) else "Your"
    return f"{right} answer changes its arguments ({names}). Work on a copy."


def _is_modified(result: CaseResult) -> bool:
    return result.difference is not None and result.difference.kind is Kind.MODIFIED


def waiting(verdict: Verdict) -> str:
    """Return a sentence about parts that are right but wait for the core part; empty if there are none."""
    failed = {result.case.part for result in verdict.cases if not result.passed}
    cut_short = any(result.actual.failure in ENDINGS for result in verdict.cases)
    if CORE not in failed or cut_short:
        return ""
    right = {result.case.part for result in verdict.cases} - failed
    points = sum(worth for part, worth in verdict.exercise.parts.items() if part in right)
    other = sum(worth for part, worth in verdict.exercise.parts.items() if part != CORE)
    if not points:
        return ""
    count = (
        f"{'The other' if points == other else 'Another'} {f'{points} points count' if points > 1 else 'point counts'}"
    )
    return f"{count} once these values are right."


def unheard(verdict: Verdict) -> str:
    """Return a sentence about printed output, which a check does not show; empty if it would not help."""
    if verdict.passed or not verdict.prints:
        return ""
    return f"What your answer prints is not shown here. To see it, call {verdict.exercise.name} yourself."


def _closing(verdict: Verdict) -> list[str]:
    """Return the sentences below the cases."""
    return [sentence for sentence in (waiting(verdict), unheard(verdict), *verdict.closing) if sentence]


def verdict_text(verdict: Verdict) -> str:
    """Draw the verdict for a terminal: a line for each visible case, one for hidden cases, details of one failure."""
    lines = [f"{verdict.exercise.id}: {heading(verdict)}, {score(verdict)}"]
    if lead(verdict):
        lines += ["", *indented(lead(verdict))]
    items = list(_items(verdict))
    if items:
        lines.append("")
    for item in items:
        lines.append(f"  {'ok  ' if item.passed else 'FAIL'}  {item.label}")
        if item.shown is not None:
            lines += [f"        {line}" for line in _details_text(verdict, item.shown)]
    for sentence in (*_hint_lines(verdict), *_closing(verdict)):
        lines += ["", *indented(sentence)]
    return "\n".join(map(_printable, lines))


def say(sentences: str) -> None:
    """Print sentences in lines that fit a terminal."""
    print(textwrap.fill(sentences, TEXT_WIDTH))


def indented(sentence: str) -> list[str]:
    """Wrap and indent a sentence for a plain-text verdict or panel."""
    return textwrap.wrap(sentence, TEXT_WIDTH, initial_indent="  ", subsequent_indent="  ")


def _printable(line: str) -> str:
    """Return a line without control characters, so that an answer's text cannot steer a terminal."""
    return "".join(character if character.isprintable() else "�" for character in line)


def verdict_html(verdict: Verdict) -> str:
    """Draw the verdict as one self-contained <div>. Everything that comes from an answer is escaped."""
    state = "pass" if verdict.passed else "part" if verdict.points else "fail"
    if verdict.outcome is Outcome.NOT_ATTEMPTED and not verdict.points:
        state = "open"  # no alarm: there is no answer yet
    body = [
        f'<div class="katze-verdict katze-{state}" role="status">',
        style_sheet("verdict"),
        f'<p class="katze-head"><strong>{escape(heading(verdict))}</strong>'
        f'<span class="katze-score">{escape(score(verdict))}</span>'
        f"<code>{escape(verdict.exercise.id)}</code></p>",
    ]
    if lead(verdict):
        body.append(f'<p class="katze-lead">{with_code(lead(verdict))}</p>')
    rows = []
    for item in _items(verdict):
        mark, word = ("✓", "passed") if item.passed else ("✗", "failed")
        row = f"{mark_html(mark, word)} {with_code(item.label)}"
        rows.append(f"<li>{row}{'' if item.shown is None else _details_html(verdict, item.shown)}</li>")
    if rows:
        body.append(f"<ul>{''.join(rows)}</ul>")
    if verdict.hint is not None:
        told = "".join(f"<p>{with_code(step)}</p>" for step in verdict.hint.steps)
        body.append(_folded(f"Hint: {verdict.hint.title}", told))
    body += [f'<p class="katze-closing">{with_code(sentence)}</p>' for sentence in _closing(verdict)]
    body.append("</div>")
    return "\n".join(body)


def mark_html(mark: str, word: str) -> str:
    """Return a sign such as ✓ with its word for screen readers."""
    return f'<span class="katze-mark katze-{word}" role="img" aria-label="{word}">{mark}</span>'


def _hint_lines(verdict: Verdict) -> list[str]:
    if verdict.hint is None:
        return []
    first, *rest = verdict.hint.steps
    return [f"Hint ({verdict.hint.title[0].lower()}{verdict.hint.title[1:]}): {first}", *rest]


def _folded(summary: str, inside: str) -> str:
    """Return details that open on a click, without a kernel."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


def with_code(sentence: str) -> str:
    """Return a sentence as HTML, escaped, with the text between backticks as code."""
    return _IN_BACKTICKS.sub(r"<code>\1</code>", escape(sentence))


_IN_BACKTICKS = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class _Item:
    """One line of the list of cases; `shown` is the result to show in detail below it."""

    passed: bool
    label: str
    shown: CaseResult | None = None


def _items(verdict: Verdict) -> Iterator[_Item]:
    """Yield the visible cases one by one, and hidden ones in one line; all in one line if everything is right."""
    if verdict.outcome is Outcome.NOT_ATTEMPTED or not verdict.cases:
        return
    hidden = [result for result in verdict.cases if result.hidden]
    if verdict.passed:
        kept = f", {len(hidden)} of them hidden" if hidden else ""
        yield _Item(True, f"{_count(verdict.cases)} right{kept}")
        return
    shown = verdict.shown
    for result in verdict.cases:
        if not result.hidden and not (result.case.again and result is not shown):
            yield _Item(result.passed, result.case.name, result if result is shown else None)
    if hidden:
        right = sum(result.passed for result in hidden)
        label = f"{_count(hidden)}: {right} right"
        yield _Item(right == len(hidden), label, shown if shown is not None and shown.hidden else None)


def _count(results: Sequence[CaseResult]) -> str:
    hidden = "hidden " if all(result.hidden for result in results) else ""
    return f"{len(results)} {hidden}case{'s' if len(results) != 1 else ''}"


def _rows(verdict: Verdict, result: CaseResult) -> Iterator[tuple[str, str]]:
    """Yield the call, the expected result and the actual one; no numbers of a hidden case."""
    if result.hidden:
        return
    yield _CALLED, call_text(verdict.exercise, result.case)
    yield from _small_inputs(verdict.exercise, result.case)
    if result.difference is not None and result.difference.kind not in (Kind.GRADIENT, Kind.MODIFIED):
        refused = result.difference.kind is Kind.ENDING
        expected, actual = result.expected.value, result.actual.value
        texts = (
            (result.difference.expected, value_text(actual))
            if refused
            else _told_apart(result.difference, expected, actual)
        )
        if not result.case.secret:
            yield "expected", texts[0]
        yield "got", texts[1]


def _small_inputs(exercise: Exercise, case: Case) -> Iterator[tuple[str, str]]:
    """Yield those tensors among a call's arguments that are small enough to read."""
    named = [(argument_name(place, exercise.parameters), value) for place, value in enumerate(case.args)]
    for name, value in (*named, *case.kwargs.items()):
        if isinstance(value, Tensor) and 0 < value.numel() <= SMALL_INPUT:
            yield name, value_text(value)


def _told_apart(found: Difference, expected: Value, actual: Value) -> tuple[str, str]:
    """Return two values as short text, with enough decimals to tell them apart, or the items in which they differ."""
    texts = value_text(expected), value_text(actual)
    if found.kind is Kind.VALUE and found.path:
        for key in found.path:
            expected, actual = expected[key], actual[key]
        if texts[0] == texts[1] or isinstance(expected, Tensor):
            place = ", ".join(f"item {key}" if isinstance(key, int) else _key(key) for key in found.path)
            inner = _told_apart(replace(found, path=()), expected, actual)
            return _beside(f"{place}: ", inner[0]), _beside(f"{place}: ", inner[1])
    elif found.kind is Kind.DTYPE and texts[0] == texts[1]:
        return _beside(f"{found.expected} ", texts[0]), _beside(f"{found.actual} ", texts[1])
    elif isinstance(expected, Tensor) and isinstance(actual, Tensor) and texts[0] == texts[1]:
        longer = ((value_text(expected, decimals), value_text(actual, decimals)) for decimals in _MORE_DECIMALS)
        return next((pair for pair in longer if pair[0] != pair[1]), texts)
    return texts


_MORE_DECIMALS = (8, 12, 16)
"""The numbers of decimals to try if four do not tell two tensors apart."""


def _beside(label: str, text: str) -> str:
    """Put a label in front of a text, and align its further lines with the first."""
    return label + text.replace("\n", "\n" + " " * len(label))


def _remark(verdict: Verdict, result: CaseResult) -> str:
    """Return a sentence if an answer raises on all cases with leading dimensions, and is right on all without."""
    core = [r for r in verdict.cases if not r.hidden and r.case.part == CORE and _dimensions(r.case)]
    flat = [r for r in core if max(_dimensions(r.case).values()) <= _FLAT]
    deep = [r for r in core if max(_dimensions(r.case).values()) > _FLAT]
    if result not in deep or not all(r.passed for r in flat):
        return ""
    if not all(r.outcome is Outcome.RAISED for r in deep) or not any(_is_contiguous(r.case) for r in deep):
        return ""
    here = _dimensions(result.case)
    more = [[here[name] - number for name, number in _dimensions(r.case).items() if name in here] for r in flat]
    if not any(min(steps, default=0) >= 0 and max(steps, default=0) > 0 for steps in more):
        return ""
    return "It is right without leading dimensions (batch, heads); this case has some."


_FLAT = 2
"""A tensor without leading dimensions has at most these two: positions and features."""


def _dimensions(case: Case) -> dict[int | str, int]:
    """Return the number of dimensions of each tensor that a case passes."""
    passed: list[tuple[int | str, Value]] = [*enumerate(case.args), *case.kwargs.items()]
    return {place: value.ndim for place, value in passed if isinstance(value, Tensor)}


def _is_contiguous(case: Case) -> bool:
    return all(value.is_contiguous() for value in (*case.args, *case.kwargs.values()) if isinstance(value, Tensor))


def _details_text(verdict: Verdict, result: CaseResult) -> Iterator[str]:
    yield from textwrap.wrap(case_message(verdict, result), _DETAILS_WIDTH)
    yield from textwrap.wrap(_remark(verdict, result), _DETAILS_WIDTH)
    yield from _rows_text(list(_rows(verdict, result)))
    if verdict.steps:
        yield from ("", *textwrap.wrap(f"{_STEPS}. {_PRINT_YOURS}", _DETAILS_WIDTH))
        yield from _rows_text([(name, value_text(value)) for name, value in verdict.steps.items()])


_STEPS = "Intermediate values of the right answer"
_PRINT_YOURS = "If your answer takes the same steps, print yours: look at the first step that differs."


_CALLED = "called"


def _rows_text(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max([8, *(len(label) for label, _ in rows)])
    for label, value in rows:
        if label == _CALLED:
            value = textwrap.fill(value, _DETAILS_WIDTH - width - 2, subsequent_indent="  ")
        first, *rest = value.splitlines() or [""]
        yield f"{label:>{width}}  {first}"
        yield from (f"{'':>{width}}  {line}" for line in rest)


def _details_html(verdict: Verdict, result: CaseResult) -> str:
    table = _rows_html(_rows(verdict, result))
    sentences = "".join(
        f"<p>{with_code(sentence)}</p>"
        for sentence in (case_message(verdict, result), _remark(verdict, result))
        if sentence
    )
    if verdict.steps:
        steps = _rows_html((name, value_text(value)) for name, value in verdict.steps.items())
        table += _folded(_STEPS, f"<p>{_PRINT_YOURS}</p>{steps}")
    return sentences + table


def _rows_html(rows: Iterable[tuple[str, str]]) -> str:
    inside = "".join(f"<tr><th>{escape(label)}</th><td><pre>{escape(value)}</pre></td></tr>" for label, value in rows)
    return f"<table>{inside}</table>" if inside else ""


def call_text(exercise: Exercise, case: Case) -> str:
    """Return the call as a student would write it, with shapes in place of tensors: `f(x=tensor[2, 3], length=4)`."""
    built = ", ".join(f"{key}={_brief(value)}" for key, value in case.construct.items())
    callee = f"{exercise.name}({built})" if exercise.is_class else exercise.name
    callee += ".train()" if case.training else ""
    arguments = [f"{argument_name(i, exercise.parameters)}={_brief(value)}" for i, value in enumerate(case.args)]
    arguments += [f"{key}={_brief(value)}" for key, value in case.kwargs.items()]
    return f"{callee}({', '.join(arguments)})"


def _brief(value: Value) -> str:
    if isinstance(value, Callback):
        return value.name
    if isinstance(value, Given):
        return f"{value.kind}({', '.join(f'{name}={_brief(one)}' for name, one in value.construct.items())})"
    if isinstance(value, Array):
        kind = "" if value.dtype == torch.float64 else f"{str(value.dtype).removeprefix('torch.')} "
        return f"{kind}array{list(value.shape)}"
    if isinstance(value, Tensor):
        kind = "" if value.dtype == torch.float32 else f"{str(value.dtype).removeprefix('torch.')} "
        return f"{kind}tensor{list(value.shape)}"
    if isinstance(value, (list, tuple)) and _holds_more_than_text(value):
        inside = ", ".join(map(_brief, value[:MOST_ITEMS])) + (", ..." if len(value) > MOST_ITEMS else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, float) and 0 < 1 - value < _ALMOST_NOTHING:
        return f"1 - {1 - value:.0e}"
    return short_repr(value)


_ALMOST_NOTHING = 1e-9
"""A float closer to 1 is shown as 1 minus the difference, since 0.999999999999 looks like an error."""


def _holds_more_than_text(value: Value) -> bool:
    """Return whether a value is, or holds, a tensor or a function, whose `repr` would be long."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_more_than_text, value))
    return isinstance(value, (Tensor, Callback, Given))


def value_text(value: Value, decimals: int = DECIMALS) -> str:
    """Return a value as short text: small tensors whole, large ones by shape and first row, anything else shortened.

    The value may be anything that a sandbox can send, so the time taken depends on the length of the result, not of the
    value.
    """
    if isinstance(value, Tensor):
        if 0 < value.numel() <= MOST_ENTRIES:
            return _tensor_text(value, decimals)
        if value.numel() == 0:
            return _brief(value)
        return f"{_brief(value)}, which begins {_tensor_text(value.flatten()[:8], decimals)}"
    if isinstance(value, Foreign):
        return with_article(value.type_name[:200])
    if isinstance(value, dict):
        shown = [f"{_key(key)}: {_inside(item)}" for key, item in itertools.islice(value.items(), MOST_ITEMS)]
        return "{" + ", ".join(shown) + (", ..." if len(value) > MOST_ITEMS else "") + "}"
    if isinstance(value, (list, tuple)):
        shown = [_inside(item) for item in value[:MOST_ITEMS]]
        inside = ", ".join(shown) + (", ..." if len(value) > MOST_ITEMS else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return _inside(value)


def _key(key: str | tuple[str, ...]) -> str:
    """Return a dict's key in a few words."""
    if isinstance(key, str):
        return repr(key[:60])
    return f"({', '.join(repr(part[:60]) for part in key[:MOST_ITEMS])})"


def _inside(value: Value) -> str:
    """Return a nested value in a few words."""
    if isinstance(value, Tensor):
        return _brief(value)
    if isinstance(value, (list, tuple, dict)):
        return repr(value) if _few_words(value) else f"a {type(value).__name__} of {len(value)}"
    return short_repr(value)


def _few_words(value: Value) -> bool:
    """Return whether this is a short list or tuple of short strings, such as a word's pieces."""
    return (
        isinstance(value, (list, tuple))
        and 0 < len(value) <= MOST_ITEMS
        and all(type(item) is str and len(item) <= _SHORT for item in value)
    )


def _tensor_text(value: Tensor, decimals: int) -> str:
    """Return numbers in nested rows and aligned columns, with these decimals, or as many digits if far from 1."""
    flat = value.detach().double().flatten()
    sizes = flat.abs()[torch.isfinite(flat) & (flat != 0)]
    far = value.is_floating_point() and sizes.numel() > 0 and not 1e-2 <= sizes.max().item() < 1e5
    entries = [_entry(item, far, decimals) for item in value.flatten().tolist()]
    width = max(map(len, entries), default=0) if value.ndim > 1 else 0
    return _nested([entry.rjust(width) for entry in entries], list(value.shape), depth=1)


def _nested(entries: list[str], shape: list[int], depth: int) -> str:
    """Put `entries` in brackets, one pair for each dimension of `shape`."""
    if not shape:
        return entries[0]
    if len(shape) == 1:
        return "[" + ", ".join(entries) + "]"
    size = len(entries) // max(shape[0], 1)
    rows = [_nested(entries[i * size : (i + 1) * size], shape[1:], depth + 1) for i in range(shape[0])]
    return "[" + (",\n" + " " * depth).join(rows) + "]"


def _entry(item: float | bool, far: bool, decimals: int) -> str:
    if not isinstance(item, float):
        return str(item)
    return f"{item:z.{decimals}{'g' if far else 'f'}}"
