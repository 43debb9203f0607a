"""What exercises forbid is there in torch, so that taking it out takes something out."""

from __future__ import annotations

import fnmatch
import importlib

import pytest
import torch

from course_lib.checking.ready_made import READY_MADE, TWICE, ReadyMade


@pytest.mark.parametrize("family", READY_MADE.values(), ids=lambda family: family.id)
def test_every_pattern_names_an_operator(family: ReadyMade) -> None:
    every = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    for pattern in family.operators:
        assert any(fnmatch.fnmatchcase(name, pattern) for name in every), pattern


@pytest.mark.parametrize("family", READY_MADE.values(), ids=lambda family: family.id)
def test_every_function_exists(family: ReadyMade) -> None:
    for name in (*family.functions, *TWICE):
        assert _found(name), name


def _found(name: str) -> bool:
    owner, _, attribute = name.rpartition(".")
    try:
        return bool(importlib.import_module(name))
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(owner), attribute)


def test_ids_and_names() -> None:
    for key, family in READY_MADE.items():
        assert key == family.id
        assert family.names
