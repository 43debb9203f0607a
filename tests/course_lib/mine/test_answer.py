"""What was written in one lesson, in the next."""

import sys
from pathlib import Path

import pytest

from course_lib import mine
from course_lib.learner.kept_answers import keep_answer, kept_at
from course_lib.learner.references import reference
from course_lib.mine import answer
from course_lib.text.subwords import encode_pieces

ID = "subwords.encode"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))


def test_first_it_is_the_course_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(ID) is encode_pieces
    assert "the course's own, until yours has passed its check." in capsys.readouterr().out


def test_then_one_s_own(capsys: pytest.CaptureFixture[str]) -> None:
    keep_answer(ID, "encode", ["def encode(token, merges):\n    return [*token]"])
    assert answer(ID)("Katze", []) == [*"Katze"]
    assert capsys.readouterr().out == "subwords.encode: your own.\n"


def test_several_are_told_in_a_line_for_each_case(capsys: pytest.CaptureFixture[str]) -> None:
    keep_answer(ID, "encode", ["def encode(token, merges):\n    return [*token]"])
    norm, own, sums = answer("heads_and_blocks.layer_norm", ID, "heads_and_blocks.add_and_norm")
    assert (norm.__name__, sums.__name__, own("K", [])) == ("LayerNorm", "AddAndNorm", ["K"])
    borrowed = "heads_and_blocks.layer_norm, heads_and_blocks.add_and_norm"
    told = f"{borrowed}: the course's own, until yours has passed its check.\n{ID}: your own.\n"
    assert capsys.readouterr().out == told


def test_one_that_cannot_be_loaded_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    kept_at(ID).parent.mkdir()
    kept_at(ID).write_text("1 / 0")
    assert answer(ID) is encode_pieces
    assert "ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("exercise_id", "script"),
    [
        ("heads_and_blocks.layer_norm", "def layer_norm(x, gamma, beta, epsilon=1e-5): return x"),
        ("heads_and_blocks.layer_norm", "def LayerNorm(x, gamma, beta, epsilon=1e-5): return x"),
        ("heads_and_blocks.feed_forward", "class FeedForward:\n    def __init__(self, d_model, d_ff): ..."),
        ("heads_and_blocks.encoder_block", "class EncoderBlock:\n    def __init__(self, d_model, heads, d_ff): ..."),
        ("encoder_decoder.decoder_block", "class DecoderBlock:\n    def __init__(self, d_model, heads, d_ff): ..."),
        (ID, "def encode(token): return [*token]"),
    ],
)
def test_one_for_an_earlier_version_of_its_exercise_is_not_taken(
    exercise_id: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept_at(exercise_id).parent.mkdir()
    kept_at(exercise_id).write_text(script)
    assert answer(exercise_id) is reference(exercise_id)
    assert "was written for an earlier version of the exercise: write" in capsys.readouterr().out


def test_where_an_edition_withholds_the_course_s_a_demo_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("attention", "masking"):
        monkeypatch.setitem(sys.modules, f"course_lib.{module}", None)
    weights, mask = answer("masking.masked_weights", "masking.causal_mask")
    assert "masking.masked_weights, masking.causal_mask: missing until yours has passed" in capsys.readouterr().out
    with pytest.raises(LookupError, match=r"needs masked_weights: pass the check of masking\.masked_weights in 02_ma"):
        weights(1, mask=None)
    with pytest.raises(LookupError, match=r"needs causal_mask.* then run .*\(\"masking\.causal_mask\"\) again"):
        mask(4)
    keep_answer("masking.causal_mask", "causal_mask", ["def causal_mask(length, device=None):\n    return 'mine'"])
    assert answer("masking.causal_mask")(4) == "mine"


def test_in_a_box_it_is_always_the_course_s(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_answer(ID, "encode", ["def encode(token, merges):\n    return [*token]"])
    monkeypatch.setattr(mine, "find_spec", lambda name: None)
    assert answer(ID) is encode_pieces
    assert capsys.readouterr().out == "subwords.encode: the course's own.\n"


def test_an_exercise_that_there_is_not() -> None:
    with pytest.raises(LookupError, match=r"did you mean subwords\.encode"):
        answer("subwords.encod")
