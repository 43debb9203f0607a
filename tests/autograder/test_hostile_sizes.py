"""A megabyte of anything is read, repaired and shown in time that grows with its size, not with its square."""

import json
import multiprocessing
from typing import Any

import pytest

from autograder.intake import sanitise
from autograder.intake.submission import read_notebook
from autograder.pages.feedback import render_feedback
from autograder.repair import repair
from tests.autograder.records import record
from tests.autograder.small_lesson import RELEASE, cell, filled

SIZE = 1_000_000
BLOW_UP_SECONDS = 20
"""Many times what the work takes: only what grows faster than the text does reaches it."""

HOSTILE = {
    "marker and spaces": "# katze: a b" + " " * SIZE + "x",
    "indented markers": "    # katze: a b " * (SIZE // 18),
    "spaces": " " * SIZE + "x",
    "backticks": "`" * SIZE,
    "tildes": "~" * SIZE,
    "fences": "```\n" * (SIZE // 4),
    "fences on one line": "``` " * (SIZE // 4),
    "many short runs": "``a`" * (SIZE // 4),
    "tag starts": "<" * SIZE,
    "open marks": "<b" + " " * SIZE,
    "many open marks": "<b " * (SIZE // 3),
    "attributes": "<a" + " b=c" * (SIZE // 4),
    "comments": "<!--" * (SIZE // 4),
    "autolinks": "<http://a" * (SIZE // 9),
    "entities": "&#1" * (SIZE // 3),
    "schemes": "javascript " * (SIZE // 11),
    "a scheme and spaces": "javascript" + " " * SIZE,
    "data": "data:" * (SIZE // 5),
    "attachments": "attachment:" * (SIZE // 11),
    "images": "![a](" * (SIZE // 5),
    "embedded images": "![a](data:image/png;base64,AAAA" * (SIZE // 31),
    "brackets": "[" * (SIZE // 4),
    "formulas": "$`a" * (SIZE // 3),
    "quotes": "> " * (SIZE // 2),
    "backslashes": "\\" * SIZE,
    "escapes": "\x1b[" * (SIZE // 8),
    "colours": "\x1b[" + "0;" * (SIZE // 2),
    "a name and spaces": "a" + " " * SIZE,
    "async": "async " * (SIZE // 6),
    "definitions": "a:" * (SIZE // 2),
}


def everything(hostile: str) -> None:
    """The way of a text through a submission, in every place where it may stand."""
    sanitise.markdown(hostile, longest=len(hostile))
    sanitise.attachments({hostile: {hostile: hostile, "image/png": hostile}})
    notebook = filled()
    shown: dict[str, Any] = {"output_type": "display_data", "data": {"text/html": hostile, hostile: hostile}}
    outputs = [shown, {"output_type": "stream", "text": hostile}, {"output_type": "error", "traceback": [hostile]}]
    notebook["cells"] += [
        cell("code", "c", hostile) | {"outputs": outputs},
        cell("raw", "r", hostile),
        cell("markdown", "m", hostile) | {"attachments": {"a": {"image/png": hostile}}},
        *[cell("markdown", f"m{number}", hostile[: sanitise.MARKDOWN_CHARACTERS]) for number in range(3)],
    ]
    repaired = repair(read_notebook(json.dumps(notebook).encode()), RELEASE)
    render_feedback(repaired.notebook(), record("ada", "small", repairs=repaired.repairs), {})


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_it_is_no_more_than_a_megabyte(name: str):
    process = multiprocessing.get_context("fork").Process(target=everything, args=(HOSTILE[name],), daemon=True)
    process.start()
    process.join(BLOW_UP_SECONDS)
    ended = process.exitcode
    process.kill()
    process.join()
    assert ended == 0, "it failed" if ended else "it takes far too long"
