"""The exercises of lesson 07: a language model's targets, mask, output and blocks, its leaks, what it writes, how it is
tuned, and GPT-2's weights.

Built like `course_lib/exercises/attention/scale.py`; read that file first. The model that `gpt.generate` writes with
is passed in, so that nobody's text depends on anybody's model.

Most mistakes are edits of one right answer, so that two of them combine.
"""

from course_lib.exercises.common import collect
from course_lib.exercises.gpt import (
    causal_language_model,
    fine_tuning_loss,
    from_gpt2,
    generate,
    influence,
    loss_without_mask,
    tied_logits,
    training_windows,
)

EXERCISES = collect(
    training_windows,
    tied_logits,
    causal_language_model,
    loss_without_mask,
    influence,
    generate,
    fine_tuning_loss,
    from_gpt2,
    withheld=("course_lib.models", "course_lib.objectives.losses", "course_lib.references.gpt"),
)
"""In the order of the lesson."""

MOVED = {"gpt.lm_loss": "", "gpt.count_parameters": ""}
