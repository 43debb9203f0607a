"""Make a folder to work in, with every lesson, and open JupyterLab on it."""

import argparse
import shlex
from pathlib import Path

from autograder.commands.shared import DONE, add_folder
from autograder.words import count

EXAMPLE = "katze learn work"
SLOW = "preparing the lessons"
COURSE = JSON = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser, Path("work"))
    parser.add_argument("--scripts", action="store_true", help="each lesson as a Python file, and no JupyterLab")
    parser.add_argument(
        "--lab",
        type=shlex.split,
        default=[],
        metavar="OPTIONS",
        help='for JupyterLab: --lab="--no-browser --port 9000"',
    )
    parser.add_argument("--no-lab", action="store_true", help="copy the lessons, and start nothing")
    parser.add_argument(
        "--move-answers",
        metavar="LESSON",
        help="move answers out of the released notebook of a lesson into the folder, and restore that notebook",
    )


def run(options: argparse.Namespace) -> int:
    if options.move_answers:
        from autograder.course.course import Course
        from autograder.learn.folder import move_answers

        moved = move_answers(Course.find(), options.move_answers, options.folder)
        print(f"your answers are in {moved} now; the release is as it was")
        return DONE
    from autograder.course.released import released_notebooks

    released = released_notebooks(Path.cwd())
    if options.scripts:
        from autograder.learn.script import write_scripts

        for line in write_scripts(released, options.folder):
            print(line)
        return DONE
    from autograder.course.colab import repository_of
    from autograder.learn.folder import copy_lessons
    from autograder.learn.lab import open_lab, write_start_page

    copied = copy_lessons(released, options.folder)
    if copied.new:
        print(f"{count(len(copied.new), 'lesson')} copied to {options.folder}/: this is where you write.")
    for lesson, before in copied.renewed.items():
        print(f"{lesson}: a new version, with your answers in it; what was there before is in {before}")
    for lesson in copied.foreign:
        print(f"{lesson}: left as it is, because it is from another version; rename it to get this one beside it")
    write_start_page(options.folder, repository_of(next(iter(released.values()))))
    if options.no_lab:
        return DONE
    print("JupyterLab starts; Ctrl-C here ends it.", flush=True)
    return open_lab(options.folder, options.lab)
