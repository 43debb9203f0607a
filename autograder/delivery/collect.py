"""`katze collect`: moves a platform's download into `submitted/<student>/<lesson>/`. Begin here.

`platforms/download.py` opens the download, the platform's module finds the submissions in it, and `deliver.py` finds
out whose they are and puts them where grading looks for them. `course/store/collected.py` records where each one came
from.
"""

import contextlib
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, Literal

from autograder.course.course import Course
from autograder.course.store.collected import Delivery, OlderDelivery, read_collected, remarks_on_late, write_collected
from autograder.delivery.deliver import Deliverer, There, deliverer, folder_name, student_of
from autograder.errors import BadInput
from autograder.intake.archives import Refused, is_archive
from autograder.intake.handed_in import topics_in
from autograder.platforms.download import Download, opened_download
from autograder.platforms.platform import Found, Platform, in_utc, letters_of, names_in
from autograder.platforms.registry import PLATFORMS, named, names_a_submission, platform_by_names
from autograder.platforms.roster import TABLE_BYTES, Listed, Person, Roster, parse_table, people_in, who_is_who
from autograder.words import count, printable

logger = logging.getLogger(__name__)

Result = Literal["collected", "replaced", "unchanged", "older", "not collected"]

_SECTIONS = 20
"""The most archives in a download that are opened to find its platform; more than that are students' own."""

_LOOKED_INTO = 5
"""How many submissions are opened to find out the lesson, if no name tells."""

_AHEAD = timedelta(days=1)
"""How far ahead of this machine's clock a submission's time may be."""


@dataclass(frozen=True)
class Row:
    """The result of collecting one submission.

    Attributes:
        title: the platform's name for it.
        result: whether it is in `submitted/` now.
        student: its folder there; empty if no student was found.
        id: the student's id, if it cannot be a folder's name; else empty.
        name: the student's full name; empty if unknown.
        lesson: the lesson that it was collected for; empty if unclear.
        handed_in: when it was handed in, in ISO 8601 and UTC; empty if unknown.
        late: whether the platform calls it late; None if it does not say.
        said: remarks: why it was not collected, what was left out, what it replaces.
    """

    title: str
    result: Result
    student: str = ""
    id: str = ""
    name: str = ""
    lesson: str = ""
    handed_in: str = ""
    late: bool | None = None
    said: tuple[str, ...] = ()


@dataclass
class Collection:
    """The result of a run: what it has collected or, if dry, would collect.

    Attributes:
        source: the download's name.
        platform: the name of the platform that it comes from.
        rows: the result for each submission.
        refused: the reason for each file that belongs to no submission.
        remarks: sentences about rosters, late submissions and other lessons.
        dry_run: whether nothing was written.
    """

    source: str
    platform: str
    rows: list[Row] = field(default_factory=list)
    refused: Mapping[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    dry_run: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every submission was collected, or is older than one that was."""
        return all(row.result != "not collected" for row in self.rows)

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON data."""
        return asdict(self)


def collect(
    course: Course,
    path: Path,
    *,
    platform: str | None = None,
    lesson: str | None = None,
    rosters: Sequence[Path] = (),
    zone: tzinfo | None = None,
    dry_run: bool = False,
) -> Collection:
    """Collect the submissions in a download into a course.

    Args:
        path: a platform's download: an archive, a folder, a mailbox.
        platform: the name of the platform that it comes from; by default, the names in it tell.
        lesson: the lesson that it was handed in to; by default, names and notebooks tell. If a download holds several
            lessons, only this one is collected.
        rosters: tables of students; the course's own, and tables next to the submissions, are also read.
        zone: the time zone of times written without one; by default this machine's.
        dry_run: write nothing, and say what would be done.

    Raises:
        BadInput: the download or a roster cannot be read, its platform or lesson is unclear, or somebody else is
            collecting. Nothing has been written then.
    """
    if lesson is not None:
        course.release_notebook(lesson)
    with opened_download(path) as download:
        if path.resolve() == course.submitted.resolve():  # a raw download next to collected submissions
            lessons = set(course.lessons())
            download.files = [file for file in download.files if not set(file.path.split("/")[1:2]) & lessons]
        origin = named(platform) if platform else _guessed(download, course.lessons())
        roster, remarks = who_is_who(course, rosters, _tables_beside(download, origin))
        found = list(origin.read(download, course.lessons(), zone))
        if not found:
            said = "".join(f": {printable(name)}: {why}" for name, why in list(download.refused.items())[:1])
            raise BadInput(f"{path} holds no submissions from {origin}{said}; say with --from where it comes from")
        if not roster.people and origin.without_roster:
            remarks.append(f"No roster: {origin.without_roster} (docs/collecting.md).")
        collection = Collection(download.name, origin.name, refused=download.refused, remarks=remarks, dry_run=dry_run)
        by_lesson = _by_lesson(found, lesson, course.lessons(), path, origin, collection)
        with deliverer(course, dry_run) as delivery:
            run = _Run(course, origin, roster, zone, delivery, collection)
            for one_lesson, submissions in sorted(by_lesson.items()):
                run.take_lesson(one_lesson, submissions)
    collection.remarks += _late_ones(collection.rows, course)
    for row in collection.rows:
        logger.debug("%s: %s %s, %s", row.title, row.result, row.student, "; ".join(row.said))
    logger.info("%s, from %s: %d submissions", download.name, origin, len(collection.rows))
    collection.rows.sort(key=lambda row: (row.lesson, row.student, row.title))
    return collection


def _late_ones(rows: Sequence[Row], course: Course) -> Iterator[str]:
    """Yield remarks on students who are late by an unknown time, unless the course says how late."""
    by_lesson: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.late and not row.handed_in and row.student not in course.semester.lesson(row.lesson).handed_in:
            by_lesson[row.lesson].append(row.student)
    for lesson, students in sorted(by_lesson.items()):
        yield from remarks_on_late(lesson, sorted(filter(None, students)))


# The platform ------------------------------------------------------------------------------------------------


def _guessed(download: Download, lessons: Sequence[str]) -> Platform:
    """Return the platform that a download comes from; replace archives in it by their contents if they name one.

    Raises:
        BadInput: it comes from a platform that cannot be read.
    """
    *platforms, whatever = PLATFORMS
    found = next((platform for platform in platforms if platform.recognises(download, lessons)), None)
    if found is None and sum(is_archive(file.name) for file in download.files) <= _SECTIONS:
        unpacked = replace(download, refused={**download.refused})
        if unpacked.unpack():
            found = platform_by_names(*names_in(file.path for file in unpacked.files))
            if found is not None:  # else each archive is a student's, as in a folder
                download.files, download.refused = unpacked.files, unpacked.refused
    if found is None:
        whatever.recognises(download, lessons)
    return found or whatever


def _tables_beside(download: Download, platform: Platform) -> list[Listed]:
    """Return the students in tables next to the submissions, and take these tables out of the download.

    A table counts only where no student can have put it: in a place that the platform never uses for submissions.
    """
    listed = []
    for file in list(download.files) if platform.is_one_assignment else ():
        if file.name.lower().endswith(".csv") and file.path.count("/") <= 1 and not names_a_submission(file.path):
            with contextlib.suppress(BadInput, Refused):
                listed.append(people_in(parse_table(file.content(TABLE_BYTES), file.path), file.path))
                download.files.remove(file)
    return listed


# The lesson --------------------------------------------------------------------------------------------------


def _lesson_by_name(found: Found, lessons: Sequence[str]) -> str:
    """Return the lesson named by the platform or in the file names; empty if there is none."""
    for text in (found.lesson, *(path.rpartition("/")[2] for path in found.files), found.title):
        letters = letters_of(text)
        bearing = [lesson for lesson in lessons if letters_of(lesson) in letters]
        if bearing:
            return max(bearing, key=len)
    return ""


def _lesson_by_cells(found: Found, lessons: Sequence[str]) -> str:
    """Return the lesson whose cells its notebooks contain; empty if that is unclear."""
    by_topic = {lesson.partition("_")[2] or lesson: lesson for lesson in lessons}
    held = {by_topic[topic] for topic in topics_in(found.files.values()) if topic in by_topic}
    return held.pop() if len(held) == 1 else ""


def _by_lesson(
    found: Sequence[Found],
    wanted: str | None,
    lessons: Sequence[str],
    source: Path,
    platform: Platform,
    collection: Collection,
) -> dict[str, list[Found]]:
    """Return the submissions by lesson; only count those to unwanted lessons, and name those without a lesson.

    Raises:
        BadInput: a download of one assignment does not say which, or it is for another lesson than the one wanted.
    """
    if platform.is_one_assignment:
        return {_lesson_of_all(found, wanted, lessons, source): list(found)}
    by_lesson: dict[str, list[Found]] = defaultdict(list)
    strangers: Counter[str] = Counter()
    for submission in found:
        lesson = _lesson_by_name(submission, lessons)
        if submission.lesson and not lesson:
            strangers[submission.lesson] += 1
            continue
        lesson = lesson or _lesson_by_cells(submission, lessons) or wanted or ""
        if wanted and lesson != wanted:
            strangers[lesson] += 1
        elif lesson:
            by_lesson[lesson].append(submission)
        else:
            said = ("nothing says which lesson it was handed in to: collect it again with --lesson",)
            collection.rows.append(Row(submission.title, "not collected", name=submission.name, said=said))
    others = Counter({name: number for name, number in strangers.items() if name in lessons})
    if wanted and others and not (by_lesson or collection.rows) and not platform.is_all_lessons:
        raise _other(source, wanted, others)
    for name, number in sorted(strangers.items()):
        which = "another lesson" if name in lessons else "no lesson of this course"
        collection.remarks.append(f"{count(number, 'submission')} to {printable(name)} left out: it is {which}.")
    return by_lesson


def _lesson_of_all(found: Sequence[Found], wanted: str | None, lessons: Sequence[str], source: Path) -> str:
    """Return the lesson of a download of one assignment: the one wanted, else that of most submissions.

    Raises:
        BadInput: it is unclear, or most submissions lack the wanted lesson's name and contain another lesson's cells.
    """
    if wanted:
        unnamed = [submission for submission in found if _lesson_by_name(submission, lessons) != wanted]
        others = Counter(_lesson_by_cells(submission, lessons) for submission in unnamed[:_LOOKED_INTO])
        del others[wanted], others[""]
        if 2 * len(unnamed) > len(found) and 2 * others.total() > min(len(unnamed), _LOOKED_INTO):
            raise _other(source, wanted, others)
        return wanted
    lessons_of = Counter(filter(None, (_lesson_by_name(submission, lessons) for submission in found)))
    lessons_of = lessons_of or Counter(
        filter(None, (_lesson_by_cells(submission, lessons) for submission in found[:_LOOKED_INTO]))
    )
    if not lessons_of:
        raise BadInput(f"nothing in {source} says which lesson it was handed in to; name it with --lesson")
    [(lesson, times), *others_of] = lessons_of.most_common()
    if any(2 * number >= times for _, number in others_of):
        several = ", ".join(sorted(lessons_of))
        raise BadInput(f"{source} holds several lessons ({several}); collect one at a time, and name it with --lesson")
    return lesson


def _other(source: Path, wanted: str, others: Counter[str]) -> BadInput:
    lesson = printable(others.most_common(1)[0][0])
    return BadInput(
        f"{source} holds no {wanted}: its notebooks look like those of {lesson}; did you mean `--lesson {lesson}`?"
    )


# Collecting --------------------------------------------------------------------------------------------------


@dataclass
class _Run:
    """One run of `collect`, after the platform and the lessons are known."""

    course: Course
    platform: Platform
    roster: Roster
    zone: tzinfo | None
    delivery: Deliverer
    collection: Collection

    def take_lesson(self, lesson: str, found: Sequence[Found]) -> None:
        """Collect all submissions to a lesson, one student at a time."""
        together: dict[str, list[tuple[Found, Person]]] = defaultdict(list)
        for submission in found:
            try:
                person = student_of(submission, self.platform, self.roster)
            except Refused as refusal:
                self._report(submission, "not collected", [refusal.reason], lesson=lesson, name=submission.name)
            else:
                together[folder_name(person.id)].append((self._with_table(submission, person), person))
        before = read_collected(self.course, lesson)
        students = dict(before)
        try:
            for folder, attempts in sorted(together.items()):
                taken = self._take(lesson, folder, attempts, students.get(folder))
                if taken is not None:
                    students[folder] = taken
        finally:
            if not self.collection.dry_run and students != before:
                write_collected(self.course, lesson, students)

    def _with_table(self, found: Found, person: Person) -> Found:
        """Return a submission, adding its time and lateness from its platform's own table if they are missing."""
        platform = self.platform.name
        if person.numbers.get(platform) != found.number:
            return found
        stated = person.handed_in.get(platform)
        return replace(
            found,
            handed_in=in_utc(stated, self.zone) if found.handed_in is None and stated else found.handed_in,
            late=person.late.get(platform) if found.late is None else found.late,
        )

    def _take(
        self, lesson: str, folder: str, attempts: Sequence[tuple[Found, Person]], before: Delivery | None
    ) -> Delivery | None:
        """Collect a student's newest submission to a lesson; return what to record, or None for nothing."""
        said: list[str] = []
        person, possible = attempts[0][1], [_with_a_possible_time(attempt, said) for attempt, _ in attempts]
        by_time = all(attempt.handed_in for attempt in possible)  # else go by the platform's own count
        *older, newest = sorted(
            possible, key=lambda found: (found.handed_in.timestamp() if by_time and found.handed_in else 0, found.rank)
        )
        others = [OlderDelivery(attempt.title, _iso(attempt.handed_in)) for attempt in reversed(older)]
        for other in others:
            when = f", {other.handed_in}" if other.handed_in else ""
            said.append(f"an earlier one does not count: {printable(other.name)}{when}")
        name, id = person.name or newest.name, person.id if folder != person.id else ""
        report = partial(self._report, lesson=lesson, student=folder, name=name, id=id)
        if before is not None and self._is_older(newest, before, lesson):
            later = f"a later one was collected before: {printable(before.names[0])}"
            report(newest, "older", [later, *said])
            own = OlderDelivery(newest.title, _iso(newest.handed_in))
            return replace(before, others=_once([*before.others, own, *others]))
        try:
            staged = self.delivery.stage(newest, folder, lesson)
        except Refused as refusal:
            report(newest, "not collected", [refusal.reason, *said])
            return None
        said += [f"{printable(name)} was left out: {why}" for name, why in staged.left.items()]
        said += [printable(staged.problem)] if staged.problem else []
        there = staged.there()
        kept = "" if self.collection.dry_run else self.delivery.put(staged, there)
        if there == "another time":
            said.append("the same as before, but handed in at another time")
        if kept:
            said.append(f"the earlier version is in {kept}")
        if there == "something else":
            was = before or Delivery(folder, "", "", ("",))
            others.append(OlderDelivery(was.names[0], was.handed_in, was.digest, kept))
        if there == "the same" and before is not None:  # this download may say less about it than an earlier one
            stated = datetime.fromisoformat(before.handed_in) if before.handed_in else None
            late = before.late if newest.late is None else newest.late
            newest = replace(newest, handed_in=newest.handed_in or stated, late=late)
        result: dict[There, Result] = {"the same": "unchanged", "something else": "replaced"}
        report(newest, result.get(there, "collected"), said)
        return Delivery(
            student=folder,
            platform=self.platform.name,
            source=self.collection.source,
            names=staged.names,
            number=newest.number,
            id=id,
            name=name,
            email=person.email or newest.email,
            handed_in=_iso(newest.handed_in),
            late=newest.late,
            attempt=newest.attempt,
            digest=staged.digest,
            rank=newest.rank,
            extra=newest.extra,
            others=_once([*others, *(before.others if before else ())]),
        )

    def _report(self, found: Found, result: Result, said: Sequence[str], **facts: str) -> None:
        row = Row(found.title, result, handed_in=_iso(found.handed_in), late=found.late, said=tuple(said), **facts)
        self.collection.rows.append(row)

    def _is_older(self, newest: Found, before: Delivery, lesson: str) -> bool:
        """Return whether a submission is older than the one that was collected and is still in `submitted/`."""
        if not (self.course.submitted / before.student / lesson).exists():
            return False
        if newest.handed_in is not None and before.handed_in:
            return newest.handed_in < datetime.fromisoformat(before.handed_in)
        return before.platform == self.platform.name and 0 < newest.rank < before.rank


def _with_a_possible_time(found: Found, said: list[str]) -> Found:
    if found.handed_in is None or found.handed_in <= datetime.now(UTC) + _AHEAD:
        return found
    said.append(f"its time, {_iso(found.handed_in)}, is in the future, so it was not used")
    return replace(found, handed_in=None)


def _iso(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat() if moment else ""


def _once(others: Sequence[OlderDelivery]) -> tuple[OlderDelivery, ...]:
    """Return each of them once: collecting the same download again adds nothing."""
    return tuple({(other.name, other.handed_in, other.kept): other for other in others}.values())
