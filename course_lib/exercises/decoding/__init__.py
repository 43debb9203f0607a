"""The exercises of lesson 06: how a model's probabilities become a sentence.

Built like `course_lib/exercises/attention/scale.py`; read that file first.

A model is passed in as a step function: from the tokens so far to the logits of the next one. The models drawn here say
    something different after every beginning, at random but always the same, so that an answer that forgets a token
    gives itself away.
"""

from course_lib.exercises.decoding import (
    beam_search,
    cached_attention,
    greedy,
    length_penalised,
    nucleus,
    sentence_found,
    sequence_log_probability,
    top_k,
    with_temperature,
)

EXERCISES = tuple(
    module.EXERCISE
    for module in (
        greedy,
        sequence_log_probability,
        sentence_found,
        beam_search,
        length_penalised,
        with_temperature,
        top_k,
        nucleus,
        cached_attention,
    )
)
"""In the order of the lesson."""
