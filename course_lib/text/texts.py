"""Texts from files: a plain text to continue, or sentences with their translations."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SentencePair:
    """A sentence and its translation."""

    source: str
    target: str


def read_text(path: Path | str) -> str:
    """Read a file as UTF-8 text, with or without a byte order mark; decompress it if its name ends in .gz.

    Raises:
        ValueError: the file is not such a text, or has fewer than two characters, so there is nothing to predict.
        OSError: it cannot be read.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: byte {error.start} cannot be read; save it as UTF-8") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} ends in .gz and is not a whole gzip file ({error}); fetch it again") from error
    if len(text) < 2:
        raise ValueError(f"{path} has {len(text)} characters; a text to learn from needs at least two")
    return text


def read_pairs(path: Path | str) -> list[SentencePair]:
    """Read sentence pairs from a file with one pair per line and tabs between columns.

    Further columns (attributions, scores), empty lines and lines that begin with # are skipped, as files from
    manythings.org require.

    Raises:
        ValueError: a line has too few columns, a sentence is empty, or there is no pair at all.
        OSError: the file cannot be read.
    """
    pairs = []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < 2:
            raise ValueError(
                f"{path}, line {number}: expected at least 2 columns with tabs between them, "
                f"got {len(cells)}: {line[:60]!r}"
            )
        pair = SentencePair(cells[0], cells[1])
        if not (pair.source and pair.target):
            raise ValueError(f"{path}, line {number}: a sentence is empty: {line[:60]!r}")
        pairs.append(pair)
    if not pairs:
        raise ValueError(f"{path} holds no sentence pairs, only comments or empty lines")
    return pairs


def read_parallel(source: Path | str, target: Path | str) -> list[SentencePair]:
    """Read sentence pairs from two files: line n of one is the translation of line n of the other.

    Raises:
        ValueError: the files have different numbers of lines, or a line is empty.
        OSError: a file cannot be read.
    """
    sources, targets = _lines(source), _lines(target)
    if len(sources) != len(targets):
        raise ValueError(f"{source} has {len(sources)} lines and {target} {len(targets)}; they must match one to one")
    pairs = [SentencePair(ours.strip(), theirs.strip()) for ours, theirs in zip(sources, targets, strict=True)]
    for number, pair in enumerate(pairs, start=1):
        if not (pair.source and pair.target):
            raise ValueError(f"line {number} of {target if pair.source else source} is empty")
    return pairs


def _lines(path: Path | str) -> list[str]:
    """Split a file at newlines only: `str.splitlines` also splits at U+2028, which occurs in sentences."""
    return read_text(path).removesuffix("\n").split("\n")
