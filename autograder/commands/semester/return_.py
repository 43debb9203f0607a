"""Return the feedback pages, under the names that a platform uses for its students."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.shared import add_lesson, course_of, make_folder, tell, writable
from autograder.console import output_console
from autograder.errors import BadInput
from autograder.platforms.registry import PLATFORMS
from autograder.words import count, printable

if TYPE_CHECKING:
    from autograder.delivery.return_ import GoingBack

EXAMPLE = "katze return 01_ols --for moodle"
SLOW = "reading the gradebook"
PAGE = "docs/returning.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson(parser)
    parser.add_argument(
        "--for",
        dest="platform",
        required=True,
        choices=[platform.name for platform in PLATFORMS if platform.feedback],
        help="the platform; `folder` writes a folder for each student",
    )
    parser.add_argument(
        "--to", metavar="FILE|DIR", help="the zip, or the folder (default: build/return/LESSON-PLATFORM.zip)"
    )
    parser.add_argument(
        "--worksheet",
        type=Path,
        metavar="FILE.csv",
        help="Moodle's grading worksheet, or Gradescope's grades: a copy is filled in, beside the zip",
    )
    parser.add_argument(
        "--scale",
        action="store_true",
        help="where a worksheet has another maximum, scale the points to it",
    )
    parser.add_argument(
        "--roster",
        type=Path,
        metavar="FILE.csv",
        help="the students' ids and names on the platform, besides roster.csv: for students not collected from it",
    )
    parser.add_argument(
        "--changed", action="store_true", help="leave out pages that were returned before and have not changed"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing; show what would be returned")


def run(options: argparse.Namespace) -> None:
    from autograder.delivery import return_

    course = course_of(options)
    plan = return_.plan(course, options.lesson, options.platform, options.roster, options.changed)
    to = Path(options.to) if options.to else return_.default_place(course, plan)
    filled, sheet, written = None, None, []
    if options.worksheet:
        filled = return_.fill_worksheet(plan, options.worksheet, options.scale)
        sheet = return_.worksheet_place(to, options.worksheet)
    if plan.pages and not options.dry_run:
        _check_place(to, is_folder=plan.platform.feedback == "folder")
        make_folder(to)
        return_.write_pages(plan, to)
        if filled is not None and sheet is not None:
            sheet.write_bytes(filled.content)
        return_.remember(course, plan, filled)
        written = [to, *([sheet] if sheet else [])]
    remarks = [*plan.remarks, *(filled.remarks if filled else ())]
    record = {
        "lesson": plan.lesson,
        "platform": plan.platform.name,
        "students": [page.record() for page in plan.pages],
        "remarks": remarks,
        "written": [str(path) for path in written],
    }
    places = ", ".join(os.path.relpath(path) for path in written)
    if options.json != "-":
        _print(plan, options.dry_run)
    tell(options, record, [f"written: {places}"] if written else [], remarks)


def _check_place(to: Path, is_folder: bool) -> None:
    """Refuse a place that cannot be written to, before anything is written."""
    try:
        if not is_folder:
            writable(str(to))
        elif to.exists() and not to.is_dir():
            raise BadInput(f"{to} is a file; name a folder with --to")
    except argparse.ArgumentTypeError as error:
        raise BadInput(str(error)) from None


def _print(plan: GoingBack, is_dry: bool) -> None:
    """Print a row for each page if nothing is written; else the number of pages."""
    from rich.table import Table

    from autograder.delivery.return_ import SAME

    console = output_console()
    if is_dry and plan.pages:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for heading in ("student", "points", "comment", "page", "goes back as"):
            table.add_column(heading, justify="right" if heading == "points" else "left", overflow="fold")
        for page in plan.pages:
            points = f"{page.points:g} / {page.most:g}"
            table.add_row(page.student, points, "yes" if page.comment else "", page.state, printable(page.name))
        console.print(table)
    if not plan.pages:
        console.print(f"nothing to return to {plan.platform}")
        return
    again = sum(page.state == SAME for page in plan.pages)
    before = f", {again} of them as they were returned before" if again else ""
    verb = "would be returned to" if is_dry else "for"
    console.print(f"{count(len(plan.pages), 'page')} {verb} {plan.platform}{before}")
