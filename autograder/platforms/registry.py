"""Collects all platforms: every module in `known/`."""

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
"""All platforms, in the order in which they are asked whether a download is theirs."""


def named(name: str) -> Platform:
    """Return the platform with this name."""
    return next(platform for platform in PLATFORMS if platform.name == name)


def platform_by_names(folders: Collection[str], files: Collection[str], lessons: Sequence[str] = ()) -> Platform | None:
    """Return the platform that uses such folder and file names, in a course with these lessons; None if none does."""
    return next((platform for platform in PLATFORMS if platform.has_named(folders, files, lessons)), None)


def names_a_submission(path: str) -> bool:
    """Return whether a path contains a name that a platform gives to submissions."""
    *folders, file = path.split("/")
    return any(Platform.has_named(platform, folders, [file]) for platform in PLATFORMS)
