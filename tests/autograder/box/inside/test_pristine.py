"""What counts as a change of Python or torch itself, and what does not."""

import math
import types
from typing import Any

import pytest
import torch

from autograder.box.inside.pristine import MOST_CHANGES, Pristine


def test_nothing_has_changed_at_first() -> None:
    pristine = Pristine({"In": [], "open": open})
    assert pristine.changes({"In": [], "open": open, "x": 3}) == []


def test_settings_come_first_then_names_then_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    pristine = Pristine({})
    monkeypatch.setattr(math, "sqrt", None)
    monkeypatch.setattr(torch.Tensor, "__matmul__", None, raising=False)
    with torch.no_grad():
        assert pristine.changes({"max": 3, "min": 4}) == [
            "torch's gradient mode",
            "the built-in name max",
            "the built-in name min",
            "math.sqrt",
            "torch.Tensor.__matmul__",
        ]
    monkeypatch.undo()
    assert pristine.changes({}) == []


def test_a_module_may_get_new_names_and_a_class_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pristine = Pristine({})
    monkeypatch.setattr(torch, "something_new", 1, raising=False)
    assert pristine.changes({}) == []
    monkeypatch.setattr(torch.nn.Module, "something_new", 1, raising=False)
    assert pristine.changes({}) == ["torch.nn.Module.something_new"]


def test_a_name_that_was_a_module_is_kept_in_mind() -> None:
    pristine = Pristine({})
    names: dict[str, Any] = {"F": torch.nn.functional, "x": types}
    pristine.note(names)
    assert pristine.changes({"F": 3, "x": types}) == ["the name F of the module torch.nn.functional"]
    assert len(pristine.changes({})) == 2


def test_only_so_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pristine = Pristine({})
    for name in [name for name in vars(math) if not name.startswith("_")]:
        monkeypatch.delattr(math, name)
    assert len(pristine.changes({})) == MOST_CHANGES
