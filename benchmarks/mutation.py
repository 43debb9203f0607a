"""Tests whether the checks notice small mistakes, by changing every reference in one place and in two.

    python -m benchmarks.mutation [--lesson 02_masking] [--exercise masking.causal_mask] [--pairs 40] [--visible]
                                  [--json FILE]

It changes each exercise's reference, and what that calls in the modules that its lesson withholds, in every way that
`benchmarks.mutants` knows, and judges each mutant like an answer: by the visible cases, and by hidden ones with the
public seed. Of the references changed in two places, it tries a sample, the same in every run. Then it tries the ways
of being wrong that do not change what is computed (`benchmarks.wrong_ways`: squeezed, detached, in half or single
precision, without batches, overwriting its arguments, right for some calls). A mutant that no case catches has
survived. Either it computes the same, and `mutation_survivors.toml` has the reason, or the cases have a hole. A mutant
that only hidden cases catch is green in the notebook and red when it is graded: there must be none (`--visible` lists
only those).

mutmut (3.8) and cosmic-ray (8.4) were considered first. Both change files and run a test suite in one process per
mutant, so torch would start some thousand times. Their operators know numbers, comparisons and booleans, but no axes,
and no replacements for calls of tensor methods. Here, it is enough to run the cases of one exercise, in this process,
in a few milliseconds.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import json
import random
import signal
import sys
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import torch
from rich.console import Console
from rich.table import Column, Table

from autograder.box.library import imports_of
from benchmarks.mutants import UNTOUCHED, Definition, Mutant, mutants, refuses
from benchmarks.table import arguments
from benchmarks.wrong_ways import wrong_ways
from course_lib import exercises
from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey, is_refusal
from course_lib.judging.compare import difference
from course_lib.judging.exercise import Callback, Exercise
from course_lib.judging.observation import observe

SURVIVORS = Path(__file__).with_name("mutation_survivors.toml")
"""The file with the mutants that may survive, and the reasons."""

PAIRS = 40
"""How many mutants with changes in two places are tried for each exercise."""

PATIENCE, LEAST_SECONDS = 20.0, 3.0
"""A mutant may take this many times as long as its reference, and at least these seconds; else it counts as caught."""


ENDINGS = ("caught", "hidden only", "equivalent", "unexplained")
"""What can happen to a mutant: the visible cases catch it; only the hidden ones do, so that it is green in the notebook
and red when it is graded; or no case does, with or without a reason."""


@dataclass(frozen=True)
class Result:
    """What happened to a mutant.

    Attributes:
        exercise: the exercise's id.
        function: the function or class that was changed, such as "course_lib.masking.causal_mask".
        mutant: the change.
        ending: one of `ENDINGS`.
        reason: why it may survive; empty for no reason.
    """

    exercise: str
    function: str
    mutant: Mutant
    ending: str
    reason: str = ""

    @property
    def survived(self) -> bool:
        return self.ending in ("equivalent", "unexplained")


@dataclass(frozen=True)
class Explanation:
    """Why some mutants may survive.

    Attributes:
        function: the function or class that is changed, such as "course_lib.masking.causal_mask"; "*" for any.
        reason: why its mutants compute nothing wrong, or nothing that the exercise asks about.
        changes: the lines before and after each change; empty for any change in the function.
        exercises: the exercises for which this holds; empty for all.
    """

    function: str
    reason: str
    changes: Sequence[list[str]] = ()
    exercises: Sequence[str] = ()

    def explains(self, exercise: str, function: str, mutant: Mutant) -> bool:
        """Return whether this explains that survivor."""
        return (
            self.function in (function, "*")
            and (not self.exercises or exercise in self.exercises)
            and (not self.changes or [mutant.old, mutant.new] in self.changes)
        )


def read_explanations(path: Path = SURVIVORS) -> list[Explanation]:
    """Read a file's explanations: tables `[[survivors]]` with the fields of `Explanation`."""
    return [Explanation(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["survivors"]]


def run(
    exercise: Exercise, explanations: Sequence[Explanation], pairs: int = PAIRS, *, alone: bool = False
) -> Iterator[Result]:
    """Yield the results of all mutants of an exercise's reference and of what it calls.

    Args:
        exercise: the exercise.
        explanations: the reasons why mutants may survive.
        pairs: how many mutants with two changes to try.
        alone: change only the reference, not what it calls.
    """
    source = _Sources(exercise)
    key = AnswerKey(exercise, PUBLIC_SEED)
    started = time.perf_counter()
    executed = {} if alone else _executed_lines(key)
    assert key.expected
    patience = max(LEAST_SECONDS, PATIENCE * (time.perf_counter() - started))

    def judged(module: str, name: str, mutant: Mutant, build: Callable[[], Any]) -> Result:
        function = f"{module}.{name}"
        catching = _catching(key, build, patience)
        if catching is not None:
            return Result(exercise.id, function, mutant, "hidden only" if catching >= len(key.visible) else "caught")
        reason = next((e.reason for e in explanations if e.explains(exercise.id, function, mutant)), "")
        return Result(exercise.id, function, mutant, "equivalent" if reason else "unexplained", reason)

    harmless: list[Mutant] = []
    for module, name, definition in source.reached:
        own = (module, name) == source.reference
        if alone and not own:
            continue
        lines = None if own else executed.get(module, set())
        for mutant in mutants(definition, lines):
            result = judged(module, name, mutant, partial(source.built, module, name, mutant))
            harmless += [mutant] if own and result.survived else []
            yield result
    module, name = source.reference
    for first, second in _two_changes(exercise, source, pairs):
        result = judged(module, name, second, partial(source.built, module, name, second))
        if result.survived and _is_harmless(first, second, harmless):
            reason = "both changes compute the same, or one undoes the other"
            result = dataclasses.replace(result, ending="equivalent", reason=reason)
        yield result
    for kind, answer in wrong_ways(key):
        yield judged(module, name, Mutant(kind, "", "", kind), answer)


def _two_changes(exercise: Exercise, source: _Sources, count: int) -> Iterator[tuple[Mutant, Mutant]]:
    """Yield a sample of mutants of mutants, each after the mutant that it was made from; the same in every run."""
    chosen = random.Random(exercise.id)
    _module, _name, definition = source.reached[0]
    original = ast.unparse(definition)
    once = list(mutants(definition))
    for first in chosen.choices(once, k=count) if once else []:
        (changed,) = ast.parse(first.source).body
        assert isinstance(changed, (ast.FunctionDef, ast.ClassDef))
        twice = [second for second in mutants(changed) if second.source != original]
        if twice:
            second = chosen.choice(twice)
            yield first, dataclasses.replace(second, kind=f"{first.kind}, {second.kind}")


def _is_harmless(first: Mutant, second: Mutant, harmless: Sequence[Mutant]) -> bool:
    """Return whether two changes are harmless: each one computes the same, or both together do."""
    sources = {mutant.source for mutant in harmless}
    changes = {(mutant.old, mutant.new) for mutant in harmless}
    return second.source in sources or (first.source in sources and (second.old, second.new) in changes)


class _Sources:
    """The withheld modules of an exercise's reference, as syntax trees that can be changed and run again."""

    def __init__(self, exercise: Exercise) -> None:
        self._withheld = frozenset(exercise.withheld)
        self.reference = (exercise.reference.__module__, exercise.reference.__name__)
        self._trees: dict[str, ast.Module] = {}
        self.reached = list(self._reach())

    def _tree(self, module: str) -> ast.Module:
        if module not in self._trees:
            self._trees[module] = ast.parse(_file(module).read_text(encoding="utf-8"))
        return self._trees[module]

    def _reach(self) -> Iterator[tuple[str, str, Definition]]:
        """Yield the reference, and the functions and classes of withheld modules that it uses, directly or not."""
        seen, pending = {self.reference}, [self.reference]
        while pending:
            module, name = pending.pop(0)
            definition = _definition(self._tree(module), name)
            if definition is None:
                continue
            yield module, name, definition
            for used in _used(definition, vars(sys.modules[module])):
                place = (getattr(used, "__module__", ""), getattr(used, "__qualname__", ""))
                if place[0] in self._withheld and place not in seen and not refuses(place[1]):
                    seen.add(place)
                    pending.append(place)

    def built(self, module: str, name: str, mutant: Mutant) -> Any:
        """Return the reference as it is with this mutant as the definition, leaving the loaded modules alone."""
        (changed,) = ast.parse(mutant.source).body
        if (module, name) == self.reference:  # nothing else needs to run again
            return vars(_run(module, ast.Module([_FUTURE, changed], []), {}, vars(sys.modules[module])))[name]
        tree = copy.copy(self._tree(module))
        tree.body = [changed if getattr(part, "name", None) == name else part for part in tree.body]
        fresh = {module: _run(module, tree, {})}
        for other in self._dependents(module):
            fresh[other] = _run(other, self._tree(other), fresh)
        return getattr(fresh[self.reference[0]], self.reference[1])

    def _dependents(self, changed: str) -> list[str]:
        """Return the modules that must run again after a change, each one after those that it imports."""
        modules = {module for module, _name, _definition in self.reached}
        imports = {module: imports_of(_file(module), module).at_once & modules for module in modules}
        found: list[str] = []
        for module in TopologicalSorter(imports).static_order():
            if imports[module] & {changed, *found}:
                found.append(module)
        return found


def _file(module: str) -> Path:
    return Path(str(sys.modules[module].__file__))


def _definition(tree: ast.Module, name: str) -> Definition | None:
    found = [part for part in tree.body if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and part.name == name]
    return found[-1] if found else None


def _used(definition: ast.AST, namespace: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the objects that the names in a definition refer to in its module, including those of `module.name`."""
    pending: list[ast.AST] = [definition]
    while pending:
        node = pending.pop()
        touched = [value for field, value in ast.iter_fields(node) if field not in UNTOUCHED]
        for value in touched:
            pending += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)]
        if isinstance(node, ast.Name) and node.id in namespace:
            yield namespace[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = namespace.get(node.value.id)
            if isinstance(owner, ModuleType):
                yield getattr(owner, node.attr, None)


_FUTURE = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)


def _run(
    name: str, tree: ast.Module, instead: Mapping[str, ModuleType], names: Mapping[str, Any] | None = None
) -> ModuleType:
    """Run a private second copy of a module.

    Args:
        name: its name.
        tree: the code to run in it.
        instead: the modules to import instead of those with the same name.
        names: names that it already defines.
    """
    module = ModuleType(name)
    vars(module).update(names or {})
    package, _, _ = name.rpartition(".")
    kept = {other: sys.modules[other] for other in instead}
    owner = sys.modules[package]
    try:
        for other, fresh in instead.items():
            sys.modules[other] = fresh
            setattr(owner, other.rpartition(".")[2], fresh)
        code: CodeType = compile(ast.fix_missing_locations(tree), f"<{name}>", "exec")
        exec(code, vars(module))
    finally:
        for other, original in kept.items():
            sys.modules[other] = original
            setattr(owner, other.rpartition(".")[2], original)
    return module


def _executed_lines(key: AnswerKey) -> dict[str, set[int]]:
    """Return the lines that the reference runs on the cases, by module."""
    lines: dict[str, set[int]] = {}

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        module = frame.f_globals.get("__name__", "")
        if module not in key.exercise.withheld or (event == "call" and _in_callback(frame)):
            return None
        lines.setdefault(module, set()).add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert key.expected
    finally:
        sys.settrace(before)
    # The trace of a statement over several lines contains only some of them: add the others.
    for module, found in lines.items():
        for node in ast.walk(ast.parse(_file(module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.stmt) and not isinstance(node, _COMPOUND):
                span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                if found & set(span):
                    found |= set(span)
    return lines


def _in_callback(frame: FrameType | None) -> bool:
    """Return whether a frame runs inside a callback from a case, which is the checker's and never a mutant."""
    while frame is not None:
        if frame.f_code is Callback.call.__code__:
            return True
        frame = frame.f_back
    return False


_COMPOUND = (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)


class _TooSlow(BaseException):
    """Raised in a mutant that runs too long."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _catching(key: AnswerKey, build: Callable[[], Any], patience: float) -> int | None:
    """Return the first case that catches a mutant, by a value, a gradient, an error or time; None if none does."""
    number = 0
    try:
        with _alarm(patience), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = build()
            for number, (case, expected) in enumerate(zip(key.cases, key.expected, strict=True)):
                seen = observe(answer, case)
                if case.refused:
                    caught = not is_refusal(case, seen)
                else:
                    caught = not seen.returned or difference(case, expected, seen) is not None
                if caught:
                    return number
    except (_TooSlow, Exception):  # the mutant could not even be built, or took too long outside a call
        return number
    return None


def tally(results: Sequence[Result]) -> dict[str, Counter[str]]:
    """Return how many mutants ended in which way, for each exercise and for all."""
    counts = {result.exercise: Counter[str]() for result in results} | {"all": Counter[str]()}
    for result in results:
        for name in (result.exercise, "all"):
            counts[name][result.ending] += 1
    return counts


def print_tally(counts: Mapping[str, Counter[str]]) -> None:
    table = Table("exercise", *(Column(heading, justify="right") for heading in ("mutants", *ENDINGS)))
    for name, count in counts.items():
        table.add_row(name, str(count.total()), *(str(count[ending]) for ending in ENDINGS))
    Console().print(table)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--lesson", action="append", help="only this lesson; may be given several times")
    parser.add_argument("--exercise", action="append", help="only this exercise; may be given several times")
    parser.add_argument("--visible", action="store_true", help="list those that only hidden cases catch, and no others")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="changes in two places (default: %(default)s)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    explanations = read_explanations()
    try:
        chosen = exercises.named(options.exercise or options.lesson or exercises.LESSONS)
    except exercises.UnknownName as error:
        parser.error(str(error))
    results = [result for exercise in chosen for result in run(exercise, explanations, options.pairs)]
    listed = ("hidden only",) if options.visible else ("hidden only", "unexplained")
    for result in results:
        if result.ending in listed:
            print(f"\n{result.exercise}: {result.function}, {result.mutant.kind} ({result.ending})")
            print("\n".join(f"  - {line}" for line in result.mutant.old.splitlines()))
            print("\n".join(f"  + {line}" for line in result.mutant.new.splitlines()))
    if not options.lesson and not options.exercise and not options.visible:
        for explanation in explanations:
            if not any(r.survived and explanation.explains(r.exercise, r.function, r.mutant) for r in results):
                print(f"\nexplained, and did not survive: {explanation.function}: {explanation.reason}")
    counts = tally(results)
    print_tally(counts)
    endings = ", ".join(f"{counts['all'][ending]} {ending}" for ending in ENDINGS)
    print(f"{len(results)} mutants: {endings}")
    if options.json:
        records = [dataclasses.asdict(result) for result in results]
        options.json.write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")
    return int(any(counts["all"][ending] for ending in listed))


if __name__ == "__main__":
    sys.exit(main())
