"""Subwords for real work, with the `tokenizers` library: byte-pair encoding, WordPiece, and published vocabularies.

`course_lib.text.subwords` and `course_lib.text.byte_pairs` show how they work. `SubwordVocabulary.train_bpe` learns the
same pieces as the former, `SubwordVocabulary.train_byte_bpe` the same as the latter, with the same ids, in a small
fraction of the time. GPT-2's and BERT's vocabularies are read from their published files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from course_lib.ground.validation import check_at_least, check_one_of, check_texts, check_unicode
from course_lib.published.hub import find_folder, read_json
from course_lib.text.byte_pairs import GPT2_END, PATTERNS, Pattern, check_special, stream_words
from course_lib.text.gpt2_files import read_gpt2_ids, read_gpt2_pairs, read_utf8
from course_lib.text.special_tokens import Choice, SpecialTokens, without_special
from course_lib.text.subwords import MARK
from course_lib.text.tokenization import (
    END,
    PADDING,
    SPECIAL,
    START,
    UNKNOWN,
    JoinedPair,
    before_end,
    check_ids,
    join_pair,
)

BERT_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_ENDS = (END, GPT2_END, "</s>", "<|end_of_text|>", "<|eot_id|>", "<|im_end|>")
"""The tokens that end a text: ours, GPT-2's, RoBERTa's and Marian's, Llama 3's, Qwen's."""

_HIDDEN = (PADDING, START, "[PAD]", "[CLS]", "[SEP]", "<|begin_of_text|>")
"""The tokens around a text that are not part of it."""

_SPACES = Regex(r"[\s\x1c-\x1f]+")
"""The characters at which Python's `str.split` splits."""


@dataclass(frozen=True)
class SubwordVocabulary:
    """A trained or published vocabulary.

    Attributes:
        tokenizer: the library's object, for anything that this class does not offer.
    """

    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        # A text that spells "<s>" or "[MASK]" is plain text: only `encode` decides which special tokens it may contain.
        self.tokenizer.encode_special_tokens = True
        # A published file may prescribe padding and truncation for its model; `encode` does neither.
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    @classmethod
    def train_bpe(cls, texts: Iterable[str], size: int, *, split_punctuation: bool = False) -> SubwordVocabulary:
        """Learn byte-pair encoding from texts; the special tokens are `SPECIAL`.

        Args:
            texts: the texts to learn from.
            size: the number of pieces, including special ones and characters. There are fewer if every word becomes a
                single piece first, and more if there are more characters alone.
            split_punctuation: whether a punctuation mark is a separate word, so that *dog* and *dog.* share a piece.
                Decoding puts it back in its place.

        Raises:
            TypeError: given one string instead of several texts.
            ValueError: the texts have no words, one is not valid Unicode, or `size` is below 1.
        """
        check_at_least(1, size=size)
        tokenizer = marked_tokenizer(models.BPE(unk_token=UNKNOWN), split_punctuation)
        trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
        tokenizer.train_from_iterator(_with_words(texts), trainer)
        return cls(tokenizer)

    @classmethod
    def train_byte_bpe(
        cls, texts: Iterable[str], size: int, *, special: Sequence[str] = (GPT2_END,), pattern: Pattern = "gpt2"
    ) -> SubwordVocabulary:
        """Learn byte-level byte-pair encoding, as in GPT-2, from texts: nothing in a text is unknown.

        The pieces and ids are those of `course_lib.text.byte_pairs`: the bytes, the joined pieces, the special tokens.
        Here, too, nothing is learned from or across a special token that a text spells.

        Args:
            texts: the texts to learn from.
            size: the number of pieces, including the 256 bytes and the special tokens. There are fewer if every word
                becomes a single piece first, and more if there are more bytes and special tokens alone.
            special: the special tokens.
            pattern: how a text is split into words: as in GPT-2 or in GPT-4.

        Raises:
            TypeError: given one string instead of several texts or special tokens.
            ValueError: the texts have no words, one is not valid Unicode, `size` is below 1, or a special token is
                empty, repeated, or spelled like a piece.
        """
        check_at_least(1, size=size)
        check_texts(special)
        check_one_of(Pattern, pattern=pattern)
        check_special(special, ())
        tokenizer = _byte_tokenizer(models.BPE(), pattern)
        trainer = trainers.BpeTrainer(
            vocab_size=max(size - len(special), 0),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(_with_words(without_special(texts, special)), trainer)
        check_special(special, tokenizer.get_vocab())
        tokenizer.add_special_tokens(list(special))
        return cls(tokenizer)

    @classmethod
    def train_wordpiece(cls, texts: Iterable[str], size: int, *, lowercase: bool = True) -> SubwordVocabulary:
        """Learn WordPiece, as BERT cuts words, from texts; the special tokens are `BERT_SPECIAL`.

        A piece that does not begin a word begins with ##. Schuster and Nakajima (2012); Devlin et al. (2019), section
        3. (The library learns the pieces by pair counts, unlike Google's own training.)

        Args:
            texts: the texts to learn from.
            size: the number of pieces, including special ones and characters.
            lowercase: whether to convert everything to lower case, without accents.

        Raises:
            TypeError: given one string instead of several texts.
            ValueError: the texts have no words, one is not valid Unicode, or `size` is below 1.
        """
        check_at_least(1, size=size)
        sentences = list(_with_words(texts))
        tokenizer = _bert_tokenizer(None, lowercase)
        # The library collects single characters in an order that changes from run to run, and breaks ties by it. Passed
        # as special tokens, they have fixed positions.
        first = [*BERT_SPECIAL, *_characters(tokenizer, sentences)]
        trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=first, show_progress=False)
        tokenizer.train_from_iterator(sentences, trainer)
        return cls(_bert_tokenizer(tokenizer.get_vocab(), lowercase))

    @classmethod
    def load_bert(cls, vocabulary: Path | str, *, lowercase: bool = True) -> SubwordVocabulary:
        """Load BERT's WordPiece from its `vocab.txt`: one piece per line, whose number, from 0, is its id.

        Args:
            vocabulary: the file.
            lowercase: whether the model is *uncased*.

        Raises:
            ValueError: the file is not such a vocabulary.
            OSError: it cannot be read.
        """
        path = Path(vocabulary)
        pieces = read_utf8(path).removesuffix("\n").split("\n")
        missing = [token for token in BERT_SPECIAL if token not in pieces]
        if missing:
            raise ValueError(f"{path} is not BERT's vocabulary: expected one piece per line, {missing[0]} among them")
        return cls(_bert_tokenizer({piece: i for i, piece in enumerate(pieces)}, lowercase))

    @classmethod
    def load_gpt2(cls, vocabulary: Path | str, merges: Path | str) -> SubwordVocabulary:
        """Load GPT-2's byte-pair encoding from its `vocab.json` and `merges.txt`.

        Its pieces are made of the 256 bytes, each written as one printable character (a space as Ġ), so nothing is
        unknown. A piece that no pair makes is a special token. Radford et al. (2019), section 2.2.

        Args:
            vocabulary: the file with each piece's id.
            merges: the file with the pairs, in the order of learning.

        Raises:
            ValueError: the files are not such a vocabulary, or do not belong together.
            OSError: a file cannot be read.
        """
        ids, pairs = read_gpt2_ids(Path(vocabulary)), read_gpt2_pairs(Path(merges))
        needed = {*pre_tokenizers.ByteLevel.alphabet(), *(piece for pair in pairs for piece in (*pair, "".join(pair)))}
        if absent := sorted(needed - ids.keys()):
            raise ValueError(f"{vocabulary} has no piece {absent[0]!r}, which GPT-2's bytes or {merges} ask for")
        tokenizer = _byte_tokenizer(models.BPE(ids, pairs), "gpt2")
        special = sorted(ids.keys() - needed, key=ids.__getitem__)
        tokenizer.add_special_tokens([*special, *({GPT2_END} - ids.keys())])
        return cls(tokenizer)

    @classmethod
    def from_pretrained(cls, name: Path | str) -> SubwordVocabulary:
        """Load a published model's vocabulary by the model's name: GPT-2's, BERT's, or any in a `tokenizer.json`.

        Args:
            name: the name of a model on the hub, of which only the vocabulary is downloaded; or its folder.

        Raises:
            FileNotFoundError: there is no such folder or model, it has no vocabulary that this class reads, or the hub
                cannot be reached.
            ValueError: the files are not such a vocabulary.
        """
        folder = find_folder(name, weights=False)
        whole, ids, pairs, words = (
            folder / file for file in ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt")
        )
        if whole.is_file():
            return cls.load(whole)
        if ids.is_file() and pairs.is_file():
            return cls.load_gpt2(ids, pairs)
        if words.is_file():
            return cls.load_bert(words, lowercase=_is_uncased(folder))
        if (folder / "source.spm").is_file():
            raise FileNotFoundError(f"{name} has SentencePiece's files: read them with sentence_pieces.load_marian")
        raise FileNotFoundError(f"{name} has neither tokenizer.json, nor vocab.json and merges.txt, nor vocab.txt")

    @classmethod
    def load(cls, path: Path | str) -> SubwordVocabulary:
        """Load what `save` wrote, or any other `tokenizer.json`.

        Raises:
            ValueError: the file is not a `tokenizer.json`.
            OSError: it cannot be read.
        """
        content = read_utf8(Path(path))
        try:
            return cls(Tokenizer.from_str(content))
        except Exception as error:  # the library raises bare Exceptions
            raise ValueError(f"{path} is not a tokenizer of the tokenizers library: {error}") from error

    def save(self, path: Path | str) -> None:
        """Write the vocabulary to one file, usually named `tokenizer.json`."""
        Path(path).write_text(self.tokenizer.to_str(pretty=True), encoding="utf-8")

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    def id(self, token: str) -> int:
        """Return the id of one token.

        Raises:
            ValueError: the token is not in the vocabulary.
        """
        found = self.tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f"there is no token {token!r} in this vocabulary of {len(self)}")
        return int(found)

    def encode(self, text: str, *, allowed_special: Choice = (), disallowed_special: Choice | None = None) -> list[int]:
        """Return the ids of a text's pieces, without special tokens around it.

        Args:
            text: any text.
            allowed_special: the special tokens that become one id where the text spells them, or "all".
            disallowed_special: those that the text must not spell; "all" for all that are not allowed. Others are plain
                text. The default is "all" where pieces are made of bytes, as in GPT-2, and none elsewhere.

        Raises:
            ValueError: the text is not valid Unicode, or spells a special token that is refused.
        """
        parts = self._special_tokens(allowed_special, disallowed_special).split(text)
        return [i for part in parts for i in ([part] if isinstance(part, int) else self._encode_plain(part))]

    def _encode_plain(self, text: str | list[str]) -> list[int]:
        """Return the ids of a text, or of words that it was split into."""
        return list(self.tokenizer.encode(text, is_pretokenized=isinstance(text, list), add_special_tokens=False).ids)

    def encode_all(
        self, texts: Sequence[str], *, allowed_special: Choice = (), disallowed_special: Choice | None = None
    ) -> list[list[int]]:
        """Return the ids of many texts, as `encode` does; faster than one at a time.

        Raises:
            TypeError: given one string instead of a list.
            ValueError: a text is not valid Unicode, or spells a special token that is refused.
        """
        check_texts(texts)
        special = self._special_tokens(allowed_special, disallowed_special)
        split = [special.split(text) for text in texts]
        plain = [part for parts in split for part in parts if isinstance(part, str)]
        found = iter(self.tokenizer.encode_batch(plain, add_special_tokens=False))
        return [
            [i for part in parts for i in ([part] if isinstance(part, int) else next(found).ids)] for parts in split
        ]

    def encode_stream(
        self, texts: Iterable[str], *, allowed_special: Choice = (), disallowed_special: Choice | None = None
    ) -> Iterator[int]:
        """Return the ids of one text that comes in chunks, such as an open file; chunks may be cut anywhere.

        The ids are those of the joined text. Only a chunk's last word, and a possible beginning of a special token,
        waits for the next chunk; nothing else is kept.

        Args:
            texts: the chunks.
            allowed_special, disallowed_special: as for `encode`. A refused token raises an error where it occurs, after
                the ids before it.

        Raises:
            TypeError: given one string instead of chunks, or a chunk is not a string.
            ValueError: the vocabulary does not cut words as GPT-2 or GPT-4 do, a chunk is not valid Unicode, or the
                text spells a special token that is refused.
        """
        check_texts(texts)
        if self._pattern is None:
            raise ValueError(
                "only a vocabulary that cuts words as GPT-2 or GPT-4 does can encode a stream; encode whole texts"
            )
        special = self._special_tokens(allowed_special, disallowed_special)
        parts = stream_words(special.split_stream(texts), self._pattern)
        return (i for part in parts for i in ([part] if isinstance(part, int) else self._encode_plain(part)))

    @property
    def _pattern(self) -> Pattern | None:
        """The pattern that splits texts into words, if it is GPT-2's or GPT-4's."""
        mine = self.tokenizer.pre_tokenizer
        if mine is None or self.tokenizer.normalizer is not None:
            return None
        if isinstance(mine, pre_tokenizers.ByteLevel):
            return "gpt2" if mine.use_regex and not mine.add_prefix_space else None
        return "gpt4" if mine.__getstate__() == _gpt4_words().__getstate__() else None

    def _special_tokens(self, allowed: Choice, disallowed: Choice | None) -> SpecialTokens:
        if disallowed is None:
            disallowed = "all" if isinstance(self.tokenizer.decoder, decoders.ByteLevel) else ()
        return SpecialTokens.choose(self._special_ids, allowed, disallowed)

    @cached_property
    def _special_ids(self) -> dict[str, int]:
        added = self.tokenizer.get_added_tokens_decoder()
        return {token.content: i for i, token in added.items() if token.special}

    def encode_pair(self, first: str, second: str | None = None, max_length: int | None = None) -> JoinedPair:
        """Encode one or two texts as BERT reads them: see `join_pair`.

        Raises:
            ValueError: the vocabulary has no [CLS] and [SEP], or even these do not fit.
        """
        ids = None if second is None else self.encode(second)
        marks = {"cls_id": self.id("[CLS]"), "sep_id": self.id("[SEP]")}
        return join_pair(self.encode(first), ids, **marks, max_length=max_length)

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces as the vocabulary spells them.

        Raises:
            ValueError: there is no piece with one of these ids.
        """
        check_ids(ids, len(self))
        return [str(self.tokenizer.id_to_token(i)) for i in ids]

    def decode(self, ids: Sequence[int], *, stop: bool = True) -> str:
        """Return the text up to the first end, without start, padding, [CLS] and [SEP]; with `stop=False`, all of it.

        An end token before everything else, such as a separator of documents, is skipped.

        Raises:
            ValueError: there is no piece with one of these ids.
        """
        check_ids(ids, len(self))
        visible = list(ids)
        if stop:
            ends, hidden = self._ends_and_hidden
            visible = [i for i in before_end(ids, ends) if i not in hidden]
        return str(self.tokenizer.decode(visible, skip_special_tokens=False))

    @cached_property
    def _ends_and_hidden(self) -> tuple[set[int], set[int]]:
        to_id: Callable[[str], int | None] = self.tokenizer.token_to_id
        ends = {i for i in map(to_id, _ENDS) if i is not None}
        hidden = {i for i in map(to_id, _HIDDEN) if i is not None}
        return ends, hidden


def _is_uncased(folder: Path) -> bool:
    """Return whether the published configuration says that the vocabulary is uncased, as most are."""
    path = folder / "tokenizer_config.json"
    return not path.is_file() or bool(read_json(path).get("do_lower_case", True))


def marked_tokenizer(model: models.BPE, split_punctuation: bool) -> Tokenizer:
    """Return a tokenizer that marks the beginning of every word, with these pieces."""
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Replace(MARK, " "), normalizers.Replace(_SPACES, " "), normalizers.Strip()]
    )
    words = pre_tokenizers.Metaspace(MARK, "always")
    marks = [pre_tokenizers.Punctuation("isolated")] if split_punctuation else []
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, *marks])
    tokenizer.decoder = decoders.Metaspace(MARK, "always")
    return tokenizer


def _bert_tokenizer(ids: dict[str, int] | None, lowercase: bool) -> Tokenizer:
    """Return a tokenizer that cuts words as BERT does, with these pieces, or with none yet."""
    model = models.WordPiece(unk_token="[UNK]") if ids is None else models.WordPiece(ids, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _byte_tokenizer(model: models.BPE, pattern: Pattern) -> Tokenizer:
    """Return a tokenizer that cuts words as GPT-2 or GPT-4 do, with these pieces."""
    tokenizer = Tokenizer(model)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = gpt2 if pattern == "gpt2" else _gpt4_words()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _gpt4_words() -> pre_tokenizers.PreTokenizer:
    """Return GPT-4's split into words of bytes; Llama 3's published file has the same two steps."""
    words = pre_tokenizers.Split(Regex(PATTERNS["gpt4"]), "isolated")
    return pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _characters(tokenizer: Tokenizer, texts: Iterable[str]) -> list[str]:
    """Return every character that begins a word, and every other with its ##, in a fixed order."""
    begin: set[str] = set()
    within: set[str] = set()
    for text in texts:
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text)):
            begin.add(word[0])
            within.update(word[1:])
    return sorted(begin) + ["##" + character for character in sorted(within)]


def _with_words(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts unchanged, checking them.

    Raises:
        TypeError: given one string instead of several.
        ValueError: none of them has a word, or one is not valid Unicode.
    """
    check_texts(texts)
    empty = True
    for text in texts:
        check_unicode(text)
        empty = empty and not text.replace(MARK, " ").strip()
        yield text
    if empty:
        raise ValueError("there is nothing to learn pieces from: the texts have no words")
