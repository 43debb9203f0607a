"""Searches a class edition's folder for answers, solutions and hidden cases.

Code is compared by its shape: without the names of its own variables, annotations and docstrings, so that renaming does
not hide a copy. Code too short to be telling is ignored.
"""

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
"""A body with fewer syntax nodes, such as `return x + y`, is not a secret."""


def find_leaks(
    folder: Path, catalogue: Catalogue, released: Mapping[str, Path], seed: int, closed: Iterable[str] = ()
) -> list[str]:
    """Return what an edition gives away, in sentences.

    Args:
        folder: the edition's folder.
        catalogue: the full course's exercises.
        released: the released notebooks of its lessons; what a release gives away is not a leak.
        seed: the seed of the hidden cases to look for, such as the grader's own.
        closed: lessons whose references and solutions it may contain.
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
    """Return the shapes of a lesson's references, right and wrong answers and solutions, with descriptions."""
    found: dict[str, str] = {}
    for exercise in catalogue.of_lesson(lesson):
        for shape in _shapes(_source_of(exercise.reference)):
            found[shape] = f"the reference of {exercise.id}"
        page = SOLVED / f"{exercise.id}.md"
        if page.is_file():
            code = ast.parse(Solution.read(page.read_text(encoding="utf-8")).code)
            found |= dict.fromkeys(_shapes(code), f"the solution of {exercise.id}")
        module = sys.modules[exercise.cases.__module__]
        if module.__name__.startswith(catalogue.modules[lesson]):  # the right and wrong answers that its file defines
            answers = dict.fromkeys(_shapes(ast.parse(inspect.getsource(module))), f"an answer to {exercise.id}")
            found = answers | found
    return found


def _source_of(thing: Callable[..., Any]) -> ast.AST:
    try:
        lines = inspect.getsource(thing)
    except (OSError, TypeError):  # an object without source, such as a partial
        return ast.Module([], [])
    return ast.parse(inspect.cleandoc(lines) if lines[:1].isspace() else lines)


def _shapes(code: ast.AST) -> Iterator[str]:
    """Yield the shape of each function in some code that is long enough to be telling."""
    for node in ast.walk(code):
        if isinstance(node, Function):
            shape, pieces = _shape(node)
            if pieces >= _TELLING:
                yield shape


def _shape(function: Function) -> tuple[str, int]:
    """Return a function's body without its own names, annotations and docstrings, and its number of syntax nodes."""
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
    """Replaces a function's own names by numbers, and removes annotations."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Rename a variable."""
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Rename a parameter of an inner function."""
        return ast.arg(self._names.get(node.arg, node.arg))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Drop the type of an assignment."""
        plain = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return self.generic_visit(plain)


def _hidden_cases(folder: Path, catalogue: Catalogue, lesson: str, seed: int) -> Iterator[str]:
    """Yield a sentence for each of a lesson's hidden cases that an edition contains, by name or by inputs."""
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
"""Other seeds of hidden cases: inputs that repeat among so few seeds can be guessed, and are not secret."""


def _is_among(case: Case, others: Iterable[Case]) -> bool:
    return any(same_inputs(case, other) for other in others)
