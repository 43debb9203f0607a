"""A text too long for memory: its ids in files of two bytes each, of which only what a batch needs is read.

A folder holds shards of the same number of ids, the last one shorter, and `index.json`, which is written last: a folder
without it is not finished. `ShardedText` stands where a tensor of ids would:

    write_shards(ids, folder, vocabulary=50_257)
    data = Windows(ShardedText.open(folder), length=1024, batch_size=16)
"""

from __future__ import annotations

import json
import operator
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from course_lib.ground.files import put_in_place
from course_lib.ground.refusals import require_at_least

FORMAT = "katze-shards-1"
LARGEST_VOCABULARY = 2**16
_ID = np.dtype("<u2")
_AT_ONCE = 2**20
"""How many ids are written or checked at a time."""


class ShardError(ValueError):
    """Shards cannot be used: they are not finished, cut off, damaged, or something else."""


@dataclass(frozen=True)
class ShardedText:
    """The ids of a text, in files.

    Every shard is mapped into memory when ids are taken from it, and no longer, so that the text can be handed to other
    processes as little more than its folder's name.

    Attributes:
        folder: where they are.
        vocabulary: how many words there are; every id is below it.
        tokens: how many ids there are.
        shard_size: ids in each shard but the last.
        checksums: each shard's, CRC-32.
    """

    folder: Path
    vocabulary: int
    tokens: int
    shard_size: int
    checksums: tuple[int, ...]

    @classmethod
    def open(cls, folder: Path | str) -> ShardedText:
        """The text that `write_shards` has written there. Sizes are compared, contents are not: `verify` does that.

        Raises:
            ShardError: it is not finished, or a file is cut off, missing or damaged.
        """
        folder = Path(folder)
        text = cls(folder, **_read_index(folder))
        for number in range(len(text.checksums)):
            text._require_whole(number)
        return text

    def __len__(self) -> int:
        return self.tokens

    def __getitem__(self, places: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The ids at these places, counted from 0.

        Raises:
            IndexError: there is no such place.
            ShardError: a file was cut off or damaged since it was opened.
        """
        numbers = places.numpy()
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self.tokens:
            raise IndexError(f"places must be from 0 to {self.tokens - 1}, not {numbers.min()} to {numbers.max()}")
        found = np.empty(numbers.shape, np.int64)
        shards, within = np.divmod(numbers, self.shard_size)
        for number in np.unique(shards).tolist():
            here = shards == number
            found[here] = self._shard(number)[within[here]]
        if found.size and found.max() >= self.vocabulary:
            raise ShardError(f"{self.folder} is damaged: it has the id {found.max()}, outside its own vocabulary")
        return torch.from_numpy(found)

    def verify(self) -> None:
        """Compare all contents with their checksums, a piece at a time.

        Raises:
            ShardError: naming the first file that is not what was written.
        """
        for number, expected in enumerate(self.checksums):
            shard, checksum = self._shard(number), 0
            for start in range(0, len(shard), _AT_ONCE):
                checksum = zlib.crc32(shard[start : start + _AT_ONCE].data, checksum)
            if checksum != expected:
                raise ShardError(f"{_shard(self.folder, number)} is damaged: write the shards again")

    def _shard(self, number: int) -> np.ndarray[Any, Any]:
        self._require_whole(number)
        return np.memmap(_shard(self.folder, number), _ID, "r")

    def _require_whole(self, number: int) -> None:
        path = _shard(self.folder, number)
        expected = min(self.shard_size, self.tokens - number * self.shard_size) * _ID.itemsize
        found = path.stat().st_size if path.is_file() else 0
        if found != expected:
            raise ShardError(f"{path} has {found:,} bytes in place of {expected:,}: write the shards again")


def write_shards(ids: Iterable[int], folder: Path | str, vocabulary: int, shard_size: int = 2**27) -> ShardedText:
    """Write a text's ids, which may come from anywhere and are never in memory all at once.

    Args:
        ids: of the text.
        folder: for the shards; it is made if it is missing.
        vocabulary: how many words there are.
        shard_size: ids in a shard; by default it has 256 MiB.

    Raises:
        TypeError: an id is not a whole number.
        ValueError: one is outside the vocabulary; that has more words than two bytes can count; there are no ids; or
            there is a text in the folder already.
    """
    require_at_least(1, vocabulary=vocabulary, shard_size=shard_size)
    if vocabulary > LARGEST_VOCABULARY:
        raise ValueError(f"shards have two bytes for an id, so vocabulary must be at most 65536, not {vocabulary}")
    folder = Path(folder)
    if _index(folder).exists():
        raise ValueError(f"{_index(folder)} is there already: choose another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    coming = iter(ids)
    tokens, checksums = 0, list[int]()
    for first in coming:
        shard = chain([first], islice(coming, shard_size - 1))
        count, checksum = _write_shard(_shard(folder, len(checksums)), shard, vocabulary)
        tokens += count
        checksums.append(checksum)
    if not tokens:
        raise ValueError("there are no ids to write")
    text = ShardedText(folder, vocabulary, tokens, shard_size, tuple(checksums))
    with put_in_place(_index(folder)) as path:
        content = {name: value for name, value in asdict(text).items() if name != "folder"}
        path.write_text(json.dumps({"format": FORMAT, **content}, indent=1) + "\n", encoding="utf-8")
    return text


def _write_shard(path: Path, ids: Iterator[int], vocabulary: int) -> tuple[int, int]:
    """Write one shard: how many ids it has, and their checksum."""
    count, checksum = 0, 0
    with put_in_place(path) as unfinished, unfinished.open("wb") as file:
        while len(piece := np.fromiter(map(operator.index, islice(ids, _AT_ONCE)), np.int64)):
            least, most = int(piece.min()), int(piece.max())
            if least < 0 or most >= vocabulary:
                wrong = least if least < 0 else most
                raise ValueError(
                    f"ids must be from 0 to {vocabulary - 1}, the vocabulary's last, but there is a {wrong}"
                )
            content = piece.astype(_ID).tobytes()
            file.write(content)
            count, checksum = count + len(piece), zlib.crc32(content, checksum)
    return count, checksum


def _shard(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:05d}.bin"


def _index(folder: Path) -> Path:
    return folder / "index.json"


def _read_index(folder: Path) -> dict[str, Any]:
    """What the index says, without its format.

    Raises:
        ShardError: there is none, or something else.
    """
    path = _index(folder)
    if not path.is_file():
        raise ShardError(f"there is no {path}: the shards were not written to their end, or this is another folder")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sizes = {name: content[name] for name in ("vocabulary", "tokens", "shard_size")}
        checksums = tuple(content["checksums"])
        require_at_least(1, **sizes)
        require_at_least(0, **{f"checksum {number}": one for number, one in enumerate(checksums)})
        is_known = content["format"] == FORMAT and len(checksums) == -(-sizes["tokens"] // sizes["shard_size"])
    except (ValueError, TypeError, KeyError) as error:
        raise ShardError(f"{path} is damaged, or no index of shards ({error!r})") from error
    if not is_known:
        raise ShardError(f"{path} is damaged, or no index of shards: expected format {FORMAT!r} and a checksum a shard")
    return {**sizes, "checksums": checksums}
