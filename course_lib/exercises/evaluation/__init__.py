"""The exercises of lesson 10: tags, clipped n-grams and what BLEU makes of them, edits, and two ways of averaging.

Built like `course_lib/exercises/attention/scale.py`; read that file first. Answers are plain numbers here. Divisions by
nothing (a label that is never predicted, a sentence without n-grams) have cases, and points, of their own.
"""

from course_lib.exercises.evaluation import (
    bleu,
    brevity_penalty,
    clipped_ngrams,
    corpus_or_sentence,
    edit_table,
    precision_recall_f1,
    sequence_accuracy,
    word_error_rate,
)

EXERCISES = tuple(
    module.EXERCISE
    for module in (
        precision_recall_f1,
        sequence_accuracy,
        clipped_ngrams,
        brevity_penalty,
        bleu,
        corpus_or_sentence,
        edit_table,
        word_error_rate,
    )
)
"""In the order of the lesson."""
