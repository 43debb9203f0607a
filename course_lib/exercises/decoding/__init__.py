"""The exercises of lesson 06: how a model's probabilities become a sentence.

Built like `course_lib/exercises/attention/scale.py`; read that file first.

A model is passed in as a step function: from the tokens so far to the logits of the next one. The models drawn here say
    something different after every beginning, at random but always the same, so that an answer that forgets a token
    gives itself away.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.decoding import (
    attend_with_cache,
    beam_search,
    consensus,
    greedy,
    nucleus,
    sentence_found,
    speculative_step,
    top_k,
)

EXERCISES = collect(
    greedy,
    sentence_found,
    beam_search,
    consensus,
    top_k,
    nucleus,
    attend_with_cache,
    speculative_step,
    withheld=(
        "course_lib.decoding.greedy",
        "course_lib.decoding.beam",
        "course_lib.decoding.sampling",
        "course_lib.references.decoding",
    ),
)
"""In the order of the lesson."""

MOVED = {
    "decoding.sequence_log_probability": "",
    "decoding.length_penalised": "decoding.consensus",
    "decoding.with_temperature": "",
    "decoding.cached_attention": "decoding.attend_with_cache",
}
