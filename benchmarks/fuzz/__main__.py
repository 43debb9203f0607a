"""Runs the fuzzers for a long time; a short run is part of the tests.

    python -m benchmarks.fuzz [--minutes 5] [--seed 0] [--target wire|notebook|folder|code|text] [--replay FILE]

Makes inputs from seeds, for each target in turn, and hands them to the grader's own code. Prints a line for each
finding (an unexpected error, a page that could do harm, undeserved points, a dead process, or more than half a minute)
and saves the input that caused it in `build/fuzz/`; `--replay` runs a saved input again.
"""

import argparse
import math
import multiprocessing
import resource
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import torch

from benchmarks.fuzz import notebooks, wire

FINDINGS = Path("build/fuzz")
MOST_SECONDS = 30.0
MEMORY_BYTES = 4 << 30
BATCH = 200
"""Inputs for one target before it is the next target's turn."""


@dataclass(frozen=True)
class Target:
    """A target to fuzz.

    Attributes:
        make: draws an input.
        run: hands an input to the grader's code, and raises an exception for a finding.
    """

    make: Callable[[Random], bytes]
    run: Callable[[bytes], None]


TARGETS = {
    "wire": Target(wire.make, wire.run),
    "notebook": Target(notebooks.make_notebook, notebooks.run_notebook),
    "folder": Target(notebooks.make_folder, notebooks.run_folder),
    "code": Target(notebooks.make_code, notebooks.run_code),
    "text": Target(notebooks.make_text, notebooks.run_text),
}


def main() -> int:
    """Fuzz for some minutes, or run one saved input again; return 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first input")
    parser.add_argument("--target", choices=TARGETS)
    parser.add_argument("--replay", type=Path, metavar="FILE", help="a saved input, named TARGET-SEED.bin")
    chosen = parser.parse_args()
    if chosen.replay is not None:
        TARGETS[chosen.replay.name.partition("-")[0]].run(chosen.replay.read_bytes())
        print("nothing found")
        return 0
    names = [chosen.target] if chosen.target else list(TARGETS)
    return fuzz(names, chosen.seed, 60 * chosen.minutes)


def fuzz(names: list[str], seed: int, seconds: float = math.inf, batches: float = math.inf) -> int:
    """Fuzz these targets in turn for so many seconds or batches; return 1 if there is a finding."""
    executions: Counter[str] = Counter()
    found: set[tuple[str, str]] = set()
    end = time.monotonic() + seconds
    torch.set_num_threads(1)  # threads do not survive a fork, so a batch could wait for them forever
    while time.monotonic() < end and batches > 0:
        for name in names:
            for number, problem in _batch(name, seed):
                if (name, problem) not in found:
                    found.add((name, problem))
                    print(f"{name} {number}: {problem} -> {_saved(name, number)}", flush=True)
            executions[name] += BATCH
        seed, batches = seed + BATCH, batches - 1
    total = ", ".join(f"{name} {count}" for name, count in executions.items())
    print(f"{total}: {len(found)} findings; next seed {seed}")
    return int(bool(found))


def drawn(name: str, seed: int) -> bytes:
    """Return a seed's input."""
    return TARGETS[name].make(Random(zlib.crc32(name.encode()) + (seed << 32)))


def _batch(name: str, start: int) -> list[tuple[int, str]]:
    """Return the findings of one batch. It runs in its own process, because it may hang or die."""
    found: list[tuple[int, str]] = []
    seed, end = start, start + BATCH
    while seed < end:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=_work, args=(name, seed, end, theirs), daemon=True)
        process.start()
        theirs.close()
        while seed < end:
            try:
                problem = ours.recv() if ours.poll(MOST_SECONDS) else "it takes too long"
            except EOFError:
                process.join()
                problem = f"the process ended with {process.exitcode}"
            if problem:
                found.append((seed, problem))
            seed += 1
            if problem.startswith(("it takes", "the process")):
                break
        process.kill()
        process.join()
    return found


def _work(name: str, start: int, end: int, results: Connection) -> None:
    """Run inputs one after another, and send for each one what was wrong, or an empty string."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY_BYTES, resource.RLIM_INFINITY))
    for seed in range(start, end):
        data = drawn(name, seed)
        try:
            TARGETS[name].run(data)
            results.send("")
        except Exception as error:
            results.send(_told(error))


def _told(error: Exception) -> str:
    """Return a line with the error and where it happened."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    first = (str(error).splitlines() or [""])[0][:120]
    return ascii(f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}: {first}")[1:-1]


def _saved(name: str, seed: int) -> Path:
    FINDINGS.mkdir(parents=True, exist_ok=True)
    path = FINDINGS / f"{name}-{seed}.bin"
    path.write_bytes(drawn(name, seed))
    return path


if __name__ == "__main__":
    sys.exit(main())
