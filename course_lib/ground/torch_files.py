"""Reads files that `torch.save` wrote as plain data: tensors, numbers and texts, in lists and dictionaries.

Such a file is a pickle, which may contain code. It is read with `weights_only`, so nothing in it runs.
"""

import zipfile
from pathlib import Path
from typing import Any

import torch


def read_torch_file(path: Path | str) -> Any:
    """Read the file's content, its tensors on the CPU.

    Raises:
        ValueError: the file is cut off or damaged, was not written by torch, or holds more than plain data.
        OSError: the file cannot be opened.
    """
    with Path(path).open("rb"):
        pass  # a file that cannot be opened is not damaged
    try:
        _check_intact(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises almost anything for a damaged file, even an OSError
        raise ValueError(f"{path} is damaged, or holds more than plain data ({first_line(error)})") from error


def _check_intact(path: Path | str) -> None:
    """Verify the checksums, which torch writes but does not check: a changed number is still a number.

    Raises:
        ValueError: a checksum does not match.
        zipfile.BadZipFile: the file is cut off or damaged.
    """
    if not zipfile.is_zipfile(path):
        return  # older files have no checksums
    with zipfile.ZipFile(path) as archive:
        changed = archive.testzip()
    if changed is not None:
        raise ValueError(f"{changed} in it was changed after it was written")


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or the error's type if it has none."""
    lines = str(error).strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__
