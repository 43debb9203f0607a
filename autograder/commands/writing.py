"""Writes a command's results to a file or to standard output."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

BUILT = "build"
"""The folder for commands' output. It and its subfolders are created when needed; all other folders must exist."""


def writable(name: str) -> str:
    """Return the name of a file, checked to be writable before the work is done rather than after.

    Raises:
        argparse.ArgumentTypeError: the file cannot be written.
    """
    path = Path(name)
    folder = path.parent
    while BUILT in folder.parts and not folder.exists():  # `make_folder` will create it
        folder = folder.parent
    if name != "-" and (path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK)):
        missing = "" if folder.exists() else f"there is no folder {folder}; "
        raise argparse.ArgumentTypeError(f"cannot write {name}: {missing}name a file in a folder that exists")
    return name


def make_folder(path: Path) -> None:
    """Create the folder of a file that is about to be written, if it is below `build`."""
    if BUILT in path.parent.parts:
        path.parent.mkdir(parents=True, exist_ok=True)


def tell(
    options: argparse.Namespace, data: Any, shown: Iterable[str] | Callable[[], object], remarks: Iterable[str] = ()
) -> None:
    """Report a command's results: as JSON to where `--json` says, and as text unless JSON goes to the terminal.

    Args:
        options: the command's options.
        data: the results as JSON data.
        shown: the lines for the terminal, or a function that prints them.
        remarks: lines for standard error, printed first.
    """
    if options.json:
        write_content(options.json, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
    if options.json == "-":
        return
    for remark in remarks:
        print(remark, file=sys.stderr)
    if callable(shown):
        shown()
    else:
        for line in shown:
            print(line)


def write_content(destination: str, content: bytes) -> None:
    """Write to a file, or to standard output if the destination is "-"."""
    if destination == "-":
        sys.stdout.write(content.decode().replace("\r\n", "\n"))
    else:
        make_folder(Path(destination))
        Path(destination).write_bytes(content)
