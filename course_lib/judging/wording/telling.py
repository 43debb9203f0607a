"""Chooses the failing case that tells the most, and a relation that no other case contradicts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from course_lib.judging.exercise import CORE, entries
from course_lib.judging.observation import Outcome

if TYPE_CHECKING:  # a verdict is made of these sentences
    from course_lib.judging.verdict import CaseResult

Results = Sequence["CaseResult"]


def most_telling(results: Results) -> tuple[CaseResult | None, str]:
    """Return the failure to show, and how its result relates to the right one; None if nothing failed.

    It is the smallest failure with the most frequent relation, else the smallest of all; if only hidden cases fail, the
    first.

    Args:
        results: the results of the cases, in order.
    """
    failures = [result for result in results if not result.passed]
    seen = [result for result in failures if not result.hidden]
    if not seen:
        return next(iter(failures), None), ""
    alike = _that_count(seen)
    shared = Counter(filter(None, map(_kind, alike))).most_common(1)
    common = [result for result in alike if shared and shared[0][1] > 1 and _kind(result) == shared[0][0]]
    shown = min(common or alike, key=lambda result: (_numbers(result) == 1, _size(result)))
    others = [result for result in alike if _kind(result) != _kind(shown)]
    contradicted = any(_kind(other) or _numbers(other) > _TOO_FEW for other in others)
    return shown, "" if contradicted else shown.relation


def _that_count(failures: Results) -> Results:
    """Return the failures of the core part that were judged and ended as the first one did."""
    core = [result for result in failures if result.case.part == CORE] or failures
    judged = [result for result in core if result.outcome not in (Outcome.NOT_ATTEMPTED, Outcome.UNGRADED)] or core
    return [result for result in judged if result.outcome is judged[0].outcome]


def _kind(result: CaseResult) -> str:
    """Return the relation without its numbers, which differ with the sizes."""
    return _NUMBER.sub("…", result.relation)


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def _numbers(result: CaseResult) -> float:
    """Return the size of the largest tensor asked for; if none is, the largest possible number."""
    expected = result.expected.value
    values = expected if isinstance(expected, (list, tuple)) else [expected]
    return max((value.numel() for value in values if isinstance(value, Tensor) and value.ndim), default=math.inf)


_TOO_FEW = 2
"""Up to this many numbers, a relation proves nothing."""


def _size(result: CaseResult) -> int:
    """Return the size of the inputs."""
    case = result.case
    return entries([*case.args, *case.kwargs.values(), *case.construct.values(), *case.weights.values()])
