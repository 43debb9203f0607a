"""Which installed packages a box holds: what boxes and their lesson need, and nothing else.

A package that does an exercise's work is no temptation where it is not there.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import re
import sys
from collections.abc import Iterable, Sequence

BASE = (
    *("torch", "numpy", "matplotlib", "ipython", "matplotlib-inline", "safetensors", "jaxtyping", "ipywidgets"),
    *("rich", "platformdirs"),
)
"""What boxes themselves need, and the course library in every lesson."""


COMMON = (
    *("pandas", "scipy", "sklearn", "seaborn", "plotly", "statsmodels", "tqdm", "requests", "yaml", "bs4", "cv2"),
    *("einops", "transformers", "datasets", "evaluate", "tokenizers", "sentencepiece", "tiktoken", "nltk", "spacy"),
    *("gensim", "sacrebleu", "rouge_score", "jiwer", "rapidfuzz", "Levenshtein", "torchmetrics", "torchvision"),
    *("torchaudio", "torchtext", "lightning", "wandb", "tensorflow", "keras", "jax", "flax", "numba", "xgboost"),
)
"""Modules that Colab has, or that courses use: a student may import one wherever the grader runs."""


def entries_of(names: Iterable[str], folders: Sequence[str]) -> frozenset[str]:
    """What belongs to these packages, and to all that they need, in folders of installed packages.

    Args:
        names: of packages, as they are installed with; one that is not installed is passed over.
        folders: such as ".../site-packages".
    """
    return frozenset().union(*(_entries(name, tuple(folders)) for name in closure(names, folders)))


def installed_entries(folders: Sequence[str]) -> frozenset[str]:
    """All that is in folders of installed packages."""
    return frozenset(name for folder in folders if os.path.isdir(folder) for name in os.listdir(folder))


def installed_packages(folders: Sequence[str]) -> frozenset[str]:
    """The packages that are installed in these folders, by normalised names."""
    return frozenset(_installed(tuple(folders)))


def module_names(entries: Iterable[str]) -> frozenset[str]:
    """The names by which entries of such a folder are imported."""
    names = {entry.partition(".")[0] for entry in entries if not entry.endswith((".dist-info", ".egg-info", ".pth"))}
    return frozenset(name for name in names if name.isidentifier() and name not in sys.stdlib_module_names)


def closure(names: Iterable[str], folders: Sequence[str]) -> set[str]:
    """These packages and all that they need, by normalised names, as far as they are installed."""
    installed = _installed(tuple(folders))
    found: set[str] = set()
    waiting = [_normalised(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in installed and name not in found:
            found.add(name)
            waiting += required(installed[name])
    return found


def required(package: importlib.metadata.Distribution) -> list[str]:
    """What an installed package needs, by normalised names; what only its extras need is left out."""
    needed = [text for text in package.requires or [] if "extra ==" not in text]
    return [_normalised(re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0]) for text in needed]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def _installed(folders: tuple[str, ...]) -> dict[str, importlib.metadata.Distribution]:
    packages = list(importlib.metadata.distributions(path=list(folders)))
    return {_normalised(package.name): package for package in reversed(packages)}  # the first folder's counts


@functools.cache
def _entries(name: str, folders: tuple[str, ...]) -> frozenset[str]:
    """The entries of one package, as its record lists them; the name itself where it keeps none."""
    package = _installed(folders)[name]
    listed = (package.read_text("RECORD") or package.read_text("top_level.txt") or "").splitlines()
    found = {re.split(r"[/,]", line, maxsplit=1)[0] for line in listed} - {"..", ""}
    return frozenset(found or {name, name.replace("-", "_")})
