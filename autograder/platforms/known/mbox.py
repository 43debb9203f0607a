"""A mailbox: attachments that students have sent, in an mbox file or in messages saved one by one (`.eml`)."""

import itertools
import mailbox
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, tzinfo
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from email.utils import parseaddr, parsedate_to_datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, cast

from autograder.intake.archives import File, Refused
from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform

MESSAGE_BYTES = 100_000_000
"""The longest message that is read; attachments in it are a third larger than the files."""


class Mailbox(Platform):
    """A mailbox, which identifies students by their addresses."""

    name = "mbox"
    order = 10

    def recognises(self, download: Download, lessons: Sequence[str]) -> bool:
        """Return whether it is a mailbox, or any file in it is a message."""
        if download.path.is_file() and _is_mailbox(download.path):
            return True
        return any(file.name.lower().endswith(".eml") for file in download.files)

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield one submission for each message that has attachments.

        Its time is the one written by the last server that received it, which a sender cannot forge; if there is none,
        the sender's own.
        """
        is_box = download.path.is_file() and _is_mailbox(download.path)
        for title, message in _in_mailbox(download) if is_box else _saved(download):
            try:
                found = _submission(title, message)
            except Refused as refusal:
                download.refused[title] = refusal.reason
            except Exception as error:  # parsers of mail meet everything
                download.refused[title] = f"it is not a message that can be read ({type(error).__name__})"
            else:
                if found.files:
                    yield found
                else:
                    download.refused[found.title] = "it has no attachment"


def _is_mailbox(path: Path) -> bool:
    """Return whether a file is an mbox: those begin with a `From ` line."""
    try:
        with path.open("rb") as file:
            return file.read(5) == b"From "
    except OSError:
        return False


Message = Callable[[], bytes]
"""Returns the bytes of a message; attachments are read only when needed, one message at a time."""


def _in_mailbox(download: Download) -> Iterator[tuple[str, Message]]:
    box = download.unpacking.keep.enter_context(closing(mailbox.mbox(download.path, create=False)))
    for number, key in enumerate(box.iterkeys(), 1):
        yield f"message {number}", partial(_from_box, box, key)


def _from_box(box: mailbox.mbox, key: str) -> bytes:
    with closing(box.get_file(key)) as file:
        content = file.read(MESSAGE_BYTES + 1)
    if len(content) > MESSAGE_BYTES:
        raise Refused("it is too long to be read")
    return content


def _saved(download: Download) -> Iterator[tuple[str, Message]]:
    for file in download.files:
        if file.name.lower().endswith(".eml"):
            yield file.path, partial(file.content, MESSAGE_BYTES)
        else:
            download.refused[file.path] = "it is not a message (.eml)"


def _submission(title: str, read_message: Message) -> Found:
    message = _parsed(read_message)
    name, address = parseaddr(str(message["From"] or ""))
    files: dict[str, File] = {}
    for place, part in enumerate(message.walk()):
        attached = part.get_filename()
        if attached and not part.is_multipart():
            inside = attached.replace("/", "_").replace("\\", "_")
            inside = inside if inside not in files else f"{place}_{inside}"
            length = len(str(part.get_payload(decode=False)))
            bytes_at_most = length * 3 // 4 if part["Content-Transfer-Encoding"] == "base64" else length
            files[inside] = File(f"{title}/{inside}", bytes_at_most, 0, partial(_attached, read_message, place))
    return Found(
        title=f"{title}, {address}" if address else title,
        files=files,
        id=address.casefold(),
        name=name,
        email=address,
        handed_in=_received(message),
        extra={"message": str(message["Message-ID"] or "")[:200]},
    )


def _parsed(read_message: Message) -> EmailMessage:
    return cast(EmailMessage, message_from_bytes(read_message(), policy=cast(Any, default)))


def _attached(read_message: Message, place: int) -> BytesIO:
    """Return the file in this part of a message; parts are counted from its beginning."""
    part = next(itertools.islice(_parsed(read_message).walk(), place, None))
    held = part.get_payload(decode=True)
    if not isinstance(held, bytes):
        raise Refused("it is damaged")
    return BytesIO(held)


def _received(message: EmailMessage) -> datetime | None:
    """Return when the last server received a message, or, if that is unknown, when it was sent."""
    stated = [str(line).rpartition(";")[2] for line in message.get_all("Received", [])[:1]]
    for text in (*stated, str(message["Date"] or "")):
        try:
            moment = parsedate_to_datetime(text.strip())
        except (ValueError, TypeError, OverflowError):
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    return None


PLATFORM = Mailbox()
