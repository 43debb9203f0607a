"""`katze grade`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.commands.adding import (
    Commands,
    add_json,
    add_level,
    add_scheduler,
    add_workers,
    course_of,
    known_lessons,
    weakest_level,
)
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import write_json
from autograder.errors import BadInput, of_extra

if TYPE_CHECKING:
    from autograder.box.confinement.levels import Level
    from autograder.box.fork_server.root import BoxRoot
    from autograder.course.course import Course
    from autograder.gradebook.results import ClassResult
    from autograder.grading.preview import Preview


def add(commands: Commands) -> None:
    """Add `katze grade`."""
    summary = "grade the submissions to a lesson, or to an assignment of a plain nbgrader course"
    add_grading(commands, "grade", summary, "katze grade 01_ols --workers 4", "docs/changes.md")


def add_grading(commands: Commands, name: str, summary: str, example: str, page: str) -> None:
    """Add a command that grades; see `Commands.add`."""
    grade = commands.add(
        name,
        _run,
        summary,
        example,
        slow=lambda options: "comparing" if options.dry_run and not options.on_a_copy else "starting the boxes",
        page=page,
    )
    lesson = grade.add_argument("lesson", metavar="ASSIGNMENT", help="its folder's name, such as 01_ols")
    lesson.completer = lambda **_asked: known_lessons()  # type: ignore[attr-defined]
    grade.add_argument("--student", action="append", metavar="ID", help="only this student (may be repeated)")
    grade.add_argument("--all-cells", action="store_true", help="run the cells tagged demo as well")
    grade.add_argument(
        "--solution",
        type=Path,
        metavar="FOLDER",
        help="of a plain nbgrader course: its own solution, tried first (default: nbgrader's source)",
    )
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
    from autograder.grading.early import begun_early

    course, level = course_of(options), weakest_level(options)
    is_here = options.scheduler is None and not options.dry_run
    early = begun_early(course, options.lesson, options.student, level, options.workers, options.force)
    with early if is_here else contextlib.nullcontext() as root:
        return _grade(course, level, root, options)


def _grade(course: Course, level: Level | None, root: BoxRoot | None, options: argparse.Namespace) -> int:
    """Grade, with boxes that may have been begun; import only now what takes as long as their start."""
    from autograder.grading.backend import LocalBackend, StartBackend
    from autograder.grading.batch import grade_assignment
    from autograder.grading.preview import copied, preview_lesson
    from autograder.pages.preview import NOTHING_WRITTEN
    from autograder.pages.terminal import print_class

    wanted: dict[str, Any] = {
        "students": options.student,
        "min_level": level,
        "skip_demos": not options.all_cells,
        "feedback": not options.no_feedback,
        "force": options.force,
        "solution": options.solution,
    }
    if options.on_a_copy and not options.dry_run:
        raise BadInput("--run is for --dry-run; without either, `katze grade` grades")
    if options.dry_run and not options.on_a_copy:
        return _report_preview(preview_lesson(course, options.lesson, **wanted), options)
    backend: StartBackend = functools.partial(LocalBackend, root=root)
    if options.scheduler is not None:
        with of_extra("--scheduler", "cluster"):
            from autograder.cluster.backend import cluster_backend

        backend = cluster_backend(options.scheduler, options.workers, options.scheduler_wait, options.trust_scheduler)
    with copied(course, options.lesson) if options.dry_run else contextlib.nullcontext(course) as place:
        run = grade_assignment(place, options.lesson, workers=options.workers, backend=backend, **wanted)
    if options.json != "-":
        print_class(run)
        if options.dry_run:
            print(NOTHING_WRITTEN)
    if not options.dry_run:
        _report_places(course, run, options)
    if options.json:
        write_json(options.json, run.records())
    return FAILED if run.left_ungraded or run.refused else DONE


def _report_preview(preview: Preview, options: argparse.Namespace) -> int:
    """Say what a run would do, and return the exit status."""
    from autograder.pages.preview import print_preview

    if options.json:
        write_json(options.json, preview.records())
    if options.json != "-":
        print_preview(preview.records())
    return DONE


def _report_places(course: Course, run: ClassResult, options: argparse.Namespace) -> None:
    """Name what a run has not looked at, and what it has written."""
    from autograder.platforms.misplaced import how_to_collect, misplaced
    from autograder.words import some

    lost = misplaced(course, options.lesson)
    if lost:
        where = course.submitted / "STUDENT" / options.lesson
        print(f"not looked at: {some(lost)}; submissions belong in {where}/.", file=sys.stderr)
        collecting = how_to_collect(course)
        if collecting:
            print(f"{collecting}, if you have not yet, and move it elsewhere.", file=sys.stderr)
    if run.gradings and options.json != "-":
        written = [course.gradebook, course.autograded, *([] if options.no_feedback else [course.feedback])]
        shown = (os.path.relpath(one) if isinstance(one, os.PathLike) else str(one) for one in written)
        print("written:", ", ".join(shown))
