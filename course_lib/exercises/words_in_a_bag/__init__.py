"""The exercises of lesson 00: embeddings, a sentence as the mean of its words, and a classifier built on that.

Built like `course_lib/exercises/attention/scale.py`; read that file first.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.words_in_a_bag import (
    accuracy,
    analogy,
    cosine,
    look_up,
    majority,
    mean_pooling,
    same_vector,
    train_bag,
)

EXERCISES = collect(
    look_up, cosine, analogy, mean_pooling, same_vector, train_bag, accuracy, majority, withheld=("course_lib.bags",)
)
"""In the order of the lesson."""

MOVED = {"words_in_a_bag.bag_of_embeddings": "words_in_a_bag.train_bag", "words_in_a_bag.parameters": ""}
"""Exercises of earlier versions, each with the one that took its place, or "" where none did."""
