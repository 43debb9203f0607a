"""Write your own transformer to a file, of the answers that have passed, and a page on what you have built."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote

from autograder.commands.adding import add_folder
from autograder.commands.writing import tell
from autograder.errors import BadInput

EXAMPLE = "katze mine work"
SLOW = "joining your answers"
COURSE = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser, Path())


def run(options: argparse.Namespace) -> None:
    from course_lib.learner.ending import PAGE, ending_page
    from course_lib.learner.folder import work_in
    from course_lib.mine.whole import CannotWrite, my_transformer, told

    work_in(options.folder)
    found = my_transformer()
    try:
        file, page = found.write(options.folder), options.folder / PAGE
        is_new = not page.exists()
        if is_new:  # else it may be the learner's by now
            page.write_text(ending_page().markdown(), encoding="utf-8")
    except CannotWrite as problem:
        raise BadInput(str(problem)) from None
    except OSError as problem:
        raise BadInput(f"nothing can be written to {options.folder}: {problem.strerror}") from None
    pieces = found.joined.pieces
    records = [{"exercise": one.exercise_id, "own": one.own, "problem": one.problem} for one in pieces]
    borrowed = [told(piece) for piece in pieces if not piece.own]
    if is_new:
        kept = f"written: {page}, with what you have built, and what to read and build next"
    else:
        kept = f"{page} stays as it is: remove it to have it written anew"
    lines = [found.counted, *borrowed, kept, f"written: {file}; run it with: python {quote(str(file))}"]
    tell(options, {"file": str(file), "page": str(page), "pieces": records}, lines)
