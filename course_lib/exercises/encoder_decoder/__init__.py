"""The exercises of lesson 05: the encoder-decoder, what it minimises, and the steps by which it learns.

Built like `course_lib/exercises/attention/scale.py`; read that file first.

No exercise needs another's answer: the decoder block is made from layers of lower floors, and how encoder and decoder
are joined is checked with blocks that the case passes in (`Callback`).
"""

from course_lib.exercises.encoder_decoder import (
    adam_update,
    decoder_block,
    encode_and_decode,
    label_smoothing,
    negative_log_likelihood,
    perplexity,
    printed_likelihood,
    shift_right,
    training_loop,
    warmup_schedule,
)

EXERCISES = tuple(
    module.EXERCISE
    for module in (
        shift_right,
        negative_log_likelihood,
        printed_likelihood,
        perplexity,
        decoder_block,
        encode_and_decode,
        training_loop,
        adam_update,
        warmup_schedule,
        label_smoothing,
    )
)
"""In the order of the lesson."""
