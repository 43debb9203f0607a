"""What the library learns on a GPU: whole trainings, from nothing to what they are judged by.

    python -m benchmarks.gpu [--only TRAINING] [--out DIR] [--test FILE.en FILE.de] [--seeds N] [--steps N]
    python -m benchmarks.gpu --tiny                            # both at their smallest, on any machine, in a minute
    python -m benchmarks.gpu --only multi30k --small           # a learning curve that one core draws in an hour

Results are printed as soon as they are known, and with their curves in `results.json` in DIR. A training that fails
stops no other; one that you stop, with Ctrl-C, goes on when the same command is given again. `KATZE_DATA` names a
folder with the texts; without it they are fetched (`course_lib.text.downloads`).

`python -m benchmarks.transformer --device cuda` compares the models with their peers there.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.gpu.learning import Settings, multi30k, shakespeare
from benchmarks.gpu.machine import machine
from benchmarks.gpu.results import Outcome, Point, Tell, Told, write
from benchmarks.table import Row, line

TRAININGS: dict[str, Callable[[Settings, Tell], None]] = {"multi30k": multi30k, "shakespeare": shakespeare}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trainings; 0 if all that were asked for are done."""
    options = _options(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    about = machine()
    print("; ".join(f"{what} {text}" for what, text in about.items()), flush=True)
    if "card" not in about and not (options.tiny or options.only):
        print("There is no GPU here that torch can use. Ask for --tiny, which tries all of it on a processor, or")
        print("--only TRAINING, which takes its time.")
        return 1
    if options.tiny:
        torch.set_num_threads(1)  # a second one costs more than such a model takes
    device = "cuda" if "card" in about else "cpu"
    tests = tuple(map(tuple, options.test))
    settings = Settings(device, options.out, options.tiny, options.small, options.steps, options.seeds, tests)
    outcomes: list[Outcome] = []
    try:
        for name in options.only or TRAININGS:
            outcomes.append(Outcome(name))
            print(f"\n{name}", flush=True)
            _follow(name, settings, outcomes[-1], lambda: write(settings.out, about, outcomes))
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on with a training that it has begun.")
        return 130
    return int(any(outcome.outcome != "done" for outcome in outcomes))


def _follow(name: str, settings: Settings, outcome: Outcome, keep: Callable[[], None]) -> None:
    """Run a training to whatever end."""
    began = time.monotonic()

    def tell(told: Told) -> None:
        if settings.tiny and isinstance(told, Row):
            told = replace(told, goal=None, met=None)
        outcome.take(told)
        outcome.seconds = time.monotonic() - began
        keep()
        print(_shown(told), flush=True)

    try:
        TRAININGS[name](settings, tell)
        outcome.outcome = "done"
    except Exception as problem:
        traceback.print_exc()
        outcome.outcome, outcome.why = "failed", f"{type(problem).__name__}: {problem}"
    outcome.seconds = time.monotonic() - began
    shutil.rmtree(settings.unfinished, ignore_errors=True)
    keep()
    print(outcome, flush=True)


def _shown(told: Told) -> str:
    if isinstance(told, Row):
        return line(told.cells())
    if isinstance(told, Point):
        return f"  {told.curve}, step {told.step:,}: {told.value:.4g}"
    return f"  {told.what}: {told.text}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/gpu"), metavar="DIR", help="default: %(default)s")
    parser.add_argument("--tiny", action="store_true", help="everything at its smallest")
    parser.add_argument("--small", action="store_true", help="Multi30k with a model for a processor")
    parser.add_argument("--only", action="append", choices=TRAININGS, help="this one; may be given several times")
    parser.add_argument(
        "--test", nargs=2, type=Path, action="append", default=[], metavar="FILE", help="more to translate"
    )
    parser.add_argument("--seeds", type=int, default=1, help="how often to train on Multi30k (default: %(default)s)")
    parser.add_argument("--steps", type=int, help="of training on Multi30k, in place of the recipe's")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
