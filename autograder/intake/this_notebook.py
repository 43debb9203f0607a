"""Finds the notebook in which this code runs: Colab supplies its current state, others only its saved file."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from autograder.errors import BadInput
from course_lib.judging.last_run import running_shell

_SECONDS = 10
"""How long Colab may take to supply a notebook."""


def this_notebook() -> tuple[str, bytes]:
    """Return the notebook's file name and contents; outside Colab, as last saved.

    Raises:
        BadInput: the notebook is unknown or cannot be read.
    """
    shell = running_shell()
    if shell is None:
        raise BadInput("this is not a notebook: name the file")
    if "google.colab" in sys.modules:
        return _from_colab(sys.modules["google.colab"])
    named = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")  # VS Code's, Jupyter's
    if not named:
        raise BadInput('it is unclear which file this notebook is: name it, as in preflight("LESSON.ipynb")')
    try:
        return Path(named).name, Path(named).read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {named}: {error.strerror}; save this notebook, and name its file") from error


def _from_colab(colab: Any) -> tuple[str, bytes]:
    from importlib import import_module

    answer = import_module(f"{colab.__name__}._message").blocking_request("get_ipynb", timeout_sec=_SECONDS)
    if not answer:
        raise BadInput("Colab did not give access to the notebook; run this again, or download it and name its file")
    notebook = answer["ipynb"]
    name = notebook.get("metadata", {}).get("colab", {}).get("name") or "notebook.ipynb"
    return Path(name).name, json.dumps(notebook).encode()
