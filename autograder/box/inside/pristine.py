"""Finds what cells have changed in Python, numpy and torch themselves, for all code that runs later in a sandbox.

    torch.set_default_dtype(torch.float64)
    torch.Tensor.__matmul__ = something
    max = 3

None of this is forbidden. But if a later exercise fails, the grader asks here whether an earlier cell may be the cause.
The result proves nothing: this runs in a sandbox, where student code can change it, too.
"""

import builtins
import math
import operator
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

MOST_CHANGES = 20

_OWNERS: Mapping[str, types.ModuleType | type] = {
    "builtins": builtins,
    "math": math,
    "operator": operator,
    "numpy": np,
    "numpy.ndarray": np.ndarray,
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.linalg": torch.linalg,
    "torch.nn": torch.nn,
    "torch.nn.functional": torch.nn.functional,
    "torch.nn.Module": torch.nn.Module,
    "torch.nn.Linear": torch.nn.Linear,
    "torch.nn.Embedding": torch.nn.Embedding,
    "torch.nn.LayerNorm": torch.nn.LayerNorm,
    "torch.nn.Softmax": torch.nn.Softmax,
}
"""Modules and classes whose attributes are watched. A module may gain new ones, as by an import; a class may not: they
hide old ones.
"""


class Pristine:
    """The state of a process before any student code has run.

    Args:
        names: the notebook's names.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._attributes = {owner: dict(vars(holder)) for owner, holder in _OWNERS.items()}
        del self._attributes["torch"]["Storage"]  # goes with the default dtype
        self._settings = dict(_settings())
        self._names = frozenset(names)
        self._modules: dict[str, types.ModuleType] = {}

    def note(self, names: Mapping[str, Any]) -> None:
        """Note which of the notebook's names are modules: a later cell may rebind such a name to a number."""
        self._modules |= {name: value for name, value in names.items() if type(value) is types.ModuleType}

    def changes(self, names: Mapping[str, Any]) -> list[str]:
        """Return what has changed, in words: at most `MOST_CHANGES` changes, in a fixed order.

        Args:
            names: the notebook's names.
        """
        return [*self._settings_changed(), *sorted(self._names_taken(names)), *sorted(self._attributes_changed())][
            :MOST_CHANGES
        ]

    def _settings_changed(self) -> Iterator[str]:
        for setting, value in _settings():
            if value != self._settings[setting]:
                yield setting

    def _names_taken(self, names: Mapping[str, Any]) -> Iterator[str]:
        built_in = self._attributes["builtins"].keys() - self._names
        yield from (f"the built-in name {name}" for name in built_in & names.keys())
        for name, module in self._modules.items():
            if names.get(name) is not module:
                yield f"the name {name} of the module {module.__name__}"

    def _attributes_changed(self) -> Iterator[str]:
        for owner, before in self._attributes.items():
            now = vars(_OWNERS[owner])
            yield from (f"{owner}.{name}" for name, value in before.items() if now.get(name, self) is not value)
            if isinstance(_OWNERS[owner], type):
                yield from (f"{owner}.{name}" for name in now.keys() - before.keys())


def _settings() -> Iterator[tuple[str, object]]:
    """Yield the global settings, with words for them."""
    yield "torch's default dtype", torch.get_default_dtype()
    yield "torch's default device", torch.get_default_device()
    yield "torch's gradient mode", torch.is_grad_enabled()
    yield "torch's inference mode", torch.is_inference_mode_enabled()
    yield "torch's deterministic mode", torch.are_deterministic_algorithms_enabled()
    yield "torch's anomaly mode", torch.is_anomaly_enabled()
    yield "numpy's floating-point errors", np.geterr()
    yield "warnings that are errors", any(entry[0] == "error" for entry in warnings.filters)
    yield "the limit on recursion", sys.getrecursionlimit()
    yield "the tracing of calls", (sys.gettrace(), sys.getprofile())
