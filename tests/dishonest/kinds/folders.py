"""What is handed in beside the notebook, or in its place."""

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import torch

from autograder.demo.student import write_plainly
from tests.dishonest.attempt import LESSON, UNREADABLE, ZEROS, Attempt, Notebook, edited, in_answer

MARK = "katze-was-here"
"""Names a file that only a pickle that was loaded would make."""


class Poison:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (f"/tmp/{MARK}-{os.getuid()}",)


def _with(extra: Callable[[Path], None]) -> Callable[[Path, Notebook], None]:
    """A way to write that adds something to the folder of the notebook."""

    def write(path: Path, notebook: Notebook) -> None:
        write_plainly(path, notebook)
        extra(path.parent)

    return write


def _instead(make: Callable[[Path], object]) -> Callable[[Path, Notebook], None]:
    """A way to write something that is not a notebook under the notebook's name."""
    return lambda path, notebook: make(path) and None


def _pickles(folder: Path) -> None:
    (folder / "answers.pkl").write_bytes(pickle.dumps(Poison()))
    torch.save({"weights": Poison()}, folder / "model.pt")
    numpy.savez(folder / "data.npz", numpy.array([Poison()], dtype=object))
    (folder / "conftest.py").write_text("raise SystemExit")
    (folder / "sitecustomize.py").write_text("raise SystemExit")
    (folder / "torch.py").write_text("raise SystemExit")
    (folder / ".ipython").mkdir()
    (folder / "nbgrader_config.py").write_text("raise SystemExit")


def _links(folder: Path) -> None:
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "timestamp.txt").symlink_to("/etc/passwd")
    (folder / "loop").symlink_to("loop")
    os.link(folder / f"{LESSON}.ipynb", folder / "twin.ipynb")
    os.mkfifo(folder / "pipe")


def _names(folder: Path) -> None:
    for name in (
        "<script>alert(1)<",
        "-rf *",
        "a\nb.ipynb",
        "\x1b[2J.ipynb",
        "[red].ipynb",
        "{{7*7}}",
        "$(reboot)",
        "\udcff",
    ):
        (folder / name).write_text("")


def _timestamp(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "timestamp.txt").write_text(text) and None


def _links_to(target: str) -> Callable[[Path, Notebook], None]:
    return _instead(lambda path: path.symlink_to(target))


def _hard_link(path: Path, notebook: Notebook) -> None:
    """A second name of a file that is none of the student's."""
    secret = path.parents[3] / "somebody-elses-file"
    secret.write_text("the secret")
    os.link(secret, path)


def _linked_folder(path: Path, notebook: Notebook) -> None:
    path.parent.rmdir()
    path.parent.symlink_to("../ada_reference/" + LESSON)


def _zipped(path: Path, notebook: Notebook) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../../evil", "x")
        archive.writestr(path.name, bytes(50_000_000))
    path.write_bytes(held.getvalue())


def _bomb(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no space


def _deep(path: Path) -> None:
    path.write_text('{"cells": ' + "[" * 200_000)


def _parts(path: Path) -> None:
    path.write_text(json.dumps({"cells": [[]] * 5_000_000}))


def _many_cells(notebook: Notebook) -> None:
    notebook["cells"] *= 100


def _beside(name: str, tries: str, extra: Callable[[Path], None]) -> Attempt:
    return edited(name, tries, lambda notebook: None, _with(extra))


def _no_notebook(name: str, tries: str, write: Callable[[Path, Notebook], None]) -> Attempt:
    return Attempt(name, tries, write=write, otherwise=UNREADABLE)


ATTEMPTS = (
    _beside("pickles", "Hands in pickles, and modules with the names of those that a grader imports.", _pickles),
    in_answer(
        "loads_its_pickles",
        "Unpickles its own code inside the sandbox, to run it as somebody else.",
        f"import pickle\npickle.loads({pickle.dumps(Poison())!r})\n{ZEROS}",
    ),
    _beside("links_beside", "Hands in links, pipes and second names of files.", _links),
    _beside("names_of_files", "Hands in files whose names are commands, scripts and sequences for terminals.", _names),
    _beside("timestamp_early", "Says that it was handed in years ago.", _timestamp("1970-01-01 00:00:00.000000 UTC\n")),
    _beside(
        "timestamp_late",
        "Says that it was handed in when calendars have ended.",
        _timestamp("99999-99-99 99:99:99 Mars\n"),
    ),
    _beside(
        "timestamp_script",
        "Puts a script where the time should be.",
        _timestamp("<script>alert(1)</script>'); DROP TABLE grade;--"),
    ),
    _beside(
        "timestamp_folder", "Puts a folder where the time should be.", lambda folder: (folder / "timestamp.txt").mkdir()
    ),
    _no_notebook(
        "link_to_neighbour",
        "Links to the notebook of a neighbor.",
        _links_to(f"../../ada_reference/{LESSON}/{LESSON}.ipynb"),
    ),
    _no_notebook("link_to_secret", "Links to the course's secret.", _links_to("../../../.katze/secret")),
    _no_notebook("link_to_itself", "Links to itself.", _links_to(f"{LESSON}.ipynb")),
    _no_notebook("link_to_device", "Links to a file without end.", _links_to("/dev/zero")),
    _no_notebook("linked_folder", "Makes the whole folder a link to a neighbor's.", _linked_folder),
    _no_notebook("hard_link", "Gives somebody else's file a second name.", _hard_link),
    _no_notebook("pipe", "Hands in a pipe, on which a reader waits for ever.", _instead(os.mkfifo)),
    _no_notebook("folder", "Hands in a folder.", _instead(Path.mkdir)),
    _no_notebook("terabyte", "Hands in a terabyte.", _instead(_bomb)),
    _no_notebook(
        "archive", "Hands in an archive that unpacks outside its folder, and to a thousand times its size.", _zipped
    ),
    _no_notebook("deep_notebook", "Nests its notebook two hundred thousand deep.", _instead(_deep)),
    _no_notebook("five_million_parts", "Hands in a notebook of five million parts.", _instead(_parts)),
    _no_notebook(
        "pickled_notebook",
        "Hands in a pickle as its notebook.",
        _instead(lambda path: path.write_bytes(pickle.dumps(Poison()))),
    ),
    Attempt("thousands_of_cells", "Hands in every cell a hundred times.", edit=_many_cells, otherwise=UNREADABLE),
)
