"""Opens a platform's download as a list of files: a folder, an archive (zip or tar), archives in them, or one file."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from autograder.errors import BadInput
from autograder.intake.archives import File, Refused, Unpacking, is_archive, is_hidden
from autograder.intake.folders import TooManyFiles, walked

ARCHIVE_BYTES = 4_000_000_000
"""Disk space that a compressed archive, or one inside another, may take while it is read."""

FILES = 100_000


@dataclass
class Download:
    """A download from a platform.

    Attributes:
        path: the folder or file.
        files: its files, sorted by path.
        refused: the reason for each file that cannot be used, by path.
        unpacking: opens archives, and keeps them open for reading the files.
    """

    path: Path
    files: list[File] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    unpacking: Unpacking = field(default_factory=lambda: Unpacking(FILES, ARCHIVE_BYTES))

    @property
    def name(self) -> str:
        """Its name, without the folder that holds it."""
        return self.path.resolve().name

    def unpack(self) -> bool:
        """Replace the archives among the files by their contents; return whether there were any."""
        archives = [file for file in self.files if is_archive(file.name)]
        if not archives:
            return False
        self.files = [file for file in self.files if not is_archive(file.name)]
        for archive in archives:
            try:
                self.files += self._opened(self.unpacking.unpacked(archive), f"{archive.path}/")
            except Refused as refusal:
                self.refused[archive.path] = refusal.reason
            if len(self.files) > FILES:
                raise self._too_many()
        self.files.sort(key=lambda file: file.path)
        return True

    def _opened(self, archive: IO[bytes], prefix: str = "") -> list[File]:
        """Return the files in an archive, except hidden ones, which nobody hands in on purpose."""
        refused: dict[str, str] = {}
        inside = self.unpacking.files(self.unpacking.decompressed(archive), refused)
        if inside is None:
            raise Refused("it is neither a zip nor a tar archive, whatever its name says")
        self.refused |= {prefix + path: why for path, why in refused.items() if not is_hidden(path)}
        return [replace(file, path=prefix + file.path) for file in inside if not is_hidden(file.path)]

    def _too_many(self) -> BadInput:
        return BadInput(f"{self.path} holds more than {FILES:,} files; collect it in parts")


@contextlib.contextmanager
def opened_download(path: Path) -> Iterator[Download]:
    """Open a download; its files can be read until the block ends.

    Raises:
        BadInput: the file or folder does not exist, or is an archive that cannot be opened.
    """
    download = Download(path)
    with download.unpacking.keep as resources:
        try:
            if path.is_dir():
                folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                resources.callback(os.close, folder)
                download.files = sorted(walked(folder, download.refused, FILES), key=lambda file: file.path)
            elif is_archive(path.name):
                download.files = download._opened(resources.enter_context(path.open("rb")))
            else:
                status = path.stat()
                download.files = [File(path.name, status.st_size, status.st_mtime, lambda: path.open("rb"))]
        except TooManyFiles:
            raise download._too_many() from None
        except Refused as refusal:
            raise BadInput(f"{path} cannot be opened: {refusal.reason}; download it again") from refusal
        except OSError as error:
            raise BadInput(
                f"cannot read {path}: {error.strerror}; name the file or folder that you downloaded"
            ) from error
        yield download
