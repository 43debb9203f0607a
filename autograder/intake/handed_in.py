"""Finds the notebook in a submission: among files, in folders, and in archives.

Links are not followed, and nothing is unpacked beyond its limit. Among several notebooks, their answers decide:
untouched copies, other lessons' notebooks and the course's own never win over a student's work.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from autograder.errors import Unreadable
from autograder.intake.archives import (
    NOTEBOOK_BYTES,
    File,
    OverLimit,
    Refused,
    Unpacking,
    is_hidden,
    is_litter,
    is_packed,
)
from autograder.intake.folders import TooManyFiles, walked
from autograder.limits import size
from autograder.words import shown, some

COMPARED = 16
"""The most notebooks whose answers are compared, and the most archives that are opened."""

COMPARED_BYTES = 2 * NOTEBOOK_BYTES
"""The limit for the size of these notebooks together."""

NESTED = 1
"""How many levels of archives inside an archive are opened."""

FILES = 20_000
"""The most files and folders that are looked at, in a submission or in an archive."""

AnswersIn = Callable[[bytes], Mapping[str, str] | None]
"""Returns a notebook's answers, text by exercise; None for a notebook of another lesson, or the course's own. Raises
`Unreadable` for bytes that are not a notebook."""

_NOTEBOOK = re.compile(r"\.ipynb(?: ?\(\d{1,3}\))?(?:\.(?:txt|json|download))?[\s._]*$", re.I)
_PACKED = re.compile(r"\.(?:zip|gz|tgz|tar)\s*$", re.I)
_CLOSED = re.compile(r"\.(?:7z|rar|bz2|xz)\s*$", re.I)
_WEB_PAGE = re.compile(r"\.html?$", re.I)
_PDF = re.compile(r"\.pdf$", re.I)
_SCRIPT = re.compile(r"\.py\s*$", re.I)
_MARKS = re.compile(rb"katze: ([a-z_0-9]+)\.|\"grade_id\": ?\"([a-z_0-9]+)-")


def is_notebook(name: str) -> bool:
    """Return whether a file name is a notebook's, including the changes that browsers and systems make to names."""
    return _NOTEBOOK.search(name) is not None


def spelling_of(lesson: str) -> str:
    """Return a pattern for a lesson's name as people and platforms write it: dashes, underscores and spaces are
    equivalent.
    """
    return "[-_ ]".join(map(re.escape, re.split("[-_ ]+", lesson)))


def may_be_work(name: str) -> bool:
    """Return whether a file name is that of a notebook, an archive or a script."""
    return any(pattern.search(name) for pattern in (_NOTEBOOK, _PACKED, _CLOSED, _SCRIPT))


@dataclass(frozen=True)
class HandedIn:
    """The file of the submitted notebook.

    Attributes:
        content: its bytes.
        notes: how it was found, in sentences for the receipt; empty if it was in its usual place.
        path: the submission's file that contains it, with `/` between folders.
    """

    content: bytes
    notes: tuple[str, ...] = ()
    path: str = ""


def find_notebook(folder: int, lesson: str, answers_in: AnswersIn, besides: Collection[str] = ()) -> HandedIn:
    """Find the notebook in a submission.

    Among several, take the one with answers. Among several with answers, take the one that answers everything that the
    others do; if that leaves several, the one with the highest number after the lesson's name. If none has answers,
    prefer the file with the lesson's name. Hidden files count only if nothing else has answers.

    Args:
        folder: a descriptor of the submission's folder.
        lesson: the notebook's name, without `.ipynb`.
        answers_in: returns a notebook's answers.
        besides: the file names of the assignment's other notebooks, which are never chosen.

    Raises:
        Unreadable: there is none, or it is unclear which one counts.
    """
    search = _Search(lesson, answers_in, besides)
    files = []
    try:
        for file in walked(folder, search.refused, FILES, hidden=True):
            files.append(file)
    except TooManyFiles:
        search.refused["the rest"] = f"there are more than {FILES:,} files"
    with search.unpacking.keep:
        return search.choose(files)


def unpack(name: str, content: bytes, lesson: str, answers_in: AnswersIn) -> HandedIn:
    """Return the notebook in a file's bytes: the bytes themselves unless they are packed; see `find_notebook`.

    Raises:
        Unreadable: the archive cannot be opened, is too large, or contains no notebook.
    """
    if not is_packed(content):
        return HandedIn(content)
    search = _Search(lesson, answers_in)
    with search.unpacking.keep:
        return search.choose([File(name, len(content), 0, lambda: io.BytesIO(content))])


def topics_in(files: Iterable[File]) -> set[str]:
    """Return the topics of notebooks' cells, such as "ols", from their markers or nbgrader's ids."""
    search = _Search("", lambda content: None)
    found: set[str] = set()
    with search.unpacking.keep:
        for candidate in search.candidates(files):
            with contextlib.suppress(Unreadable):
                found |= {(marker or id).decode() for marker, id in _MARKS.findall(candidate.content())}
    return found


@dataclass(frozen=True)
class _Candidate:
    """A file that may be the notebook.

    Attributes:
        file: the file.
        archives: the archives that contain it, the outermost first.
        is_compressed: whether the file itself was compressed.
    """

    file: File
    archives: tuple[File, ...] = ()
    is_compressed: bool = False

    @property
    def path(self) -> str:
        """Its path, with the names of its archives in front."""
        return "/".join((*(archive.name for archive in self.archives), self.file.path))

    @property
    def is_hidden(self) -> bool:
        return is_hidden(self.file.path)

    @property
    def is_script(self) -> bool:
        return _SCRIPT.search(self.file.name) is not None

    def content(self) -> bytes:
        """Return its bytes.

        Raises:
            Unreadable: it is too large or damaged.
        """
        try:
            return self.file.content()
        except Refused as refusal:
            is_large = isinstance(refusal, OverLimit)
            advice = "clear its outputs and submit it again." if is_large else "submit the .ipynb file itself."
            raise Unreadable(f"{shown(self.path)} cannot be read: {refusal.reason}; {advice}") from refusal


@dataclass
class _Search:
    """A search for a notebook.

    Attributes:
        lesson: the notebook's name, without `.ipynb`.
        answers_in: returns a notebook's answers.
        besides: file names that are never chosen.
        refused: unusable files, with the reasons.
        seen: all other files.
        unpacking: opens the archives.
        closed: refused archives.
        opened: how many archives were opened.
    """

    lesson: str
    answers_in: AnswersIn
    besides: Collection[str] = ()
    refused: dict[str, str] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    unpacking: Unpacking = field(default_factory=lambda: Unpacking(FILES, NOTEBOOK_BYTES))
    closed: list[str] = field(default_factory=list)
    opened: int = 0

    @property
    def wanted(self) -> str:
        return f"{self.lesson}.ipynb"

    def candidates(self, files: Iterable[File], archives: tuple[File, ...] = ()) -> Iterator[_Candidate]:
        """Yield the possible notebooks among these files and in the archives among them."""
        for file in files:
            one = _Candidate(file, archives)
            if not _PACKED.search(file.name):
                self.seen.append(one.path)
            if file.name in self.besides or is_litter(file.path):
                continue
            if one.is_script:
                yield one
            elif is_notebook(file.name) or _PACKED.search(file.name):
                yield from self._opened(one)
            elif _CLOSED.search(file.name):
                self._refuse(one, "it is an archive of a kind that is not opened here")

    def _opened(self, one: _Candidate) -> Iterator[_Candidate]:
        """Yield a file, or its contents if it is compressed or an archive, whatever its name says."""
        refused: dict[str, str] = {}
        try:
            if not is_packed(one.file.begins()):
                if is_notebook(one.file.name):
                    yield one
                else:
                    self._refuse(one, "it is a damaged archive")
                return
            self.opened += 1
            if len(one.archives) > NESTED or self.opened > COMPARED:
                raise Refused("there are too many archives")
            unpacked = self.unpacking.unpacked(one.file)
            files = self.unpacking.files(unpacked, refused)
        except Refused as refusal:
            self._refuse(one, refusal.reason)
            return
        if files is None:
            again = File(one.file.path, 0, 0, lambda: _rewound(unpacked))
            if again.begins().lstrip()[:1] == b"{":  # a notebook, not data
                yield _Candidate(again, one.archives, is_compressed=True)
            return
        if not files and not refused:
            self.refused[one.path] = "it is empty"
        self.refused |= {f"{one.path}/{path}": reason for path, reason in refused.items()}
        yield from self.candidates(files, (*one.archives, one.file))

    def _refuse(self, archive: _Candidate, reason: str) -> None:
        self.refused[archive.path] = reason
        self.closed.append(archive.path)

    def choose(self, files: Iterable[File]) -> HandedIn:
        """Choose the notebook among these files.

        Raises:
            Unreadable: there is none, or it is unclear which one counts.
        """
        candidates = sorted(self.candidates(files), key=self._order)
        if not candidates:
            raise Unreadable(self._nothing())
        is_clear = len(candidates) == 1 and not self.closed
        chosen = candidates[0] if is_clear else self._of_several(candidates)
        notes = [f"The notebook was taken out of the archive {shown(archive.name)}." for archive in chosen.archives]
        notes += self._where(chosen)
        others = [shown(one.path) for one in candidates if one is not chosen and not (one.is_script or one.is_hidden)]
        if others:
            notes.append(f"There were other notebooks as well ({some(others, 3)}); {shown(chosen.path)} was graded.")
        return HandedIn(chosen.content(), tuple(notes), (*chosen.archives, chosen.file)[0].path)

    def _where(self, chosen: _Candidate) -> list[str]:
        """Describe how a notebook was found that is not in its usual place."""
        file = chosen.file
        if chosen.is_compressed:
            return [f"The notebook was compressed ({shown(file.name)}); it was unpacked."]
        if chosen.is_script or file.path == self.wanted:
            return []
        if file.name == self.wanted:
            return [f"The notebook was found in the folder {shown(file.path.rpartition('/')[0])}."]
        return [f"The notebook was named {shown(file.path)}; it was read as {self.wanted}."]

    def _order(self, one: _Candidate) -> tuple[object, ...]:
        """Return a sort key: scripts last, then hidden files, then by similarity to the lesson's name."""
        name = one.file.name
        likeness = (one.file.path != self.wanted, name != self.wanted, self._numbers(name) is None)
        return one.is_script, one.is_hidden, likeness, one.path.count("/"), one.path

    def _numbers(self, name: str) -> tuple[int, ...] | None:
        """Return the numbers after the lesson's name, (0,) if there are none; None for another name."""
        match = re.search(spelling_of(self.lesson), name, re.I)
        return match and (tuple(map(int, re.findall(r"\d{1,9}", name[match.end() :]))) or (0,))

    def _of_several(self, candidates: Sequence[_Candidate]) -> _Candidate:
        """Choose the notebook that counts.

        Raises:
            Unreadable: it is unclear which one counts.
        """
        read: list[_Answered] = []
        unread: list[_Candidate] = []
        left = COMPARED_BYTES
        for one in candidates[:COMPARED]:
            try:
                content = one.content()
                left -= len(content)
                if left < 0:
                    break
                answers = self.answers_in(content)
            except Unreadable:
                if not (one.is_script or one.is_hidden or self._numbers(one.file.name) is None):
                    unread.append(one)
                continue
            if answers is not None:
                read.append((one, answers))
        if left < 0:
            listed, most = _listed(one.path for one in candidates), size(COMPARED_BYTES, decimal=True)
            raise Unreadable(f"There are several notebooks ({listed}), with more than {most} together: submit one.")
        for hidden in (False, True):
            written = [(one, answers) for one, answers in read if answers and one.is_hidden is hidden]
            if written:
                return self._fullest(written)
            if unread:
                return unread[0]
        if self.closed:
            listed = _listed([], {path: self.refused[path] for path in self.closed})
            raise Unreadable(
                f"There are no answers in {shown(candidates[0].path)}, and not everything else could be read "
                f"({listed}): submit the .ipynb file with your answers."
            )
        if read:
            return read[0][0]
        named = [one for one in candidates if one.file.name == self.wanted and not one.is_hidden]
        if named and (len(named) == 1 or named[0].file.path == self.wanted):
            return named[0]
        notebooks = [one for one in candidates if not (one.is_script or one.is_hidden)]
        for likely in (notebooks, [one for one in candidates if self._numbers(one.file.name) is not None]):
            if len(likely) == 1:
                return likely[0]
        what = "notebooks" if notebooks else "files"
        listed = _listed(one.path for one in notebooks or candidates)
        raise Unreadable(f"There are several {what} ({listed}), and none of them is {self.wanted}: submit one.")

    def _fullest(self, written: Sequence[_Answered]) -> _Candidate:
        """Return the notebook that answers everything the others do; the last one, if several do.

        Raises:
            Unreadable: there is none, or they differ.
        """
        full = [(one, own) for one, own in written if all(own.keys() >= other.keys() for _, other in written)]
        ranks = [  # the highest numbers in the names of a file and its archives
            (max(self._numbers(file.name) or (0,) for file in (*one.archives, one.file)), not one.is_script)
            for one, _ in full
        ]
        last = [answered for answered, rank in zip(full, ranks, strict=True) if rank == max(ranks)]
        if not last or any(answers != last[0][1] for _, answers in last):
            listed = _listed(one.path for one, _ in last or written)
            raise Unreadable(
                f"There are several notebooks with answers ({listed}), and it is unclear which one counts: submit only "
                "that one."
            )
        return last[0][0]

    def _nothing(self) -> str:
        """Say why there is no notebook, and what to submit instead."""
        download = "cannot be graded. Choose File > Download > .ipynb, and submit that file."
        itself = "submit the .ipynb file itself."
        advice = {
            _WEB_PAGE: f"a web page {download}",
            _PDF: f"a PDF {download}",
            _CLOSED: f"unpack the archive and {itself}",
        }
        instead = next((said for kind, said in advice.items() if any(map(kind.search, self.seen))), itself)
        listed = _listed([path for path in self.seen if path not in self.refused], self.refused) or "it is empty"
        return f"There is no notebook {self.wanted} in the submission ({listed}): {instead}"


_Answered = tuple[_Candidate, Mapping[str, str]]


def _listed(paths: Iterable[str], refused: Mapping[str, str] | None = None) -> str:
    """List the first five files on one line, refused ones with the reason."""
    refused = refused or {}
    return some([shown(path) + (f": {refused[path]}" if path in refused else "") for path in [*paths, *refused]], 5)


def _rewound(stream: IO[bytes]) -> contextlib.AbstractContextManager[IO[bytes]]:
    stream.seek(0)
    return contextlib.nullcontext(stream)
