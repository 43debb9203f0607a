"""The exercises of lesson 08: byte-pair encoding learned, used and judged, and WordPiece's way of cutting a word.

Built like `course_lib/exercises/attention/scale.py`; read that file first. Their values are Python's own: strings,
tuples, lists and dicts.
"""

from course_lib.exercises.subwords import (
    bits_per_byte,
    count_pairs,
    decode,
    encode,
    learn_merges,
    merge,
    most_frequent_pair,
    vocabulary_size,
    wordpiece,
)

EXERCISES = tuple(
    module.EXERCISE
    for module in (
        count_pairs,
        most_frequent_pair,
        merge,
        learn_merges,
        vocabulary_size,
        encode,
        decode,
        bits_per_byte,
        wordpiece,
    )
)
"""In the order of the lesson."""
