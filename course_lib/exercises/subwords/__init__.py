"""The exercises of lesson 08: byte-pair encoding learned, used and judged, and WordPiece's way of cutting a word.

Built like `course_lib/exercises/attention/scale.py`; read that file first. Their values are Python's own: strings,
tuples, lists and dicts.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.subwords import (
    count_pairs,
    decode_bytes,
    encode,
    encode_bytes,
    learn_merges,
    merge,
    most_frequent_pair,
    vocabulary_size,
    windowed_bits,
    wordpiece,
)

EXERCISES = collect(
    count_pairs,
    most_frequent_pair,
    merge,
    learn_merges,
    vocabulary_size,
    encode,
    encode_bytes,
    decode_bytes,
    windowed_bits,
    wordpiece,
    withheld=(
        "course_lib.text.byte_pairs",
        "course_lib.text.fast_subwords",
        "course_lib.text.subwords",
        "course_lib.references.subwords",
    ),
)
"""In the order of the lesson."""

MOVED = {"subwords.decode": "subwords.decode_bytes", "subwords.bits_per_byte": "subwords.windowed_bits"}
"""Those of earlier versions, and what took their place."""
