"""Learning rates over a training run, with sliders: the transformer paper's curve, and a cosine beside it.

The numbers of the still picture were computed once; a test computes them again.
"""

from __future__ import annotations

from html import escape
from typing import Final

from course_lib.show.interactive import interactive

STEPS: Final = 20_000
WARMUP: Final = 4_000
WIDTH: Final = 512
"""d_model."""
PEAK: Final = 0.0007
"""Of the cosine."""

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
    head = "<tr><th>step</th><th>inverse square root</th><th>cosine</th></tr>"
    rows = [f"<tr><td>{step}</td><td>{root:.6f}</td><td>{cosine:.6f}</td></tr>" for step, root, cosine in RATES]
    title = f"Learning rates for d_model {WIDTH} and {WARMUP} steps of warm-up"
    interactive(
        "schedules",
        {"steps": STEPS, "warmup": WARMUP, "width": WIDTH, "peak": PEAK},
        still=f"<p>{escape(title)}</p><table>{head}{''.join(rows)}</table>",
        alt="Two learning rates over the steps of a training run: both rise in a straight line; then one falls with "
        "the inverse square root of the step, the other as a cosine does, to 0.",
        text="\n".join([title, *(f"step {step:6}: {root:.6f}   cosine {cosine:.6f}" for step, root, cosine in RATES)]),
    )
