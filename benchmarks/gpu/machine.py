"""Describes this machine and its programs."""

import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

import course_lib
from benchmarks.gpu.results import Said, Tell
from benchmarks.gpu.running import Settings

PACKAGES = ("numpy", "tokenizers", "sacrebleu", "transformers")


def machine(_settings: Settings, tell: Tell) -> None:
    """Report the machine; the card only if there is one."""
    tell(Said("Katze", course_lib.__version__ + _commit()))
    if torch.cuda.is_available():
        tell(Said("card", torch.cuda.get_device_name()))
        tell(Said("memory", f"{torch.cuda.get_device_properties(0).total_memory / 2**30:.0f} GiB"))
        tell(Said("driver", _driver()))
        tell(Said("CUDA", str(torch.version.cuda)))
    tell(Said("torch", torch.__version__))
    tell(Said("Python", platform.python_version()))
    for package in PACKAGES:
        try:
            tell(Said(package, version(package)))
        except PackageNotFoundError:
            tell(Said(package, "missing"))


def _commit() -> str:
    """Return the commit, and whether there are changes since then; empty if unknown."""
    described = _printed("git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty")
    return described and f" at {described}"


def _driver() -> str:
    return _printed("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").partition("\n")[0] or "unknown"


def _printed(*command: str) -> str:
    """Return the output of a command; empty if it fails or does not exist."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode else done.stdout.strip()
