"""How GPT-2 cuts words and writes bytes, against `tokenizers`."""

from __future__ import annotations

import pytest
from tokenizers import pre_tokenizers

from course_lib.text.gpt2_files import BYTES, split_words, written

TEXTS = [
    "A cat danced on the table; the cat's table, and they'll say it's theirs.",
    "Две кошки танцуют на столе.\r\nДве кошки!",
    "if  x:\n    return 12_000\n\n\n",
    "🐈‍⬛ and 👩🏽‍🚀 🇩🇪",
    "\x00\x01\x1c\x1d\x7f\x85\u2028 \ufeff\u00a0\u3000\u00a0no-break",
    "'s 'S don't can''t 'll'llama we'v 'r",
    "猫在桌子上跳舞。１２３ ½² Ⅷ",
    "WE'LL 'Ll 'ſ 'lL  \n \n\n  x!\n\n \n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_those_of_tokenizers(text: str) -> None:
    theirs = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert [written(word.encode()) for word in split_words(text)] == [word for word, _ in theirs]


def test_bytes_are_all_there_in_the_order_of_gpt2() -> None:
    assert sorted(BYTES) == list(range(256))
    assert [BYTES.index(byte) for byte in b"!a~\n "] == [0, 64, 93, 198, 220]
    assert len(set(written(BYTES))) == 256
    assert all(character.isprintable() and not character.isspace() for character in written(BYTES))
