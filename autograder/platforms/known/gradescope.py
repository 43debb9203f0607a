"""Gradescope: the zip of "Export Submissions", `submission_123/` folders next to `submission_metadata.yml`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any

import yaml

from autograder.course.store.collected import Delivery
from autograder.errors import BadInput
from autograder.intake.archives import File, Refused
from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform, by_submission

FOLDER = re.compile(r"submission_(?P<number>\d+)")
"""The name of a submission's folder."""

LIST = "submission_metadata.yml"
"""The file next to those folders that says who handed each one in, and when."""

LIST_BYTES = 50_000_000
DEEPEST = 100


class Gradescope(Platform):
    """Gradescope, whose numbers identify submissions."""

    name = "gradescope"
    order = 20
    folder_names = (FOLDER,)
    is_one_assignment = True
    numbers_students = False
    roster_table = "the grades that Gradescope exports"
    table_marks = (frozenset({"sid", "email"}),)
    table_columns = {
        "name": ("Name",),
        "first": ("First Name",),
        "last": ("Last Name",),
        "email": ("Email",),
        "number": ("Submission ID",),
        "id": ("SID", "Email"),
        "points": ("Total Score",),
        "most": ("Max Points",),
    }
    feedback = "zip"

    def has_named(self, folders: Iterable[str], files: Iterable[str], lessons: Sequence[str] = ()) -> bool:
        """Return whether a folder has such a name, or `LIST` is among the files."""
        return LIST in files or super().has_named(folders, files)

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield the submissions, a group's once for each member. Without `LIST`, only the folders' numbers are known.

        Raises:
            BadInput: the list cannot be read.
        """
        lists = [file for file in download.files if file.name == LIST and not _is_handed_in(file)]
        listed = {folder: facts for file in lists for folder, facts in _listed(file).items()}
        handed_in = replace(download, files=[file for file in download.files if file not in lists])
        together = by_submission(
            handed_in, lambda part: part in listed or FOLDER.fullmatch(part), "it is not in a submission's folder"
        )
        for missing in sorted(listed.keys() - together.keys()):
            download.refused[missing] = f"{LIST} names it, but it is not there"
        for folder, files in together.items():
            yield from _submissions(folder, files, listed.get(folder, {}))

    def page_name(self, delivery: Delivery, lesson: str) -> str:
        """Return a page named after the student: the members of a group share a submission, but not a page."""
        parts = [part for name in delivery.names for part in name.split("/")[:-1]]
        folder = next((part for part in parts if FOLDER.fullmatch(part)), "")
        return folder and f"{folder}/{delivery.student}.html"


def _is_handed_in(file: File) -> bool:
    """Return whether a file lies in a submission's folder, so that a student may have written it."""
    return any(FOLDER.fullmatch(part) for part in file.path.split("/")[:-1])


def _submissions(folder: str, files: Mapping[str, File], facts: Mapping[str, Any]) -> Iterator[Found]:
    match = FOLDER.match(folder)
    number = match["number"] if match else ""
    earlier = facts.get(":history")
    submitters = facts.get(":submitters")
    people = [person for person in submitters if isinstance(person, dict)] if isinstance(submitters, list) else []
    for person in people or [{}]:
        yield Found(
            title=folder,
            files=files,
            number="" if people else number,
            id=_text(person.get(":sid")),
            name=_text(person.get(":name")),
            email=_text(person.get(":email")),
            handed_in=_moment(facts.get(":created_at")),
            number_of_submission=int(number) if number else None,
            attempt=len(earlier) + 1 if isinstance(earlier, list) else 0,
            extra={"submission": number},
        )


def _listed(file: File) -> dict[str, Mapping[str, Any]]:
    again = "export the submissions again"
    try:
        content = file.content(LIST_BYTES)
        _check_depth(content)
        listed = yaml.load(content, Loader=_PlainLoader)
    except Refused as refusal:
        raise BadInput(f"{file.path} cannot be read: {refusal.reason}; {again}") from refusal
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{file.path} is not YAML; {again}") from error
    if not isinstance(listed, dict):
        raise BadInput(f"{file.path} lists no submissions; {again}")
    return {str(folder): facts for folder, facts in listed.items() if isinstance(facts, dict)}


def _check_depth(content: bytes) -> None:
    """Refuse YAML that is nested so deeply that building it would crash the process rather than raise an exception."""
    depth = 0
    for event in yaml.parse(content, Loader=_PlainLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError("too deep")


class _PlainLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Builds plain data, even from nodes that are tagged as Ruby objects."""


def _untagged(loader: Any, _tag: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node)
    return loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else loader.construct_scalar(node)


_PlainLoader.add_multi_constructor("!", _untagged)
_PlainLoader.add_multi_constructor("tag:", _untagged)


def _moment(value: object) -> datetime | None:
    if isinstance(value, dict):  # Ruby's TimeWithZone
        value = value.get("utc")
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    return None


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


PLATFORM = Gradescope()
