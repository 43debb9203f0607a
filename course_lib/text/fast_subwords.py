"""Subwords for real work, with the `tokenizers` library: byte-pair encoding, WordPiece, and published vocabularies.

`course_lib.text.subwords` and `course_lib.text.byte_pairs` show how it is done. `SubwordVocabulary.train_bpe` and
`train_bytes` learn the same pieces, with the same ids, in a small fraction of their time. GPT-2's and BERT's
vocabularies are read from the files that were published with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from course_lib.ground.refusals import require_at_least, require_texts, require_unicode
from course_lib.text.byte_pairs import (
    Special,
    allowed_and_refused,
    between_special,
    in_whole_words,
    refuse_special,
)
from course_lib.text.subwords import MARK
from course_lib.text.tokenization import END, PADDING, SPECIAL, START, UNKNOWN, JoinedPair, check_ids, join_pair

BERT_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
GPT2_END = "<|endoftext|>"
"""GPT-2's only special token: it separates two documents."""

_ENDS = (END, GPT2_END)
_HIDDEN = (PADDING, START, "[PAD]", "[CLS]", "[SEP]")
_SPACES = Regex(r"[\s\x1c-\x1f]+")
"""What Python's `str.split` splits at."""


@dataclass(frozen=True)
class SubwordVocabulary:
    """A trained or published vocabulary.

    Attributes:
        tokenizer: the library's object, for whatever this class does not offer.
    """

    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        # A text that spells "<s>" or "[MASK]" is a text, and must not smuggle a special token in.
        self.tokenizer.encode_special_tokens = True

    @classmethod
    def train_bpe(cls, texts: Iterable[str], size: int, *, split_punctuation: bool = False) -> SubwordVocabulary:
        """Byte-pair encoding, learned from texts; the special tokens are `SPECIAL`.

        Args:
            texts: what to learn from.
            size: how many pieces, the special ones and the characters included. There are fewer if every word
                is a single piece before, and more if the characters alone are.
            split_punctuation: whether a punctuation mark is a word of its own, so that *dog* and *dog.* share their
                piece. Decoding brings it back to its place.

        Raises:
            TypeError: one string in place of texts.
            ValueError: the texts have no words, one is no Unicode, or `size` is below 1.
        """
        require_at_least(1, size=size)
        tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Replace(MARK, " "), normalizers.Replace(_SPACES, " "), normalizers.Strip()]
        )
        steps: list[pre_tokenizers.PreTokenizer] = [pre_tokenizers.Metaspace(MARK, "always")]
        if split_punctuation:
            steps.append(pre_tokenizers.Punctuation("isolated"))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
        tokenizer.decoder = decoders.Metaspace(MARK, "always")
        trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
        tokenizer.train_from_iterator(_with_words(texts), trainer)
        return cls(tokenizer)

    @classmethod
    def train_wordpiece(cls, texts: Iterable[str], size: int, *, lowercase: bool = True) -> SubwordVocabulary:
        """WordPiece, as BERT cuts words, learned from texts; the special tokens are `BERT_SPECIAL`.

        A piece that does not begin a word begins with ##. Schuster and Nakajima (2012); Devlin et al. (2019),
        section 3. (The library learns the pieces by pair counts, which Google's own training does not do.)

        Args:
            texts: what to learn from.
            size: how many pieces, the special ones and the characters included.
            lowercase: whether to write everything in lower case and without accents.

        Raises:
            TypeError: one string in place of texts.
            ValueError: the texts have no words, one is no Unicode, or `size` is below 1.
        """
        require_at_least(1, size=size)
        sentences = list(_with_words(texts))
        tokenizer = _bert_tokenizer(None, lowercase)
        # The library meets the pieces of one character in an order that changes from run to run, and breaks ties
        # by it. Named here as if they were special, they have fixed places.
        first = [*BERT_SPECIAL, *_characters(tokenizer, sentences)]
        trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=first, show_progress=False)
        tokenizer.train_from_iterator(sentences, trainer)
        return cls(_bert_tokenizer(tokenizer.get_vocab(), lowercase))

    @classmethod
    def train_bytes(cls, texts: Iterable[str], size: int, *, special: Sequence[str] = (GPT2_END,)) -> SubwordVocabulary:
        """Byte-pair encoding of bytes, as GPT-2's, learned from texts: the pairs of `course_lib.text.byte_pairs`.

        Args:
            texts: what to learn from.
            size: how many pieces, the 256 bytes and the special tokens included; fewer if every word is one before.
            special: what stands for no text; their ids are the last.

        Raises:
            TypeError: one string in place of texts.
            ValueError: a text is no Unicode, or `size` leaves no room for the bytes and the special tokens.
        """
        require_at_least(256 + len(special), size=size)
        tokenizer = _byte_tokenizer(models.BPE())
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=size - len(special), initial_alphabet=alphabet, show_progress=False)
        tokenizer.train_from_iterator(_unicode(texts), trainer)
        tokenizer.add_special_tokens(list(special))
        return cls(tokenizer)

    @classmethod
    def load_bert(cls, vocabulary: Path | str, *, lowercase: bool = True) -> SubwordVocabulary:
        """BERT's WordPiece, from its `vocab.txt`: one piece per line, its id being the number of its line, from 0.

        Args:
            vocabulary: the file.
            lowercase: whether it is an *uncased* model's.

        Raises:
            ValueError: the file is not such a vocabulary.
            OSError: it cannot be read.
        """
        path = Path(vocabulary)
        pieces = _utf8(path).removesuffix("\n").split("\n")
        missing = [token for token in BERT_SPECIAL if token not in pieces]
        if missing:
            raise ValueError(f"{path} is not BERT's vocabulary: expected one piece per line, {missing[0]} among them")
        return cls(_bert_tokenizer({piece: i for i, piece in enumerate(pieces)}, lowercase))

    @classmethod
    def load_gpt2(cls, vocabulary: Path | str, merges: Path | str) -> SubwordVocabulary:
        """GPT-2's byte-pair encoding, from its `vocab.json` and `merges.txt`.

        Its pieces are made of bytes, 256 of them, each written as one printable character (a space as Ġ); so
        nothing is unknown. Radford et al. (2019), section 2.2.

        Args:
            vocabulary: the file with each piece's id.
            merges: the file with the pairs, in the order in which they were learned.

        Raises:
            ValueError: the files are not such a vocabulary, or do not belong together.
            OSError: one cannot be read.
        """
        ids, pairs = _gpt2_ids(Path(vocabulary)), _gpt2_pairs(Path(merges))
        needed = {*pre_tokenizers.ByteLevel.alphabet(), *(piece for pair in pairs for piece in (*pair, "".join(pair)))}
        if absent := sorted(needed - ids.keys()):
            raise ValueError(f"{vocabulary} has no piece {absent[0]!r}, which GPT-2's bytes or {merges} ask for")
        tokenizer = _byte_tokenizer(models.BPE(ids, pairs))
        tokenizer.add_special_tokens([GPT2_END])
        return cls(tokenizer)

    @classmethod
    def load(cls, path: Path | str) -> SubwordVocabulary:
        """What `save` has written, or any other `tokenizer.json`.

        Raises:
            ValueError: the file is not one.
            OSError: it cannot be read.
        """
        content = _utf8(Path(path))
        try:
            return cls(Tokenizer.from_str(content))
        except Exception as error:  # the library raises bare Exceptions
            raise ValueError(f"{path} is not a tokenizer of the tokenizers library: {error}") from error

    def save(self, path: Path | str) -> None:
        """Write everything into one file, usually named `tokenizer.json`."""
        Path(path).write_text(self.tokenizer.to_str(pretty=True), encoding="utf-8")

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    def id(self, token: str) -> int:
        """The id of one token.

        Raises:
            ValueError: it is not in the vocabulary.
        """
        found = self.tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f"there is no token {token!r} in this vocabulary of {len(self)}")
        return int(found)

    def encode(self, text: str, *, allowed_special: Special = (), disallowed_special: Special = ()) -> list[int]:
        """The ids of a text's pieces, without special ones around it.

        Args:
            text: any Unicode.
            allowed_special: special tokens that become one id where the text spells them; "all" for all of them.
            disallowed_special: those that the text must not spell; "all" for all that are not allowed. What is in
                neither is cut like any other text.

        Raises:
            ValueError: the text spells a special token that is disallowed, or is no Unicode.
        """
        require_unicode(text)
        allowed, refused = allowed_and_refused(self.special, allowed_special, disallowed_special)
        refuse_special(text, refused)
        ids: list[int] = []
        for part in between_special(text, allowed):
            ids += [self.id(part)] if part in allowed else self.tokenizer.encode(part, add_special_tokens=False).ids
        return ids

    def encode_stream(
        self, texts: Iterable[str], *, allowed_special: Special = (), disallowed_special: Special = ()
    ) -> Iterator[int]:
        """The ids of a text that comes in parts, such as an open file's lines: the same as of all of it at once.

        Only a word that may still grow is kept, so that a text of any length needs little memory.

        Raises:
            TypeError: the vocabulary is not one of bytes, or one string in place of the parts.
            ValueError: as for `encode`.
        """
        if not isinstance(self.tokenizer.pre_tokenizer, pre_tokenizers.ByteLevel):
            raise TypeError("only a vocabulary of bytes encodes a text in parts; others change spaces at their ends")
        for words in in_whole_words(texts, *allowed_and_refused(self.special, allowed_special, disallowed_special)):
            yield from self.encode(words, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts; faster than one at a time.

        Raises:
            TypeError: one string in place of a list.
            ValueError: a text is no Unicode.
        """
        require_texts(texts)
        for text in texts:
            require_unicode(text)
        return [list(found.ids) for found in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def encode_pair(self, first: str, second: str | None = None, max_length: int | None = None) -> JoinedPair:
        """One or two texts as BERT reads them: see `join_pair`.

        Raises:
            ValueError: the vocabulary has no [CLS] and [SEP], or not even these fit.
        """
        ids = None if second is None else self.encode(second)
        marks = {"cls_id": self.id("[CLS]"), "sep_id": self.id("[SEP]")}
        return join_pair(self.encode(first), ids, **marks, max_length=max_length)

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The pieces as they are written in the vocabulary.

        Raises:
            ValueError: there is no piece with one of these ids.
        """
        check_ids(ids, len(self))
        return [str(self.tokenizer.id_to_token(i)) for i in ids]

    def decode(self, ids: Sequence[int]) -> str:
        """The text up to the first end, without start, padding, [CLS] and [SEP].

        Raises:
            ValueError: there is no piece with one of these ids.
        """
        check_ids(ids, len(self))
        ends, hidden = self._ends_and_hidden
        end = next((place for place, i in enumerate(ids) if i in ends), len(ids))
        visible = [i for i in ids[:end] if i not in hidden]
        return str(self.tokenizer.decode(visible, skip_special_tokens=False))

    @cached_property
    def special(self) -> tuple[str, ...]:
        """The special tokens, in the order of their ids."""
        added = self.tokenizer.get_added_tokens_decoder()
        return tuple(added[i].content for i in sorted(added) if added[i].special)

    @cached_property
    def _ends_and_hidden(self) -> tuple[set[int], set[int]]:
        to_id: Callable[[str], int | None] = self.tokenizer.token_to_id
        ends = {i for i in map(to_id, _ENDS) if i is not None}
        hidden = {i for i in map(to_id, _HIDDEN) if i is not None}
        return ends, hidden


def _byte_tokenizer(model: models.BPE) -> Tokenizer:
    """GPT-2's way to cut texts, with these pieces."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _bert_tokenizer(ids: dict[str, int] | None, lowercase: bool) -> Tokenizer:
    """BERT's way to cut words, with these pieces, or with none yet."""
    model = models.WordPiece(unk_token="[UNK]") if ids is None else models.WordPiece(ids, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _gpt2_ids(path: Path) -> dict[str, int]:
    try:
        ids = json.loads(_utf8(path))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON, as GPT-2's vocab.json is: {error}") from error
    if not isinstance(ids, dict) or sorted(map(str, ids.values())) != sorted(map(str, range(len(ids)))):
        raise ValueError(f"{path} is not GPT-2's vocabulary: expected each piece with an id, from 0 without gaps")
    return ids


def _gpt2_pairs(path: Path) -> list[tuple[str, str]]:
    pairs = []
    for number, line in enumerate(_utf8(path).removesuffix("\n").split("\n"), start=1):
        if number == 1 and line.startswith("#version"):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise ValueError(f"{path}, line {number}: expected two pieces with a space between them, got {line!r}")
        pairs.append((left, right))
    return pairs


def _characters(tokenizer: Tokenizer, texts: Iterable[str]) -> list[str]:
    """Every character that begins a word, and every one within a word, with its ##; in a fixed order."""
    begin: set[str] = set()
    within: set[str] = set()
    for text in texts:
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text)):
            begin.add(word[0])
            within.update(word[1:])
    return sorted(begin) + ["##" + character for character in sorted(within)]


def _unicode(texts: Iterable[str]) -> Iterator[str]:
    """The texts as they are, none of them one string in place of several, each of them Unicode."""
    require_texts(texts)
    for text in texts:
        require_unicode(text)
        yield text


def _with_words(texts: Iterable[str]) -> Iterator[str]:
    """The texts as they are.

    Raises:
        TypeError: one string in place of several.
        ValueError: none of them has a word, or one is no Unicode.
    """
    empty = True
    for text in _unicode(texts):
        empty = empty and not text.replace(MARK, " ").strip()
        yield text
    if empty:
        raise ValueError("there is nothing to learn pieces from: the texts have no words")


def _utf8(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a vocabulary: it is not UTF-8 text") from error
