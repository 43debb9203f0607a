"""Texts from files, good and bad."""

import gzip
from pathlib import Path

import pytest

from course_lib.text.texts import SentencePair, read_pairs, read_parallel, read_text


def written(folder: Path, content: str | bytes, name: str = "text.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


class TestText:
    def test_is_read_as_it_stands_without_a_byte_order_mark_and_may_be_compressed(self, tmp_path: Path) -> None:
        assert read_text(written(tmp_path, "Äpfel\n\n und Mäuse ")) == "Äpfel\n\n und Mäuse "
        assert read_text(written(tmp_path, b"\xef\xbb\xbfKatze")) == "Katze"
        assert read_text(written(tmp_path, gzip.compress("Mäuse".encode()), "text.gz")) == "Mäuse"

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("text.txt", b"", "has 0 characters; .* needs at least two"),
            ("text.txt", b"a", "has 1 characters; .* needs at least two"),
            ("text.txt", "Mäuse".encode("latin-1"), "not UTF-8 text: byte 1 cannot be read"),
            ("cut off.gz", gzip.compress(b"Katze" * 99, mtime=0)[:-9], "not a whole gzip file"),
            ("damaged.gz", gzip.compress(b"Katze" * 99, mtime=0)[:10] + b"\xff" * 30, "not a whole gzip file"),
            ("other.gz", b"no gzip at all", "not a whole gzip file"),
        ],
    )
    def test_what_cannot_be_learned_from_is_refused(
        self, tmp_path: Path, name: str, content: bytes, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            read_text(written(tmp_path, content, name))


class TestPairs:
    def test_comments_empty_lines_and_further_columns_are_passed_over(self, tmp_path: Path) -> None:
        text = "# a comment\nGo.\tGeh.\tCC-BY 2.0 (France) Attribution\n\nHi.\tHallo!\r\n"
        assert read_pairs(written(tmp_path, text)) == [SentencePair("Go.", "Geh."), SentencePair("Hi.", "Hallo!")]

    def test_unicode_line_separators_stay_within_a_sentence(self, tmp_path: Path) -> None:
        assert read_pairs(written(tmp_path, "a\u2028b\tc\x0bd\n")) == [SentencePair("a\u2028b", "c\x0bd")]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("Go.\tGeh.\nno tab here\n", "line 2: expected at least 2 columns .* got 1: 'no tab here'"),
            ("Go.\t \n", "line 1: a sentence is empty"),
            ("# nothing\n\n", "holds no sentence pairs"),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            read_pairs(written(tmp_path, text))


class TestParallel:
    def test_line_by_line(self, tmp_path: Path) -> None:
        english = written(tmp_path, "one\ntwo\n", "en")
        german = written(tmp_path, gzip.compress(b"eins\nzwei\n"), "de.gz")
        assert read_parallel(english, german) == [SentencePair("one", "eins"), SentencePair("two", "zwei")]

    @pytest.mark.parametrize(
        ("german", "message"),
        [("eins\n", "has 2 lines and .* 1; they must match one to one"), ("eins\n \n", "line 2 of .*de is empty")],
    )
    def test_files_that_do_not_match_are_refused(self, tmp_path: Path, german: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            read_parallel(written(tmp_path, "one\ntwo\n", "en"), written(tmp_path, german, "de"))
