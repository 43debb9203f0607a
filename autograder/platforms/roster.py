"""Reads tables of students: a course's own `roster.csv`, and those that learning platforms export.

A roster identifies each student: by an id, which names the folder in `submitted/`, the full name, the e-mail address,
and the platforms' numbers. The columns of a platform's export are recognized by their headings, in English and, for
Moodle, also in German.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.limits import size
from autograder.platforms.platform import Platform
from autograder.platforms.registry import PLATFORMS
from autograder.words import count, printable, some

ROSTER_NAME = "roster.csv"
"""The roster's file name, next to `nbgrader_config.py`; a course need not have one."""

TABLE_BYTES = 20_000_000

_DELIMITERS = ",;\t"
_PREFACE = re.compile(r'"?sep=(?P<delimiter>[^\w\s"]|\t)"?[ \t]*(?:\r\n|\r|\n)', re.I)


@dataclass
class CsvTable:
    """A CSV file.

    Attributes:
        headings: the columns' headings.
        rows: the other rows, with one cell for each heading.
        delimiter: the character between cells in its file.
        encoding: the encoding of its file.
        preface: the line before the headings in which Excel names the delimiter; empty if there is none.
        text: the file's text after that line; empty if it was not read from a file.
    """

    headings: list[str]
    rows: list[list[str]]
    delimiter: str = ","
    encoding: str = "utf-8"
    preface: str = ""
    text: str = field(default="", repr=False)

    def content(self) -> bytes:
        """Return the file's bytes, in UTF-8 if its encoding lacks a character that was added."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator="\r\n").writerows([self.headings, *self.rows])
        text = self.preface + out.getvalue()
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError:
            return text.encode("utf-8-sig")


def read_table(path: Path) -> CsvTable:
    """Read a CSV file of students.

    The delimiter is a comma, semicolon or tab, or the one that the first line names (`sep=;`). The encoding is UTF-16
    if the file begins with its byte order mark, else UTF-8, else Windows's cp1252.

    Raises:
        BadInput: it cannot be read, or is not a CSV file.
    """
    try:
        with path.open("rb") as file:
            return parse_table(file.read(TABLE_BYTES + 1), str(path))
    except OSError as error:
        raise BadInput(f"cannot read the table {path}: {error.strerror}; name a CSV file") from error


def parse_table(content: bytes, name: str) -> CsvTable:
    """Parse the bytes of a CSV file; see `read_table`.

    Args:
        content: the bytes.
        name: the file's name, for messages.
    """
    if len(content) > TABLE_BYTES:
        most = size(TABLE_BYTES, decimal=True)
        raise BadInput(f"the table {name} has more than {most}; export a list of students, and nothing else")
    encoding = _encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise BadInput(f"the table {name} is not in UTF-8; export it again as CSV in UTF-8") from None
    named = _PREFACE.match(text)
    preface = named[0] if named else ""
    text = text.removeprefix(preface)
    delimiter = named["delimiter"] if named else max(_DELIMITERS, key=text.partition("\n")[0].count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except csv.Error as error:
        raise BadInput(f"the table {name} is not a CSV file: {error}; export it again as CSV") from error
    if not rows:
        raise BadInput(f"the table {name} is empty; export it again as CSV")
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) > width:
            raise BadInput(
                f"row {number} of the table {name} has {len(row)} cells, but its first row has {width}; fix it"
            )
        row += [""] * (width - len(row))
    return CsvTable(rows[0], rows[1:], delimiter, encoding, preface, text)


def _encoding(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if content.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"  # as Excel writes CSV on Windows
    return "utf-8"


def number_in(cell: str) -> float | None:
    """Parse a number with a decimal point or comma; return None for anything else."""
    match = re.fullmatch(r"\s*(\d+)(?:[.,](\d+))?\s*", cell)
    return float(f"{match[1]}.{match[2] or 0}") if match else None


# Who is who --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Person:
    """A row of a roster.

    Attributes:
        id: the student's id, as written there.
        name: the full name; empty if there is none.
        email: the address; empty if there is none.
        numbers: the platforms' numbers for this student, by platform name.
        handed_in: by platform, the time of the last submission, in the platform's own time zone.
        late: by platform, whether it calls that submission late.
    """

    id: str
    name: str = ""
    email: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    handed_in: Mapping[str, datetime] = field(default_factory=dict)
    late: Mapping[str, bool] = field(default_factory=dict)

    def with_more(self, more: Person) -> Person:
        """Return the same student with the facts of another table added."""
        numbers, handed_in = {**more.numbers, **self.numbers}, {**self.handed_in, **more.handed_in}
        name, email = self.name or more.name, self.email or more.email
        return Person(self.id, name, email, numbers, handed_in, {**self.late, **more.late})


class Roster:
    """The students of a course, to be found by whatever a platform says about them."""

    def __init__(self, tables: Iterable[Iterable[Person]] = ()) -> None:
        """Merge the rows of several tables that are about the same student; the first row's id counts.

        Args:
            tables: the rows of each table, the course's own roster first. Two rows are about the same student if they
                have the same id or address, or, if one has no address, the same name.
        """
        self.people: dict[str, Person] = {}
        self._ids: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for people in tables:
            known = [(person, self.people.get(person.id) or self._same(person)) for person in people]
            for person, same in known:
                joined = same.with_more(person) if same else person
                self.people[joined.id] = joined
                for key in itertools.chain(*_keys(joined)):
                    self._ids[key].add(joined.id)

    def _same(self, person: Person) -> Person | None:
        """Return the student from earlier tables whom this row is about; None if that is unknown."""
        *_, by_email, by_name = map(self._with, _keys(person))
        ids = by_email or {id for id in by_name if not (self.people[id].email and person.email)}
        return self.people[ids.pop()] if len(ids) == 1 else None

    def find(self, about: Person) -> list[Person]:
        """Return the students who match these facts: one, none, or several.

        The first of these that matches anyone decides: a platform's number, the id, the e-mail address, the name.
        """
        ids = next(filter(None, map(self._with, _keys(about))), set())
        return [self.people[id] for id in sorted(ids)]

    def _with(self, keys: Iterable[tuple[str, ...]]) -> set[str]:
        return {id for key in keys for id in self._ids.get(key, ())}


def _keys(person: Person) -> Iterator[list[tuple[str, ...]]]:
    """Yield the keys by which a student is looked up, in order of precedence."""
    yield [("number", platform, number.casefold()) for platform, number in person.numbers.items() if number]
    yield [("id", person.id)]
    yield [("email", person.email.casefold())] if person.email else []
    yield [("name", key) for key in name_keys(person.name)]


def name_keys(name: str) -> set[str]:
    """Return the keys for looking up a name: its letters and digits, starting at each of its words in turn.

    So "Lovelace, Ada", "Ada Lovelace" and Canvas's "lovelaceada" match, and accents make no difference.
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).casefold()
    words = re.findall(r"[^\W_]+", plain)
    return {"".join(words[start:] + words[:start]) for start in range(len(words))}


@dataclass(frozen=True)
class Listed:
    """The students in a file, with remarks for whoever reads it.

    Attributes:
        people: one student for each id.
        remarks: sentences about rows that were left out.
        is_own: whether it is the course's own roster, not a platform's.
    """

    people: list[Person]
    remarks: list[str]
    is_own: bool


def who_is_who(course: Course, named: Sequence[Path] = (), beside: Sequence[Listed] = ()) -> tuple[Roster, list[str]]:
    """Return the students in the course's own `roster.csv`, the named tables and the others, with remarks on them.

    Raises:
        BadInput: a table cannot be read, or its columns are unknown.
    """
    own = course.root / ROSTER_NAME
    paths = [*([own] if own.is_file() and own not in named else []), *named]
    tables = sorted([*map(read_roster, paths), *beside], key=lambda listed: not listed.is_own)
    return Roster(listed.people for listed in tables), [remark for listed in tables for remark in listed.remarks]


def read_roster(path: Path) -> Listed:
    """Read the students in a CSV file: a course's own, or one that a platform has exported.

    Raises:
        BadInput: it cannot be read, or its columns are unknown.
    """
    return people_in(read_table(path), str(path))


def people_in(table: CsvTable, name: str) -> Listed:
    """Return the students in a table. If rows with the same id differ, all of them are left out.

    Args:
        table: the table.
        name: its file's name, for messages.

    Raises:
        BadInput: its columns are unknown.
    """
    kind = kind_of(table)
    if kind is None:
        there = some([printable(heading[:40]) for heading in table.headings])
        raise BadInput(
            f"the roster {name} has none of the columns that it should have (it has {there}); its first row should be "
            "id,name,email and, for a platform's own numbers, a column with its name, such as canvas"
        )
    columns = Columns(kind, table.headings)
    rows: dict[str, list[Person]] = defaultdict(list)
    nobody = 0
    for row in table.rows:
        if kind.has_rows_of_nobody and not columns.read(row, "number"):
            continue
        person = columns.person(row)
        if person.id:
            rows[person.id].append(person)
        else:
            nobody += any(map(str.strip, row))
    differing = [id for id, people in rows.items() if any(person != people[0] for person in people)]
    remarks = [
        f"{name}: {printable(id)} is in rows that differ, so none of them was used. Fix the rows." for id in differing
    ]
    if nobody:
        remarks.append(f"{name}: {count(nobody, 'row')} without an id left out.")
    once = [people[0] for id, people in rows.items() if id not in differing]
    return Listed(once, remarks, kind is _OWN)


class _Own(Platform):
    """A course's own table, which may have a column for each platform's numbers."""

    name = "own"
    table_marks = (frozenset({"id"}), frozenset({"student"}))
    table_columns: Mapping[str, Sequence[str]] = {
        "id": ("id", "student"),
        "name": ("name",),
        "email": ("email", "e-mail"),
        **{platform.name: (platform.name,) for platform in PLATFORMS},
    }


_OWN = _Own()


def kind_of(table: CsvTable) -> Platform | None:
    """Return the platform that a table comes from, by the largest set of marks in its headings; None if unknown."""
    headings = {heading.strip().casefold() for heading in table.headings}
    marks = {kind: max(map(len, filter(headings.issuperset, kind.table_marks)), default=0) for kind in _KINDS}
    return max((kind for kind in _KINDS if marks[kind]), key=marks.__getitem__, default=None)


_KINDS = (*PLATFORMS, _OWN)


class Columns:
    """Finds and reads the columns of a platform's table.

    Attributes:
        places: the columns' indices by role; if a role has several, the preferred one comes first.
    """

    def __init__(self, kind: Platform, headings: Sequence[str]) -> None:
        self._kind = kind
        there = {heading.strip().casefold(): place for place, heading in reversed(list(enumerate(headings)))}
        found = {
            role: [there[name.casefold()] for name in names if name.casefold() in there]
            for role, names in kind.table_columns.items()
        }
        self.places = {role: places for role, places in found.items() if places}

    def person(self, row: Sequence[str]) -> Person:
        """Return the student in a row; the id is empty if the row has none."""
        numbers = {platform.name: number for platform in PLATFORMS if (number := self.read(row, platform.name))}
        name = self._kind.name
        if number := self._kind.number_in_table(self.read(row, "number")):
            numbers[name] = number
        moment = written_date(self.read(row, "handed_in"))
        return Person(
            id=unicodedata.normalize("NFC", self.read(row, "id")),
            name=self.read(row, "name") or f"{self.read(row, 'first')} {self.read(row, 'last')}".strip(),
            email=self.read(row, "email"),
            numbers=numbers,
            handed_in={name: moment} if moment else {},
            late={name: True} if re.search(r"\blate\b|zu spät", self.read(row, "status").casefold()) else {},
        )

    def read(self, row: Sequence[str], role: str) -> str:
        """Return a row's value for a role: the first that is not empty, or an empty string."""
        return next((cell for place in self.places.get(role, ()) if (cell := row[place].strip())), "")


_MONTHS = {
    name: number
    for number, names in enumerate("jan feb mar,mär apr may,mai jun jul aug sep oct,okt nov dec,dez".split(), 1)
    for name in names.split(",")
}
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap])?\.?m?\b", re.I)


def written_date(text: str) -> datetime | None:
    """Parse a time as Moodle shows it: "Friday, 20 November 2026, 5:50 PM"; return None if it is not a time."""
    clock, year, day = _CLOCK.search(text), re.search(r"\b20\d\d\b", text), re.search(r"\b\d{1,2}\b(?!:)", text)
    month = next(
        (found for word in re.findall(r"[^\W\d_]{3,}", text.casefold()) if (found := _MONTHS.get(word[:3]))), 0
    )
    if not (clock and year and day and month):
        return None
    hour = int(clock[1]) % 12 + 12 * (clock[4].lower() == "p") if clock[4] else int(clock[1])
    try:
        return datetime(int(year.group()), month, int(day.group()), hour, int(clock[2]), int(clock[3] or 0))
    except ValueError:
        return None
