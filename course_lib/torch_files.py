"""Files that `torch.save` has written, read as plain data: tensors, numbers and texts, in lists and dictionaries.

Such a file is a pickle, and a pickle may hold code. It is read with `weights_only`, so that nothing in it is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch


def read_torch_file(path: Path | str) -> Any:
    """What the file holds, its tensors on the CPU.

    Raises:
        ValueError: it is cut off or damaged, torch has not written it, or it holds more than plain data.
        OSError: it cannot be read.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # of a damaged file torch says whatever it stumbles over, such as an AssertionError
        raise ValueError(f"{path} is damaged, or holds more than plain data ({first_line(error)})") from error


def first_line(error: Exception) -> str:
    """The beginning of what an error says, or its kind where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__
