"""The shortcuts that an exercise really has: every callable of torch and others that gives the right answer by itself.

    python -m benchmarks.fuzz shortcuts [EXERCISE ...] [--packages scipy]

Walks public and private callables of torch (its operators, too), of numpy and of the packages that a lesson shows. In a
box each is called with the inputs of up to three visible cases, in every order that is natural, and with one more call
before or after it. What is right there becomes an answer, which is then graded as a student's would be. What is
found is printed, and written to `benchmarks/shortcuts.toml`: each is to be barred, or allowed in the exercise's data.

Not tried: callables that compile, send or measure (`walker.py` lists them), optimizers, which change what they are
given, and exercises whose cases pass functions in.
"""

from __future__ import annotations

import argparse
import base64
import inspect
import io
import itertools
import json
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.box import Box, BoxLost, Level, Limits, Zygote
from autograder.box.bench import CELLS, Bench, own_bench
from benchmarks.fuzz import walker
from course_lib import exercises
from course_lib.checking import PUBLIC_SEED, AnswerKey, Case, Exercise, Observation, decide
from course_lib.checking.compare import Strictness, value_difference
from course_lib.checking.exercise import Callback, Value
from course_lib.checking.rules import Code

Json = Any
Way = tuple[str, int, list[str]]
"""Source text such as "f(q, k, dim=-1)", how many positional arguments there are, and the keywords."""

FILE = Path(__file__).parents[1] / "shortcuts.toml"

ALWAYS = ("torch", "numpy")
SHOWN = {"08_subwords": ("tokenizers",), "10_evaluation": ("sacrebleu", "nltk", "rapidfuzz", "jiwer", "rouge_score")}
"""The packages besides, by the lessons that are about what they do."""

LIMITS = Limits(
    processor_seconds=1200,
    call_seconds=4.0,
    cell_seconds=120.0,
    submission_seconds=1200.0,
    wall_seconds=10.0,
    wall_factor=2.0,
    output_bytes=16 << 20,
)
"""Of a box that walks: a callable that computes or waits for longer is passed over."""

CASES, MOST_NUMBERS = 3, 2_000
"""How many cases of an exercise are tried, and how many tensor entries there may be in the arguments of one."""

BATCH = 400
"""Callables for one box."""

EXTRAS = (
    *("", "-1", "-2", "0", "1", "True", "False", "1.0", "None", "{first}.shape", "{first}.shape[-1:]", "{first}.dtype"),
    *("-1, False", "-1, True", "-1, None", "-1, {first}.dtype", "0, False", "0.0, False", "None, False", "1.0, False"),
)
"""What may follow the arguments."""

EXTRAS_OF_MANY = ("", "-1", "True", "False", "1.0", "None", "-1, False", "0.0, False", "None, False")
"""The same, where there are many orders of the arguments."""

KEYWORDS = (
    *("dim=-1", "dim=-2", "dim=0", "axis=-1", "keepdim=True", "is_causal=True", "reduction='none'", "reduction='sum'"),
    *("dim=-1, mask={last}", "attn_mask={last}", "mask={last}", "weight={last}", "label_smoothing={last}"),
    *("p={last}", "eps={last}", "dim=-1, dtype={first}.dtype", "diagonal=1", "ignore_index=-100", "beta={last}"),
    *("dim=-2, mask={last}[..., None]", "dim=1, mask={last}[..., None]"),
)

BEFORE = ("(-{})", "{}.log()", "{}.exp()", "torch.nn.functional.normalize({}, dim=-1)", "(~{})", "{}.float()")
"""Calls through which an argument may go before."""

AFTER = (
    *("({}).exp()", "({}).log()", "(-({}))", "({}).mT", "({}).mean(-1)", "({}).sum(-1)", "({}).softmax(-1)"),
    *("({}).sqrt()", "(1 - ({}))", "({}).mean()", "({}).reciprocal()"),
)
MADE_OF_NUMBERS = ("torch.ones({0}, {0})", "torch.ones({0}, {0}, dtype=torch.bool)", "torch.arange({0})", "({0}, {0})")
"""What a plain number may become before it is passed."""


@dataclass(frozen=True, order=True)
class Shortcut:
    """A call that gives the right answer.

    Attributes:
        calls: of how many library functions it is made.
        call: in the words of the exercise, such as "torch.softmax(scaled, -1)".
        operators: what torch's dispatcher runs for it, in alphabetical order.
        points: what it earns where nothing is barred; None for a class, which is not graded.
        barred: whether grading refuses it today.
        others: callables that come to the same, with the same operators.
    """

    calls: int
    call: str
    operators: tuple[str, ...] = ()
    points: float | None = None
    barred: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What came of a walk.

    Attributes:
        exercise: its id.
        shortcuts: those found, sorted.
        walked: how many callables were tried.
        ended: those that ended their box.
        note: why nothing was walked; empty where it was.
    """

    exercise: str
    shortcuts: tuple[Shortcut, ...] = ()
    walked: int = 0
    ended: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Found:
    """What a walk found, before it is judged.

    Attributes:
        name: of the callable, "module:path".
        text: the call, with "f" for the callable.
        calls: of how many it is made.
        operators: that it ends in.
    """

    name: str
    text: str
    calls: int
    operators: tuple[str, ...]


# What to call, and with what ----------------------------------------------------------------------------------


def chosen_cases(exercise: Exercise) -> list[tuple[Case, Value]]:
    """Up to three visible cases, the smallest first, each with what is expected: something else in each."""
    key = AnswerKey(exercise)
    fitting = []
    for case, expected in zip(key.shown.cases, key.shown.expected, strict=True):
        passed = (*case.args, *case.construct.values())
        usual = expected.returned and not (case.kwargs or case.training or case.again)
        small = not any(map(_holds_function, passed)) and _numbers(passed) <= MOST_NUMBERS
        if usual and small and not any(_same(value, expected.value) for value in passed):
            fitting.append((_numbers(passed), case, expected.value))
    fitting.sort(key=lambda one: one[0])
    chosen: list[tuple[Case, Value]] = []
    for _, case, value in [one for one in fitting if one[0] > 1] or fitting:
        if len(chosen) < CASES and not any(_same(value, other) for _, other in chosen):
            chosen.append((case, value))
    return chosen


def _holds_function(value: Value) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return isinstance(value, Callback) or any(map(_holds_function, inside))


def _numbers(value: Value) -> int:
    if isinstance(value, Tensor):
        return value.numel()
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return sum(map(_numbers, inside)) if inside else 1


def _same(one: Value, other: Value) -> bool:
    return type(one) is type(other) and value_difference(one, other, "it") is None


def ways(names: Sequence[str], case: Case) -> Iterator[Way]:
    """How to call: the source text, how many positional arguments there are, and the keywords; most natural first."""
    yield from probes(names, case)
    tensors = _tensors(names, case)
    orders = list(_orders(names, tensors))
    for extra in EXTRAS if len(names) < 3 else EXTRAS_OF_MANY:
        for order in orders:
            yield _way([*order, *_split(extra.format(first=names[0]))])
    for order in (one for one in orders if len(one) > 1):
        yield _way([order[0], f"{order[0]}.shape[-1:]", *order[1:]])
        yield _way([order[0], "1", *order[1:]])
    for name in tensors:
        unit = f"torch.eye({name}.shape[-1])"
        yield _way([name, unit, unit], "scale=1.0")
        yield _way([name, unit, unit])
    yield from _ways_of_numbers(names, case, orders)


def probes(names: Sequence[str], case: Case) -> Iterator[Way]:
    """Those ways that are tried first: a callable that fails in all of them is not tried in the others."""
    tensors = _tensors(names, case)
    orders = list(_orders(names, tensors))
    natural, repeated = orders[0], orders[-1]
    first, last = names[0], names[-1]
    for extra in ("", "-1", "-1, False"):
        for order in orders:
            yield _way([*order, *_split(extra)])
    for extra in EXTRAS:
        yield _way([*natural, *_split(extra.format(first=first))])
    yield _way([first, f"{first}.shape[-1:]", *natural[1:]])
    yield _way([first, "1", *natural[1:]])
    for keywords in KEYWORDS:
        for order in (natural, natural[:-1], repeated):
            if order and ("{last}" not in keywords or last not in order):
                yield _way(list(order), keywords.format(first=first, last=last))
    for seen in _views(tensors, case):
        for extra in ("", "-1", "-1, False", "-1, None"):
            yield _way([*(seen.get(name, name) for name in natural), *_split(extra)])
        if len(names) == 2:
            yield _way([seen.get(name, name) for name in reversed(names)])
        for order in (natural, repeated):
            for keywords in ("is_causal=True", f"attn_mask={last}"):
                if len(order) > 2 and last not in order[3:]:
                    yield _way([seen.get(name, name) for name in order], keywords)


def _tensors(names: Sequence[str], case: Case) -> list[str]:
    return [name for name, value in zip(names, case.args, strict=True) if isinstance(value, Tensor)]


def _orders(names: Sequence[str], tensors: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """In which order arguments are passed: as they come, permuted, some of them; one several times comes last."""
    yield tuple(names)
    if len(names) <= 4:
        yield from (order for order in itertools.permutations(names) if order != tuple(names))
    if len(names) == 2:
        yield from ((name,) for name in names)
    elif len(names) > 2:
        yield from itertools.combinations(names, 2)
        yield from (tuple(names[:count]) for count in range(len(names) - 1, 2, -1))
        yield (names[0],)
    for name in tensors[:1]:
        yield from ((name, name, name, other) for other in names if other != name)
        yield from ((name, name), (name, name, name))


def _views(tensors: Sequence[str], case: Case) -> Iterator[dict[str, str]]:
    """The tensors with leading dimensions added, or one of them transposed."""
    for rank in (4, 3):
        yield {name: f"{name}[(None,) * ({rank} - {name}.ndim)]" for name in tensors}
    yield {name: f"torch.nested.as_nested_tensor([{name}])" for name in tensors}
    yield {name: f"{name}.to_sparse()" for name in tensors}
    ranks = [value.ndim for value in case.args if isinstance(value, Tensor)]
    yield from ({name: f"{name}.mT"} for name, rank in reversed([*zip(tensors, ranks, strict=True)]) if rank > 1)


def _ways_of_numbers(names: Sequence[str], case: Case, orders: Sequence[tuple[str, ...]]) -> Iterator[Way]:
    """Calls with what plain numbers and lists of numbers become: masks, positions, shapes, tensors."""
    for name, value in zip(names, case.args, strict=True) if len(names) < 3 else ():
        made = MADE_OF_NUMBERS if type(value) is int else ("torch.tensor({0})",) if isinstance(value, list) else ()
        picked = [f"{names[0]}[{{0}}]"] if type(value) is int and isinstance(case.args[0], Tensor) else []
        for text in (*picked, *made):
            for extra in ("", "-1", "0", "1"):
                for order in orders:
                    if name in order:
                        yield _way([*(text.format(name) if one == name else one for one in order), *_split(extra)])


def _split(extra: str) -> list[str]:
    return extra.split(", ") if extra else []


def _way(arguments: list[str], keywords: str = "") -> Way:
    named = re.findall(r"(\w+)=", keywords)
    return f"f({', '.join([*arguments, keywords] if keywords else arguments)})", len(arguments), named


def _class_ways(case: Case, names: Sequence[str]) -> Iterator[Way]:
    """How to make a module of torch in place of the exercise's class, and call it."""
    settings = list(case.construct)
    for count in range(len(settings), -1, -1):
        for setting in itertools.islice(itertools.permutations(settings, count), 60):
            for arguments in _orders(names, names):
                for first in ("", "batch_first=True"):
                    made = ", ".join([*setting, first] if first else setting)
                    yield f"loaded(f({made}), weights)({', '.join(arguments)})", len(arguments), []


# Walking ------------------------------------------------------------------------------------------------------


def callables(zygote: Zygote, packages: Sequence[str]) -> list[str]:
    """The names of all callables of these packages, as they are in a box."""
    with _walking_box(zygote) as box:
        return _told(box, f"collect({list(packages)})")


def walk(zygote: Zygote, exercise: Exercise, names: Sequence[str]) -> Report:
    """Try these callables on an exercise, in boxes; one that ends its box is passed over."""
    cases = chosen_cases(exercise)
    if not cases:
        return Report(exercise.id, note="its cases pass functions in, return an argument, or are large")
    settings = _settings(exercise, cases)
    found: list[Found] = []
    ended: list[str] = []
    rest = list(names)
    while rest:
        with _walking_box(zygote, settings) as box:
            batch, seen = rest[:BATCH], 0
            try:
                for name, observation in zip(batch, _walked(box, batch), strict=False):
                    seen += 1
                    text, calls, operators, spoiled = observation.value if observation.returned else ("", 0, [], True)
                    if text:
                        found.append(Found(name, text, calls, tuple(operators)))
                    if spoiled:
                        break
            except BoxLost:
                ended.append(batch[seen])
                seen += 1
            rest = rest[seen:]
    judged = [(one.name, _judged(zygote, exercise, one)) for one in found]
    kept = [(name, shortcut) for name, shortcut in judged if shortcut is not None]
    return Report(exercise.id, _grouped(kept), len(names), tuple(ended))


def _settings(exercise: Exercise, cases: Sequence[tuple[Case, Value]]) -> str:
    """What `walker.prepare` reads."""
    shown = cases[0][0]
    names = exercise.parameters[: len(shown.args)]
    tried = []
    for case, expected in cases:
        strict = Strictness.of(case)
        made = [*case.construct.values(), dict(case.weights)] if exercise.is_class else []
        tried.append(([*case.args, *made], expected, strict.entrywise, strict.double))
    how = list(_class_ways(shown, names)) if exercise.is_class else list(ways(names, shown))
    least = [] if exercise.is_class else list(probes(names, shown))
    every = [*names, *shown.construct, "weights"] if exercise.is_class else names
    once = list({text: (text, count, named) for text, count, named in how}.values())
    settings = {
        "names": list(every),
        "cases": tried,
        "ways": once,
        "probes": len({text for text, _, _ in least or once}),
        "before": [] if exercise.is_class else list(BEFORE),
        "after": [] if exercise.is_class else list(AFTER),
        "loads": exercise.is_class,
    }
    packed = io.BytesIO()
    torch.save(settings, packed)
    return base64.b64encode(packed.getvalue()).decode()


def _walking_box(zygote: Zygote, settings: str = "") -> Box:
    """A box in which `walker` is ready."""
    box = zygote.open_box(seed=0, limits=LIMITS)
    begun = box.run_cell(inspect.getsource(walker))
    if settings:
        begun = box.run_cell(f"prepare({settings!r})")
    if not begun.ok:
        box.close()
        raise RuntimeError(f"the walker does not run in a box: {begun.raised}")
    return box


def _walked(box: Box, names: Sequence[str]) -> Iterator[Observation]:
    return box.observe_cases("walk", [Case(name, args=(name,)) for name in names], hidden=False)


def _told(box: Box, expression: str) -> list[str]:
    """A list of strings that a box has."""
    box.run_cell(f"_told = lambda: {expression}")
    [observation] = box.observe_cases("_told", [Case("")], hidden=False)
    if not observation.returned:
        raise RuntimeError(f"{expression} failed in a box: {observation.raised}")
    return list(observation.value)


# Judging ------------------------------------------------------------------------------------------------------


def _judged(zygote: Zygote, exercise: Exercise, found: Found) -> Shortcut | None:
    """The shortcut, graded; None where it earns nothing and is wrong in most cases: right by accident before."""
    call = found.text.replace("f(", f"{found.name.replace(':', '.')}(", 1)
    if exercise.is_class:
        return Shortcut(found.calls, call, found.operators)
    source = answer(exercise, found)
    key = AnswerKey(exercise, PUBLIC_SEED)
    free = decide(key, _observed(zygote, exercise, source, key.cases, CELLS))
    if not free.points and 2 * sum(result.passed for result in free.cases) < len(key.cases):
        return None
    barred = Code([source]).broken_rule(exercise.name, exercise.forbidden_names) is not None
    bench = own_bench(exercise, exercise.lesson in exercises.PACKAGES)
    if bench != CELLS and not barred:
        barred = not decide(key, _observed(zygote, exercise, source, key.cases, bench)).points
    return Shortcut(found.calls, call, found.operators, free.points, barred)


def answer(exercise: Exercise, found: Found) -> str:
    """The call as a student would hand it in. It works on copies, since it may change what it is given."""
    module, _, path = found.name.partition(":")
    parameters = ", ".join(exercise.parameters)
    copies = ", ".join(f"{one}.clone() if hasattr({one}, 'clone') else deepcopy({one})" for one in exercise.parameters)
    return (
        f"import importlib\nfrom copy import deepcopy\n\nimport torch\n\n\n"
        f"def {exercise.name}({parameters.replace(',', '=None,')}=None):\n"
        f"    {parameters}, = {copies},\n"
        f"    f = importlib.import_module({module!r}).{path}\n"
        f"    return {found.text}\n"
    )


def _observed(
    zygote: Zygote, exercise: Exercise, source: str, cases: Sequence[Case], bench: Bench
) -> list[Observation]:
    seen: list[Observation] = []
    with zygote.open_box(seed=0, limits=LIMITS, bench=bench) as box:
        try:
            box.run_cell(source)
            seen += box.observe_cases(exercise.name, cases, hidden=False)
        except BoxLost as lost:
            seen.append(Observation(False, failure=lost.outcome))
    return seen


def _grouped(found: Sequence[tuple[str, Shortcut]]) -> tuple[Shortcut, ...]:
    """One shortcut for all with the same operators and the same verdict; it names the others."""
    groups: dict[tuple[object, ...], list[tuple[str, Shortcut]]] = {}
    for name, one in found:
        alike = (one.calls, one.operators or name, one.points, one.barred)
        groups.setdefault(alike, []).append((name, one))
    grouped = []
    for (first, shown), *rest in groups.values():
        others = sorted({name.replace(":", ".") for name, _ in rest} - {first.replace(":", ".")})
        grouped.append(Shortcut(shown.calls, shown.call, shown.operators, shown.points, shown.barred, tuple(others)))
    return tuple(sorted(grouped, key=lambda one: (one.calls, one.call)))


# Reporting ----------------------------------------------------------------------------------------------------


_HEADER = """\
# What gives the right answer in one library call or two, exercise by exercise: `python -m benchmarks.fuzz shortcuts`.
# `call` uses the exercise's own names, `how` are the operators that torch's dispatcher runs for it, `points` is what
# it earns where nothing is barred (0 where it is right in most cases, not in all), `barred` whether grading refuses it
# today, and `others` come to the same. Where `points` is missing the exercise is a class, and the call was compared
# without being graded. `walked` is the number of callables.
"""


def read(path: Path) -> dict[str, Json]:
    """What was found before, by exercise."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def table(report: Report) -> Json:
    """What is kept of a report."""
    if report.note:
        return {"note": report.note}
    return {"walked": report.walked, "shortcuts": [_entry(one) for one in report.shortcuts]}


def _entry(shortcut: Shortcut) -> Json:
    how = ", ".join(shortcut.operators) or "no operator of torch's"
    entry: Json = {"call": shortcut.call, "how": f"{'one call' if shortcut.calls == 1 else 'two calls'}: {how}"}
    if shortcut.points is not None:
        entry |= {"points": shortcut.points, "barred": shortcut.barred}
    return entry | ({"others": list(shortcut.others)} if shortcut.others else {})


def written(found: Mapping[str, Json]) -> str:
    """The findings of all exercises as TOML, in the order of the lessons, with a note of what was not walked."""
    every = [exercise.id for exercise in exercises.all()]
    walked = [name for name in every if "walked" in found.get(name, {})]
    note = f"Walked: {len(walked)} of {len(every)} exercises."
    for what, names in (
        ("Cannot be walked, each for the reason below", [n for n in every if n in found and n not in walked]),
        ("Not yet", [n for n in every if n not in found]),
    ):
        note += f" {what}: {', '.join(names)}." if names else ""
    lines = textwrap.wrap(note, 118, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    return _HEADER + "\n".join(lines) + "\n" + "".join(_section(name, found[name]) for name in every if name in found)


def _section(name: str, kept: Json) -> str:
    lines = [f"\n[{json.dumps(name)}]\n"]
    lines += [f"{key} = {json.dumps(value)}\n" for key, value in kept.items() if key != "shortcuts"]
    if "shortcuts" in kept:
        entries = "".join(f"    {_inline(one)},\n" for one in kept["shortcuts"])
        lines.append(f"shortcuts = [\n{entries}]\n" if entries else "shortcuts = []\n")
    return "".join(lines)


def _inline(entry: Json) -> str:
    """An inline table. Strings, numbers, truth values and lists of them are written in TOML as in JSON."""
    return "{" + ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()) + "}"


def summary(report: Report) -> str:
    """A report in lines to be read."""
    if report.note:
        return f"{report.exercise}: not walked: {report.note}"
    heading = f"{report.exercise}: {report.walked} callables, {len(report.ended)} ended their box"
    lines = [
        f"    {'barred' if one.barred else 'open  '} {one.call}  ({', '.join(one.operators)}; {len(one.others)} more)"
        for one in report.shortcuts
    ]
    return "\n".join([heading, *lines])


def main(arguments: Sequence[str]) -> int:
    """Walk the exercises that are named, or all; 1 where a shortcut is open."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz shortcuts")
    parser.add_argument("exercises", nargs="*", help="exercises or lessons; by default all")
    parser.add_argument("--packages", nargs="*", default=(), help="walked besides, such as scipy")
    chosen = parser.parse_args(arguments)
    return run(chosen.exercises, chosen.packages, FILE)


def run(ids: Sequence[str], packages: Sequence[str], path: Path) -> int:
    """Walk exercises; print what is found, and write it after each. 1 where a shortcut is open."""
    chosen = exercises.named(ids) if ids else exercises.all()
    names: dict[tuple[str, ...], list[str]] = {}
    is_open = False
    shown = {name for exercise in chosen for name in exercises.PACKAGES.get(exercise.lesson, ())}
    with Zygote(level=Level.L2, limits=LIMITS, shown=shown, packages=packages) as zygote:
        for exercise in chosen:
            walked = (*ALWAYS, *SHOWN.get(exercise.lesson, ()), *packages)
            if walked not in names:
                names[walked] = callables(zygote, walked)
            report = walk(zygote, exercise, names[walked])
            print(summary(report), flush=True)
            path.write_text(written(read(path) | {exercise.id: table(report)}), encoding="utf-8")
            is_open = is_open or any(not one.barred for one in report.shortcuts)
    return int(is_open)
