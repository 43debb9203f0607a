"""Returns a lesson's feedback: all pages in one zip, each under the name by which a platform knows the student.

A page is returned only if it is unchanged since it was written and shows the current points. The remarks name everyone
who is left out.
"""

import hashlib
import logging
import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from shlex import quote
from typing import Any

from autograder.course.course import Course
from autograder.course.store.collected import Delivery, read_collected
from autograder.delivery.history import ReturnedPage, digest_of, digest_of_text, page_of, read_returned, write_returned
from autograder.delivery.worksheet import Filled, WorksheetRow, fill
from autograder.errors import BadInput
from autograder.gradebook.grades import read_grades
from autograder.gradebook.record import Record
from autograder.grading.by_hand import outdated_pages
from autograder.grading.digests import fingerprints
from autograder.platforms.platform import Platform, leads_out
from autograder.platforms.registry import PLATFORMS, named
from autograder.platforms.roster import Person, Roster, who_is_who
from autograder.words import some
from course_lib.ground.files import put_in_place

logger = logging.getLogger(__name__)

NEW, CHANGED, SAME = "new", "changed", "as returned"


@dataclass(frozen=True, kw_only=True)
class Page(WorksheetRow):
    """A student's page, and the facts for finding the student in a worksheet.

    Attributes:
        name: its path in the zip or folder; empty if the platform could not tell whose it is.
        path: the page's file.
        digest: its SHA-256, in hexadecimal.
        state: whether it is "new", has "changed" since it was returned, or is "as returned".
    """

    name: str
    path: Path = field(repr=False)
    digest: str
    state: str

    def record(self) -> dict[str, Any]:
        """Return it as JSON data."""
        facts = ("student", "name", "points", "most", "comment", "state")
        return {name: getattr(self, name) for name in facts}


@dataclass(frozen=True)
class GoingBack:
    """The pages that go back, and remarks on those that do not.

    Attributes:
        lesson: the lesson.
        platform: the platform that they go to.
        pages: the pages, sorted by student id.
        remarks: sentences on who is left out and why, and on pages that may still change.
    """

    lesson: str
    platform: Platform
    pages: tuple[Page, ...]
    remarks: tuple[str, ...] = ()


def plan(
    course: Course, lesson: str, platform: str, roster: Path | None = None, only_changed: bool = False
) -> GoingBack:
    """Find out which of a lesson's pages can be returned; write nothing.

    Args:
        platform: the name of a platform that takes feedback.
        roster: a CSV file with the platform's numbers, for students who were not collected from it; used in addition to
            the course's own `roster.csv`.
        only_changed: leave out pages that have not changed since they were returned.

    Raises:
        BadInput: nothing in the lesson has been graded; or the roster, or the record of what was collected or
            returned, cannot be read.
    """
    if course.is_plain(lesson):
        raise BadInput(
            f"{lesson} is a plain nbgrader assignment, with a page for each notebook, in {course.feedback}: `nbgrader "
            f"release_feedback {quote(lesson)}` returns them"
        )
    target = named(platform)
    records = read_grades(course, [lesson])[lesson]
    deliveries, returned = read_collected(course, lesson), read_returned(course, lesson)
    people, remarks = who_is_who(course, [roster] if roster else [])
    outdated = set(outdated_pages(course, lesson, records))
    left_out: dict[str, list[str]] = defaultdict(list)
    pages: dict[str, Page] = {}
    for record in records:
        if record.total is None:
            left_out["No score, so no page is returned: {}."].append(record.student)
            continue
        delivery = deliveries.get(record.student, Delivery(record.student, "", "", ()))
        page = _page(course, record, record.total, target, delivery, people, returned.get(record.student))
        if record.student in outdated:
            again = f"run `{course.grading(lesson)}` first: {{}}"
            left_out[f"The page is missing, or does not show the current points; {again}."].append(record.student)
        elif not page.name:
            also = " and no number in the roster," if target.names_by_number else ""
            reason = f"Not collected from {target},{also} so the page has no name there: {{}}."
            left_out[reason].append(record.student)
        elif leads_out(page.name) or page.name in pages:
            left_out["The platform's name for the page cannot be used as a file name: {}."].append(record.student)
        elif not (only_changed and page.state == SAME):
            pages[page.name] = page
    going_back = {page.student for page in pages.values()}
    remarks += [sentence.format(some(students)) for sentence, students in left_out.items()]
    remarks += _not_final(course, lesson, [record for record in records if record.student in going_back])
    return GoingBack(lesson, target, tuple(pages.values()), tuple(remarks))


def _page(
    course: Course,
    record: Record,
    points: float,
    platform: Platform,
    delivery: Delivery,
    people: Roster,
    before: ReturnedPage | None,
) -> Page:
    is_from_there = delivery.platform == platform.name
    numbers = {platform.name: delivery.number} if is_from_there else {}
    found = people.find(Person(delivery.id or delivery.student, "", delivery.email, numbers))
    person = found[0] if len(found) == 1 else None
    number = numbers.get(platform.name) or (person.numbers.get(platform.name, "") if person else "")
    if is_from_there or platform.feedback == "folder":
        name = platform.page_name(delivery, record.lesson)
    else:
        name = platform.page_name_by_number(person.name, number, record.lesson) if person else ""
    path = page_of(course, record.lesson, record.student)
    digest = digest_of(path)
    is_new = before is None or before.platform != platform.name
    return Page(
        student=record.student,
        number=number,
        ids=frozenset(filter(None, (record.student, delivery.id, person.id if person else ""))),
        email=delivery.email or (person.email if person else ""),
        points=points,
        most=record.most,
        comment=_comment(record),
        earlier=before.comment if before else "",
        name=name,
        path=path,
        digest=digest,
        state=NEW if is_new else SAME if before and before.page == digest else CHANGED,
    )


def _comment(record: Record) -> str:
    """Return a person's comments to a student as HTML, a paragraph for each cell; it never begins like a formula."""
    comments = [(re.sub(r"-(?:written|answer|check)$", "", cell.cell), cell.comment.strip()) for cell in record.by_hand]
    return "".join(
        f"<p>{escape(cell.replace('-', '.', 1))}: {escape(comment).replace(chr(10), '<br>')}</p>"
        for cell, comment in comments
        if comment
    )


def _not_final(course: Course, lesson: str, records: Sequence[Record]) -> Iterator[str]:
    """Yield the reasons why the pages of these records may still change."""

    def is_another(record: Record) -> bool:
        folder = course.submitted / record.student / lesson
        return folder.is_dir() and fingerprints.of_submission(folder) != record.digest

    reasons: dict[str, Callable[[Record], object]] = {
        "A written answer has not been read yet, and its points are missing": lambda one: one.waiting,
        "Changed after a person gave points, which count until the answer is read again": lambda one: one.changed,
        "An exercise could not be graded, its points are missing, and the page says why": lambda one: one.ungraded,
        f"Handed in again since it was graded; `{course.grading(lesson)}` grades that": is_another,
    }
    for reason, holds in reasons.items():
        students = [record.student for record in records if holds(record)]
        if students:
            yield f"{reason}: {some(students)}."


def fill_worksheet(plan: GoingBack, worksheet: Path, scale: bool = False) -> Filled:
    """Fill in points, and for Moodle comments, in a table that the platform has exported; see `worksheet.fill`.

    Raises:
        BadInput: as for `worksheet.fill`; or Katze fills in no table for this platform.
    """
    if "points" not in plan.platform.table_columns:
        known = " and ".join(platform.name for platform in PLATFORMS if "points" in platform.table_columns)
        raise BadInput(f"--worksheet is for {known}; {plan.platform.instead_of_worksheet}")
    return fill(worksheet, plan.platform, plan.pages, scale)


def write_pages(plan: GoingBack, to: Path) -> None:
    """Write the pages into a zip (all or nothing) or into a folder, with only one page in memory at a time."""
    logger.info("%d pages into %s", len(plan.pages), to)
    if plan.platform.feedback == "folder":
        for page in plan.pages:
            path = to / page.name
            path.parent.mkdir(parents=True, exist_ok=True)
            with put_in_place(path) as draft:
                draft.write_bytes(_read(page))
        return
    with put_in_place(to) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in plan.pages:
            about = zipfile.ZipInfo.from_file(page.path, page.name)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            archive.writestr(about, _read(page))


def _read(page: Page) -> bytes:
    """Return the page's content, which must be the same as when the plan was made."""
    content = page.path.read_bytes()
    if hashlib.sha256(content).hexdigest() != page.digest:
        raise BadInput(f"{page.path} was rewritten in the meantime; run this again when `katze grade` has ended")
    return content


def remember(course: Course, plan: GoingBack, filled: Filled | None = None) -> None:
    """Record that these pages were returned."""
    pages, now = read_returned(course, plan.lesson), datetime.now(UTC).isoformat(timespec="seconds")
    for page in plan.pages:
        written = filled is not None and page.student in filled.comments
        comment = digest_of_text(page.comment) if written else page.earlier
        pages[page.student] = ReturnedPage(plan.platform.name, page.digest, now, comment)
    write_returned(course, plan.lesson, pages)


def default_place(course: Course, plan: GoingBack) -> Path:
    """Return where to write the pages, unless `--to` names another place."""
    name = f"{plan.lesson}-{plan.platform.name}"
    return course.root / "build" / "return" / (name if plan.platform.feedback == "folder" else f"{name}.zip")


def worksheet_place(zip_path: Path, worksheet: Path) -> Path:
    """Return where to write a filled worksheet: next to the zip, and never over the one that was exported.

    Raises:
        BadInput: the exported worksheet is in that very place.
    """
    path = zip_path.parent / f"{zip_path.stem}-worksheet.csv"
    if path.exists() and os.path.samefile(path, worksheet):
        raise BadInput(f"{worksheet} is where the filled worksheet goes; move it, or choose another --to")
    return path
