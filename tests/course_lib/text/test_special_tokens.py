"""What becomes of special tokens that a text spells, in one piece and in chunks."""

import pytest

from course_lib.text.special_tokens import SpecialTokens

IDS = {"<a>": 7, "<a>b": 8, "<<": 9}


def chosen(allowed: list[str], refused: list[str]) -> SpecialTokens:
    return SpecialTokens.choose(IDS, allowed, refused)


def test_all_that_is_not_allowed_is_refused_by_default() -> None:
    special = SpecialTokens.choose(IDS, ["<a>"], "all")
    assert special.allowed == {"<a>": 7}
    assert special.refused == {"<a>b", "<<"}
    assert SpecialTokens.choose(IDS, "all", "all") == SpecialTokens(IDS, frozenset())


def test_the_longest_token_from_the_left_is_found() -> None:
    assert chosen(["<a>", "<a>b", "<<"], []).split("<a>b<<<a>c") == [8, 9, 7, "c"]


@pytest.mark.parametrize("text", ["x<a>b<<<a>c", "<a", "<<a>", "<a>", "x<", "<a><a>b", "<<<<", ""])
def test_chunks_cut_anywhere_give_the_parts_of_the_whole(text: str) -> None:
    special = SpecialTokens.choose(IDS, "all", ())
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1):
            joined: list[str | int] = []
            for part in special.split_stream([text[:first], text[first:second], text[second:]]):
                if isinstance(part, str) and joined and isinstance(joined[-1], str):
                    joined[-1] += part
                else:
                    joined.append(part)
            assert joined == special.split(text)


def test_only_what_may_be_a_token_waits_for_the_next_chunk() -> None:
    parts = chosen(["<a>"], []).split_stream(iter(["x <b", " y <a", "b"]))
    assert list(parts) == ["x <b", " y ", "<ab"]
