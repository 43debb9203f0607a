"""Learning rates over a training run, with sliders: the transformer paper's curve, and a cosine beside it.

The numbers of the still picture were computed once; a test computes them again.
"""

from typing import Final

from course_lib.show.stills import interactive_table

STEPS: Final = 20_000
WARMUP: Final = 4_000
WIDTH: Final = 512
"""Values of d_model."""
PEAK: Final = 0.0007
"""Peaks of the cosine."""

RATES: Final = (
    (1_000, 0.000175, 0.000175),
    (2_000, 0.000349, 0.00035),
    (4_000, 0.000699, 0.0007),
    (8_000, 0.000494, 0.000597),
    (12_000, 0.000403, 0.00035),
    (16_000, 0.000349, 0.000103),
    (20_000, 0.000313, 0.0),
)
"""Steps, with the learning rates of both schedules."""


def schedules() -> None:
    """Show the warm-up schedule with sliders for the warm-up, d_model and the peak, and its arithmetic at any step."""
    caption = f"Learning rates at some steps, for d_model {WIDTH} and {WARMUP} steps of warm-up"
    columns = ["inverse square root", "cosine"]
    rows = [(str(step), [f"{root:.6f}", f"{cosine:.6f}"]) for step, root, cosine in RATES]
    interactive_table(
        "schedules",
        {"steps": STEPS, "warmup": WARMUP, "width": WIDTH, "peak": PEAK},
        *(caption, columns, rows),
        alt="Two learning rates over the steps of a training run: both rise in a straight line; then one falls with "
        "the inverse square root of the step, the other as a cosine does, to 0.",
    )
