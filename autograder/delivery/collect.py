"""`katze collect`: from what a platform delivers to `submitted/<student>/<lesson>/`. Begin here.

`platforms/download.py` opens it, the platform's own file finds the submissions in it, `students.py` says whose they
are, and `deliver.py` puts them where grading looks for them. `course/store/collected.py` keeps where each came from.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Literal

from autograder.course.course import Course
from autograder.course.store.collected import (
    Delivery,
    OlderDelivery,
    read_collected,
    remarks_on_late,
    write_collected,
)
from autograder.delivery.deliver import Deliverer, Staged, deliverer
from autograder.delivery.students import Submitter, student_of
from autograder.errors import BadInput
from autograder.intake.archives import Refused
from autograder.intake.handed_in import topics_in
from autograder.platforms.download import Download, opened_download
from autograder.platforms.known.folder import PLATFORM as FOLDER
from autograder.platforms.known.folder import require_folder
from autograder.platforms.platform import Found, Platform, in_utc, letters_of, names_in
from autograder.platforms.registry import PLATFORMS, named, names_a_submission, platform_by_names
from autograder.platforms.roster import ROSTER_NAME, TABLE_BYTES, Listed, Roster, parse_table, people_in, read_roster
from autograder.words import count, printable

logger = logging.getLogger(__name__)

Result = Literal["collected", "replaced", "unchanged", "older", "not collected"]

_SECTIONS = 20
"""The most archives in one that may be a platform's, rather than a student's each."""

_LOOKED_INTO = 5
"""How many submissions are opened to learn their lesson, where no name tells."""

_AHEAD = timedelta(days=1)
"""How far a clock may be ahead of this machine's."""


@dataclass(frozen=True)
class Row:
    """What became of a submission.

    Attributes:
        title: what the platform calls it.
        result: whether it lies in `submitted/` now.
        student: its folder there; empty where nobody was found.
        id: the student's id, where it cannot name a folder; else empty.
        name: the student's full name, if it is known.
        lesson: what it was taken for; empty where that cannot be told.
        handed_in: when, in ISO 8601 and UTC; empty where nothing tells.
        late: whether the platform calls it late.
        said: what there is to know about it: why it was not collected, what was left out, what it replaces.
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
    """What a run has collected, or, where it was a dry one, would collect.

    Attributes:
        source: what was collected, by its name.
        platform: where it comes from, by its name.
        rows: what became of each submission.
        refused: files that are part of none, with the reason.
        remarks: a sentence each about rosters.
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
        """Whether every submission was taken, or is older than one that was."""
        return all(row.result != "not collected" for row in self.rows)

    def record(self) -> dict[str, Any]:
        """All of it as JSON data."""
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
    """Take the submissions of a download into a course.

    Args:
        course: where to.
        path: what a platform delivers: an archive, a folder, a mailbox.
        platform: where it comes from, by its name; by default told from the names in it.
        lesson: what it was handed in to; by default told from names and notebooks. Of a download that holds several
            lessons only this one is collected.
        rosters: who is who; the course's own, and tables beside the submissions, are read as well.
        zone: of times that are written without one; by default this machine's.
        dry_run: write nothing, and say what would be done.

    Raises:
        BadInput: before anything is written: the download or a roster cannot be read, its platform or lesson cannot
            be told, or somebody else is collecting.
    """
    if lesson is not None:
        course.release_notebook(lesson)
    with opened_download(path) as download:
        if path.resolve() == course.submitted.resolve():  # a raw download beside what was collected already
            lessons = set(course.lessons())
            download.files = [file for file in download.files if not set(file.path.split("/")[1:2]) & lessons]
        origin = named(platform) if platform else _guessed(download, course)
        listed = _listed(course, download, origin, rosters)
        found = list(origin.read(download, course.lessons(), zone))
        if not found:
            told = "".join(f": {printable(name)}: {why}" for name, why in list(download.refused.items())[:1])
            raise BadInput(f"{path} holds no submissions from {origin}{told}; say with --from where it comes from")
        collection = Collection(download.name, origin.name, refused=download.refused, dry_run=dry_run)
        collection.remarks += [remark for one in listed for remark in one.remarks]
        by_lesson = _by_lesson(found, lesson, course, path, origin, collection)
        with deliverer(course, dry_run) as delivery:
            roster = Roster(one.people for one in listed)
            if not roster.people and origin.without_roster:
                collection.remarks.append(f"No roster: {origin.without_roster} (docs/collecting.md).")
            run = _Run(course, download.name, origin, roster, zone, delivery, collection)
            for one_lesson, submissions in sorted(by_lesson.items()):
                run.take_lesson(one_lesson, submissions)
    collection.remarks += _late_ones(collection.rows, course)
    for row in collection.rows:
        logger.debug("%s: %s %s, %s", row.title, row.result, row.student, "; ".join(row.said))
    logger.info("%s, from %s: %d submissions", download.name, origin, len(collection.rows))
    collection.rows.sort(key=lambda row: (row.lesson, row.student, row.title))
    return collection


def _late_ones(rows: Sequence[Row], course: Course) -> Iterator[str]:
    """Who is late, and nobody knows by how much, unless the course says so."""
    by_lesson: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.late and not row.handed_in and row.student not in course.semester.lesson(row.lesson).handed_in:
            by_lesson[row.lesson].append(row.student)
    for lesson, students in sorted(by_lesson.items()):
        yield from remarks_on_late(lesson, sorted(filter(None, students)))


# What it is --------------------------------------------------------------------------------------------------


def _guessed(download: Download, course: Course) -> Platform:
    """Where a download comes from. A few archives in it are opened, if they turn out to be a platform's."""
    lessons = course.lessons()
    found = next((one for one in PLATFORMS if one.recognises(download, lessons)), None)
    if found is None and len([file for file in download.files if file.is_archive]) <= _SECTIONS:
        before, refused = list(download.files), dict(download.refused)
        if download.unpack():
            found = platform_by_names(*names_in(file.path for file in download.files))
            if found is None:
                download.files = before  # one archive a student, as in a folder
                download.refused.clear()
                download.refused.update(refused)
    if found is None:
        require_folder(download, lessons)
    return found or FOLDER


def _listed(course: Course, download: Download, platform: Platform, rosters: Sequence[Path]) -> list[Listed]:
    """The students in all rosters, the course's own first: those that were named, and those beside the submissions.

    A table beside them counts only where no student can have put it: under a name that the platform gives to nobody's
    submission.
    """
    own = course.root / ROSTER_NAME
    named = [*rosters, *([own] if own.is_file() and own not in rosters else [])]
    listed = [read_roster(path) for path in named]
    if platform.is_one_assignment:
        for file in [file for file in download.files if file.name.lower().endswith(".csv")]:
            if not names_a_submission(file.path) and file.path.count("/") <= 1:
                try:
                    listed.append(people_in(parse_table(file.content(TABLE_BYTES), file.path), file.path))
                except (BadInput, Refused):
                    continue
                download.files.remove(file)
    return sorted(listed, key=lambda one: not one.is_own)


# What it was handed in to ------------------------------------------------------------------------------------


def _lesson_by_name(found: Found, lessons: Sequence[str]) -> str:
    """The lesson whose name its platform or its files bear; empty where none does."""
    for text in (found.lesson, *(path.rpartition("/")[2] for path in found.files), found.title):
        letters = letters_of(text)
        bearing = [lesson for lesson in lessons if letters_of(lesson) in letters]
        if bearing:
            return max(bearing, key=len)
    return ""


def _lesson_by_cells(found: Found, lessons: Sequence[str]) -> str:
    """The lesson whose cells its notebooks hold; empty where that cannot be told."""
    by_topic = {lesson.partition("_")[2] or lesson: lesson for lesson in lessons}
    held = {by_topic[topic] for topic in topics_in(found.files.values()) if topic in by_topic}
    return held.pop() if len(held) == 1 else ""


def _by_lesson(
    found: Sequence[Found],
    wanted: str | None,
    course: Course,
    source: Path,
    platform: Platform,
    collection: Collection,
) -> dict[str, list[Found]]:
    """The submissions by their lessons; those that were not asked for are only counted, those of none are told.

    Raises:
        BadInput: a download of one assignment does not say of which.
    """
    lessons = course.lessons()
    if platform.is_one_assignment:
        if wanted:
            _require_no_other(found, wanted, lessons, source)
        return {wanted or _lesson_of_all(found, lessons, source): list(found)}
    by_lesson: dict[str, list[Found]] = defaultdict(list)
    strangers: Counter[str] = Counter()
    for one in found:
        lesson = _lesson_by_name(one, lessons)
        if one.lesson and not lesson:
            strangers[one.lesson] += 1
            continue
        lesson = lesson or _lesson_by_cells(one, lessons) or wanted or ""
        if wanted and lesson != wanted:
            strangers[lesson] += 1
        elif lesson:
            by_lesson[lesson].append(one)
        else:
            said = ("nothing says which lesson it was handed in to: collect it again with --lesson",)
            collection.rows.append(Row(one.title, "not collected", name=one.name, said=said))
    others = Counter({name: number for name, number in strangers.items() if name in lessons})
    if wanted and others and not (by_lesson or collection.rows) and not platform.is_all_lessons:
        raise _other(source, wanted, others)
    for name, number in sorted(strangers.items()):
        which = "another lesson" if name in lessons else "no lesson of this course"
        collection.remarks.append(f"{count(number, 'submission')} to {printable(name)} left out: it is {which}.")
    return by_lesson


def _require_no_other(found: Sequence[Found], wanted: str, lessons: Sequence[str], source: Path) -> None:
    """Ask where most submissions of an assignment do not bear the lesson's name, and hold another's cells.

    Raises:
        BadInput: they do.
    """
    unnamed = [one for one in found if _lesson_by_name(one, lessons) != wanted]
    looked_into = unnamed[:_LOOKED_INTO]
    told = Counter(_lesson_by_cells(one, lessons) for one in looked_into)
    del told[wanted], told[""]
    if 2 * len(unnamed) > len(found) and 2 * sum(told.values()) > len(looked_into):
        raise _other(source, wanted, told)


def _other(source: Path, wanted: str, told: Counter[str]) -> BadInput:
    lesson = told.most_common(1)[0][0]
    return BadInput(
        f"{source} holds no {wanted}: its notebooks are named and made like those of {printable(lesson)}; is it "
        f"`--lesson {printable(lesson)}`?"
    )


def _lesson_of_all(found: Sequence[Found], lessons: Sequence[str], source: Path) -> str:
    """The lesson of an assignment's download, by what most of its submissions are.

    Raises:
        BadInput: it cannot be told.
    """
    told = Counter(filter(None, (_lesson_by_name(one, lessons) for one in found)))
    if not told:
        told = Counter(filter(None, (_lesson_by_cells(one, lessons) for one in found[:_LOOKED_INTO])))
    if not told:
        raise BadInput(f"nothing in {source} says which lesson it was handed in to; name it with --lesson")
    [(lesson, times), *others] = told.most_common()
    if any(2 * number >= times for _, number in others):
        several = ", ".join(sorted(told))
        raise BadInput(f"{source} holds several lessons ({several}); collect one at a time, and name it with --lesson")
    return lesson


# Taking it in ------------------------------------------------------------------------------------------------


@dataclass
class _Run:
    """One run of `collect`, once it is known what the download is."""

    course: Course
    source: str
    platform: Platform
    roster: Roster
    zone: tzinfo | None
    delivery: Deliverer
    collection: Collection
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def take_lesson(self, lesson: str, found: Sequence[Found]) -> None:
        """Take in all submissions to a lesson, a student at a time."""
        together: dict[str, list[tuple[Found, Submitter]]] = defaultdict(list)
        for one in found:
            try:
                student = student_of(one, self.platform, self.roster)
            except Refused as refusal:
                self._row(one, "not collected", [refusal.reason], lesson=lesson, name=one.name)
            else:
                together[student.folder].append((one, student))
        before = read_collected(self.course, lesson)
        students = dict(before)
        try:
            for folder, attempts in sorted(together.items()):
                told = [self._told(one, student) for one, student in attempts]
                taken = self._take(lesson, attempts[0][1], told, students.get(folder))
                if taken is not None:
                    students[folder] = taken
        finally:
            if not self.collection.dry_run and students != before:
                write_collected(self.course, lesson, students)

    def _told(self, found: Found, student: Submitter) -> Found:
        """A submission with what its platform's own table says of it: when it came, and whether it was late."""
        person, platform = student.person, self.platform.name
        if person.numbers.get(platform) == found.number:
            stated = person.handed_in.get(platform)
            if found.handed_in is None and stated is not None:
                found = replace(found, handed_in=in_utc(stated, self.zone))
            if found.late is None and platform in person.late:
                found = replace(found, late=person.late[platform])
        return found

    def _take(
        self, lesson: str, student: Submitter, attempts: Sequence[Found], before: Delivery | None
    ) -> Delivery | None:
        """Take in a student's newest submission to a lesson; returns what is to be recorded, None if nothing is."""
        said: list[str] = []
        possible = [self._with_a_possible_time(one, said) for one in attempts]
        by_time = all(one.handed_in for one in possible)  # else the platform's own count must do
        *older, newest = sorted(
            possible, key=lambda one: (one.handed_in.timestamp() if by_time and one.handed_in else 0, one.rank)
        )
        others = [OlderDelivery(one.title, _iso(one.handed_in)) for one in reversed(older)]
        said += [f"an earlier one does not count: {_called(other)}" for other in others]
        facts = {
            "lesson": lesson,
            "student": student.folder,
            "name": student.person.name or newest.name,
            "id": student.person.id if student.is_renamed else "",
        }
        if before is not None and self._is_older(newest, before, lesson):
            said.insert(0, f"a later one was collected before: {printable(before.names[0])}")
            self._row(newest, "older", said, **facts)
            others.insert(0, OlderDelivery(newest.title, _iso(newest.handed_in)))
            return replace(before, others=_once([*before.others, *others]))
        try:
            staged = self.delivery.stage(newest, student.folder, lesson)
        except Refused as refusal:
            self._row(newest, "not collected", [refusal.reason, *said], **facts)
            return None
        said += [f"{printable(name)} was left out: {why}" for name, why in staged.left.items()]
        if staged.problem:
            said.append(printable(staged.problem))
        result, kept = self._deliver(staged, said)
        if result == "replaced":
            others.append(
                OlderDelivery(before.names[0], before.handed_in, before.digest, kept)
                if before
                else OlderDelivery("", kept=kept)
            )
        if result == "unchanged" and before is not None:  # this download may know less of it than an earlier one
            newest = replace(
                newest,
                handed_in=newest.handed_in or (datetime.fromisoformat(before.handed_in) if before.handed_in else None),
                late=before.late if newest.late is None else newest.late,
            )
        self._row(newest, result, said, **facts)
        return Delivery(
            student=student.folder,
            platform=self.platform.name,
            source=self.source,
            names=staged.names,
            number=newest.number,
            id=facts["id"],
            name=facts["name"],
            email=student.person.email or newest.email,
            handed_in=_iso(newest.handed_in),
            late=newest.late,
            attempt=newest.attempt,
            digest=staged.digest,
            rank=newest.rank,
            extra=newest.extra,
            others=_once([*others, *(before.others if before else ())]),
        )

    def _with_a_possible_time(self, found: Found, said: list[str]) -> Found:
        if found.handed_in is None or found.handed_in <= self.now + _AHEAD:
            return found
        said.append(f"its time, {_iso(found.handed_in)}, lies ahead, so nothing is said about when it came")
        return replace(found, handed_in=None, rank=0)

    def _is_older(self, newest: Found, before: Delivery, lesson: str) -> bool:
        """Whether a submission came before the one that was collected, and lies in `submitted/` still."""
        if not (self.course.submitted / before.student / lesson).exists():
            return False
        if newest.handed_in is not None and before.handed_in:
            return newest.handed_in < datetime.fromisoformat(before.handed_in)
        return before.platform == self.platform.name and 0 < newest.rank < before.rank

    def _deliver(self, staged: Staged, said: list[str]) -> tuple[Result, str]:
        """Put a submission where it belongs; how that went, and where what lay there is kept."""
        standing = staged.standing
        kept = "" if self.collection.dry_run else self.delivery.put(staged)
        if standing == "same":
            return "unchanged", ""
        if standing == "time":
            said.append("the same as before, and when it came has changed")
        if kept:
            said.append(f"what was there is in {kept}")
        return ("replaced" if standing == "other" else "collected"), kept

    def _row(self, found: Found, result: Result, said: Sequence[str], **facts: str) -> None:
        when = _iso(found.handed_in)
        row = Row(title=found.title, result=result, handed_in=when, late=found.late, said=tuple(said), **facts)
        self.collection.rows.append(row)


def _iso(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat() if moment else ""


def _called(other: OlderDelivery) -> str:
    return printable(other.name) + (f", {other.handed_in}" if other.handed_in else "")


def _once(others: Sequence[OlderDelivery]) -> tuple[OlderDelivery, ...]:
    """Each of them once: collecting the same again says nothing new."""
    return tuple({(other.name, other.handed_in, other.kept): other for other in others}.values())
