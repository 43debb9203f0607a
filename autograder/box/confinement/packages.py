"""Finds the dependencies and versions of installed packages."""

import functools
import importlib.metadata
import re
from collections.abc import Iterable, Sequence


def closure(names: Iterable[str], folders: Sequence[str]) -> set[str]:
    """Return the normalized names of these packages and all their installed dependencies, without extras."""
    installed = _installed(tuple(folders))
    found: set[str] = set()
    waiting = [normalised(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in installed and name not in found:
            found.add(name)
            needed = (text for text in installed[name].requires or [] if "extra ==" not in text)
            waiting += [normalised(re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0]) for text in needed]
    return found


def pinned(name: str) -> str:
    """Return an installed package with its version, in pip's syntax."""
    public, _, _ = importlib.metadata.version(name).partition("+")  # a local part, such as "+cu126", is this machine's
    return f"{name}=={public}"


def normalised(name: str) -> str:
    """Return a package's normalized name, as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def _installed(folders: tuple[str, ...]) -> dict[str, importlib.metadata.Distribution]:
    packages = list(importlib.metadata.distributions(path=list(folders)))
    return {normalised(package.name): package for package in reversed(packages)}  # the first folder's counts
