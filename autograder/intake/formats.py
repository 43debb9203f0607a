"""Turns the bytes of a notebook's file into JSON, from any encoding and old formats; `scripts.py` reads scripts.

An unreadable file is refused with one sentence that says what it is and what to do.
"""

import ast
import json
import re
from typing import Any

from autograder.errors import Unreadable
from autograder.intake.scripts import cells_of_script, is_script
from course_lib.judging.rules import syntax_tree

NOTEBOOK_PARTS = 4_000_000
NEWEST = (4, 5)
"""The newest known notebook format: major and minor version."""

_AGAIN = "open your own copy in Jupyter or Colab, save it, and submit it again."
_DEFINITION = re.compile(r"^(?:import [\w.]+|from [\w.]+ import |class \w+[(:]|(?:async )?def \w+\()", re.M)
_FENCE = re.compile(r"^```", re.M)
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.M)
_NO_NOTEBOOK = {
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"SQLite format 3": "a database",
    b"\x80\x04": "a pickle",
    b"7z\xbc\xaf": "an archive of a kind that is not opened here",
    b"Rar!": "an archive of a kind that is not opened here",
    b"PK": "a damaged archive",
    b"\x7fELF": "a program",
}


def decode(content: bytes, repairs: list[str]) -> dict[str, Any]:
    """Return the notebook in these bytes, as JSON in format 4.

    Args:
        content: the bytes of a file.
        repairs: receives a sentence for each repair.

    Raises:
        Unreadable: these bytes are not a notebook.
    """
    if not content.strip(b"\0\t\n\r \xef\xbb\xbf\xfe\xff"):
        raise Unreadable("The notebook is an empty file: save it and submit it again.")
    for magic, what in _NO_NOTEBOOK.items():
        if content.startswith(magic):
            raise Unreadable(f"The file is {what}, not a notebook: submit the .ipynb file that Jupyter or Colab saves.")
    text = _text(content, repairs)
    if re.match(r"[\s\ufeff]*<(?:!doctype|html|\?xml)", text, re.I):
        raise Unreadable(
            "The file is a web page, not a notebook: choose File > Download > .ipynb, and submit that file."
        )
    if not text.lstrip().startswith(("{", "[")):
        text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        if is_script(text):
            cells = cells_of_script(text)
            repairs.append("A Python script was handed in; its cells were read as those of the notebook.")
            return {"cells": cells, "metadata": {}, "nbformat": 4}
        if _FENCE.search(text) and syntax_tree(text) is None:
            raise Unreadable(
                "The file is a page of text, not a notebook: submit the .ipynb file that Jupyter or Colab saves."
            )
        if _is_python(text):
            raise Unreadable(
                "The file is a Python file, not a notebook: write your answers into the cells of the lesson's "
                "notebook, and submit that .ipynb file."
            )
    return _in_format_4(_json(text), repairs)


def _text(content: bytes, repairs: list[str]) -> str:
    encoding = json.detect_encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode(encoding, "replace")
        repairs.append("Some characters of the file could not be read and were replaced.")
    if encoding not in ("utf-8", "utf-8-sig"):
        repairs.append(f"The file was saved as {encoding.upper()}; it was read as such.")
    return text


def _is_python(text: str) -> bool:
    """Return whether a text is Python, even with mistakes; a word or sentence that happens to parse does not count."""
    tree = syntax_tree(text)
    statements = [] if tree is None else tree.body
    return _DEFINITION.search(text) is not None or any(
        isinstance(one.value, ast.Call) if isinstance(one, ast.Expr) else not isinstance(one, ast.AnnAssign)
        for one in statements
    )


def _json(text: str) -> dict[str, Any]:
    if text.count("{") + text.count("[") > NOTEBOOK_PARTS:
        raise Unreadable("The notebook has millions of parts: clear its outputs and submit it again.")
    try:
        notebook = json.loads(text, parse_constant=lambda name: None)
    except json.JSONDecodeError as error:
        raise Unreadable(_what_is_broken(text, error)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"The file is not a complete notebook (its JSON is broken): {_AGAIN}") from error
    if not isinstance(notebook, dict):
        raise Unreadable("The file is not a notebook: submit the .ipynb file that Jupyter or Colab saves.")
    return notebook


def _what_is_broken(text: str, error: json.JSONDecodeError) -> str:
    """Return a sentence that says where and why a notebook's JSON is broken, if that is clear."""
    conflict = _CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        return f"The file holds two versions that git could not merge (line {line}): keep one of them, and submit it."
    lines = text.count("\n", 0, len(text.rstrip())) + 1
    stops = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    if text.lstrip().startswith("{") and stops:
        return f"The notebook breaks off at line {lines}: {_AGAIN}"
    where = f"at line {error.lineno}, column {error.colno}"
    return f"The file is not a complete notebook (its JSON is broken {where}): {_AGAIN}"


def _in_format_4(notebook: dict[str, Any], repairs: list[str]) -> dict[str, Any]:
    """Convert an old notebook to format 4; return a newer one as it is, and note that."""
    major, minor = notebook.get("nbformat"), notebook.get("nbformat_minor")
    if type(major) is not int:
        if isinstance(notebook.get("cells"), list):
            repairs.append("The notebook does not say which format it is in; it was read as format 4.")
        return notebook
    if major < 4:
        import nbformat  # takes most of a second, and few notebooks are that old

        try:
            converted = dict(nbformat.reads(json.dumps(notebook), as_version=4))
        except Exception as error:  # nbformat's converters get unchecked data and may fail in any way
            raise Unreadable(f"The notebook is in an old format and damaged: {_AGAIN}") from error
        repairs.append(f"The notebook was in the old format {major}; it was converted.")
        return converted
    if major > NEWEST[0] or (type(minor) is int and (major, minor) > NEWEST):
        named = f"{major}.{minor}" if type(minor) is int else str(major)
        repairs.append(f"The notebook is in format {named[:20]}, newer than any known here; it was read as format 4.5.")
    return notebook
