"""Published data sets: each file has an address whose content cannot change, and a SHA-256.

A file is fetched once, into a cache folder: `KATZE_CACHE`, or the system's usual place. Without internet, `KATZE_DATA`
can name a folder with copies. Either way a file is used only if its checksum is right. What only fetching needs (a bar,
pooch, the cache's place) is imported there: reading a copy takes Python alone.

- Multi30k: 31,014 captions of photographs, English with their German translations. Elliott et al. (2016), "Multi30K:
  Multilingual English-German Image Descriptions".
- tiny Shakespeare: 1.1 million characters of his plays, put together by Karpathy (2015), "The Unreasonable
  Effectiveness of Recurrent Neural Networks".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from course_lib.ground.files import cache_folder, sha256_of
from course_lib.ground.optional import needed_for
from course_lib.ground.progress_bar import bar_in_page
from course_lib.text.texts import SentencePair, read_parallel, read_text

if TYPE_CHECKING:
    from rich.console import Console

_CHUNK = 1 << 16
"""The number of bytes read at once."""


class DownloadError(RuntimeError):
    """A file cannot be obtained, or has the wrong content."""


@dataclass(frozen=True)
class PublishedFile:
    """One file of a data set.

    Attributes:
        name: its path in the cache, or in a folder of copies: "set/file".
        address: the URL to fetch it from.
        size: in bytes.
        sha256: the checksum of its content.
    """

    name: str
    address: str
    size: int
    sha256: str


_MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/331f697e45acf3753745a789a3c0aae13f3a982b/data/task1/raw/"
)
_SHAKESPEARE = "https://raw.githubusercontent.com/karpathy/char-rnn/d1d7aa34fdb3626174bce1d753e6cc6845ce7087/"

FILES = tuple(
    PublishedFile(f"multi30k/{file}", _MULTI30K + file, size, sha256)
    for file, size, sha256 in (
        ("train.en.gz", 568_929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
        ("train.de.gz", 637_044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
        ("val.en.gz", 21_650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
        ("val.de.gz", 24_681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
        ("test_2016_flickr.en.gz", 21_077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
        ("test_2016_flickr.de.gz", 22_890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
    )
) + (
    PublishedFile(
        "tinyshakespeare/input.txt",
        _SHAKESPEARE + "data/tinyshakespeare/input.txt",
        1_115_394,
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
)
"""All files that can be fetched."""


Part = Literal["train", "val", "test_2016_flickr"]
"""A part of Multi30k."""


def multi30k(part: Part) -> list[SentencePair]:
    """Return a part of Multi30k (29,000 pairs to train on, 1,014 to validate, 1,000 to test), fetched on first use.

    Raises:
        ValueError: there is no such part.
        DownloadError: a file cannot be obtained.
    """
    if part not in get_args(Part):
        raise ValueError(f"Multi30k has the parts {', '.join(get_args(Part))}, not {part!r}")
    return read_parallel(fetch(_file(f"multi30k/{part}.en.gz")), fetch(_file(f"multi30k/{part}.de.gz")))


def tiny_shakespeare() -> str:
    """Return the whole text, fetched on first use.

    Raises:
        DownloadError: it cannot be obtained.
    """
    return read_text(fetch(_file("tinyshakespeare/input.txt")))


def fetch(file: PublishedFile, console: Console | None = None) -> Path:
    """Return the path of a verified file: from `KATZE_DATA`, the cache, or its address, in this order.

    If `KATZE_OFFLINE` is set, nothing is fetched.

    Args:
        file: the file to get.
        console: where to show a progress bar; nothing is shown if it is neither a terminal nor a notebook.

    Raises:
        DownloadError: the copy in `KATZE_DATA` has the wrong content, the address cannot be reached, or its file has
            the wrong content.
    """
    copies = os.environ.get("KATZE_DATA")
    if copies and (copy := Path(copies) / file.name).is_file():
        _check(copy, file)
        return copy
    try:
        return _retrieve(file, cache_folder() / file.name, console)
    except ValueError as error:  # pooch raises it for a wrong checksum
        raise DownloadError(f"{file.address} does not give the expected file, so it is not used ({error})") from error
    except OSError as error:
        where = (
            f"{copies}, which KATZE_DATA names" if copies else "a folder of yours, and set KATZE_DATA to that folder"
        )
        raise DownloadError(
            f"cannot fetch {file.address} ({_cause(error)}). Without internet, put a copy of the file at {file.name} "
            f"in {where}"
        ) from error


def _file(name: str) -> PublishedFile:
    return next(file for file in FILES if file.name == name)


def _check(copy: Path, file: PublishedFile) -> None:
    found = sha256_of(copy)
    if found != file.sha256:
        raise DownloadError(
            f"{copy.name} from the folder that KATZE_DATA names is not the expected file: its SHA-256 is {found}, not "
            f"{file.sha256}; it may be incomplete or changed, and is not used"
        )


def _retrieve(file: PublishedFile, cached: Path, console: Console | None) -> Path:
    """Return the file in the cache, fetching it if it is missing or has the wrong checksum."""
    with needed_for("fetching a data set", package="pooch"):
        import pooch
    pooch.get_logger().setLevel("WARNING")  # the bar shows what is fetched

    def download(address: str, path: str, asking: object) -> None:
        if os.environ.get("KATZE_OFFLINE"):
            raise OSError("KATZE_OFFLINE is set")
        with _bar(file, console) as moved:
            pooch.HTTPDownloader(progressbar=_Bar(moved), chunk_size=_CHUNK)(address, path, asking)

    return Path(pooch.retrieve(file.address, file.sha256, cached.name, cached.parent, downloader=download))


@contextmanager
def _bar(file: PublishedFile, console: Console | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on the console, if that is a notebook or a terminal; yield a function that sets its bytes."""
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = console or Console(stderr=True)
    title = f"fetching {file.name}"
    if console.is_jupyter:
        with bar_in_page(title, file.size) as draw:
            yield lambda done: draw(done, f"{decimal(done)} of {decimal(file.size)}")
        return
    columns = (TextColumn(title), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=file.size)
        yield lambda done: progress.update(task, completed=done)


@dataclass
class _Bar:
    """A bar with the methods that pooch calls.

    Attributes:
        moved: called with the number of bytes so far.
        total: the file's size according to its server; set by pooch.
    """

    moved: Callable[[int], None]
    total: int = 0
    _done: int = 0

    def update(self, more: int) -> None:
        self._done += more
        self.moved(self._done)

    def reset(self) -> None:
        self._done = 0
        self.moved(0)

    def close(self) -> None:
        """Do nothing: the bar ends with its block."""


def _cause(error: BaseException) -> BaseException:
    """Return the error at the bottom of the chain, which tells the most."""
    return error if error.__context__ is None else _cause(error.__context__)
