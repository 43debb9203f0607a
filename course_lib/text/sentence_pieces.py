"""SentencePiece as in Marian's translators: one vocabulary of pieces, and a separate way to cut each language.

    source, target = load_marian(find_folder("Helsinki-NLP/opus-mt-en-de"))
    Translator(Transformer.from_pretrained("Helsinki-NLP/opus-mt-en-de"), source, target).translate(["the cat danced"])

Kudo and Richardson (2018), "SentencePiece"; the library `sentencepiece`, needed only here, cuts texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from course_lib.ground.optional import needed_for
from course_lib.ground.validation import check_unicode
from course_lib.text.gpt2_files import read_gpt2_ids
from course_lib.text.subwords import decode_pieces
from course_lib.text.tokenization import before_end, check_ids

END, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"


@dataclass(frozen=True)
class SentencePieces:
    """One language of a translator.

    Attributes:
        processor: the library's object, which cuts this language.
        ids: each piece's id, the same for both languages.
        ends: whether `encode` puts </s> after a text, as Marian's sources need it.
    """

    processor: Any
    ids: Mapping[str, int]
    ends: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text's pieces; a language code before it, such as >>deu<<, is one piece.

        Raises:
            ValueError: the text is not valid Unicode.
        """
        check_unicode(text)
        language = text[: text.find("<<") + 2] if text.startswith(">>") and "<<" in text else ""
        pieces = [language] * bool(language) + self.processor.encode(text[len(language) :], out_type=str)
        ids = [self.ids.get(piece, self.ids[UNKNOWN]) for piece in pieces]
        return [*ids, self.ids[END]] if self.ends else ids

    def decode(self, ids: Sequence[int], *, stop: bool = True) -> str:
        """Return the text up to the first </s>, without padding; with `stop=False`, all of it.

        Raises:
            ValueError: there is no piece with one of these ids.
        """
        check_ids(ids, len(self))
        visible = [i for i in before_end(ids, {self.ids[END]}) if i != self.ids[PADDING]] if stop else ids
        return decode_pieces([self._pieces[i] for i in visible])

    @cached_property
    def _pieces(self) -> list[str]:
        return sorted(self.ids, key=self.ids.__getitem__)


def load_marian(folder: Path | str) -> tuple[SentencePieces, SentencePieces]:
    """Load the source's and the target's pieces from a model's `source.spm`, `target.spm` and `vocab.json`.

    Raises:
        ModuleNotFoundError: `sentencepiece` is not installed.
        ValueError: a file does not have the expected content.
        OSError: a file cannot be read.
    """
    with needed_for("SentencePiece's vocabularies", package="sentencepiece"):
        from sentencepiece import SentencePieceProcessor
    ids = read_gpt2_ids(Path(folder) / "vocab.json")
    if absent := [token for token in (END, UNKNOWN, PADDING) if token not in ids]:
        raise ValueError(f"{folder} has no {absent[0]} in its vocab.json, so it is not Marian's")
    processors = []
    for name in ("source.spm", "target.spm"):
        content = (Path(folder) / name).read_bytes()
        try:
            processors.append(SentencePieceProcessor(model_proto=content))
        except RuntimeError as error:
            raise ValueError(f"{Path(folder) / name} is not a model of SentencePiece: {error}") from None
    source, target = processors
    return SentencePieces(source, ids, ends=True), SentencePieces(target, ids)
