"""The exercises of lesson 10: tags, clipped n-grams and what BLEU makes of them, edits, two ways of
averaging, metrics beside people, and tests that were in the training data.

Built like `course_lib/exercises/attention/scale.py`; read that file first. Answers are plain numbers here. Divisions by
nothing (a label that is never predicted, a sentence without n-grams) have cases, and points, of their own.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.evaluation import (
    brevity_penalty,
    clipped_ngrams,
    corpus_bleu,
    corpus_or_sentence,
    edit_table,
    pairwise_accuracy,
    precision_recall_f1,
    seen_before,
    sequence_accuracy,
    word_error_rate,
)

EXERCISES = collect(
    precision_recall_f1,
    sequence_accuracy,
    clipped_ngrams,
    brevity_penalty,
    corpus_bleu,
    corpus_or_sentence,
    edit_table,
    word_error_rate,
    pairwise_accuracy,
    seen_before,
    withheld=("course_lib.references.evaluation",),
)
"""In the order of the lesson."""

MOVED = {"evaluation.bleu": "evaluation.corpus_bleu"}
"""Of earlier versions, and what took their place."""
