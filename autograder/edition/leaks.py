"""Searches a class edition's folder for answers, solutions and hidden cases.

Code is compared by its shape: without names of its own variables, annotations and docstrings, so that a renamed copy is
found. What is so short that it says nothing is passed over.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from autograder.edition.recording import same_inputs
from autograder.edition.verdicts import recorded_exercises
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.exercise import Case
from course_lib.learner.solutions import SOLVED, Solution

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_TELLING = 12
"""A body of fewer syntactic pieces, such as `return x + y`, is nobody's secret."""


def find_leaks(
    folder: Path, catalogue: Catalogue, released: Mapping[str, Path], seed: int, closed: Iterable[str] = ()
) -> list[str]:
    """What an edition gives away, in sentences.

    Args:
        folder: the edition's.
        catalogue: the full course's exercises.
        released: the notebooks of its lessons as they are released; what a release gives away is its own matter.
        seed: of the hidden cases that are looked for, such as the grader's own.
        closed: lessons whose references and solutions may be there.
    """
    found = []
    given = {shape for notebook in released.values() for code in _code_in(notebook) for shape in _shapes(code)}
    shapes = {
        shape: path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for code in _code_in(path)
        for shape in _shapes(code)
        if shape not in given
    }
    for lesson in released:
        secret = {} if lesson in closed else _secret_shapes(catalogue, lesson)
        found += [f"{place} holds {secret[shape]}" for shape, place in shapes.items() if shape in secret]
        found += list(_hidden_cases(folder, catalogue, lesson, seed))
    solved = folder / "course_lib" / "learner" / "solved"
    found += [f"{path.relative_to(folder)} is a solution" for path in sorted(solved.rglob("*")) if path.is_file()]
    return found


def _code_in(path: Path) -> Iterator[ast.AST]:
    if path.suffix == ".py":
        yield ast.parse(path.read_bytes())
    if path.suffix == ".ipynb":
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield ast.parse(TransformerManager().transform_cell("".join(cell["source"])))


def _secret_shapes(catalogue: Catalogue, lesson: str) -> dict[str, str]:
    """The shapes of a lesson's references, right and wrong answers and solutions, each with what it is."""
    found: dict[str, str] = {}
    for exercise in catalogue.of_lesson(lesson):
        for shape in _shapes(_source_of(exercise.reference)):
            found[shape] = f"the reference of {exercise.id}"
        page = SOLVED / f"{exercise.id}.md"
        if page.is_file():
            code = ast.parse(Solution.read(page.read_text(encoding="utf-8")).code)
            found |= dict.fromkeys(_shapes(code), f"the solution of {exercise.id}")
        module = sys.modules[exercise.cases.__module__]
        if module.__name__.startswith(catalogue.modules[lesson]):  # what its file defines, right and wrong
            answers = dict.fromkeys(_shapes(ast.parse(inspect.getsource(module))), f"an answer to {exercise.id}")
            found = answers | found
    return found


def _source_of(thing: Callable[..., Any]) -> ast.AST:
    try:
        lines = inspect.getsource(thing)
    except (OSError, TypeError):  # made by calling something, such as a partial
        return ast.Module([], [])
    return ast.parse(inspect.cleandoc(lines) if lines[:1].isspace() else lines)


def _shapes(code: ast.AST) -> Iterator[str]:
    """The shape of each function in some code that is long enough to say something."""
    for node in ast.walk(code):
        if isinstance(node, Function):
            shape, pieces = _shape(node)
            if pieces >= _TELLING:
                yield shape


def _shape(function: Function) -> tuple[str, int]:
    """A function's body without its own names, annotations and docstrings; and how many pieces it has."""
    body: list[Any] = [function.body] if isinstance(function, ast.Lambda) else function.body
    if not isinstance(function, ast.Lambda) and ast.get_docstring(function) is not None:
        body = body[1:]
    own = [argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)]
    own += [
        node.id
        for part in body
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    numbers = {name: f"v{number}" for number, name in enumerate(dict.fromkeys(own))}
    plain = [_Renamed(numbers).visit(ast.parse(ast.unparse(part))) for part in body]
    pieces = sum(1 for part in plain for node in ast.walk(part) if not isinstance(node, ast.expr_context))
    return "\n".join(map(ast.dump, plain)), pieces


class _Renamed(ast.NodeTransformer):
    """Puts numbers in place of a function's own names, and takes annotations away."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A variable."""
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """An argument of a function inside."""
        return ast.arg(self._names.get(node.arg, node.arg))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """An assignment with a type."""
        plain = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return self.generic_visit(plain)


def _hidden_cases(folder: Path, catalogue: Catalogue, lesson: str, seed: int) -> Iterator[str]:
    """Hidden cases of a lesson that an edition knows by name or by what is passed in."""
    full = {exercise.id: exercise for exercise in catalogue.of_lesson(lesson)}
    for recorded in recorded_exercises(folder, catalogue, lesson):
        exercise, (kept, probes) = full[recorded.id], recorded.recording
        shown, hidden = exercise.visible_cases(), exercise.hidden_cases(seed)
        named = {case.name for case in hidden} - {case.name for case in shown}
        for case in (*kept.cases, *probes.cases):
            if case.name in named:
                yield f"{exercise.id}: the hidden case {case.name!r} is named"
        for case in hidden:
            known = _is_among(case, probes.cases) and not _is_among(case, shown)
            if known and not any(_is_among(case, exercise.hidden_cases(other)) for other in _OTHERS):
                yield f"{exercise.id}: the inputs of the hidden case {case.name!r} are there"


_OTHERS = range(2**65, 2**65 + 40)
"""Seeds of hidden cases: inputs that come again with one of so few can be guessed, and are nobody's secret."""


def _is_among(case: Case, others: Iterable[Case]) -> bool:
    return any(same_inputs(case, other) for other in others)
