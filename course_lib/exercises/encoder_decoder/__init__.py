"""The exercises of lesson 05: the encoder-decoder, what it minimizes, and the steps by which it learns.

Built like `course_lib/exercises/attention/scale.py`; read that file first.

No exercise needs another's answer: a case passes in the parts of the decoder block, the blocks of the two stacks, and
the model that scheduled sampling trains (`judging.given.Given`).
"""

from course_lib.exercises.common import collect
from course_lib.exercises.encoder_decoder import (
    adam_update,
    decoder_block,
    encode_and_decode,
    label_smoothing,
    loss_and_perplexity,
    scheduled_sampling,
    shift_right,
    training_loop,
    warmup_schedule,
)

EXERCISES = collect(
    shift_right,
    loss_and_perplexity,
    decoder_block,
    encode_and_decode,
    training_loop,
    adam_update,
    warmup_schedule,
    label_smoothing,
    scheduled_sampling,
    withheld=(
        "course_lib.blocks",
        "course_lib.models",
        "course_lib.objectives.losses",
        "course_lib.training.schedules",
        "course_lib.training.loop",
        "course_lib.references.encoder_decoder",
    ),
)
"""In the order of the lesson."""

MOVED = {
    "encoder_decoder.negative_log_likelihood": "encoder_decoder.loss_and_perplexity",
    "encoder_decoder.perplexity": "encoder_decoder.loss_and_perplexity",
    "encoder_decoder.printed_likelihood": "",
}
