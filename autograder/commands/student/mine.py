"""Write your own transformer to files, from the answers that have passed, with a page about it; let it run GPT-2."""

import argparse
import subprocess
import sys
from pathlib import Path
from shlex import join

from autograder.commands.shared import add_folder, tell
from autograder.errors import BadInput

EXAMPLE = "katze mine work"
SLOW = "joining your answers"
COURSE = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser, Path())
    parser.add_argument(
        "--gpt2", type=Path, metavar="FOLDER", help="also let GPT-2, published in FOLDER, continue TEXT"
    )
    parser.add_argument("--text", default="The cat opened the fridge and", help="default: %(default)s")


def run(options: argparse.Namespace) -> None:
    from course_lib.learner.ending import PAGE, ending_page
    from course_lib.learner.folder import work_in
    from course_lib.mine.whole import CannotWrite, my_transformer, told

    work_in(options.folder)
    found = my_transformer()
    try:
        page, text = options.folder / PAGE, ending_page().markdown()
        file = found.write(options.folder, {PAGE: text})
        is_written = page.read_bytes() == text.encode()
    except CannotWrite as problem:
        raise BadInput(str(problem)) from None
    except OSError as problem:
        raise BadInput(f"nothing can be written to {options.folder}: {problem.strerror}") from None
    records = [{"exercise": piece.exercise_id, "own": piece.own, "problem": piece.problem} for piece in found.pieces]
    borrowed = [told(piece) for piece in found.shown if not piece.own]
    if is_written:
        kept = f"written: {page}, with what you have built, and what to read and build next"
    else:
        kept = f"{page} stays as it is, since you have changed it: give it another name to have a new one written"
    lines = [found.counted, *borrowed, kept, f"written: {file}; run it with: {join([sys.executable, str(file)])}"]
    record: dict[str, object] = {"file": str(file), "page": str(page), "pieces": records}
    if options.gpt2:
        continued = _continued(file, options.gpt2, options.text)
        record["continued"] = continued
        lines.append(continued)
    tell(options, record, lines)


def _continued(file: Path, folder: Path, text: str) -> str:
    """Return the text continued by GPT-2 in the learner's own classes, which run in a separate process.

    Raises:
        BadInput: the folder lacks a file, a piece is missing, or the classes cannot do it.
    """
    needed = ("config.json", "model.safetensors", "vocab.json", "merges.txt")
    if missing := [name for name in needed if not (folder / name).is_file()]:
        raise BadInput(f"{folder} has no {', '.join(missing)}: it must hold GPT-2 as published")
    if not file.with_name("my_gpt.py").is_file():
        raise BadInput("a piece of the GPT cannot be borrowed in this course: write it first")
    command = [sys.executable, str(file), "--gpt2", str(folder), text]
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if ran.returncode:
        raise BadInput(f"your classes cannot run it: {ran.stderr.strip().splitlines()[-1]}")
    return ran.stdout.removesuffix("\n")
