"""The exercises of lesson 00: embeddings, a sentence as the mean of its words, and a classifier built on that.

Built like `course_lib/exercises/attention/scale.py`; read that file first.
"""

from course_lib.exercises.words_in_a_bag import (
    accuracy,
    bag_of_embeddings,
    cosine,
    look_up,
    majority,
    mean_pooling,
    parameters,
    same_vector,
)

EXERCISES = tuple(
    module.EXERCISE
    for module in (
        look_up,
        cosine,
        mean_pooling,
        same_vector,
        bag_of_embeddings,
        accuracy,
        majority,
        parameters,
    )
)
"""In the order of the lesson."""
