"""What grades of a plain assignment depend on, beside the submission."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from autograder.gradebook.record import Conditions
from autograder.grading.digests.versions import limits_that_decide, versions_of
from autograder.grading.plain import files
from autograder.grading.plain.assignment import PlainAssignment
from course_lib.judging.rules import syntax_tree

_GRADING = [f"autograder.grading.plain.{name}" for name in ("files", "repairing", "running", "judging")]
"""What reads, runs and judges a submission; together with all that it imports, it decides grades."""


def conditions_of(assignment: PlainAssignment, course_files: Mapping[str, Path]) -> Conditions:
    """What grades depend on, beside the submission."""
    packages = ("ipython", "nbgrader", *_packages(assignment))
    versions = {**versions_of(_GRADING, packages), "files": files.digest(course_files)}
    return Conditions(_release(assignment), "", versions, {"limits": limits_that_decide(assignment.limits)})


def _release(assignment: PlainAssignment) -> str:
    """A digest of all that nbgrader knows of the assignment's cells."""
    content = [
        [notebook.name, [asdict(cell.row) for cell in notebook.cells if cell.row is not None]]
        for notebook in assignment.notebooks
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _packages(assignment: PlainAssignment) -> list[str]:
    """The installed packages that the course's own cells import."""
    modules = {
        name
        for notebook in assignment.notebooks
        for cell in notebook.cells
        if cell.kind == "code"
        for name in _imported(cell.source)
    }
    known = importlib.metadata.packages_distributions()
    return sorted({package for module in modules for package in known.get(module, [])} - {"katze"})


def _imported(source: str) -> Iterator[str]:
    """The names of the packages that a cell imports."""
    for node in ast.walk(syntax_tree(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]
