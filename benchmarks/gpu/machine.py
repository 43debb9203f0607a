"""Which machine this is, and with which programs."""

from __future__ import annotations

import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

import course_lib

PACKAGES = ("numpy", "tokenizers", "sacrebleu", "transformers")


def machine() -> dict[str, str]:
    """Both, by name. The card is only told of where there is one."""
    about = {"Katze": course_lib.__version__ + _commit()}
    if torch.cuda.is_available():
        about["card"] = torch.cuda.get_device_name()
        about["memory"] = f"{torch.cuda.get_device_properties(0).total_memory / 2**30:.0f} GiB"
        about["driver"] = _driver()
        about["CUDA"] = str(torch.version.cuda)
    about |= {"torch": torch.__version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            about[package] = version(package)
        except PackageNotFoundError:
            about[package] = "missing"
    return about


def _commit() -> str:
    """The commit, and whether anything was changed since; nothing where it is not known."""
    described = _printed("git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty")
    return described and f" at {described}"


def _driver() -> str:
    return _printed("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").partition("\n")[0] or "unknown"


def _printed(*command: str) -> str:
    """What a command prints; nothing where it fails, or is not there."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode else done.stdout.strip()
