"""The exercises of lesson 12: what a current model does differently, change by change.

Built like `course_lib/exercises/attention/scale.py`; read that file first.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.since_2017 import (
    decayed_step,
    grouped_query,
    llama_parameters,
    lora_layer,
    orthogonalised,
    pre_norm,
    read_block,
    rms_norm,
    rotary,
    swiglu,
)

EXERCISES = collect(
    rms_norm,
    pre_norm,
    rotary,
    swiglu,
    grouped_query,
    read_block,
    decayed_step,
    orthogonalised,
    llama_parameters,
    lora_layer,
    withheld=(
        "course_lib.references.since_2017",
        "course_lib.modern.rms_norm",
        "course_lib.modern.rotary",
        "course_lib.modern.swiglu",
        "course_lib.modern.grouped_query",
        "course_lib.training.schedules",
        "course_lib.training.lora",
    ),
)
"""In the order of the lesson."""

MOVED = {"since_2017.cache_bytes": "", "since_2017.cosine_rates": "", "since_2017.lora": "since_2017.lora_layer"}
"""Of earlier versions, and what took their place."""
