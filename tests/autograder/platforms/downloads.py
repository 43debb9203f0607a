"""Downloads in the shapes in which platforms deliver them, made in code, and a course that they are collected into."""

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

from autograder.course.course import Course

LESSON = "01_attention"
OTHER_LESSON = "02_masking"


def notebook(said: str = "", topic: str = "attention") -> bytes:
    """A notebook with a cell of a lesson, and something to tell it from others."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": f"# katze: {topic}.scores answer\n{said}"}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def make_course(folder: Path) -> Course:
    """A course of two lessons, with nothing handed in."""
    root = folder / "course"
    for lesson in (LESSON, OTHER_LESSON):
        place = root / "notebooks" / lesson / f"{lesson}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_bytes(notebook("release", lesson.partition("_")[2]))
    config = 'c = get_config()\nc.Katze.repository = "o/n"\nc.CourseDirectory.release_directory = "notebooks"\n'
    (root / "nbgrader_config.py").write_text(config)
    return Course.find(root)


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stored.getvalue()


def tarred(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stored.getvalue()


def put(place: Path, content: bytes) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


def laid(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        put(folder / name, content)
    return folder


def message(sender: str, files: Mapping[str, bytes], received: str = "", date: str = "") -> EmailMessage:
    """A message with attachments; `received` is what the last server wrote, `date` what the sender's clock said."""
    made = EmailMessage()
    if received:
        made["Received"] = f"from a.example by mail.uni.example; {received}"
    made["From"], made["To"], made["Subject"] = sender, "course@uni.example", "my homework"
    if date:
        made["Date"] = date
    made.set_content("Dear all")
    for name, content in files.items():
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made


def mailbox_of(place: Path, *messages: EmailMessage) -> Path:
    return put(place, b"".join(b"From someone Fri Nov 20 17:50:00 2020\n" + bytes(one) + b"\n" for one in messages))


def handed_in(course: Course) -> dict[str, bytes]:
    """Everything in `submitted/`, by path."""
    paths = sorted(path for path in course.submitted.rglob("*") if path.is_file())
    return {str(path.relative_to(course.submitted)): path.read_bytes() for path in paths}


def everything(folder: Path) -> dict[str, tuple[bytes, float]]:
    """All files below a folder, with when they were changed."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime) for path in paths}
