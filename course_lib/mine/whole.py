"""The learner's transformer so far: shown in a notebook, and written to a file that runs without the course."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from course_lib.ground.files import put_in_place, sha256_of
from course_lib.ground.style_sheet import style_sheet
from course_lib.judging.render import with_code
from course_lib.learner.current_catalogue import current_catalogue
from course_lib.learner.kept_answers import kept_at
from course_lib.learner.solutions import solution_of
from course_lib.learner.transformer_pieces import GPT_PIECES, PIECES
from course_lib.mine.joining import GPT_NAME, NAME, Joined, Piece, are, join_answers

_NO_PAGES: Mapping[str, str] = {}

TRANSLATOR = Path(__file__).parent / "translator"
"""The folder with the words and weights to write: those of a translator of lesson 05's sentences (`weights.py`)."""


class CannotWrite(Exception):
    """The files cannot be written; the message says what to do."""


@dataclass(frozen=True)
class MyTransformer:
    """A transformer made of the learner's answers, and of the course's where these are missing.

    In a notebook it shows itself; `print` gives plain text.

    Attributes:
        joined: its pieces.
        gpt: the pieces of the GPT built from its blocks.
    """

    joined: Joined
    gpt: Joined

    @property
    def counted(self) -> str:
        """A sentence about how many of its pieces are the learner's, and which of them are never called."""
        own, gpt_own = (sum(piece.own for piece in one.pieces) for one in (self.joined, self.gpt))
        whole = f"{own} of the {len(self.joined.pieces)} pieces of your transformer {are(own)} your own"
        counted = f"{whole}, and {gpt_own} of the {len(self.gpt.pieces)} that make a GPT of it."
        idle = [piece.name for piece in self.joined.pieces if piece.own and piece.name in self.joined.idle]
        if idle:
            counted += f" Nothing there calls your {', '.join(idle)}: other pieces do the same in another way."
        if "masked_weights" in self.joined.idle:
            counted += f" {_TORCHS_ATTENTION}"
        return counted

    @property
    def pieces(self) -> list[Piece]:
        """All pieces, in reading order."""
        return [*self.joined.pieces, *self.gpt.pieces]

    @property
    def shown(self) -> list[Piece]:
        """The pieces to show, in reading order: the GPT's only once the learner has written one of them."""
        begun = any(piece.own or piece.problem for piece in self.gpt.pieces)
        return self.pieces if begun else list(self.joined.pieces)

    def text(self) -> str:
        """Return the transformer for a terminal: each of the learner's pieces, and a line for each other one."""
        shown = [piece.text if piece.own else f"  {told(piece)}" for piece in self.shown]
        return "\n\n".join([self.counted, *shown, _ADVICE])

    def html(self) -> str:
        """Return the transformer as self-contained HTML."""
        shown = "".join(
            f'<pre class="katze-code">{escape(piece.text)}</pre>'
            if piece.own
            else f'<p class="katze-score">{escape(told(piece))}</p>'
            for piece in self.shown
        )
        return (
            f'<div class="katze-verdict katze-open">{style_sheet("verdict")}'
            f'<p class="katze-head"><strong>Your transformer</strong></p><p class="katze-closing">{self.counted}</p>'
            f'{shown}<p class="katze-closing">{with_code(_ADVICE)}</p></div>'
        )

    def write(self, folder: Path, pages: Mapping[str, str] = _NO_PAGES) -> Path:
        """Write the files, with the words and weights if these are missing; return the transformer's path.

        The GPT's file is left out if one of its pieces is missing.

        Args:
            folder: where to write them.
            pages: texts to write beside them, by file name; those that the learner has changed stay.

        Raises:
            CannotWrite: a piece is missing, or a file was changed since it was written.
            OSError: the folder cannot be written to.
        """
        missing = [piece.name for piece in self.joined.pieces if not piece.text]
        if missing:
            raise CannotWrite(f"{', '.join(missing)} cannot be borrowed in this course: write them first")
        texts = {f"{NAME}.py": self.joined.text, f"{GPT_NAME}.py": self.gpt.text}
        contents = {name: text.encode() for name, text in texts.items() if text}
        words, weights = (folder / f"{NAME}{ending}" for ending in (".json", ".safetensors"))
        known = _words(words)
        earlier = known.get("written", {})

        def is_changed(file: Path) -> bool:
            return file.exists() and sha256_of(file) != earlier.get(file.name)

        for file in map(folder.joinpath, contents):
            if is_changed(file):
                raise CannotWrite(f"{file} has been changed, and would be overwritten: give your version another name")
        contents |= {name: text.encode() for name, text in pages.items() if not is_changed(folder / name)}
        if not weights.exists():
            with put_in_place(weights) as unfinished:
                unfinished.write_bytes((TRANSLATOR / weights.name).read_bytes())
        written = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        contents = {words.name: json.dumps(known | {"written": written}, ensure_ascii=False).encode()} | contents
        for name, content in contents.items():
            with put_in_place(folder / name) as unfinished:
                unfinished.write_bytes(content)
        return folder / f"{NAME}.py"

    __repr__ = text
    _repr_html_ = html


_TORCHS_ATTENTION = (
    "Your attention is used only if MultiHeadAttention calls scaled_dot_product_attention(q, k, v, mask) by this name, "
    "not F.scaled_dot_product_attention."
)

_ADVICE = "In a terminal, `katze mine` writes all of it to two files that run without the course."


def my_transformer() -> MyTransformer:
    """Return the learner's transformer, made of the kept answers. None of them is run."""
    return MyTransformer(*join_answers(kept_answers(), course_code()))


def kept_answers() -> dict[str, str]:
    """Return the learner's answers that are pieces of the transformer, by exercise."""
    paths = {exercise_id: kept_at(exercise_id) for exercise_id in PIECES | GPT_PIECES}
    return {one: path.read_text(encoding="utf-8", errors="replace") for one, path in paths.items() if path.is_file()}


def course_code() -> dict[str, str]:
    """Return the course's own answers, by exercise, where it shows them."""
    solutions = {exercise_id: solution_of(exercise_id) for exercise_id in PIECES | GPT_PIECES}
    return {exercise_id: found.code for exercise_id, found in solutions.items() if found is not None}


def told(piece: Piece) -> str:
    """Return a sentence about a piece that is not the learner's: whose it is, and why."""
    whose = "the course's own" if piece.text else "missing"
    if not piece.problem:
        return f"{piece.name}: {whose}, until yours has passed the check of {piece.exercise_id}."
    lesson = _lesson_of(piece.exercise_id)
    return (
        f"{piece.name}: {whose}, because yours cannot be joined: {piece.problem}. It came from the cell of "
        f"{piece.exercise_id}{f' in {lesson}' if lesson else ''}, and is kept in {kept_at(piece.exercise_id)}."
    )


def _lesson_of(exercise_id: str) -> str:
    """Return the lesson of an exercise; empty if this course does not have the exercise."""
    package = exercise_id.partition(".")[0]
    modules = current_catalogue().modules
    return next((lesson for lesson, module in modules.items() if module.endswith(f".{package}")), "")


def _words(file: Path) -> dict[str, Any]:
    """Return the words and sizes in this file, or the course's if it does not exist."""
    try:
        found = json.loads((file if file.exists() else TRANSLATOR / file.name).read_text(encoding="utf-8"))
    except ValueError as error:
        raise CannotWrite(f"{file} cannot be read ({error}): remove it, and it will be written again") from None
    if not isinstance(found, dict):
        raise CannotWrite(f"{file} is not a table of words and sizes: remove it, and it will be written again")
    return found
