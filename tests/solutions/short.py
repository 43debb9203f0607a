"""The course with less to train: for whoever looks at what a lesson shows, and not at how well a model has learned."""

import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from autograder.course.course import Course
from course_lib import exercises
from tests.once import made_once
from tests.solutions.reading import ROOT

CUT_SHORT = {
    "03_positions": {"range(400), title": "range(40), title"},
    "04_heads_and_blocks": {"heads, steps=500": "heads, steps=20", "steps=120, depth=12": "steps=9, depth=12"},
    "05_encoder_decoder": {
        "held_out = split.held_out": "held_out = split.held_out[:60]",
        "torch.arange(1, 601)": "torch.arange(1, 31)",
        "marks=(400, 1000)": "marks=(20, 40)",
        "marks=(400,)": "marks=(20,)",
        "STEPS = 320": "STEPS = 32",
    },
    "07_gpt": {"steps=600 if causal else 250": "steps=10", "EPOCHS, SEEDS = 3, 3": "EPOCHS, SEEDS = 1, 2"},
    "08_subwords": {
        "shakespeare_at_hand(190_000)": "shakespeare_at_hand(60_000)",
        "BATCH, PASSES = 64, 16, 3": "BATCH, PASSES = 64, 16, 1",
        "sums_right(tokens, seed) for seed in range(4)": "sums_right(tokens, seed) for seed in range(1)",
        "seed in range(4):\n            drawn =": "seed in range(1):\n            drawn =",
    },
    "09_bert": {
        "steps, size, every = 400, 48, 50": "steps, size, every = 20, 48, 5",
        "epochs, half, seeds = 10, 5, (1, 2)": "epochs, half, seeds = 2, 1, (1,)",
        "(50, 200, ALL), (1, 2, 3, 4)": "(50, 200, ALL), (1,)",
    },
    "10_evaluation": {"scenes.test[:60]": "scenes.test[:12]", "seed, epochs=8": "seed, epochs=1"},
    "11_die_katze": {
        "corpus = choose_corpus(device)": "corpus = choose_corpus(device)\n"
        "corpus = dataclasses.replace(corpus, recipe=dataclasses.replace(corpus.recipe, steps=20),\n"
        "    tests={name: pairs[:15] for name, pairs in corpus.tests.items()})",
        "else 25  #": "else 10  #",
        "fine_tune(everyday[:100], steps=60)": "fine_tune(everyday[:100], steps=10)",
        "fine_tune(everyday, EVERYDAY.steps)": "fine_tune(everyday, 10)",
    },
    "12_since_2017": {
        "STEPS, RATE = 160, 0.003": "STEPS, RATE = 32, 0.003",
        'range(400), "rotary"': 'range(40), "rotary"',
    },
}
"""By lesson what says how long something is trained, and what stands there instead."""


def cut_short(lesson: str, text: str) -> str:
    """A lesson's source in which nothing is trained for long."""
    for long, short in CUT_SHORT.get(lesson, {}).items():
        assert text.count(long) == 1, f"{lesson}: {long}"
        text = text.replace(long, short)
    return text


def seeded(text: str, seed: int) -> str:
    """A lesson's source with other weights, dropout and samples: the same data, from another seed."""
    return re.sub(r"\btorch\.manual_seed\((\w+)\)", rf"torch.manual_seed(\1 + {100 * seed})", text) if seed else text


def course_to_run(config: pytest.Config, factory: pytest.TempPathFactory, seed: int = 0) -> Course:
    """The course whose lessons tests run: before a release the real one, and on every change one that is cut short.

    Args:
        config, factory: pytest's.
        seed: what is added to the seeds of its trainings.
    """
    if not config.getoption("thorough"):
        return Course.find(made_once(factory, "short_course", partial(_make, change=cut_short)))
    if not seed:
        return Course.find(ROOT)
    make = partial(_make, change=lambda _, text: seeded(text, seed))
    return Course.find(made_once(factory, f"course_with_seed_{seed}", make))


def _make(folder: Path, change: Callable[[str, str], str]) -> None:
    for name in ("nbgrader_config.py", "README.md"):
        shutil.copy(ROOT / name, folder)
    for name in ("docs", "notebooks", "solutions"):
        shutil.copytree(ROOT / name, folder / name)
    for lesson in exercises.LESSONS:
        source = folder / "solutions" / lesson / f"{lesson}.py"
        source.write_text(change(lesson, source.read_text(encoding="utf-8")), encoding="utf-8")
    kept = ROOT / "build" / "executed"  # what has been run stays there for the next time
    kept.mkdir(parents=True, exist_ok=True)
    (folder / "build").mkdir()
    (folder / "build" / "executed").symlink_to(kept)
