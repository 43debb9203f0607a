"""The platforms that are known: every module in `known/`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Sequence

from autograder.platforms import known
from autograder.platforms.platform import Platform

PLATFORMS: tuple[Platform, ...] = tuple(
    sorted(
        (
            importlib.import_module(f"{known.__name__}.{module.name}").PLATFORM
            for module in pkgutil.iter_modules(known.__path__)
        ),
        key=lambda platform: platform.order,
    )
)
"""In the order in which they are asked whose a download is."""


def named(name: str) -> Platform:
    """The platform of this name."""
    return next(one for one in PLATFORMS if one.name == name)


def platform_by_names(folders: Collection[str], files: Collection[str], lessons: Sequence[str] = ()) -> Platform | None:
    """The platform that gives such names to folders and files, in a course of these lessons; None where none does."""
    return next((one for one in PLATFORMS if one.has_named(folders, files, lessons)), None)


def names_a_submission(path: str) -> bool:
    """Whether a part of a path is a name that a platform gives to somebody's submission."""
    *folders, file = path.split("/")
    return any(Platform.has_named(one, folders, [file]) for one in PLATFORMS)
