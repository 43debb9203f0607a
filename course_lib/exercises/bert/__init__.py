"""The exercises of lesson 09: BERT's input, its pre-training, and the heads that solve tasks on its states.

Built like `course_lib/exercises/attention/scale.py`; read that file first.

What is random in pre-training is passed in, so that there is one right answer. Heads take an encoder's states, or a
function that reads for them, so that nobody needs a trained model to be checked.
"""

from course_lib.exercises.bert import (
    answer_span,
    expected_counts,
    few_labels,
    linear_probe,
    mask_words,
    multiple_choice,
    pair_encoding,
    pretraining_loss,
    sentence_pairs,
    sequence_classifier,
    token_classifier,
)
from course_lib.exercises.common import collect

EXERCISES = collect(
    pair_encoding,
    expected_counts,
    mask_words,
    sentence_pairs,
    pretraining_loss,
    sequence_classifier,
    few_labels,
    linear_probe,
    token_classifier,
    answer_span,
    multiple_choice,
    withheld=("course_lib.objectives.heads", "course_lib.objectives.pretraining", "course_lib.references.bert"),
)
"""In the order of the lesson."""

MOVED = {"bert.masked_lm_loss": "bert.pretraining_loss", "bert.printed_probabilities": ""}
"""Exercises of earlier versions, each with the one that took its place, if one did."""
