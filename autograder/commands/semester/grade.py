"""Grade the submissions for a lesson, or for an assignment of a plain nbgrader course."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.commands.shared import (
    DONE,
    FAILED,
    add_lesson,
    add_level,
    add_scheduler,
    add_workers,
    course_of,
    tell,
    weakest_level,
)
from autograder.errors import BadInput, of_extra

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.box.fork_server.root import BoxRoot
    from autograder.course.course import Course

EXAMPLE = "katze grade 01_ols --workers 4"
PAGE = "docs/changes.md"


def SLOW(options: argparse.Namespace) -> str:
    """Return the line to print at once: sandboxes are started, unless nothing is run."""
    return "comparing" if options.dry_run and not options.on_a_copy else "starting the sandboxes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson(parser, metavar="ASSIGNMENT", help="the name of its folder, such as 01_ols")
    parser.add_argument("--student", action="append", metavar="ID", help="only this student (may be repeated)")
    parser.add_argument("--all-cells", action="store_true", help="run the cells tagged demo as well")
    parser.add_argument(
        "--solution",
        type=Path,
        metavar="FOLDER",
        help="for a plain nbgrader course: its own solution, tried first (default: nbgrader's source)",
    )
    parser.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    parser.add_argument("--force", action="store_true", help="grade everything again, whether it has changed or not")
    parser.add_argument(
        "--dry-run", action="store_true", help="say who and what would be graded, and why; write nothing"
    )
    parser.add_argument(
        "--run", action="store_true", dest="on_a_copy", help="with --dry-run: grade a copy, and say what would change"
    )
    add_workers(parser)
    add_scheduler(parser)
    add_level(parser)


def run(options: argparse.Namespace) -> int:
    from autograder.grading.early import begun_early

    course, level = course_of(options), weakest_level(options)
    is_here = options.scheduler is None and not options.dry_run
    early = begun_early(course, options.lesson, options.student, level, options.workers, options.force)
    with early if is_here else contextlib.nullcontext() as root:
        return _grade(course, root, options)


def _grade(course: Course, root: BoxRoot | None, options: argparse.Namespace) -> int:
    """Grade, in sandboxes that may be starting already; slow imports happen here, while they start."""
    from autograder.grading.backend import LocalBackend, StartBackend
    from autograder.grading.batch import grade_assignment
    from autograder.grading.preview import copied, preview_lesson
    from autograder.pages.terminal import NOTHING_WRITTEN, print_class, print_preview

    wanted: dict[str, Any] = {
        "students": options.student,
        "min_level": weakest_level(options),
        "skip_demos": not options.all_cells,
        "feedback": not options.no_feedback,
        "force": options.force,
        "solution": options.solution,
    }
    if options.on_a_copy and not options.dry_run:
        raise BadInput("--run works only with --dry-run; to grade, leave both out")
    if options.dry_run and not options.on_a_copy:
        preview = preview_lesson(course, options.lesson, **wanted)
        tell(options, preview, lambda console: print_preview(preview, console))
        return DONE
    backend: StartBackend = functools.partial(LocalBackend, root=root)
    if options.scheduler is not None:
        with of_extra("--scheduler", "cluster"):
            from autograder.cluster.backend import cluster_backend

        backend = cluster_backend(options.scheduler, options.workers, options.scheduler_wait, options.trust_scheduler)
    with copied(course, options.lesson) if options.dry_run else contextlib.nullcontext(course) as place:
        graded = grade_assignment(place, options.lesson, workers=options.workers, backend=backend, **wanted)

    def show(console: Console) -> None:
        print_class(graded, console)
        if options.dry_run:
            print(NOTHING_WRITTEN)
        elif graded.gradings:
            written = [course.gradebook, course.autograded, *([] if options.no_feedback else [course.feedback])]
            places = (os.path.relpath(one) if isinstance(one, os.PathLike) else str(one) for one in written)
            print("written:", ", ".join(places))

    if not options.dry_run:
        _warn_of_misplaced(course, options.lesson)
    tell(options, graded.records(), show)
    return FAILED if graded.left_ungraded or graded.refused else DONE


def _warn_of_misplaced(course: Course, lesson: str) -> None:
    """Name the files that a run did not look at."""
    from autograder.platforms.misplaced import how_to_collect, misplaced
    from autograder.words import some

    lost = misplaced(course, lesson)
    if not lost:
        return
    where = course.submitted / "STUDENT" / lesson
    print(f"not looked at: {some(lost)}; submissions belong in {where}/.", file=sys.stderr)
    collecting = how_to_collect(course)
    if collecting:
        print(f"{collecting}, if you have not done so yet, then move it somewhere else.", file=sys.stderr)
