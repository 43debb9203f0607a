"""What computes a metric is no answer to how one does."""

from __future__ import annotations

import pytest

from course_lib import exercises
from course_lib.judging.rules import Code


@pytest.mark.parametrize(
    ("exercise_id", "own", "value", "name"),
    [
        (
            "clipped_ngrams",
            "from nltk.translate.bleu_score import modified_precision as p",
            "p(x)",
            "modified_precision",
        ),
        ("corpus_bleu", "import sacrebleu.metrics as m", "m.BLEU()", "sacrebleu"),
        ("corpus_bleu", "from course_lib.evaluation import metrics", "metrics.bleu(x)", "course_lib.evaluation"),
        ("word_error_rate", "import jiwer", "jiwer.compute(x)", "jiwer"),
    ],
)
def test_a_library_is_no_answer(exercise_id: str, own: str, value: str, name: str) -> None:
    exercise = exercises.find(f"evaluation.{exercise_id}")
    rule = Code([own, f"def {exercise.name}(*x):\n    return {value}"]).broken_rule(
        exercise.name, exercise.forbidden_names
    )
    assert rule is not None
    assert rule.name == name
