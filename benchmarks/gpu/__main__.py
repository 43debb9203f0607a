"""Measures what the library does on a GPU, in ten minutes.

    python -m benchmarks.gpu [--minutes 10] [--out DIR] [--only PART] [--steps N] [--seed N]
    python -m benchmarks.gpu --tiny            # everything at its smallest, on any machine, in a minute
    python -m benchmarks.gpu --only multi30k --small           # a smaller training, in an hour on one core

Each part runs in its own process, with a time limit; the last one may use all the time that is left. A part that fails
or reaches its limit does not stop the others. A part that lacks a package is skipped, and a skip is not a pass. Results
are written to DIR as soon as they are known: `results.json` has all of them with their curves, `results.md` the table,
and `log.txt` the output. `KATZE_DATA` names a folder with the texts; without it, they are downloaded
(`course_lib.text.downloads`).

On a processor, there is no limit unless you set `--minutes`. If you stop a training with Ctrl-C, the same command
resumes it.
"""

import argparse
import math
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from benchmarks.gpu.results import Outcome, Point, Said, write
from benchmarks.gpu.running import OutOfTime, PartFailed, Settings, import_once, run_apart
from benchmarks.table import Row, line

MINUTES = 10.0


@dataclass(frozen=True)
class Part:
    """A part of the benchmark.

    Attributes:
        name: its name for `--only`.
        told: what it does, in a few words.
        seconds: its time limit on a GPU.
        function: "module:name" of a function of `running.Settings` and `results.Tell`.
        needs: the packages that it needs besides those for training.
    """

    name: str
    told: str
    seconds: float
    function: str
    needs: tuple[str, ...] = ()


PARTS = (
    Part("multi30k", "English to German, from nothing to BLEU", 270, "benchmarks.gpu.learning:multi30k"),
    Part("shakespeare", "a language model of characters", 90, "benchmarks.gpu.learning:shakespeare"),
    Part("step", "a training step beside its peers", 120, "benchmarks.gpu.speed:step", ("transformers",)),
    Part("decoding", "writing beside transformers", 75, "benchmarks.gpu.speed:decoding", ("transformers",)),
    Part("compiled", "writing, compiled", 180, "benchmarks.gpu.speed:compiled", ("transformers",)),
    Part("modern", "the block since Llama", 60, "benchmarks.gpu.speed:modern", ("transformers",)),
    Part("memory", "the most that a step takes", 90, "benchmarks.gpu.speed:memory", ("transformers",)),
    Part(
        "lesson",
        "lesson 11 in its GPU form",
        300,
        "benchmarks.gpu.lesson:lesson",
        needs=("ipykernel", "jupytext", "matplotlib", "nbclient"),
    ),
    Part("fp16", "the first steps of Multi30k as on a T4", 75, "benchmarks.gpu.learning:fp16"),
)
"""The most important first."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; return 0 if all that were asked for are done."""
    options = _options(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "log.txt").unlink(missing_ok=True)
    parts = [part for part in PARTS if part.name in (options.only or part.name)]
    # Packages that only some parts need may fail to import, and the other parts would fail with them.
    import_once({part.function.partition(":")[0] for part in parts if options.tiny or not part.needs})
    about = {
        said.what: said.text
        for said in run_apart("benchmarks.gpu.machine:machine", Settings("cpu", options.out), None)
        if isinstance(said, Said)
    }
    print("; ".join(f"{what} {text}" for what, text in about.items()), flush=True)
    if "card" not in about:
        print("There is no GPU here that torch can use.", flush=True)
        if not options.tiny and not options.only:
            print("Ask for --tiny, which tries all of it on a processor, or --only PART, which takes its time.")
            return 1
    device = "cuda" if "card" in about else "cpu"
    settings = Settings(device, options.out, options.tiny, options.small, options.steps, options.seed)
    try:
        return _run(parts, settings, options.minutes, about)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on with a training that it has begun.")
        return 130


def _run(parts: Sequence[Part], settings: Settings, minutes: float | None, about: dict[str, str]) -> int:
    limited = settings.device == "cuda" or settings.tiny
    ends = time.monotonic() + 60 * (minutes or (MINUTES if limited else math.inf))
    outcomes: list[Outcome] = []
    for part in parts:
        left = ends - time.monotonic()
        limit = min(part.seconds, left) if limited and part is not parts[-1] else left
        outcome = Outcome(part.name, limit=limit if math.isfinite(limit) else None)
        outcomes.append(outcome)
        if missing := [package for package in part.needs if find_spec(package) is None]:
            outcome.outcome, outcome.why = "skipped", f"not installed: {', '.join(missing)}"
        elif left <= 0:
            outcome.outcome, outcome.why = "skipped", "no time was left"
        else:
            print(f"\n{part.name}: {part.told}", flush=True)
            _follow(part, outcome, settings, lambda: write(settings.out, about, outcomes))
        print(outcome, flush=True)
        write(settings.out, about, outcomes)
    return int(any(outcome.outcome != "done" for outcome in outcomes))


def _follow(part: Part, outcome: Outcome, settings: Settings, keep: Callable[[], None]) -> None:
    """Run a part until it ends, in whatever way."""
    began = time.monotonic()
    try:
        for told in run_apart(part.function, settings, outcome.limit):
            if settings.tiny and isinstance(told, Row):
                told = replace(told, goal=None, met=None)
            outcome.take(told)
            outcome.seconds = time.monotonic() - began
            keep()
            print(_shown(told), flush=True)
        outcome.outcome = "done"
    except OutOfTime:
        outcome.outcome = "cut off"
    except PartFailed as problem:
        last = str(problem).strip().rpartition("\n")[2]
        outcome.outcome, outcome.why = "failed", f"{last} (more in log.txt)"
    outcome.seconds = time.monotonic() - began
    shutil.rmtree(settings.unfinished, ignore_errors=True)


def _shown(told: Row | Point | Said) -> str:
    if isinstance(told, Row):
        return line(told.cells())
    if isinstance(told, Point):
        return f"  {told.curve}, step {told.step:,}: {told.value:.4g}"
    return f"  {told.what}: {told.text}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, help=f"for all parts together (with a GPU: {MINUTES:g})")
    parser.add_argument("--out", type=Path, default=Path("build/gpu"), metavar="DIR", help="default: %(default)s")
    parser.add_argument("--tiny", action="store_true", help="everything at its smallest")
    parser.add_argument("--small", action="store_true", help="Multi30k with a model for a processor")
    names = [part.name for part in PARTS]
    parser.add_argument("--only", action="append", choices=names, help="this part; may be given several times")
    parser.add_argument("--steps", type=int, help="of training on Multi30k, in place of the recipe's")
    parser.add_argument("--seed", type=int, default=0, help="of what is trained (default: %(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
