"""Libraries that may be missing."""

from __future__ import annotations

import importlib

import pytest

from course_lib.ground.optional import needed_for


def test_a_missing_library_is_asked_for_by_name() -> None:
    message = r"^BLEU needs the package sacre-bleu, .* %pip install sacre-bleu$"
    with pytest.raises(ModuleNotFoundError, match=message), needed_for("BLEU", package="sacre-bleu"):
        importlib.import_module("no_such_module_anywhere")


def test_a_library_that_is_there_is_imported() -> None:
    with needed_for("roots", package="math"):
        import math
    assert math.isqrt(9) == 3


def test_other_errors_pass_through() -> None:
    with pytest.raises(ZeroDivisionError), needed_for("nothing", package="none"):
        1 // 0  # noqa: B018
