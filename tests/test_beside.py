"""Every module's tests are where they are looked for: in a file of its own name, or in one that says so.

`autograder/repair/matching.py` is tested in `tests/autograder/repair/test_matching.py`, or in a test file of that wing
(or of the whole package) whose docstring ends in "Tests `matching.py`". An exercise is tested with its lesson; where no
function is, nothing needs a test.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"


def modules() -> Iterator[Path]:
    for package in ("autograder", "course_lib"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT)
            if "answers" not in place.parts and "exercises" not in place.parts and _does_something(path):
                yield place


def _does_something(path: Path) -> bool:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return path.name != "__init__.py" and any(isinstance(node, functions) for node in ast.walk(tree))


def said_to_test(file: Path) -> set[str]:
    """The modules that a test file's docstring names at its end."""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    *_, last = said.rpartition("\nTests ") if "\nTests " in said else ("",)
    return set(re.findall(r"`(\w+\.py)`", last))


def is_tested(module: Path) -> bool:
    if (TESTS / module.parent / f"test_{module.name}").is_file():
        return True
    package, *wing = module.parts[:2]
    near = [*(TESTS / package).glob("test_*.py"), *TESTS.joinpath(package, *wing).rglob("test_*.py")]
    return any(module.name in said_to_test(file) for file in near)


def test_every_module_is_tested_beside_its_place() -> None:
    assert [str(module) for module in modules() if not is_tested(module)] == []


def test_test_files_name_modules_that_there_are() -> None:
    for file in TESTS.rglob("test_*.py"):
        package = file.relative_to(TESTS).parts[0]
        assert [name for name in said_to_test(file) if not any((ROOT / package).rglob(name))] == [], file
