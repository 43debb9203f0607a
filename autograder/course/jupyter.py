"""The settings in Jupyter's own folders (`jupyter --paths`), which nbgrader reads before those of a course."""

from __future__ import annotations

from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from traitlets.config.loader import Config, JSONFileConfigLoader, PyFileConfigLoader

from autograder.errors import BadInput

_NAMES = ("jupyter_config", "nbgrader_config")


def jupyter_settings() -> Config:
    """What `jupyter_config` and `nbgrader_config` say there: a person's before the environment's and the system's.

    Raises:
        BadInput: one of these files cannot be read.
    """
    config = Config()
    for name in _NAMES:
        for folder in reversed(jupyter_config_path()):
            for file in (Path(folder, f"{name}.py"), Path(folder, f"{name}.json")):
                if file.is_file():
                    config.merge(read_settings(file))
    return config


def read_settings(file: Path) -> Config:
    """What a file of settings says.

    Raises:
        BadInput: it cannot be read.
    """
    loader = JSONFileConfigLoader if file.suffix == ".json" else PyFileConfigLoader
    try:
        return loader(file.name, path=str(file.parent)).load_config()
    except Exception as error:  # the file is a program: it may fail in any way
        raise BadInput(f"{file} cannot be read: {type(error).__name__}: {error}") from error
