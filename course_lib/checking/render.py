"""A verdict as HTML, for notebooks and feedback, and as plain text, for terminals."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.checking.compare import Kind, short_repr
from course_lib.checking.exercise import Callback, Case, Exercise, Value
from course_lib.checking.observation import Foreign, Outcome, argument_name

if TYPE_CHECKING:  # a verdict shows itself through this module
    from course_lib.checking.verdict import CaseResult, Verdict

MOST_ENTRIES = 64
"""Tensors up to this many entries are shown whole; of larger ones, the shape and the first row."""

MOST_ITEMS = 8
"""Of lists, tuples and dicts, so many items are shown."""

_SHORT = 20
"""Strings up to so many characters are shown whole inside another value."""

TEXT_WIDTH = 84
"""Sentences for terminals are broken at this width."""

HEADINGS = {
    Outcome.PASSED: "Right",
    Outcome.WRONG: "Not yet right",
    Outcome.RAISED: "Your answer raised an exception",
    Outcome.TIMED_OUT: "Stopped: it did not finish in time",
    Outcome.OUT_OF_MEMORY: "Stopped: it asked for too much memory",
    Outcome.DIED: "Stopped: Python itself ended",
    Outcome.NEVER_DEFINED: "Not defined yet",
    Outcome.NOT_ATTEMPTED: "Not written yet",
    Outcome.RULE_BROKEN: "A rule of this exercise is broken",
    Outcome.UNREADABLE: "Could not be read",
    Outcome.UNGRADED: "Could not be graded",
}


def heading(verdict: Verdict) -> str:
    """The verdict in a few words; "Partly right" where some part earned points."""
    if not verdict.passed and verdict.points:
        return "Partly right"
    return HEADINGS[verdict.outcome]


def score(verdict: Verdict) -> str:
    """The points in words: "2 of 3 points", or "no score" where it could not be graded."""
    if verdict.points is None:
        return f"no score (out of {verdict.max_points})"
    return f"{verdict.points:g} of {verdict.max_points} point{'s' if verdict.max_points != 1 else ''}"


def lead(verdict: Verdict) -> str:
    """The sentence that the student should read first; empty where the cases say it all."""
    if verdict.misconception is not None:
        return verdict.misconception.message
    if verdict.note:
        return verdict.note
    if verdict.outcome is Outcome.NOT_ATTEMPTED:
        return f"Write {verdict.exercise.name}, run its cell, and check again."
    return ""


def verdict_text(verdict: Verdict) -> str:
    """The verdict for a terminal: a line for each visible case, one for the hidden ones, details of one failure."""
    lines = [f"{verdict.exercise.id}: {heading(verdict)}, {score(verdict)}"]
    if lead(verdict):
        lines += ["", *(f"  {line}" for line in textwrap.wrap(lead(verdict), TEXT_WIDTH))]
    items = list(_items(verdict))
    if items:
        lines.append("")
    for item in items:
        lines.append(f"  {'ok  ' if item.passed else 'FAIL'}  {item.label}")
        if item.shown is not None:
            lines += [f"        {line}" for line in _details_text(verdict, item.shown)]
    return "\n".join(map(_printable, lines))


def _printable(line: str) -> str:
    """A line that cannot steer a terminal, whatever an answer has put into it."""
    return "".join(character if character.isprintable() else "�" for character in line)


def verdict_html(verdict: Verdict) -> str:
    """The verdict as one self-contained <div>. Everything that comes from an answer is escaped."""
    state = "pass" if verdict.passed else "part" if verdict.points else "fail"
    body = [
        f'<div class="katze-verdict katze-{state}" role="status">',
        STYLE,
        f'<p class="katze-head"><strong>{escape(heading(verdict))}</strong>'
        f'<span class="katze-score">{escape(score(verdict))}</span>'
        f"<code>{escape(verdict.exercise.id)}</code></p>",
    ]
    if lead(verdict):
        body.append(f'<p class="katze-lead">{escape(lead(verdict))}</p>')
    rows = []
    for item in _items(verdict):
        mark, word = ("✓", "passed") if item.passed else ("✗", "failed")
        row = f'<span class="katze-mark" aria-label="{word}">{mark}</span> {escape(item.label)}'
        rows.append(f"<li>{row}{'' if item.shown is None else _details_html(verdict, item.shown)}</li>")
    if rows:
        body.append(f"<ul>{''.join(rows)}</ul>")
    body.append("</div>")
    return "\n".join(body)


@dataclass(frozen=True)
class _Item:
    """One line of the list of cases; `shown` is the result to show in detail below it."""

    passed: bool
    label: str
    shown: CaseResult | None = None


def _items(verdict: Verdict) -> Iterator[_Item]:
    """The visible cases one by one, the hidden ones in one line; all in one line where everything is right."""
    if verdict.outcome is Outcome.NOT_ATTEMPTED or not verdict.cases:
        return
    hidden = [result for result in verdict.cases if result.hidden]
    if verdict.passed:
        kept = f", {len(hidden)} of them hidden" if hidden else ""
        yield _Item(True, f"{_count(verdict.cases)} right{kept}")
        return
    shown = _first_failure(verdict)
    for result in verdict.cases:
        if not result.hidden:
            yield _Item(result.passed, result.case.name, result if result is shown else None)
    if hidden:
        right = sum(result.passed for result in hidden)
        label = f"{_count(hidden)}: {right} right"
        yield _Item(right == len(hidden), label, shown if shown is not None and shown.hidden else None)


def _count(results: Sequence[CaseResult]) -> str:
    hidden = "hidden " if all(result.hidden for result in results) else ""
    return f"{len(results)} {hidden}case{'s' if len(results) != 1 else ''}"


def _first_failure(verdict: Verdict) -> CaseResult | None:
    """The failure to show in detail: a visible one if there is one."""
    failures = sorted((r for r in verdict.cases if not r.passed), key=lambda result: result.hidden)
    return failures[0] if failures else None


def _rows(verdict: Verdict, result: CaseResult) -> Iterator[tuple[str, str]]:
    """What was called, what was expected and what came back. Nothing of a hidden case's numbers."""
    if result.hidden:
        return
    yield "called", call_text(verdict.exercise, result.case)
    if result.difference is not None and result.difference.kind not in (Kind.GRADIENT, Kind.MODIFIED):
        refused = result.difference.kind is Kind.ENDING
        if not result.keeps_its_secret:
            yield "expected", result.difference.expected if refused else value_text(result.expected.value)
        yield "got", value_text(result.actual.value)


def _details_text(verdict: Verdict, result: CaseResult) -> Iterator[str]:
    yield from textwrap.wrap(result.message, TEXT_WIDTH)
    for label, value in _rows(verdict, result):
        first, *rest = value.splitlines() or [""]
        yield f"{label:>8}  {first}"
        yield from (f"{'':>8}  {line}" for line in rest)


def _details_html(verdict: Verdict, result: CaseResult) -> str:
    rows = "".join(
        f"<tr><th>{label}</th><td><pre>{escape(value)}</pre></td></tr>" for label, value in _rows(verdict, result)
    )
    table = f"<table>{rows}</table>" if rows else ""
    return f"<p>{escape(result.message)}</p>{table}"


def call_text(exercise: Exercise, case: Case) -> str:
    """The call as a student would write it, with shapes in place of numbers: `f(x=tensor[2, 3], length=4)`."""
    built = ", ".join(f"{key}={_brief(value)}" for key, value in case.construct.items())
    callee = f"{exercise.name}({built})" if exercise.is_class else exercise.name
    callee += ".train()" if case.training else ""
    arguments = [f"{argument_name(i, exercise.parameters)}={_brief(value)}" for i, value in enumerate(case.args)]
    arguments += [f"{key}={_brief(value)}" for key, value in case.kwargs.items()]
    return f"{callee}({', '.join(arguments)})"


def _brief(value: Value) -> str:
    if isinstance(value, Callback):
        return value.name
    if isinstance(value, Tensor):
        kind = "" if value.dtype == torch.float32 else f"{str(value.dtype).removeprefix('torch.')} "
        return f"{kind}tensor{list(value.shape)}"
    if isinstance(value, (list, tuple)) and _holds_more_than_text(value):
        inside = ", ".join(map(_brief, value[:MOST_ITEMS])) + (", ..." if len(value) > MOST_ITEMS else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return short_repr(value)


def _holds_more_than_text(value: Value) -> bool:
    """Whether a value is, or holds, a tensor or a callback, whose `repr` would be long."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_more_than_text, value))
    return isinstance(value, (Tensor, Callback))


def value_text(value: Value) -> str:
    """A value as short text: small tensors whole, large ones by shape and first row, of others the beginning.

    The value may be anything that a box can send: nothing here takes longer than its result is short.
    """
    if isinstance(value, Tensor):
        if 0 < value.numel() <= MOST_ENTRIES:
            return _tensor_text(value)
        if value.numel() == 0:
            return _brief(value)
        return f"{_brief(value)}, which begins {_tensor_text(value.flatten()[:8])}"
    if isinstance(value, Foreign):
        return f"a {value.type_name[:200]}"
    if isinstance(value, dict):
        shown = [f"{_key(key)}: {_inside(item)}" for key, item in itertools.islice(value.items(), MOST_ITEMS)]
        return "{" + ", ".join(shown) + (", ..." if len(value) > MOST_ITEMS else "") + "}"
    if isinstance(value, (list, tuple)):
        shown = [_inside(item) for item in value[:MOST_ITEMS]]
        inside = ", ".join(shown) + (", ..." if len(value) > MOST_ITEMS else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return _inside(value)


def _key(key: str | tuple[str, ...]) -> str:
    """A key of a dict, in a few words."""
    if isinstance(key, str):
        return repr(key[:60])
    return f"({', '.join(repr(part[:60]) for part in key[:MOST_ITEMS])})"


def _inside(value: Value) -> str:
    """A value inside another one, in a few words."""
    if isinstance(value, Tensor):
        return _brief(value)
    if isinstance(value, (list, tuple, dict)):
        return repr(value) if _few_words(value) else f"a {type(value).__name__} of {len(value)}"
    return short_repr(value)


def _few_words(value: Value) -> bool:
    """Whether this is a short list or tuple of short strings, such as the pieces of a word."""
    return (
        isinstance(value, (list, tuple))
        and 0 < len(value) <= MOST_ITEMS
        and all(type(item) is str and len(item) <= _SHORT for item in value)
    )


def _tensor_text(value: Tensor) -> str:
    """Nested rows of numbers in aligned columns, with four decimals, or four digits where they are far from 1."""
    flat = value.detach().double().flatten()
    sizes = flat.abs()[torch.isfinite(flat) & (flat != 0)]
    far = value.is_floating_point() and sizes.numel() > 0 and not 1e-2 <= sizes.max().item() < 1e5
    entries = [_entry(item, far) for item in value.flatten().tolist()]
    width = max(map(len, entries), default=0) if value.ndim > 1 else 0
    return _nested([entry.rjust(width) for entry in entries], list(value.shape), depth=1)


def _nested(entries: list[str], shape: list[int], depth: int) -> str:
    """`entries` in brackets, one pair for each dimension of `shape`."""
    if not shape:
        return entries[0]
    if len(shape) == 1:
        return "[" + ", ".join(entries) + "]"
    size = len(entries) // max(shape[0], 1)
    rows = [_nested(entries[i * size : (i + 1) * size], shape[1:], depth + 1) for i in range(shape[0])]
    return "[" + (",\n" + " " * depth).join(rows) + "]"


def _entry(item: float | bool, far: bool) -> str:
    if not isinstance(item, float):
        return str(item)
    return f"{item:.4g}" if far else f"{item:.4f}"


STYLE = """<style>
.katze-verdict { --katze-edge: #b3261e; --katze-ink: #1f2328; --katze-paper: #fdf7f6; --katze-soft: #59636e;
  border-left: 4px solid var(--katze-edge); background: var(--katze-paper); color: var(--katze-ink);
  padding: .5em .9em; margin: .3em 0; font-size: 14px; line-height: 1.45; border-radius: 0 4px 4px 0; }
.katze-verdict.katze-pass { --katze-edge: #1a7f37; --katze-paper: #f3faf5; }
.katze-verdict.katze-part { --katze-edge: #9a6700; --katze-paper: #fdf9ee; }
.katze-verdict .katze-head { display: flex; flex-wrap: wrap; gap: .2em .9em; align-items: baseline; margin: 0; }
.katze-verdict .katze-head strong { color: var(--katze-edge); font-size: 15px; }
.katze-verdict .katze-head code, .katze-verdict .katze-score { color: var(--katze-soft); background: none; }
.katze-verdict .katze-lead { margin: .5em 0 .2em; max-width: 46em; font-weight: 600; }
.katze-verdict ul { list-style: none; margin: .4em 0 0; padding: 0; }
.katze-verdict li { margin: .15em 0; }
.katze-verdict li p { margin: .2em 0 .3em 1.4em; max-width: 46em; }
.katze-verdict .katze-mark { display: inline-block; width: 1.1em; color: var(--katze-edge); font-weight: 700; }
.katze-verdict table { margin: .2em 0 .4em 1.4em; border-collapse: collapse; background: none; border: 0; }
.katze-verdict th, .katze-verdict td { text-align: left; vertical-align: top; padding: .1em .8em .1em 0;
  border: 0; background: none; color: inherit; }
.katze-verdict th { font-weight: 400; color: var(--katze-soft); }
.katze-verdict pre { margin: 0; padding: 0; background: none; color: inherit; white-space: pre-wrap; font-size: 13px; }
@media (prefers-color-scheme: dark) { body:not([data-jp-theme-light="true"]) .katze-verdict {
  --katze-edge: #ff8a80; --katze-ink: #e6e6e6; --katze-paper: #2a1f1f; --katze-soft: #a8b0b9; }
 body:not([data-jp-theme-light="true"]) .katze-verdict.katze-pass { --katze-edge: #6fdd8b; --katze-paper: #17261c; }
 body:not([data-jp-theme-light="true"]) .katze-verdict.katze-part { --katze-edge: #e3b341; --katze-paper: #272214; } }
body[data-jp-theme-light="false"] .katze-verdict, html[theme="dark"] .katze-verdict {
  --katze-edge: #ff8a80; --katze-ink: #e6e6e6; --katze-paper: #2a1f1f; --katze-soft: #a8b0b9; }
body[data-jp-theme-light="false"] .katze-verdict.katze-pass, html[theme="dark"] .katze-verdict.katze-pass {
  --katze-edge: #6fdd8b; --katze-paper: #17261c; }
body[data-jp-theme-light="false"] .katze-verdict.katze-part, html[theme="dark"] .katze-verdict.katze-part {
  --katze-edge: #e3b341; --katze-paper: #272214; }
</style>"""
"""The style sheet of a verdict, for light and dark themes; every verdict carries it."""
