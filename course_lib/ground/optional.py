"""Libraries that only some functions need: imported there, with a clear message if they are missing.

Jupyter in the browser has torch but not every library of this course. A module of `course_lib` imports such a library
within the function that uses it:

    with needed_for("BLEU", package="sacrebleu"):
        from sacrebleu.metrics import BLEU
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path


@contextmanager
def needed_for(purpose: str, *, package: str, alone: bool = False) -> Iterator[None]:
    """Import within this block; a missing library is reported with the command that installs it.

    Args:
        purpose: what needs the library.
        package: its name on PyPI.
        alone: install it without its dependencies, which the course does not use.

    Raises:
        ModuleNotFoundError: the import within failed; the message says how to install the package.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{purpose} needs the package {package}, which is not installed here; run:  "
            f"{install_command(package, alone)}",
            name=error.name,
        ) from None


def install_command(package: str, alone: bool = False) -> str:
    """Return the command that installs a package for this Python: for a cell in a notebook, else for a terminal.

    An environment may lack pip: uv (`uv tool`, `uv venv`) and pipx create theirs without it, and conda may do so.
    """
    # `find_spec("pip")` would make setuptools take this program for pip, and setuptools could not be imported any more.
    has_pip = PathFinder.find_spec("pip") is not None
    in_a_cell = "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None
    install = "install --no-deps" if alone else "install"
    if in_a_cell and (has_pip or sys.platform == "emscripten"):
        return f"%pip {install} {package}"
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    if has_pip:
        command = f"{python} -m pip {install} {package}"
    elif Path(sys.prefix, "pipx_metadata.json").is_file():
        command = f"pipx inject {'--pip-args=--no-deps ' * alone}{Path(sys.prefix).name} {package}"
    elif _made_by_uv():
        command = f"uv pip {install}{' --no-progress' * in_a_cell} --python {python} {package}"
    else:
        command = f"{python} -m ensurepip && {python} -m pip {install} {package}"
    return f"!{command}" if in_a_cell else command


def _made_by_uv() -> bool:
    settings = Path(sys.prefix, "pyvenv.cfg")
    return settings.is_file() and "\nuv = " in settings.read_text(encoding="utf-8")
