"""The exercises of lesson 12: what a current model does differently, change by change.

Built like `course_lib/exercises/attention/scale.py`; read that file first.
"""

from course_lib.exercises.since_2017 import (
    cache_bytes,
    cosine_rates,
    decayed_step,
    grouped_query,
    llama_parameters,
    lora,
    pre_norm,
    read_block,
    rms_norm,
    rotary,
    swiglu,
)

EXERCISES = tuple(
    module.EXERCISE
    for module in (
        rms_norm,
        pre_norm,
        rotary,
        swiglu,
        grouped_query,
        cache_bytes,
        read_block,
        decayed_step,
        cosine_rates,
        llama_parameters,
        lora,
    )
)
"""In the order of the lesson."""
