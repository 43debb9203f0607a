"""The learner's own transformer at work: the library's numbers, and what fails a trial step is borrowed."""

import math
import re
from collections.abc import Mapping

import pytest
import torch

from course_lib.configurations import TransformerConfig
from course_lib.learner.transformer_pieces import PIECES
from course_lib.mine import own_transformer as module
from course_lib.mine.own_transformer import OwnTransformer, Trial, chosen, own_transformer
from course_lib.models import Transformer
from course_lib.training.precision import Precision
from tests.course_lib.mine.test_joining import COURSE, WITHOUT_DEVICE, every_second, from_outside, references

SIZES = TransformerConfig(
    50, 50, d_model=16, heads=2, d_ff=32, encoder_layers=2, decoder_layers=2, shared_embeddings=True
)
CPU = torch.device("cpu")
PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16", "fp16")
OWN = PIECES.keys() - {"decoding.greedy"}
"""What is trained: everything but what writes."""


@pytest.fixture(scope="module")
def trials() -> Mapping[str, Trial]:
    return {precision: Trial(SIZES, CPU, precision, slowest=math.inf) for precision in PRECISIONS}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("whose", [references, every_second, from_outside, dict])
def test_right_answers_train_in_every_precision(trials: Mapping[str, Trial], whose: type, precision: str) -> None:
    answers = whose()
    own = chosen(answers, COURSE, trials[precision])
    count = len(answers.keys() & OWN) - (len(WITHOUT_DEVICE) if whose is from_outside else 0)
    assert own.told.startswith(
        f"Your transformer: all {len(OWN)} pieces are your own."
        if count == len(OWN)
        else f"Your transformer: {count} of its {len(OWN)} pieces are your own. Borrowed: "
        if count
        else "Your transformer: all pieces are borrowed from the course"
    )
    assert "trial step" not in own.told
    assert ("your classes" in own.whose) == bool(count)


WRONG = {
    "an infinity that fp16 lacks": (
        "fp16",
        "masking.masked_weights",
        "def masked_weights(scaled, mask):\n    return scaled.masked_fill(~mask, -1e9).softmax(-1)",
        "it raises RuntimeError: value cannot be converted",
    ),
    "double precision": ("fp32", "heads_and_blocks.layer_norm", "x = x.double()", "it raises RuntimeError"),
    "no way back": ("bf16", "heads_and_blocks.feed_forward", "x = x.detach()", "its gradients are not the library's"),
    "another mask": (
        "fp32",
        "masking.causal_mask",
        "def causal_mask(length, device=None):\n    return torch.ones(length, length, dtype=torch.bool)",
        "its ",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_piece_that_fails_is_borrowed_and_named_in_one_line(trials: Mapping[str, Trial], name: str) -> None:
    precision, exercise_id, text, why = WRONG[name]
    answers = {one: code for one, code in references().items() if one in (exercise_id, "attention.scale")}
    if text.startswith("def "):
        answers[exercise_id] = f"import torch\n\n\n{text}\n"
    else:
        head = r"( +)(def forward\(self, x\):.*\n)"
        answers[exercise_id] = re.sub(head, rf"\1\2\1    {text}\n", answers[exercise_id])
        assert text in answers[exercise_id]
    own = chosen(answers, COURSE, trials[precision])
    assert f"1 of its {len(OWN)} pieces are your own. Borrowed: " in own.told
    assert f"{PIECES[exercise_id]} (in a trial step ({precision} on cpu) {why}" in own.told
    assert own.whose == f"your classes, {len(OWN) - 1} of {len(OWN)} pieces borrowed"


def test_what_takes_far_too_long_is_borrowed(trials: Mapping[str, Trial], monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(SIZES, CPU, "fp32")
    monkeypatch.setattr(trial, "seconds", 1e-9)
    own = chosen({"attention.scale": COURSE["attention.scale"]}, COURSE, trial)
    assert own.whose == "the course's classes"
    assert re.search(r"scale_scores \(in a trial step .* it takes \d+ times as long as the library's\)", own.told)


def test_weights_go_to_and_fro(trials: Mapping[str, Trial]) -> None:
    own = chosen(references(), COURSE, trials["fp32"])
    like, other = Transformer(SIZES).eval(), Transformer(SIZES).eval()
    source, target = torch.randint(1, 50, (3, 7)), torch.randint(1, 50, (3, 5))
    model = own.model(like, dropout=0.1)
    assert not torch.equal(model(source, target), model(source, target))  # it has dropout
    torch.testing.assert_close(model.eval()(source, target), like(source, target))
    own.give_back(model, other)
    torch.testing.assert_close(other(source, target), like(source, target))


def librarys(own: OwnTransformer) -> bool:
    return isinstance(own.make(SIZES), Transformer) and own.whose == "the library's"


def test_where_nothing_can_be_borrowed_it_is_the_library_s(
    trials: Mapping[str, Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = {exercise_id: code for exercise_id, code in COURSE.items() if exercise_id != "attention.scale"}
    own = chosen({}, some, trials["fp32"])
    assert librarys(own)
    assert "because scale_scores cannot be borrowed in this course" in own.told
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert librarys(own_transformer(SIZES, "cpu"))
