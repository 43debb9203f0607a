"""Code that could take a trap apart: it uses what leads out of a notebook and into the machinery around it.

An answer next to such code is not wrong. It is tried once more where there is nothing to take apart.
"""

from __future__ import annotations

import ast
import re

from course_lib.checking.rules import syntax_tree

_NEAR = {
    *("torch", "numpy", "math", "cmath", "random", "time", "matplotlib", "course_lib", "jaxtyping", "typing", "scipy"),
    *("collections", "itertools", "functools", "dataclasses", "statistics", "string", "enum", "pandas", "einops"),
    *("sys", "os", "pathlib", "warnings", "abc", "contextlib", "copy", "decimal", "fractions", "heapq", "bisect", "re"),
}
"""Modules that lead nowhere by themselves."""

_FAR = {
    *("autograder", "checking", "modules", "builtins", "_C", "library", "load", "loads", "hub", "package", "fx", "jit"),
    *("setprofile", "settrace", "_getframe", "_current_frames", "exc_info", "last_traceback", "with_traceback"),
    *("tb_frame", "tb_next", "f_back", "f_globals", "f_locals", "gi_frame", "cr_frame", "ag_frame", "get_kernel"),
    *("eval", "exec", "compile", "globals", "vars", "locals", "get_ipython", "breakpoint", "runstring", "overrides"),
    *("_dynamo", "_inductor", "cpp_extension", "_sys", "ctypes", "ctypeslib", "f2py"),
}
_BY_NAME = {"getattr", "setattr", "delattr", "hasattr"}
_ORDINARY = {"__init__", "__name__", "__class__", "__call__", "__repr__", "__len__", "__getitem__", "__version__"}
_QUIET = re.compile(r"%{1,2}(?:matplotlib|time|timeit|config|autoreload|load_ext|capture|precision)\b|[!%]pip\b")


def reaches_far(source: str) -> bool:
    """Whether this code uses what could lead into the machinery around it: frames, modules, built-up names.

    Hardly any honest answer does, and every answer that takes a trap apart must. In doubt it does: modules and
    magics that are not known to be harmless count, and so does code that cannot be read.
    """
    tree = syntax_tree(source)
    if tree is None or any(line.startswith(("%", "!")) and not _QUIET.match(line) for line in source.splitlines()):
        return True
    parts = list(ast.walk(tree))
    by_name = sum(isinstance(part, ast.Name) and part.id in _BY_NAME for part in parts)
    return by_name > sum(map(_is_plain_getattr, parts)) or any(map(_leads_far, parts))


def _is_plain_getattr(part: ast.AST) -> bool:
    """Whether this is a call such as `getattr(x, "name")`, whose name can be read."""
    if not (isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _BY_NAME):
        return False
    name = part.args[1] if len(part.args) > 1 else None
    return isinstance(name, ast.Constant) and isinstance(name.value, str) and not _is_far(name.value)


def _is_far(name: str) -> bool:
    return name in _FAR or (name.startswith("__") and name not in _ORDINARY)


def _leads_far(part: ast.AST) -> bool:
    match part:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _is_far(name)
        case ast.Import(names=names):
            return any(_is_far_module(alias.name) for alias in names)
        case ast.ImportFrom(module=module, names=names):
            return _is_far_module(module or "") or any(_is_far(alias.name) for alias in names)
    return False


def _is_far_module(name: str) -> bool:
    root, *parts = name.split(".")
    return root not in _NEAR or any(map(_is_far, parts))
