"""Names the sizes in a case, from its exercise's statement: `scores(q [..., queries, d_head])`."""

import re

from torch import Tensor

from course_lib.judging.exercise import Case, Exercise

LEADING = "..."
"""The name for the number of leading dimensions."""

_SHAPE = re.compile(r"(\w+)(?: \w+)? \[([^\]]*)\]")


def named_sizes(exercise: Exercise, case: Case) -> dict[str, int]:
    """Return the size of each dimension that the statement names; for `LEADING`, the number of dimensions.

    Tensors whose dimensions do not match the statement are skipped, and so are sizes that differ between tensors.
    """
    stated = dict(_SHAPE.findall(exercise.statement.partition("->")[0]))
    found: dict[str, set[int]] = {}
    for name, value in (*zip(exercise.parameters, case.args, strict=False), *case.kwargs.items()):
        if not isinstance(value, Tensor) or name not in stated:
            continue
        dimensions = [dimension.strip() for dimension in stated[name].split(",")]
        last = dimensions[dimensions[0] == LEADING :]
        leading = value.ndim - len(last)
        if leading < 0 or (leading and dimensions[0] != LEADING):
            continue
        if dimensions[0] == LEADING:
            found.setdefault(LEADING, set()).add(leading)
        for dimension, size in zip(last, value.shape[leading:], strict=True):
            found.setdefault(dimension, set()).add(size)
    return {dimension: sizes.pop() for dimension, sizes in found.items() if len(sizes) == 1}
