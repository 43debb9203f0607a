"""Synonyms for METEOR: WordNet's, for the words of lesson 10, in a table that ships with the course.

    python -m course_lib.evaluation.thesaurus FOLDER [WORD ...]

looks up the table's words again, and any other WORDs, in the WordNet in FOLDER: `/usr/share/wordnet`, once Debian's
package `wordnet-base` is installed. The table has WordNet's license, which is beside it.

Miller (1995), "WordNet: A Lexical Database for English". Its files are described in wndb(5WN), its rules for endings in
morphy(7WN).
"""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).parent / "wordnet" / "synonyms.tsv"
"""The table: a word in each line, with its synonyms in WordNet."""

ENDINGS: Final = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
"""For each part of speech, the endings that a word may have, and what replaces them in the dictionary."""


@dataclass(frozen=True)
class Thesaurus:
    """A source of synonyms.

    Attributes:
        name: its name, for the signature of a score.
        synonyms: returns a word's synonyms, in any of its senses.
    """

    name: str
    synonyms: Callable[[str], Collection[str]]


def lesson_thesaurus(table: Path = TABLE) -> Thesaurus:
    """Return WordNet's synonyms for the words of lesson 10; for any other word, it raises a ValueError.

    Args:
        table: the file that `write_table` wrote.
    """
    known = _read(table)

    def synonyms(word: str) -> frozenset[str]:
        if word.lower() not in known and any(map(str.isalpha, word)):
            raise ValueError(
                f"the table of synonyms has no entry for {word!r}: it was made for the sentences of lesson 10. For "
                'others run nltk.download("wordnet"), and use METEOR without this table'
            )
        return known.get(word.lower(), frozenset())

    return Thesaurus("wordnet-3.0-table", synonyms)


def _read(table: Path) -> dict[str, frozenset[str]]:
    rows = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines())
    return {word: frozenset(found.split()) for word, found in rows}


def look_up(folder: Path, words: Iterable[str]) -> dict[str, frozenset[str]]:
    """Look up WordNet's synonyms of words: single words that share a meaning with the word or its base form.

    Args:
        folder: the folder of WordNet's files, `data.noun` and the others.
        words: the words, in any form: *waited* is looked up as *wait*, too.

    Raises:
        FileNotFoundError: WordNet's files are missing.
    """
    found: dict[str, set[str]] = {word.lower(): set() for word in words}
    for part, endings in ENDINGS.items():
        meanings, irregular = _meanings(folder / f"data.{part}"), _irregular(folder / f"{part}.exc")
        changes = [change.partition(":")[::2] for change in endings.split()]
        for word, synonyms in found.items():
            regular = [word.removesuffix(ending) + base for ending, base in changes if word.endswith(ending)]
            for form in (word, *irregular.get(word, regular)):
                synonyms |= meanings[form]
    return {word: frozenset(synonyms - {word}) for word, synonyms in found.items()}


def _meanings(path: Path) -> defaultdict[str, set[str]]:
    """Return for each word of a part of speech all single words that share a meaning with it, in lower case."""
    meanings = defaultdict[str, set[str]](set)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("  "):  # the license
                continue
            _offset, _file, _kind, count, *fields = line.split()
            entries = fields[: 2 * int(count, 16) : 2]
            shared = [re.sub(r"\(\w+\)$", "", entry).lower() for entry in entries]  # "galore(ip)": only after its noun
            for word in shared:
                meanings[word].update(other for other in shared if "_" not in other)
    return meanings


def _irregular(path: Path) -> dict[str, list[str]]:
    """Return the base forms of words whose endings follow no rule, such as *said*."""
    with path.open(encoding="utf-8") as lines:
        return {word: bases for word, *bases in map(str.split, lines)}


def write_table(folder: Path, more: Iterable[str] = (), table: Path = TABLE) -> None:
    """Look up a table's words, and more words, and rewrite the table.

    Args:
        folder: the folder of WordNet's files.
        more: words to add to the table.
        table: the file; the words in it stay.

    Raises:
        FileNotFoundError: WordNet's files are missing.
    """
    words = {*(_read(table) if table.exists() else ()), *more}
    rows = (f"{word}\t{' '.join(sorted(found))}\n" for word, found in sorted(look_up(folder, words).items()))
    table.write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m course_lib.evaluation.thesaurus FOLDER [WORD ...]")
    try:
        write_table(Path(sys.argv[1]), sys.argv[2:])
    except FileNotFoundError as error:
        sys.exit(f"there is no WordNet in {sys.argv[1]} ({error.filename} is missing): install Debian's wordnet-base")
