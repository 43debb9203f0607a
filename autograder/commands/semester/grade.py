"""`katze grade`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING, Any

from autograder.commands.adding import (
    Commands,
    add_json,
    add_lesson,
    add_level,
    add_scheduler,
    add_workers,
    course_of,
    weakest_level,
)
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import write_json
from autograder.errors import BadInput

if TYPE_CHECKING:
    from autograder.course.course import Course
    from autograder.gradebook.results import ClassResult
    from autograder.grading.batch import Hire
    from autograder.grading.preview import Preview


def add(commands: Commands) -> None:
    grade = commands.add(
        "grade",
        _run,
        "grade the submissions to a lesson",
        "katze grade 01_ols --workers 4",
        slow=lambda options: "comparing" if options.dry_run and not options.on_a_copy else "starting the boxes",
        page="docs/changes.md",
    )
    add_lesson(grade)
    grade.add_argument("--student", action="append", metavar="ID", help="only this student (may be repeated)")
    grade.add_argument("--all-cells", action="store_true", help="run the cells tagged demo as well")
    grade.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    grade.add_argument("--force", action="store_true", help="grade everything again, changed or not")
    grade.add_argument(
        "--dry-run", action="store_true", help="say who and what would be graded, and why; write nothing"
    )
    grade.add_argument(
        "--run", action="store_true", dest="on_a_copy", help="with --dry-run: grade a copy, and say what would change"
    )
    add_workers(grade)
    add_scheduler(grade)
    add_level(grade)
    add_json(grade)


def _run(options: argparse.Namespace) -> int:
    gc.disable()  # what is imported is not garbage, and looking for some takes a fifth of the time
    from autograder.grading.batch import grade_lesson
    from autograder.grading.preview import copied, preview_lesson
    from autograder.pages.preview import NOTHING_WRITTEN
    from autograder.pages.terminal import print_class
    from autograder.platforms.misplaced import how_to_collect, misplaced
    from autograder.words import some

    gc.freeze()
    gc.enable()
    course = course_of(options)
    wanted: dict[str, Any] = {
        "students": options.student,
        "min_level": weakest_level(options),
        "skip_demos": not options.all_cells,
        "feedback": not options.no_feedback,
        "force": options.force,
    }
    if options.on_a_copy and not options.dry_run:
        raise BadInput("--run is for --dry-run; without either, `katze grade` grades")
    if options.dry_run and not options.on_a_copy:
        return tell_preview(preview_lesson(course, options.lesson, **wanted), options)
    if options.dry_run:
        with copied(course, options.lesson) as copy:
            run = grade_lesson(copy, options.lesson, workers=options.workers, hire=_hire(options), **wanted)
        if options.json:
            write_json(options.json, run.records())
        if options.json != "-":
            print_class(run)
            print(NOTHING_WRITTEN)
        return status_of_run(run)
    run = grade_lesson(course, options.lesson, workers=options.workers, hire=_hire(options), **wanted)
    if options.json != "-":
        print_class(run)
    lost = misplaced(course, options.lesson)
    if lost:
        where = course.submitted / "STUDENT" / options.lesson
        print(f"not looked at: {some(lost)}; submissions belong in {where}/.", file=sys.stderr)
        collecting = how_to_collect(course)
        if collecting:
            print(f"{collecting}, if you have not yet, and move it elsewhere.", file=sys.stderr)
    return conclude_run(course, run, options)


def tell_preview(preview: Preview, options: argparse.Namespace) -> int:
    """Tell what a run would do, and return the exit status."""
    from autograder.pages.preview import print_preview

    if options.json:
        write_json(options.json, preview.records())
    if options.json != "-":
        print_preview(preview.records())
    return DONE


def _hire(options: argparse.Namespace) -> Hire | None:
    """Who grades: the cluster at `--scheduler`, or None for processes of this machine."""
    if options.scheduler is None:
        return None
    from autograder.cluster.backend import cluster_backend

    return cluster_backend(options.scheduler, options.workers, options.scheduler_wait, options.trust_scheduler)


def conclude_run(course: Course, run: ClassResult, options: argparse.Namespace) -> int:
    """Name what a run has written, write its records where `--json` says, and return the exit status."""
    if run.gradings and options.json != "-":
        written = [course.gradebook, course.autograded, *([] if options.no_feedback else [course.feedback])]
        shown = (os.path.relpath(one) if isinstance(one, os.PathLike) else str(one) for one in written)
        print("written:", ", ".join(shown))
    if options.json:
        write_json(options.json, run.records())
    return status_of_run(run)


def status_of_run(run: ClassResult) -> int:
    """The exit status after a run: whether something could not be graded, or a folder's name kept somebody out."""
    return FAILED if run.left_ungraded or run.refused else DONE
